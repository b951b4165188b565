// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace telltale::views {

class OverviewCanvas;

/// The plots with a bar beside them that scrolls by whole plots where there is no room for all. Thread: gui.
QWidget* scrolledPlots(OverviewCanvas* plots);

}
