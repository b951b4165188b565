// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "comparequery.h"

namespace telltale::views {

// The curves of several runs in one plot: of each row those of all runs together, the reference first. Thread: query.

/// A line a run: its color says which run, its dash which row.
std::vector<CurveSeries> linesOfRuns(const std::vector<ComparePart>& parts);
/// A row's runs as a band from the smallest to the largest, and the line of their median: runs that were repeated, with
/// other seeds.
std::vector<CurveSeries> bandsOfRuns(const std::vector<ComparePart>& parts);

}
