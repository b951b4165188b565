// SPDX-License-Identifier: GPL-3.0-or-later
#include "commandregistry.h"

#include <algorithm>

#include <QAction>
#include <QWidget>

#include <telltale/common/theme.h>

namespace telltale::shell {

CommandRegistry::CommandRegistry(QWidget* window)
    : QObject(window)
    , m_window(window)
{
}

QAction* CommandRegistry::add(const QString& id, const QString& group, const QString& text, const QString& iconName,
    const QKeySequence& shortcut, std::function<void()> run, QWidget* scope)
{
    Q_ASSERT(!action(id));
    auto* action = new QAction(text, this);
    action->setObjectName(id);
    if (!iconName.isEmpty())
        action->setIcon(views::icon(iconName));
    QString plain = text;
    plain.remove(u'&').remove(QChar(0x2026));
    if (!shortcut.isEmpty()) {
        action->setShortcut(shortcut);
        action->setToolTip(QStringLiteral("%1 (%2)").arg(plain, shortcut.toString(QKeySequence::NativeText)));
    } else {
        action->setToolTip(plain);
    }
    action->setShortcutContext(scope ? Qt::WidgetWithChildrenShortcut : Qt::WindowShortcut);
    (scope ? scope : m_window)->addAction(action);
    connect(action, &QAction::triggered, this, std::move(run));
    m_commands.push_back({ id, group, action });
    return action;
}

QAction* CommandRegistry::action(const QString& id) const
{
    const auto at = std::find_if(m_commands.begin(), m_commands.end(), [&](const Command& c) { return c.id == id; });
    return at == m_commands.end() ? nullptr : at->action;
}

}
