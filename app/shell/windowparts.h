// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/common/dataview.h>

#include "appcontext.h"

class QMainWindow;
class QUndoStack;

namespace telltale::shell {

class ArchiveActions;
class CommandPalette;
class CommandRegistry;
class DockHost;
class Imports;
class Layouts;
class LogFeed;
class NonFiniteJump;
class Notes;
class RunActions;
class RunDriver;
class Session;
class Toaster;
class ViewExport;
class ViewTabs;

/// What a panel or a command may work with: the parts of one window. A value; the window owns what it points to.
/// Thread: gui.
struct WindowParts {
    AppContext context;
    views::ViewContext views; ///< state, axis and queries, which all views and panels share
    QMainWindow* window = nullptr;
    Session* session = nullptr;
    RunDriver* driver = nullptr;
    CommandRegistry* commands = nullptr;
    CommandPalette* palette = nullptr;
    Toaster* toaster = nullptr;
    DockHost* docks = nullptr;
    ViewTabs* tabs = nullptr;
    ViewExport* exporter = nullptr;
    RunActions* runActions = nullptr;
    ArchiveActions* archive = nullptr;
    Imports* imports = nullptr;
    LogFeed* log = nullptr;
    NonFiniteJump* jump = nullptr;
    QUndoStack* undo = nullptr; ///< of what changes nothing but what is selected and noted
    Notes* notes = nullptr;
    Layouts* layouts = nullptr;
    std::vector<std::pair<QString, std::function<void()>>> choices = {}; ///< "Theme: Dark", and what chooses it
};

}
