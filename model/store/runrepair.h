// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/progress.h>
#include <telltale/store/runlocator.h>

namespace telltale::store {

/// What a repaired run has no more. Thread: any (a value).
struct RepairReport {
    std::vector<std::string> lost; ///< one sentence each; empty = the run was whole
};

/// Writes everything of a run that can be read into a new file `to`, which is a whole run (verifyRun finds nothing) and
/// says in its log what it lacks. What cannot be read is not collected there: nothing is made up, and the counts of a
/// tensor's non-finite elements go only together with its values. The original stays as it is. Thread: any; blocks.
Expected<RepairReport> repairRun(const RunLocator& run, const std::string& to, const Progress& progress = {});

}
