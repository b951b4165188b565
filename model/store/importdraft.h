// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include <telltale/core/expected.h>

namespace telltale::store {

// A run that is being made of something else lies in a folder of its own in the data directory, which is a data
// directory itself: nobody lists it, and it becomes a run by a rename (adoptRun). Thread: any; they block.

/// Makes the folder, and the data directory where it is missing.
Expected<std::string> makeDraft(const std::string& dataDir);
void removeDraft(const std::string& folder);
/// Those that a process that died has left. Needs the data directory's lock.
void clearDrafts(const std::string& dataDir);
/// A run is as old as what it was made of says; not while it is recorded. 0: nothing says it.
Expected<void> setCreated(const std::string& capsule, std::int64_t ns);

}
