// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>

namespace telltale::views {

/// The line of the n-th compared run (0 is the one that is shown) as the curves have it, in whichever theme is in
/// force. Thread: gui.
QIcon runIcon(std::size_t run);

}
