// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace telltale::views {

/// Where `first` is the focus proxy of what `parts` stand in: Tab comes to that, which hands it on, and would pass over
/// what stands before its proxy. Puts the stops in `parts` behind it, in their order. Thread: gui.
void tabFrom(QWidget* first, const QWidget* parts);

}
