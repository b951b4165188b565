// SPDX-License-Identifier: GPL-3.0-or-later
#include "jsoneditor.h"

#include <algorithm>

#include <QAbstractItemView>
#include <QCompleter>
#include <QPainter>
#include <QScrollBar>
#include <QStringListModel>
#include <QTextBlock>
#include <QTextLayout>

#include <telltale/common/oneedit.h>
#include <telltale/common/theme.h>
#include <telltale/config/field.h>
#include <telltale/config/relaxedjson.h>
#include <telltale/config/textedit.h>

#include "configdraft.h"
#include "fieldtext.h"
#include "jsonhighlighter.h"

namespace telltale::views {
namespace {

/// Fields, and what the model is made of.
QStringList namesFor(const ConfigDraft& draft)
{
    QStringList names;
    for (const config::Field& field : config::fields())
        names.append(fieldText(field.name));
    for (const auto& object : config::fieldObjects())
        names.append(fieldText(object.name));
    for (const auto& module : draft.run().modules)
        names.append(QString::fromStdString(module.name));
    return names;
}

/// The line at which JSON's reader gave up, as its message counts; the text's first byte where the text is JSON.
config::TextSpan brokenLine(std::string_view text)
{
    try {
        const auto read = config::Json::parse(config::plainJson(text));
    } catch (const config::Json::parse_error& error) {
        const std::string_view head = text.substr(0, error.byte);
        const std::size_t begin = head.find_last_of('\n') + 1; // none: the first
        return { begin, std::min(text.find('\n', begin), text.size()) };
    } catch (const config::Json::exception&) {
    }
    return { 0, std::min<std::size_t>(1, text.size()) };
}

}

JsonEditor::JsonEditor(ConfigDraft* draft, QWidget* parent)
    : QPlainTextEdit(parent)
    , m_draft(draft)
    , m_numbers(new QWidget(this))
    , m_completer(new QCompleter(this))
{
    setObjectName(QStringLiteral("configText"));
    setAccessibleName(tr("Text of the config"));
    setFont(codeFont(12));
    setFrameShape(QFrame::NoFrame);
    setLineWrapMode(NoWrap);
    setTabChangesFocus(true);
    new JsonHighlighter(this);
    m_numbers->installEventFilter(this);
    m_completer->setWidget(this);
    auto* names = new QStringListModel(namesFor(*draft), m_completer);
    connect(draft, &ConfigDraft::runChanged, names, [draft, names] { names->setStringList(namesFor(*draft)); });
    m_completer->setModel(names);
    m_completer->setFilterMode(Qt::MatchContains);
    m_completer->setCaseSensitivity(Qt::CaseInsensitive);
    connect(m_completer, qOverload<const QString&>(&QCompleter::activated), this, &JsonEditor::insertCompletion);
    connect(this, &QPlainTextEdit::textChanged, this, [this] {
        if (!m_isTaking)
            m_draft->setText(toPlainText());
    });
    connect(this, &QPlainTextEdit::cursorPositionChanged, this, [this] {
        const int at = textCursor().position();
        const auto found = std::find_if(
            m_marks.begin(), m_marks.end(), [at](const Mark& mark) { return mark.begin <= at && at <= mark.end; });
        if (found != m_marks.end())
            Q_EMIT problemAtCursor(found->sentence, found->isError);
    });
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect&, int) { m_numbers->update(); });
    connect(draft, &ConfigDraft::changed, this, &JsonEditor::takeDraft);
    takeDraft();
}

void JsonEditor::takeDraft()
{
    const QString text = m_draft->text();
    if (text != toPlainText()) {
        m_isTaking = true;
        makeText(*this, text);
        m_isTaking = false;
    }
    setViewportMargins(numbersWidth(), 0, 0, 0);
    mark();
}

void JsonEditor::mark()
{
    const Theme& theme = Theme::current();
    const QByteArray utf8 = m_draft->text().toUtf8();
    const std::string_view text(utf8.constData(), static_cast<std::size_t>(utf8.size()));
    const auto position = [&](std::size_t byte) {
        return static_cast<int>(QString::fromUtf8(utf8.constData(), static_cast<qsizetype>(byte)).size());
    };
    m_marks.clear();
    QList<QTextEdit::ExtraSelection> selections;
    for (const config::Problem& problem : m_draft->problems()) {
        const config::TextSpan place
            = m_draft->isConfig() ? config::findPlace(text, problem.pointer) : brokenLine(text);
        Mark mark { position(place.begin), position(place.end), problem.isError, problemSentence(problem) };
        QTextEdit::ExtraSelection selection;
        selection.cursor = QTextCursor(document());
        selection.cursor.setPosition(mark.begin);
        selection.cursor.setPosition(mark.end, QTextCursor::KeepAnchor);
        selection.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        selection.format.setUnderlineColor(problem.isError ? theme.criticalMark : theme.warnMark);
        selection.format.setToolTip(mark.sentence);
        selections.append(selection);
        m_marks.push_back(std::move(mark));
    }
    std::sort(m_marks.begin(), m_marks.end(), [](const Mark& a, const Mark& b) { return a.begin < b.begin; });
    setExtraSelections(selections);
    m_numbers->update();
}

