// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/store/progress.h>
#include <telltale/store/runlocator.h>

namespace telltale::store {

/// What of a run is kept. Thread: any (a value).
struct ThinRule {
    std::int64_t every = 2; ///< one collected step of so many: the first of each multiple
    std::vector<StepRange> whole; ///< steps of which all are kept
};

/// What was done. Steps are counted for every sort of data of every rank by itself. Thread: any (a value).
struct ThinReport {
    std::uint64_t stepsBefore = 0;
    std::uint64_t stepsAfter = 0;
    std::uint64_t bytesBefore = 0;
    std::uint64_t bytesAfter = 0;
};

/// Writes a run with fewer steps into a new file `to`: log, documents and lists are whole, the first and the newest
/// step of everything stays, and the log says what was done. The original stays as it is. Busy while it is recorded,
/// Damaged where it cannot be read in full. Thread: any; blocks.
Expected<ThinReport> thinRun(
    const RunLocator& run, const std::string& to, const ThinRule& rule, const Progress& progress = {});

}
