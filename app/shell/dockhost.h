// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include <QDockWidget>
#include <QPointer>

class QMainWindow;

namespace telltale::shell {

struct PanelFactory;
struct WindowParts;

/// The docks: every row of panelFactories(). In a window narrower than 1240 px the panels of the right side become tabs
/// of the lowest one of the left; in the smallest ones there are the views alone. The only class that knows
/// QDockWidget. Thread: gui.
class DockHost : public QObject {
    Q_OBJECT
public:
    explicit DockHost(QMainWindow* window);

    void makePanels(const WindowParts& parts);
    /// The panel of a class; null when no row makes one.
    template <class T> T* panel() const
    {
        for (const Dock& dock : m_docks) {
            if (auto* panel = qobject_cast<T*>(dock.widget->widget()))
                return panel;
        }
        return nullptr;
    }
    template <class T> void show() { bringUp(panel<T>()); }
    /// Shows the panel of a row, with the focus in it, or hides one that can be seen.
    void toggle(const PanelFactory& row);
    bool isOpen(const PanelFactory& row) const;
    /// Hides what speaks of a run's values: before there is a run, and where a view needs the room. Brings it back.
    void setSpared(bool on);
    void resetLayout();
    /// Where it stands at first, with these panels open.
    void arrange(const QStringList& open);
    /// The window has another size: what has no room beside the views gives way.
    void resized(QSize size);
    /// Into the next or previous visible dock; the center comes after the last.
    void focusNext(QWidget* center, bool forward = true);
    QByteArray save() const;
    bool restore(const QByteArray& state);

Q_SIGNALS:
    void openChanged(); ///< a panel was shown or hidden

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Dock {
        const PanelFactory* row;
        QDockWidget* widget;
    };
    // A layout says by its version of what window it is: 1, and more for what it has no room for.
    static constexpr int kVersion = 1;
    static constexpr int kIsNarrow = 1;
    static constexpr int kIsShort = 2;
    static constexpr int kIsNarrowest = 4;
    static constexpr int kIsLowest = 8;

    QByteArray layoutNow() const;
    bool takeLayout(const QByteArray& layout); ///< and fits it to the window
    bool isSeen(const QDockWidget* dock) const;
    void place(const std::function<bool(const PanelFactory&)>& isOpen);
    QDockWidget* dockOf(const PanelFactory& row) const;
    void bringUp(QWidget* panel);
    void choose(QDockWidget* dock);
    void noteHeight(QDockWidget* dock);
    void giveHeightBack(QDockWidget* dock);
    void fitTabBars();
    void fitHeads();

    QMainWindow* m_window;
    std::vector<Dock> m_docks;
    void widthChanged(int width);
    void widenLeft();
    void heightChanged(int height);
    void closeWithoutRoom(QSize size);

    bool m_narrow = false;
    bool m_short = false;
    bool m_isNarrowest = false; ///< there is no room beside the views
    bool m_isLowest = false; ///< nor below them
    struct ViewHeight {
        QPointer<QWidget> views;
        int before = 0;
        int after = 0;
    };
    std::map<QDockWidget*, ViewHeight> m_viewHeights; ///< of those that are open, around when they opened
    std::set<QDockWidget*> m_closed; ///< until there is
    QByteArray m_wholeLayout; ///< before they were closed; empty: nothing was, or somebody has opened or closed others
    bool m_isSpared = false;
    QByteArray m_layout; ///< what comes back when they are no longer spared
};

}
