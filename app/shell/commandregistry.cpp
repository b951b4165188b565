// SPDX-License-Identifier: GPL-3.0-or-later
#include "commandregistry.h"

#include <algorithm>

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QRegularExpression>
#include <QScopedValueRollback>
#include <QTabBar>
#include <QWidget>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>

#include "keychip.h"

namespace telltale::shell {

QString CommandRegistry::plain(const QString& text)
{
    // Of "Open(&O)", as languages write it that have no such letter, nothing stays.
    static const QRegularExpression kMnemonic(QStringLiteral("\\(&.\\)"));
    QString words = text;
    words.remove(kMnemonic);
    return words.remove(u'&').remove(QChar(0x2026));
}

CommandRegistry::CommandRegistry(QWidget* window)
    : QObject(window)
    , m_window(window)
{
    qApp->installEventFilter(this);
}

namespace {

/// What jumps to the row or the choice that begins with it.
bool isLetter(int key)
{
    return (key >= Qt::Key_0 && key <= Qt::Key_9) || (key >= Qt::Key_A && key <= Qt::Key_Z);
}

/// Keys that a control needs for itself and does not claim: those of views, which are single ones, work in what is not
/// one of them.
bool needs(const QObject* control, const QKeyEvent& event)
{
    if ((event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) != 0)
        return false;
    const int key = event.key();
    const bool isReturn = key == Qt::Key_Return || key == Qt::Key_Enter;
    const bool isArrow = key >= Qt::Key_Left && key <= Qt::Key_Down;
    if (qobject_cast<const QLineEdit*>(control) || qobject_cast<const QAbstractSpinBox*>(control))
        return isReturn;
    if (qobject_cast<const QComboBox*>(control))
        return isArrow || isLetter(key) || key == Qt::Key_Space;
    if (qobject_cast<const QAbstractButton*>(control))
        return key == Qt::Key_Space;
    if (qobject_cast<const QAbstractSlider*>(control) || qobject_cast<const QTabBar*>(control))
        return isArrow;
    if (qobject_cast<const QAbstractItemView*>(control))
        return isReturn || isArrow || isLetter(key);
    return false;
}

}

bool CommandRegistry::eventFilter(QObject* watched, QEvent* event)
{
    QWidget* popup = QApplication::activePopupWidget();
    if (event->type() == QEvent::ShortcutOverride && popup == nullptr
        && needs(watched, *static_cast<QKeyEvent*>(event))) {
        event->accept();
        return true;
    }
    if (event->type() != QEvent::ShortcutOverride || popup == nullptr || m_isPassedOn)
        return QObject::eventFilter(watched, event);
    // A pop-up's keys are its own. It must see this event: a combo's list takes Return by it.
    const QScopedValueRollback guard(m_isPassedOn, true);
    QCoreApplication::sendEvent(popup->focusWidget() ? popup->focusWidget() : popup, event);
    event->accept();
    return true;
}

void CommandRegistry::add(std::vector<Command> commands)
{
    items::assertGuiThread();
    for (Command& command : commands) {
        QAction* action = nullptr;
        if (!command.id.isEmpty()) {
            Q_ASSERT(!this->action(command.id));
            action = makeAction(command);
        }
        m_entries.push_back({ std::move(command), action });
        if (action)
            action->setToolTip(m_entries.back().toolTip());
    }
    refresh();
}

QAction* CommandRegistry::makeAction(const Command& command)
{
    auto* action = new QAction(command.text, this);
    action->setObjectName(QString::fromLatin1(command.id));
    if (!command.icon.isEmpty())
        action->setIcon(views::icon(QString::fromLatin1(command.icon)));
    action->setShortcut(command.shortcut);
    action->setShortcutContext(command.when.focus ? Qt::WidgetWithChildrenShortcut : Qt::WindowShortcut);
    action->setCheckable(static_cast<bool>(command.isChecked));
    action->setIconVisibleInMenu(!command.isChecked); // it would stand in the place of the tick
    (command.when.focus ? command.when.focus : m_window)->addAction(action);
    connect(action, &QAction::triggered, this, [this, run = command.run] {
        run();
        refresh();
    });
    return action;
}

QAction* CommandRegistry::action(const QByteArray& id) const
{
    const auto at
        = std::find_if(m_entries.begin(), m_entries.end(), [&](const Entry& entry) { return entry.command.id == id; });
    return at == m_entries.end() ? nullptr : at->action;
}

QString CommandRegistry::Entry::toolTip() const
{
    QString tip = words();
    if (!action->shortcut().isEmpty())
        tip = QStringLiteral("%1 (%2)").arg(tip, KeyChip::textOf(action->shortcut()));
    const QString why = command.when.whyNot && !action->isEnabled() ? command.when.whyNot() : QString();
    return why.isEmpty() ? tip : tip + u'\n' + why;
}

void CommandRegistry::refresh()
{
    items::assertGuiThread();
    for (const Entry& entry : m_entries) {
        const auto& [command, action] = entry;
        if (action && command.when.isEnabled)
            action->setEnabled(command.when.isEnabled());
        if (action && command.when.whyNot)
            action->setToolTip(entry.toolTip());
        if (action && command.isChecked)
            action->setChecked(command.isChecked());
    }
}

}
