// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <telltale/exchange/foreignrun.h>

namespace telltale::exchange {

/// What one file of several says. Thread: one.
struct TablePart {
    std::string file; ///< without its folder and ending
    std::string runId; ///< of a run of Telltale; empty: another tool's
    ForeignRun run;
};

/// Makes them one run: files that go on where others end, and files of other metrics, are of the same run. Where two of
/// other tools say different values of one metric and step, they are of several runs, and metrics are called by their
/// file, "FILE/METRIC".
Expected<void> joinParts(std::vector<TablePart>& parts, ForeignRun& run);

}
