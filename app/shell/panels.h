// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include <QKeySequence>
#include <QSize>
#include <QString>

class QWidget;

namespace telltale::shell {

struct WindowParts;

/// A panel and the head that is its dock's title bar.
struct Panel {
    QWidget* widget = nullptr;
    QWidget* head = nullptr;
};

/// One dock: a row. The docks, their places, the Window menu, their keys and what a session restores are made from the
/// rows. Panels of one side stand above each other in the order of the rows, those at the bottom are tabs.
struct PanelFactory {
    const char* id; ///< "log": the dock's object name, in "window.log" and in the settings
    const char* name; ///< English; a user reads title()
    const char* icon;
    QKeyCombination shortcut; ///< Qt::Key_unknown: none
    Qt::DockWidgetArea area;
    QSize size; ///< at the first start
    bool isOpenAtFirst;
    bool needsRun; ///< has nothing to say before there is a run
    /// Makes the panel and connects it with the parts that it works with.
    Panel (*make)(const WindowParts& parts, QWidget* parent);

    QString title() const;
};

std::span<const PanelFactory> panelFactories();

}
