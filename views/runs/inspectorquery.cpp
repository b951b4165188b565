// SPDX-License-Identifier: GPL-3.0-or-later
#include "inspectorquery.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include <telltale/core/numberformats.h>

namespace telltale::views {

using series::CellState;

Expected<std::optional<LastFinite>> findLastFinite(store::RunReader& reader, const series::RowAttempts& row, Stat stat,
    StepRange range, const series::CancelToken& cancel)
{
    constexpr std::int64_t kBuckets = 256;
    if (range.isEmpty())
        return std::optional<LastFinite>();
    const std::int64_t buckets = std::min(kBuckets, range.count());
    const auto curve = reader.curve({ row, stat, range, static_cast<int>(buckets) }, cancel);
    if (!curve)
        return tl::unexpected(curve.error());
    for (std::int64_t at = static_cast<std::int64_t>(curve->buckets.size()) - 1; at >= 0; --at) {
        const series::Bucket& bucket = curve->buckets[static_cast<std::size_t>(at)];
        // A sample may count as NaN and as Inf, so only the largest of the counts bounds the clean ones.
        const bool mayBeClean
            = bucket.finite > 0 && bucket.samples > std::max({ bucket.nans, bucket.posInfs, bucket.negInfs });
        if (!mayBeClean)
            continue;
        const Step first { range.first.value + range.count() * at / buckets };
        const Step last { std::min(
            range.first.value + (range.count() * (at + 1) + buckets - 1) / buckets - 1, range.last.value) };
        if (first == last) {
            if (bucket.state == CellState::Value)
                return std::optional(LastFinite { bucket.last, last });
            continue;
        }
        if (last.value - first.value + 1 >= range.count())
            break;
        auto finer = findLastFinite(reader, row, stat, { first, last }, cancel);
        if (!finer || *finer)
            return finer;
    }
    return std::optional<LastFinite>();
}

Expected<InspectorAnswer> answerInspector(
    store::RunReader& reader, const InspectorQuery& query, const series::CancelToken& cancel)
{
    InspectorAnswer answer;
    for (const Stat stat : query.stats) {
        const auto& rows = isFormatShare(stat) ? query.histograms : query.columns;
        auto column = reader.column(query.step, stat, rows, true);
        if (!column)
            return tl::unexpected(column.error());
        std::vector<std::optional<LastFinite>> finite(column->size());
        for (std::size_t i = 0; i < column->size(); ++i) {
            if ((*column)[i].state < CellState::NegInf)
                continue;
            auto last = findLastFinite(reader, rows[i], stat, { query.all.first, query.step }, cancel);
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
    std::map<Stat, std::vector<std::size_t>> byStat;
    for (std::size_t i = 0; i < query.kinds.size(); ++i)
        byStat[query.kinds[i].stat].push_back(i);
    answer.kinds.resize(query.kinds.size());
    for (const auto& [stat, places] : byStat) {
        std::vector<series::RowAttempts> rows;
        rows.reserve(places.size());
        for (const std::size_t place : places)
            rows.push_back(query.kinds[place].row);
        const auto column = reader.column(query.step, stat, rows, true);
        for (std::size_t i = 0; column && i < places.size(); ++i)
            answer.kinds[places[i]] = (*column)[i];
    }
    return answer;
}

}
