// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace telltale::views {

class ViewBar;
class ViewState;

/// Says in the bar of a view that shows one run alone, while several are compared, that it does. Thread: gui.
void addOneRunNote(ViewBar* bar, const ViewState* state);

}
