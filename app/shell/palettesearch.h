// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "commandpalette.h"
#include "windowparts.h"

namespace telltale::shell {

/// What the palette offers for a text: the step it names, commands that can be given now, modules. Thread: gui.
std::vector<CommandPalette::Entry> searchPalette(const WindowParts& parts, const QString& text, int limit);

}
