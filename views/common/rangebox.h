// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace telltale::views {

class ViewBar;
class ViewState;

/// Puts a combo into `bar` that chooses which steps are seen, the whole run or its newest ones, and that says what is
/// seen: neither, once something else was zoomed to. Thread: gui.
void addRangeBox(ViewBar* bar, const QString& label, const QString& objectName, ViewState* state);

}
