// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/core/kinds.h>

class QComboBox;

namespace telltale::views {

class ViewState;

/// Puts the ranks that have a kind of the shown run into a combo, the chosen one current; nobody is told that it
/// changed. Thread: gui.
void fillRankBox(QComboBox* box, const ViewState& state, Kind kind);

}
