// SPDX-License-Identifier: GPL-3.0-or-later
#include "notedialog.h"

#include <QDialogButtonBox>
#include <QKeyEvent>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <telltale/common/notepainter.h>
#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/runs/rolelabel.h>

namespace telltale::shell {

using views::RoleLabel;
using views::Theme;

NoteDialog::NoteDialog(const store::StepNote& note, const QString& whyNot, QWidget* parent)
    : QDialog(parent)
    , m_text(new QPlainTextEdit(QString::fromStdString(note.text), this))
{
    setObjectName(QStringLiteral("noteDialog"));
    const QString where = views::noteWhere(note.steps);
    setWindowTitle(tr("Note at %1").arg(where));
    m_text->setObjectName(QStringLiteral("noteText"));
    m_text->setAccessibleName(windowTitle());
    m_text->setPlaceholderText(tr("What happened here, or what was changed"));
    m_text->setTabChangesFocus(true);
    m_text->setFrameShape(QFrame::StyledPanel); // as wide as the style has it for a text
    m_text->setFont(views::wordsFont(13));
    m_text->setReadOnly(!whyNot.isEmpty());
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, this);
    QPushButton* save = buttons->button(QDialogButtonBox::Save);
    save->setText(tr("Save"));
    save->setIcon({});
    buttons->button(QDialogButtonBox::Cancel)->setText(tr("Cancel"));
    buttons->button(QDialogButtonBox::Cancel)->setIcon({});
    if (note.id != 0 && whyNot.isEmpty()) {
        auto* removal = buttons->addButton(tr("Remove"), QDialogButtonBox::DestructiveRole);
        removal->setObjectName(QStringLiteral("noteRemove"));
        connect(removal, &QPushButton::clicked, this, [this] {
            reject();
            Q_EMIT removeWanted();
        });
    }
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 14, 16, 14);
    layout->setSizeConstraint(QLayout::SetNoConstraint); // the offscreen platform warns about size hints of a window
    layout->setSpacing(10);
    layout->addWidget(new RoleLabel(where, &Theme::text, views::wordsFont(13, 600), this));
    layout->addWidget(m_text, 1);
    if (!whyNot.isEmpty())
        layout->addWidget(new RoleLabel(whyNot, &Theme::text3, views::wordsFont(11), this));
    layout->addWidget(buttons);
    resize(440, 220);

    const auto fit = [this, save, whyNot] {
        const QByteArray bytes = text().toUtf8();
        save->setEnabled(whyNot.isEmpty() && !bytes.isEmpty()
            && static_cast<std::size_t>(bytes.size()) <= store::StepNote::kMostBytes);
    };
    connect(m_text, &QPlainTextEdit::textChanged, this, fit);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    m_save = save;
    m_text->installEventFilter(this);
    save->setToolTip(QKeySequence(Qt::CTRL | Qt::Key_Return).toString(QKeySequence::NativeText));
    fit();
    m_text->setFocus();
}

bool NoteDialog::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool isReturn = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
        if (isReturn && key->modifiers().testFlag(Qt::ControlModifier)) {
            m_save->click();
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

QString NoteDialog::text() const
{
    items::assertGuiThread();
    return m_text->toPlainText().trimmed();
}

}
