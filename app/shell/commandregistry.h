// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QByteArray>
#include <QKeySequence>
#include <QObject>
#include <QString>

class QAction;
class QWidget;

namespace telltale::shell {

/// When a command can be given.
struct When {
    std::function<bool()> isEnabled = {}; ///< null: always
    QWidget* focus = nullptr; ///< its key works only inside: single keys that trees and fields need for themselves
    std::function<QString()> whyNot = {}; ///< in its tool tip while it cannot be given
};

/// One thing that a user can tell the window to do: a row. An empty id is a line between two parts of a menu.
struct Command {
    QByteArray id; ///< "view.follow": stable, for tests and settings
    QString menu; ///< the menu's title
    QString text;
    QByteArray icon;
    QKeySequence shortcut;
    When when;
    std::function<void()> run;
    std::function<bool()> isChecked = {}; ///< null: cannot be checked
};

/// Every command of the window, once: menus, tool buttons, the palette and the sheet of keys are all made from here.
/// Thread: gui.
class CommandRegistry : public QObject {
    Q_OBJECT
public:
    struct Entry {
        Command command;
        QAction* action = nullptr; ///< null for a line
        QString words() const { return plain(command.text); }
        QString toolTip() const;
    };
    /// Without mnemonic and dots.
    static QString plain(const QString& text);

    explicit CommandRegistry(QWidget* window);

    void add(std::vector<Command> commands);
    QAction* action(const QByteArray& id) const; ///< never null for an id that was added
    const std::vector<Entry>& all() const { return m_entries; }
    /// Asks every command again whether it is enabled and checked; to be called when what they look at has changed.
    void refresh();

protected:
    /// A list that drops down and a menu have their keys for themselves, and so have fields, lists and buttons.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QAction* makeAction(const Command& command);

    QWidget* m_window;
    bool m_isPassedOn = false; ///< to a pop-up, by eventFilter()
    std::vector<Entry> m_entries;
};

}
