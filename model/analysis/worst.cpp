// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/worst.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include <telltale/analysis/deviation.h>
#include <telltale/analysis/heatrows.h>

namespace telltale::analysis {

namespace {

using series::CellState;
using Rows = series::RowIndex::Rows;

/// In the run's own order of modules, the ranks of each together: the earliest of one step is the source whatever its
/// rank.
Rows inModelOrder(const series::RowIndex& index, Kind kind, Stat stat)
{
    Rows rows = index.select(kind, {}, stat);
    std::vector<std::size_t> place(index.tensorCount(), SIZE_MAX);
    for (std::size_t i = 0; i < rows.size(); ++i)
        place[rows[i]->tensor] = std::min(place[rows[i]->tensor], i);
    std::stable_sort(rows.begin(), rows.end(), [&place](const auto* a, const auto* b) {
        return std::tie(place[a->tensor], a->rank) < std::tie(place[b->tensor], b->rank);
    });
    return rows;
}

struct Candidates {
    Rows rows;
    StepRange range;
};

/// The non-finite rows of the earliest column that has any, and that column's steps.
Candidates earliest(const series::HeatResult& heat, const Candidates& among)
{
    for (int column = 0; column < heat.columns; ++column) {
        Candidates hit;
        for (int row = 0; row < heat.rows; ++row) {
            if (isNonFinite(heat, row, column))
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

const WorstValue& WorstValue::worse(const WorstValue& a, const WorstValue& b)
{
    const auto rank = [](const WorstValue& v) {
        return std::make_tuple(v.known, v.isSource, v.isNonFinite(), v.isNonFinite() ? 0.0 : v.deviation);
    };
    return rank(b) > rank(a) ? b : a;
}

Expected<std::vector<WorstValue>> findWorst(store::RunReader& reader, const series::RowIndex& index, Kind kind,
    Stat stat, StepRange range, const series::CancelToken& cancel)
{
    std::vector<WorstValue> result(index.tensorCount());
    const Candidates all { inModelOrder(index, kind, stat), range };
    if (all.rows.empty() || range.isEmpty())
        return result;
    auto heat = readHeat(reader, all.rows, stat, range, kWorstColumns, cancel);
    if (!heat)
        return tl::unexpected(heat.error());

    std::vector<double> values;
    for (std::size_t row = 0; row < all.rows.size(); ++row) {
        WorstValue worst;
        values.clear();
        for (int column = 0; column < heat->columns; ++column) {
            const std::size_t cell = row * static_cast<std::size_t>(heat->columns) + static_cast<std::size_t>(column);
            const CellState state = heat->states[cell];
            if (state == CellState::Value)
                values.push_back(static_cast<double>(heat->values[cell]));
            if (series::isNonFinite(state))
                worst.nonFinite = std::max(worst.nonFinite, state);
            worst.known = worst.known || state >= CellState::Value;
        }
        worst.deviation = largestDeviation(values);
        worst.rank = all.rows[row]->rank;
        WorstValue& known = result[all.rows[row]->tensor];
        known = WorstValue::worse(known, worst);
    }

    Candidates source = earliest(*heat, all);
    while (!source.rows.empty() && source.range.count() > 1) {
        heat = readHeat(reader, source.rows, stat, source.range, kWorstColumns, cancel);
        if (!heat)
            return tl::unexpected(heat.error());
        const Candidates finer = earliest(*heat, source);
        if (finer.rows.empty() || finer.range.count() >= source.range.count())
            break;
        source = finer;
    }
    // Several may be the first at the same step. Where rows are in the order of execution the earliest row is the
    // source; elsewhere the step alone does not tell them apart, so none is singled out.
    if (kind == Kind::Actv && !source.rows.empty())
        source.rows.erase(source.rows.begin() + 1, source.rows.end());
    for (const series::RowIndex::Row* row : source.rows) {
        WorstValue& first = result[row->tensor];
        first.isSource = true;
        first.rank = row->rank;
        first.step = source.range.first;
    }
    return result;
}

void markOrigin(const series::RowIndex& index, const Onset& origin, std::vector<WorstValue>& worst)
{
    for (WorstValue& one : worst)
        one.isSource = false;
    for (std::uint32_t place = index.placeOfText(origin.row->tensor);; place = index.above(place)) {
        WorstValue& one = worst[place];
        one.known = one.isSource = true;
        if (!one.isNonFinite())
            one.nonFinite = series::CellState::NaN;
        one.step = origin.step;
        one.rank = origin.row->rank;
        if (index.above(place) == place)
            return;
    }
}

std::vector<WorstValue> worstOfNames(const series::RowIndex& index, std::span<const WorstValue> byTensor)
{
    std::vector<WorstValue> worst(index.names().size());
    for (std::uint32_t tensor = 0; tensor < byTensor.size(); ++tensor) {
        WorstValue& known = worst[index.placeOfText(tensor)];
        known = WorstValue::worse(known, byTensor[tensor]);
    }
    // A module stands before what is below it, so one pass backwards reaches every one above.
    for (auto place = static_cast<std::uint32_t>(worst.size()); place-- > 0;) {
        WorstValue& module = worst[index.above(place)];
        module = WorstValue::worse(module, worst[place]);
    }
    return worst;
}

}
