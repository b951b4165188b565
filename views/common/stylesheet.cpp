// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme.h"

namespace telltale::views {

namespace {

// What Fusion cannot be told through a palette: flat bars, tabs, headers, menus, scroll bars. Controls are drawn by
// ThemeStyle. Colors are filled in by role name. Beside the padding of an item its words have 3 px more; around those
// of a tip it counts twice.
constexpr const char* kSheet = R"(
QToolTip { background: @raised; color: @text; border: 1px solid @controlBorder; padding: 1px 3px; }
QMainWindow::separator { background: @border; width: 1px; height: 1px; }
QSplitter::handle { background: @border; }
QMenuBar { background: @window; color: @text; padding: 0 4px; }
QMenuBar::item { padding: 6px 10px; background: transparent; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: @hover; }
QMenu { background: @raised; color: @text; border: 1px solid @controlBorder; padding: 4px 0; }
QMenu::item { padding: 5px 24px 5px 20px; }
QMenu::icon { padding-left: 10px; }
QMenu::indicator { left: 8px; }
QMenu::item:selected { background: @selection; }
QMenu::item:disabled { color: @text3; }
QMenu::separator { height: 1px; background: @border; margin: 4px 0; }
QToolBar { background: @window; border: 0; border-bottom: 1px solid @border; spacing: 8px; padding: 0 8px; }
QToolBar::separator { background: @border; width: 1px; margin: 8px 4px; }
QStatusBar { background: @window; color: @text2; border-top: 1px solid @border; }
QStatusBar::item { border: 0; }
QTabWidget::pane { border: 0; }
QTabBar { background: @window; }
QTabBar::tab { background: transparent; color: @text2; border: 0; border-bottom: 2px solid transparent; padding: 0 14px; height: 32px; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; background: @base; border-bottom: 2px solid @accent; }
QHeaderView { background: @window; border: 0; font-size: 11px; }
QHeaderView::section { background: @window; color: @text2; border: 0; border-bottom: 1px solid @border; padding: 0 8px; height: 22px; }
QHeaderView::section:first, QHeaderView::section:only-one { padding-left: 12px; }
QTreeView, QTableView, QListView { background: @base; border: 0; selection-background-color: @selection; selection-color: @text; }
QTreeView::item { height: 22px; border: 0; padding: 0 5px; }
QTreeView::item:first, QTreeView::item:only-one { padding-left: 1px; }
QTreeView[rootIsDecorated="false"]::item:first, QTreeView[rootIsDecorated="false"]::item:only-one { padding-left: 9px; }
QTreeView::item:hover, QListView::item:hover { background: @hover; }
QTreeView::item:selected, QListView::item:selected { background: @selection; }
QComboBox QAbstractItemView { background: @raised; color: @text; border: 1px solid @controlBorder; padding: 3px 0; outline: 0; }
QComboBox QAbstractItemView::item { height: 22px; padding: 0 8px; border: 0; }
QComboBox QAbstractItemView::item:selected { background: @selection; color: @text; }
#compareChooser { background: @raised; border: 1px solid @controlBorder; }
#compareChooser QListView { background: @raised; }
#scrollBarCap { background: @window; border: 0; border-bottom: 1px solid @border; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @strong; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 24px; }
QScrollBar::handle:horizontal { min-width: 24px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
)";

}

QString Theme::styleSheet() const
{
    QString sheet = QLatin1String(kSheet);
    // Longer names first, because "@text" is a prefix of "@text2".
    const std::pair<const char*, QColor> roles[]
        = { { "@controlBorder", controlBorder }, { "@selection", selection }, { "@window", window },
              { "@raised", raised }, { "@border", border }, { "@strong", strong }, { "@accent", accent },
              { "@hover", hover }, { "@text2", text2 }, { "@text3", text3 }, { "@text", text }, { "@base", base } };
    for (const auto& [name, color] : roles)
        sheet.replace(QLatin1String(name), color.name());
    return sheet;
}

}
