// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QObject>

class QAction;
class QDockWidget;
class QMainWindow;

namespace telltale::views {
class PanelHead;
}

namespace telltale::shell {

/// The docks: Runs and Modules left, Inspector right, Connections and Log at the bottom. In a window narrower than 1120
/// px the inspector becomes a tab of Modules. The only file that knows QDockWidget. Thread: gui.
class DockHost : public QObject {
    Q_OBJECT
public:
    explicit DockHost(QMainWindow* window);

    enum Place { Runs, Modules, Inspector, Connections, Log, PlaceCount };
    void add(Place place, const QString& title, QWidget* panel, views::PanelHead* head);
    QAction* toggleAction(Place place) const;
    QWidget* panel(Place place) const;
    void show(Place place);
    /// Inspector, Connections and Log have nothing to say before there is a run.
    void setWelcoming(bool on);
    void resetLayout();
    void widthChanged(int width);
    /// Into the next visible dock, or the centre after the last.
    void focusNext(QWidget* centre);
    QByteArray save() const;
    bool restore(const QByteArray& state);

private:
    static constexpr int kVersion = 1;

    QMainWindow* m_window;
    QDockWidget* m_docks[PlaceCount] = {};
    bool m_narrow = false;
    bool m_welcoming = false;
    QByteArray m_layout; ///< what comes back when the welcome page goes
};

}