void JsonEditor::goToNextProblem()
{
    if (m_marks.empty())
        return;
    const int at = textCursor().position();
    const auto next = std::find_if(m_marks.begin(), m_marks.end(), [at](const Mark& mark) { return mark.begin > at; });
    QTextCursor cursor = textCursor();
    cursor.setPosition((next == m_marks.end() ? m_marks.front() : *next).begin);
    setTextCursor(cursor);
    setFocus();
}

void JsonEditor::goTo(const QString& pointer)
{
    const QByteArray utf8 = m_draft->text().toUtf8();
    const auto place
        = config::findValue({ utf8.constData(), static_cast<std::size_t>(utf8.size()) }, pointer.toStdString());
    if (!place)
        return;
    QTextCursor cursor = textCursor();
    cursor.setPosition(
        static_cast<int>(QString::fromUtf8(utf8.constData(), static_cast<qsizetype>(place->begin)).size()));
    setTextCursor(cursor);
}

int JsonEditor::numbersWidth() const
{
    return QFontMetrics(codeFont(11)).horizontalAdvance(QLatin1Char('9'))
        * static_cast<int>(QString::number(std::max(10, blockCount())).size())
        + 20;
}

void JsonEditor::paintNumbers()
{
    const Theme& theme = Theme::current();
    QPainter painter(m_numbers);
    painter.fillRect(m_numbers->rect(), theme.base);
    painter.setFont(codeFont(11));
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const QRectF area = blockBoundingGeometry(block).translated(contentOffset());
        if (area.top() > viewport()->height())
            break;
        const auto has = [&](bool isError) {
            return std::any_of(m_marks.begin(), m_marks.end(), [&](const Mark& mark) {
                return mark.isError == isError && mark.begin >= block.position()
                    && mark.begin < block.position() + block.length();
            });
        };
        if (has(true) || has(false))
            painter.fillRect(QRectF(0, area.top(), 3, area.height()), has(true) ? theme.criticalMark : theme.warnMark);
        painter.setPen(textCursor().block() == block ? theme.text2 : theme.text3);
        // Below the last line the block has the document's margin, too.
        painter.drawText(QRectF(0, area.top(), m_numbers->width() - 8, block.layout()->boundingRect().height()),
            Qt::AlignRight | Qt::AlignVCenter, QString::number(block.blockNumber() + 1));
    }
}

bool JsonEditor::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_numbers && event->type() == QEvent::Paint) {
        paintNumbers();
        return true;
    }
    return QPlainTextEdit::eventFilter(watched, event);
}

void JsonEditor::resizeEvent(QResizeEvent* event)
{
    QPlainTextEdit::resizeEvent(event);
    m_numbers->setGeometry(0, 0, numbersWidth(), height());
}

void JsonEditor::changeEvent(QEvent* event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_draft != nullptr)
        mark();
}

QString JsonEditor::wordAtCursor() const
{
    const QString line = textCursor().block().text().left(textCursor().positionInBlock());
    const auto begin = line.lastIndexOf(QLatin1Char('"'));
    const bool isInText = line.count(QLatin1Char('"')) % 2 == 1;
    return isInText ? line.mid(begin + 1) : QString();
}

void JsonEditor::keyPressEvent(QKeyEvent* event)
{
    const int key = event->key();
    if (m_completer->popup()->isVisible()
        && (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Escape || key == Qt::Key_Tab)) {
        event->ignore(); // the popup's
        return;
    }
    const bool isAsked = key == Qt::Key_Space && event->modifiers().testFlag(Qt::ControlModifier);
    if (!isAsked)
        QPlainTextEdit::keyPressEvent(event);
    if (isAsked || (!event->text().isEmpty() && wordAtCursor().size() >= 2))
        complete();
    else
        m_completer->popup()->hide();
}

void JsonEditor::complete()
{
    m_completer->setCompletionPrefix(wordAtCursor());
    const bool isWhole = m_completer->completionCount() == 1 && m_completer->currentCompletion() == wordAtCursor();
    if (m_completer->completionCount() == 0 || isWhole) {
        m_completer->popup()->hide();
        return;
    }
    QRect place = cursorRect().translated(numbersWidth(), 0);
    place.setWidth(m_completer->popup()->sizeHintForColumn(0)
        + m_completer->popup()->verticalScrollBar()->sizeHint().width() + 12);
    m_completer->popup()->setCurrentIndex(m_completer->completionModel()->index(0, 0));
    m_completer->complete(place);
}

void JsonEditor::insertCompletion(const QString& name)
{
    QTextCursor cursor = textCursor();
    const auto word = wordAtCursor();
    if (word.isEmpty() && cursor.block().text().left(cursor.positionInBlock()).count(QLatin1Char('"')) % 2 == 0) {
        cursor.insertText(QLatin1Char('"') + name + QLatin1Char('"'));
        return;
    }
    cursor.movePosition(QTextCursor::Left, QTextCursor::KeepAnchor, static_cast<int>(word.size()));
    const QString rest = cursor.block().text().mid(textCursor().positionInBlock());
    cursor.insertText(rest.startsWith(QLatin1Char('"')) ? name : name + QLatin1Char('"'));
}

}
