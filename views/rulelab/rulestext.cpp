// SPDX-License-Identifier: GPL-3.0-or-later
#include "rulestext.h"

#include <QScopedValueRollback>

#include <telltale/common/oneedit.h>
#include <telltale/common/theme.h>
#include <telltale/config/textedit.h>
#include <telltale/steering/jsonhighlighter.h>

#include "rulesdraft.h"

namespace telltale::views {
namespace {

int positionOf(const QByteArray& utf8, std::size_t byte)
{
    return static_cast<int>(QString::fromUtf8(utf8.constData(), static_cast<qsizetype>(byte)).size());
}

std::string_view viewOf(const QByteArray& utf8)
{
    return { utf8.constData(), static_cast<std::size_t>(utf8.size()) };
}

}

RulesText::RulesText(RulesDraft* draft, QWidget* parent)
    : QPlainTextEdit(parent)
    , m_draft(draft)
{
    setObjectName(QStringLiteral("rulesText"));
    setAccessibleName(tr("Rules as a document"));
    setFont(codeFont(12));
    setFrameShape(QFrame::NoFrame);
    setLineWrapMode(NoWrap);
    setTabChangesFocus(true);
    document()->setDocumentMargin(10);
    new JsonHighlighter(this);
    connect(this, &QPlainTextEdit::textChanged, this, [this] {
        if (!m_isTaking)
            m_draft->setText(toPlainText());
    });
    connect(draft, &RulesDraft::changed, this, &RulesText::takeDraft);
    takeDraft();
}

void RulesText::takeDraft()
{
    const QString text = m_draft->text();
    if (text != toPlainText()) {
        const QScopedValueRollback<bool> guard(m_isTaking, true);
        makeText(*this, text);
    }
    mark();
}

void RulesText::mark()
{
    const Theme& theme = Theme::current();
    const QByteArray utf8 = m_draft->text().toUtf8();
    QList<QTextEdit::ExtraSelection> selections;
    for (const judge::RulesProblem& problem : m_draft->problems()) {
        const config::TextSpan place = config::findPlace(viewOf(utf8), problem.pointer);
        QTextEdit::ExtraSelection selection;
        selection.cursor = QTextCursor(document());
        selection.cursor.setPosition(positionOf(utf8, place.begin));
        selection.cursor.setPosition(positionOf(utf8, place.end), QTextCursor::KeepAnchor);
        selection.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        selection.format.setUnderlineColor(theme.criticalMark);
        selection.format.setToolTip(QString::fromStdString(problem.sentence));
        selections.append(selection);
    }
    setExtraSelections(selections);
}

void RulesText::goTo(const QString& pointer)
{
    const QByteArray utf8 = m_draft->text().toUtf8();
    const auto place = config::findValue(viewOf(utf8), pointer.toStdString());
    if (!place)
        return;
    QTextCursor cursor = textCursor();
    cursor.setPosition(positionOf(utf8, place->begin));
    setTextCursor(cursor);
}

void RulesText::changeEvent(QEvent* event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_draft != nullptr)
        mark();
}

}
