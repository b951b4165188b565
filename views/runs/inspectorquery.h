// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/series/query.h>
#include <telltale/store/runreader.h>

namespace telltale::views {

/// What the inspector asks: some tensors at one step in every statistic, one of them on every rank, and everything of
/// the module, each in one statistic. All in one question: what stands twice is the same.
struct InspectorQuery {
    struct One {
        series::RowAttempts row;
        Stat stat = Stat::Norm;
    };
    std::vector<series::RowAttempts> columns; ///< one a column of the table
    std::vector<series::RowAttempts> histograms; ///< beside them, for shares of number formats
    std::vector<Stat> stats;
    Step step;
    StepRange all; ///< where a last finite value is looked for
    std::vector<series::RowAttempts> ranks;
    Stat rankStat = Stat::Norm;
    std::vector<One> kinds;
};

struct LastFinite {
    double value = 0;
    Step step;
};

struct InspectorAnswer {
    std::vector<std::vector<series::CellValue>> values; ///< [stat][column]
    std::vector<std::vector<std::optional<LastFinite>>> lastFinite; ///< beside non-finite values
    std::vector<series::CellValue> ranks;
    std::vector<series::CellValue> kinds;
};

/// Thread: query. Cost: one column a statistic, a few curves of non-finite cells.
Expected<InspectorAnswer> answerInspector(
    store::RunReader& reader, const InspectorQuery& query, const series::CancelToken& cancel);

/// The newest finite sample at or before `step`, exact to the step.
Expected<std::optional<LastFinite>> findLastFinite(store::RunReader& reader, const series::RowAttempts& row, Stat stat,
    StepRange range, const series::CancelToken& cancel);

}
