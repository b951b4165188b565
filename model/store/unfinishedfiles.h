// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace telltale::store {

/// Ends what a process that died had begun: capsules that never came into being go, and one that was on its way into or
/// out of WAL mode goes back to where it was (readers cannot do that, and would find it locked).
/// Needs the data directory's lock. Cost: a look at the folder. Thread: any.
void clearUnfinishedFiles(const std::string& dataDir);

}
