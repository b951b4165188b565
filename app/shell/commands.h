// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "commandregistry.h"
#include "windowparts.h"

namespace telltale::shell {

/// Every command of the window, in the order of the menus. They keep `parts`. Thread: gui.
std::vector<Command> windowCommands(const WindowParts* parts);

}
