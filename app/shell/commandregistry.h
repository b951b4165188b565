// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QKeySequence>
#include <QObject>
#include <QString>

class QAction;
class QWidget;

namespace telltale::shell {

/// Every command of the window, once: menus, tool buttons, the palette and the sheet of keys are all made from here.
/// Thread: gui.
class CommandRegistry : public QObject {
    Q_OBJECT
public:
    struct Command {
        QString id; ///< "view.follow": stable, for tests and settings
        QString group; ///< the menu's title, for the sheet of keys
        QAction* action = nullptr;
    };

    explicit CommandRegistry(QWidget* window);

    /// Where a shortcut works: in the whole window, or only while the focus is inside `scope` (single keys that trees,
    /// buttons and fields need for themselves).
    QAction* add(const QString& id, const QString& group, const QString& text, const QString& iconName,
        const QKeySequence& shortcut, std::function<void()> run, QWidget* scope = nullptr);
    QAction* action(const QString& id) const; ///< never null for an id that was added
    const std::vector<Command>& all() const { return m_commands; }

private:
    QWidget* m_window;
    std::vector<Command> m_commands;
};

}
