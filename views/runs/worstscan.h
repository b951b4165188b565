// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/items/moduletree.h>
#include <telltale/series/query.h>
#include <telltale/store/runreader.h>

namespace telltale::views {

/// What to look through for worst values: rows in call order, several of which may have one name.
struct WorstQuery {
    std::vector<std::string> names;
    std::vector<series::RowAttempts> rows; ///< as long as `names`
    std::vector<Rank> ranks; ///< of the rows; empty where there is one rank
    bool isInExecutionOrder = false; ///< the forward pass runs through the rows from the first to the last
    Stat stat = Stat::Norm;
    StepRange range;
};

/// Each row in its own terms: the largest distance from its median in units of its MAD, over kColumns equal parts of
/// the range; and the strongest non-finite state. The earliest non-finite row (in call order, where several are in one
/// step) is the source. Thread: query. Cost: rows x kColumns, and a few refinements of the non-finite rows.
Expected<items::WorstByName> scanWorst(
    store::RunReader& reader, const WorstQuery& query, const series::CancelToken& cancel);

inline constexpr int kWorstColumns = 64;

/// Largest |x - median| / MAD of `values`; 0 for fewer than four. A series that hardly moves is measured against a
/// hundredth of its median instead, so that rounding is not an anomaly. Thread: any (pure).
double worstDeviation(std::vector<double> values);

}
