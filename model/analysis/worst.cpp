// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/worst.h>

#include <algorithm>
#include <cstdint>
#include <span>
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

/// Rows of which some are not finite, and the steps in which they first are.
struct Candidates {
    Rows rows;
    StepRange range;
};

/// Finds, row after row, those that are not finite in the earliest column that has any.
class Earliest {
public:
    void take(const series::RowIndex::Row* row, std::span<const CellState> states)
    {
        const auto end = states.begin() + std::min<std::ptrdiff_t>(m_column + 1, std::ssize(states));
        const auto at = std::find_if(states.begin(), end, [](CellState state) { return series::isNonFinite(state); });
        if (at == end)
            return;
        if (at - states.begin() < m_column)
            m_rows.clear();
        m_column = at - states.begin();
        m_columns = std::ssize(states);
        m_rows.push_back(row);
    }
    Candidates of(StepRange range) &&
    {
        if (m_rows.empty())
            return {};
        const std::int64_t count = range.count();
        const std::int64_t first = range.first.value + count * m_column / m_columns;
        const std::int64_t end = range.first.value + (count * (m_column + 1) + m_columns - 1) / m_columns;
        return { std::move(m_rows), { Step { first }, Step { std::min(end - 1, range.last.value) } } };
    }

private:
    Rows m_rows;
    std::ptrdiff_t m_column = kWorstColumns; ///< theirs
    std::ptrdiff_t m_columns = 0; ///< of all
};

/// Where some were counted, the step is not finite, as all other statistics of the series say.
void markCounted(Stat stat, series::HeatResult& heat)
{
    const CellState state = stat == Stat::Nans ? CellState::NaN
        : stat == Stat::PosInfs                ? CellState::PosInf
                                               : CellState::NegInf;
    for (std::size_t i = 0; i < heat.states.size(); ++i) {
        if (heat.states[i] == CellState::Value && heat.values[i] > 0)
            heat.states[i] = state;
    }
}

/// Calls take(row, its states, its values) of every one.
template <typename Take>
Expected<void> readEach(store::RunReader& reader, std::span<const series::RowIndex::Row* const> rows, Stat stat,
    StepRange range, const series::CancelToken& cancel, const Take& take)
{
    while (!rows.empty()) {
        const auto some = rows.first(std::min<std::size_t>(rows.size(), kRowsAtOnce));
        auto heat = readHeat(reader, { some.begin(), some.end() }, stat, range, kWorstColumns, cancel);
        if (!heat)
            return tl::unexpected(heat.error());
        if (isNonFiniteCount(stat))
            markCounted(stat, *heat);
        const auto columns = static_cast<std::size_t>(heat->columns);
        for (std::size_t i = 0; i < some.size(); ++i)
            take(some[i], std::span(heat->states).subspan(i * columns, columns),
                std::span(heat->values).subspan(i * columns, columns));
        rows = rows.subspan(some.size());
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
    const Rows all = inModelOrder(index, kind, stat);
    if (all.empty() || range.isEmpty())
        return result;
    Earliest earliest;
    std::vector<double> values;
    const auto take
        = [&](const series::RowIndex::Row* row, std::span<const CellState> states, std::span<const float> cells) {
              WorstValue worst;
              values.clear();
              for (std::size_t column = 0; column < states.size(); ++column) {
                  const CellState state = states[column];
                  if (state == CellState::Value)
                      values.push_back(static_cast<double>(cells[column]));
                  if (series::isNonFinite(state))
                      worst.nonFinite = std::max(worst.nonFinite, state);
                  worst.known = worst.known || state >= CellState::Value;
              }
              worst.deviation = largestDeviation(values);
              worst.rank = row->rank;
              WorstValue& known = result[row->tensor];
              known = WorstValue::worse(known, worst);
              earliest.take(row, states);
          };
    if (auto read = readEach(reader, all, stat, range, cancel, take); !read)
        return tl::unexpected(read.error());

    Candidates source = std::move(earliest).of(range);
    while (!source.rows.empty() && source.range.count() > 1) {
        Earliest finest;
        const auto narrow = [&finest](const series::RowIndex::Row* row, std::span<const CellState> states, auto&&) {
            finest.take(row, states);
        };
        if (auto read = readEach(reader, source.rows, stat, source.range, cancel, narrow); !read)
            return tl::unexpected(read.error());
        Candidates finer = std::move(finest).of(source.range);
        if (finer.rows.empty() || finer.range.count() >= source.range.count())
            break;
        source = std::move(finer);
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
