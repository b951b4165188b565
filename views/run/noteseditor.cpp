// SPDX-License-Identifier: GPL-3.0-or-later
#include "noteseditor.h"

#include <QKeyEvent>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/runs/rolelabel.h>

namespace telltale::views {
namespace {

constexpr int kLongestNotes = 64 << 10; ///< characters

}

NotesEditor::NotesEditor(QWidget* parent)
    : QWidget(parent)
    , m_edit(new QPlainTextEdit(this))
    , m_hint((new RoleLabel(&Theme::text3, wordsFont(11), this))->asData())
    , m_save(new QPushButton(tr("Save"), this))
{
    m_edit->setObjectName(QStringLiteral("runNotes"));
    m_edit->setAccessibleName(tr("Notes"));
    m_edit->setPlaceholderText(tr("What people should know of this run"));
    m_edit->setTabChangesFocus(true);
    m_edit->setFrameShape(QFrame::StyledPanel); // as wide as the style has it for a text
    m_edit->setFont(wordsFont(12));
    m_edit->setMinimumHeight(44);
    m_edit->installEventFilter(this);
    m_save->setObjectName(QStringLiteral("runNotesSave"));
    m_save->setToolTip(tr("Keeps the notes in the run (Ctrl+Return)"));
    m_hint->setWordWrap(true);
    m_hint->setObjectName(QStringLiteral("runNotesHint"));
    setFocusProxy(m_edit);
    auto* bottom = new QHBoxLayout;
    bottom->setSpacing(8);
    bottom->addWidget(m_hint, 1);
    bottom->addWidget(m_save);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(m_edit, 1);
    layout->addLayout(bottom);
    connect(m_edit, &QPlainTextEdit::textChanged, this, &NotesEditor::refresh);
    connect(m_save, &QPushButton::clicked, this, &NotesEditor::save);
    refresh();
}

void NotesEditor::set(const QString& notes, const QString& author)
{
    items::assertGuiThread();
    const bool isKept = isChanged() && notes != text();
    m_author = author;
    if (m_notes != notes || !isKept) {
        m_notes = notes;
        if (!isKept && text() != notes)
            m_edit->setPlainText(notes);
    }
    refresh();
}

void NotesEditor::clear()
{
    m_notes.clear();
    m_author.clear();
    m_edit->clear();
    refresh();
}

void NotesEditor::setWritable(bool isWritable)
{
    m_isWritable = isWritable;
    m_edit->setReadOnly(!isWritable);
    refresh();
}

void NotesEditor::setHint(const QString& hint)
{
    m_why = hint;
    refresh();
}

bool NotesEditor::isChanged() const
{
    return text() != m_notes;
}

QString NotesEditor::text() const
{
    return m_edit->toPlainText();
}

void NotesEditor::save()
{
    if (m_isWritable && isChanged())
        Q_EMIT saveWanted(text().left(kLongestNotes));
}

void NotesEditor::refresh()
{
    m_save->setEnabled(m_isWritable && isChanged());
    m_hint->setText(!m_why.isEmpty() ? m_why
            : isChanged()            ? tr("Not saved yet")
            : !m_author.isEmpty()    ? tr("Last written by %1").arg(m_author)
            : m_notes.isEmpty()      ? QString()
                                     : tr("Written by the training"));
}

bool NotesEditor::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_edit && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Escape && isChanged()) {
            m_edit->setPlainText(m_notes);
            return true;
        }
        if (key->modifiers() == Qt::ControlModifier && (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter)) {
            save();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}
