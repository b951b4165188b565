// SPDX-License-Identifier: GPL-3.0-or-later
#include "inspectorquery.h"

#include <algorithm>
#include <cstdint>

namespace telltale::views {

using series::CellState;
using series::CellValue;

Expected<std::optional<LastFinite>> findLastFinite(store::RunReader& reader, const series::RowAttempts& row, Stat stat,
    StepRange range, const series::CancelToken& cancel)
{
    constexpr std::int64_t kBuckets = 256;
    std::optional<LastFinite> found;
    while (!range.isEmpty()) {
        const std::int64_t buckets = std::min(kBuckets, range.count());
        const auto curve = reader.curve({ row, stat, range, static_cast<int>(buckets) }, cancel);
        if (!curve)
            return tl::unexpected(curve.error());
        std::int64_t at = static_cast<std::int64_t>(curve->buckets.size()) - 1;
        while (at >= 0 && curve->buckets[static_cast<std::size_t>(at)].finite == 0)
            --at;
        if (at < 0)
            return found;
        const std::int64_t first = range.first.value + range.count() * at / buckets;
        const std::int64_t last = range.first.value + (range.count() * (at + 1) + buckets - 1) / buckets - 1;
        const StepRange finer { Step { first }, Step { std::min(last, range.last.value) } };
        found = LastFinite { curve->buckets[static_cast<std::size_t>(at)].last, finer.last };
        if (finer.count() <= 1 || finer.count() >= range.count())
            return found;
        range = finer;
    }
    return found;
}

Expected<InspectorAnswer> answerInspector(
    store::RunReader& reader, const InspectorQuery& query, const series::CancelToken& cancel)
{
    InspectorAnswer answer;
    for (const Stat stat : query.stats) {
        auto column = reader.column(query.step, stat, query.columns, true);
        if (!column)
            return tl::unexpected(column.error());
        std::vector<std::optional<LastFinite>> finite(column->size());
        for (std::size_t i = 0; i < column->size(); ++i) {
            if ((*column)[i].state < CellState::NegInf)
                continue;
            auto last = findLastFinite(reader, query.columns[i], stat, { query.all.first, query.step }, cancel);
            if (!last)
                return tl::unexpected(last.error());
            finite[i] = *last;
        }
        answer.values.push_back(std::move(*column));
        answer.lastFinite.push_back(std::move(finite));
    }
    if (!query.ranks.empty()) {
        auto ranks = reader.column(query.step, query.rankStat, query.ranks, true);
        if (!ranks)
            return tl::unexpected(ranks.error());
        answer.ranks = std::move(*ranks);
    }
    // A run without stacks is the ordinary case, not an error.
    if (auto stack = reader.blob("stack", query.module, query.step))
        answer.stack = std::move(*stack);
    return answer;
}

}
