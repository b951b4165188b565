// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/nonfinite.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <telltale/analysis/heatrows.h>

namespace telltale::analysis {

namespace {

using Rows = series::RowIndex::Rows;

constexpr std::int64_t kSearchColumns = 512;
constexpr std::int64_t kRankColumns = 64; ///< which steps does not matter, and coarse tiles know it

/// First row that begins to be non-finite in a column, -1 when none does.
int rowBeginning(const series::HeatResult& heat, int column)
{
    for (int row = 0; row < heat.rows; ++row) {
        if (isNonFinite(heat, row, column) && (column == 0 || !isNonFinite(heat, row, column - 1)))
            return row;
    }
    return -1;
}

/// Of `rows`, those that are non-finite in a column.
void keepNonFinite(Rows& rows, const series::HeatResult& heat)
{
    Rows kept;
    for (int row = 0; row < heat.rows; ++row) {
        bool isKept = false;
        for (int column = 0; column < heat.columns && !isKept; ++column)
            isKept = isNonFinite(heat, row, column);
        if (isKept)
            kept.push_back(rows[static_cast<std::size_t>(row)]);
    }
    rows = std::move(kept);
}

Expected<std::optional<Onset>> findIn(store::RunReader& reader, const Rows& rows, Stat stat, StepRange range,
    bool forward, const series::CancelToken& cancel)
{
    if (rows.empty() || range.count() < 2)
        return std::optional<Onset>();
    const auto heat = readHeat(reader, rows, stat, range, kSearchColumns, cancel);
    if (!heat)
        return tl::unexpected(heat.error());
    const std::int64_t columns = heat->columns;
    const bool isExact = columns == range.count();
    for (std::int64_t i = 0; i < columns; ++i) {
        const std::int64_t column = forward ? i : columns - 1 - i;
        const int row = rowBeginning(*heat, static_cast<int>(column));
        if (row < 0 || (isExact && column == 0))
            continue;
        const std::int64_t first = range.first.value + (column * range.count() + columns - 1) / columns;
        if (isExact)
            return std::optional(Onset { Step { first }, rows[static_cast<std::size_t>(row)] });
        const std::int64_t last = range.first.value + ((column + 1) * range.count() + columns - 1) / columns - 1;
        auto finer = findIn(
            reader, rows, stat, { Step { std::max(range.first.value, first - 1) }, Step { last } }, forward, cancel);
        if (!finer || *finer)
            return finer;
    }
    return std::optional<Onset>();
}

}

std::optional<Onset> findOnset(store::RunReader& reader, const series::RowIndex& index,
    std::span<const Quantity> quantities, StepRange range, bool forward, const series::CancelToken& cancel)
{
    std::optional<Onset> best;
    for (const Quantity& quantity : quantities) {
        Rows rows = index.select(quantity.kind);
        if (quantity.isNamed)
            std::erase_if(rows, [&](const auto* row) { return !quantity.isNamed(index.key(*row).name); });
        if (quantity.kind == Kind::ActvGrad)
            std::reverse(rows.begin(), rows.end());
        for (auto first = rows.begin(); first != rows.end();) {
            const auto end = first + std::min<std::ptrdiff_t>(rows.end() - first, kRowsAtOnce);
            const auto onset = findIn(reader, { first, end }, quantity.stat, range, forward, cancel);
            first = end;
            if (!onset || !*onset)
                continue;
            if (!best || (forward ? (*onset)->step < best->step : (*onset)->step > best->step))
                best = *onset;
        }
    }
    return best;
}

std::optional<Rank> lowestNonFiniteRank(store::RunReader& reader, const series::RowIndex& index,
    std::span<const Quantity> quantities, StepRange range, const series::CancelToken& cancel)
{
    std::optional<Rank> lowest;
    for (const Quantity& quantity : quantities) {
        const Rows rows = index.select(quantity.kind);
        const auto heat = rows.empty() ? Expected<series::HeatResult>()
                                       : readHeat(reader, rows, quantity.stat, range, kRankColumns, cancel);
        for (int row = 0; heat && row < heat->rows; ++row) {
            const Rank rank = rows[static_cast<std::size_t>(row)]->rank;
            for (int column = 0; column < heat->columns && (!lowest || rank < *lowest); ++column) {
                if (isNonFinite(*heat, row, column))
                    lowest = rank;
            }
        }
    }
    return lowest;
}

std::vector<Rank> NonFiniteRanks::at(Step step) const
{
    if (columns.empty() || !range.contains(step))
        return {};
    const std::int64_t column
        = (step.value - range.first.value) * static_cast<std::int64_t>(columns.size()) / range.count();
    return columns[static_cast<std::size_t>(column)];
}

Expected<NonFiniteRanks> findOtherRanks(store::RunReader& reader, const series::RowIndex& index, Quantity quantity,
    const std::vector<bool>& chosen, Rank rank, StepRange range, int pixels, const series::CancelToken& cancel)
{
    NonFiniteRanks found;
    found.range = range;
    if (range.isEmpty() || pixels <= 0)
        return found;
    std::map<Rank, Rows> rowsOf;
    for (const series::RowIndex::Row* row : index.select(quantity.kind, {}, quantity.stat)) {
        if (row->rank != rank && chosen[row->tensor])
            rowsOf[row->rank].push_back(row);
    }
    for (auto& [other, rows] : rowsOf) {
        // Few rows, or none: the coarse tiles say which, and the others need no finer look.
        if (pixels > kRankColumns && range.count() > kRankColumns) {
            const auto coarse = readHeat(reader, rows, quantity.stat, range, kRankColumns, cancel);
            if (!coarse)
                return tl::unexpected(coarse.error());
            keepNonFinite(rows, *coarse);
        }
        if (rows.empty())
            continue;
        const auto heat = readHeat(reader, rows, quantity.stat, range, pixels, cancel);
        if (!heat)
            return tl::unexpected(heat.error());
        found.columns.resize(std::max(found.columns.size(), static_cast<std::size_t>(heat->columns)));
        for (int row = 0; row < heat->rows; ++row) {
            for (int column = 0; column < heat->columns; ++column) {
                std::vector<Rank>& ranks = found.columns[static_cast<std::size_t>(column)];
                if (isNonFinite(*heat, row, column) && (ranks.empty() || ranks.back() != other))
                    ranks.push_back(other);
            }
        }
    }
    return found;
}

}
