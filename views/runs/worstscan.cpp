// SPDX-License-Identifier: GPL-3.0-or-later
#include "worstscan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace telltale::views {

namespace {

using series::CellState;

double medianOf(std::vector<double>& values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

struct Candidates {
    std::vector<std::size_t> rows; ///< into the query
    StepRange range;
};

/// The non-finite rows of the earliest column that has any, and that column's steps.
Candidates earliest(const series::HeatResult& heat, const Candidates& among)
{
    for (int column = 0; column < heat.columns; ++column) {
        Candidates hit;
        for (int row = 0; row < heat.rows; ++row) {
            if (heat.states[static_cast<std::size_t>(row * heat.columns + column)] >= CellState::NegInf)
                hit.rows.push_back(among.rows[static_cast<std::size_t>(row)]);
        }
        if (hit.rows.empty())
            continue;
        const std::int64_t count = among.range.count();
        const std::int64_t first = among.range.first.value + count * column / heat.columns;
        const std::int64_t end = among.range.first.value + (count * (column + 1) + heat.columns - 1) / heat.columns;
        hit.range = { Step { first }, Step { std::min(end - 1, among.range.last.value) } };
        return hit;
    }
    return {};
}

}

double worstDeviation(std::vector<double> values)
{
    if (values.size() < 4)
        return 0;
    const double median = medianOf(values);
    for (double& value : values)
        value = std::abs(value - median);
    const double worst = *std::max_element(values.begin(), values.end());
    const double mad = std::max(medianOf(values), std::abs(median) * 0.01);
    return mad > 0 ? worst / mad : 0;
}

Expected<items::WorstByName> scanWorst(
    store::RunReader& reader, const WorstQuery& query, const series::CancelToken& cancel)
{
    items::WorstByName result;
    if (query.rows.empty() || query.range.isEmpty())
        return result;
    const int columns = static_cast<int>(std::min<std::int64_t>(kWorstColumns, query.range.count()));
    Expected<series::HeatResult> heat = reader.heatmap({ query.rows, query.stat, query.range, columns }, cancel);
    if (!heat)
        return tl::unexpected(heat.error());

    Candidates all;
    all.range = query.range;
    std::vector<double> values;
    for (std::size_t row = 0; row < query.rows.size(); ++row) {
        all.rows.push_back(row);
        items::WorstValue worst;
        values.clear();
        for (int column = 0; column < heat->columns; ++column) {
            const std::size_t cell = row * static_cast<std::size_t>(heat->columns) + static_cast<std::size_t>(column);
            const CellState state = heat->states[cell];
            if (state == CellState::Value)
                values.push_back(static_cast<double>(heat->values[cell]));
            if (state >= CellState::NegInf)
                worst.nonFinite = std::max(worst.nonFinite, state);
            worst.known = worst.known || state >= CellState::Value;
        }
        worst.deviation = worstDeviation(values);
        worst.rank = row < query.ranks.size() ? query.ranks[row] : Rank { -1 };
        items::WorstValue& known = result[query.names[row]];
        known = items::WorstValue::worse(known, worst);
    }

    Candidates source = earliest(*heat, all);
    while (!source.rows.empty() && source.range.count() > 1) {
        std::vector<series::RowAttempts> rows;
        for (const std::size_t row : source.rows)
            rows.push_back(query.rows[row]);
        const int pixels = static_cast<int>(std::min<std::int64_t>(kWorstColumns, source.range.count()));
        heat = reader.heatmap({ std::move(rows), query.stat, source.range, pixels }, cancel);
        if (!heat)
            return tl::unexpected(heat.error());
        const Candidates finer = earliest(*heat, source);
        if (finer.rows.empty() || finer.range.count() >= source.range.count())
            break;
        source = finer;
    }
    // Several may be the first at the same step. Where rows are in the order of execution the earliest row is the
    // source; elsewhere the step alone does not tell them apart, so none is singled out.
    if (query.isInExecutionOrder && !source.rows.empty())
        source.rows.erase(source.rows.begin() + 1, source.rows.end());
    for (const std::size_t row : source.rows) {
        items::WorstValue& first = result[query.names[row]];
        first.isSource = true;
        first.rank = row < query.ranks.size() ? query.ranks[row] : Rank { -1 };
        first.step = source.range.first;
    }
    return result;
}

}
