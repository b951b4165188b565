// SPDX-License-Identifier: GPL-3.0-or-later
#include "alignment.h"

#include <algorithm>
#include <cmath>

#include <telltale/common/rowlist.h>
#include <telltale/plot/curvepicture.h>
#include <telltale/plot/curvequery.h>
#include <telltale/plot/rankcurves.h>

namespace telltale::views {

using series::CellState;

namespace {

constexpr int kPoints = 4096; ///< between which all is straight

int placeIn(StepRange range, int count, Step step)
{
    return static_cast<int>((step.value - range.first.value) * count / range.count());
}

/// Where the steps of a column lie in an answer of `count` buckets; {0, -1} where nowhere.
std::pair<int, int> bucketsOf(StepRange steps, StepRange range, int count)
{
    if (steps.isEmpty() || range.isEmpty() || count == 0 || steps.first < range.first || range.last < steps.last)
        return { 0, -1 };
    return { placeIn(range, count, steps.first), placeIn(range, count, steps.last) };
}

bool isStronger(series::Reduction reduction, float value, float than)
{
    return reduction == series::Reduction::Smallest ? value < than : std::abs(value) > std::abs(than);
}

}

Expected<Progress> Progress::read(store::RunReader& reader, const store::Catalog& catalog, XAxis axis, Rank preferred,
    StepRange range, const series::CancelToken& cancel)
{
    RowWish wish;
    wish.kind = Kind::Scalar;
    wish.only = { { scalarOf(axis), {} } };
    std::vector<Row> rows = buildRows(catalog, wish);
    std::stable_partition(rows.begin(), rows.end(), [&](const Row& row) { return row.rank == preferred; });
    Progress progress;
    if (rows.empty() || range.isEmpty())
        return progress;
    series::CurveQuery query;
    query.row = rows.front().attempts;
    query.stat = Stat::Value;
    // Time counts from the run's own first step, wherever the question begins.
    double origin = 0;
    if (axis == XAxis::Time) {
        const auto start = readStart(reader, query.row, catalog.steps, cancel);
        if (!start)
            return tl::unexpected(start.error());
        if (!*start)
            return progress;
        origin = **start;
    }
    query.range = range;
    query.pixels = static_cast<int>(std::min<std::int64_t>(range.count(), kPoints));
    const auto curve = reader.curve(query, cancel);
    if (!curve)
        return tl::unexpected(curve.error());
    for (int i = 0; i < static_cast<int>(curve->buckets.size()); ++i) {
        const series::Bucket& bucket = curve->buckets[static_cast<std::size_t>(i)];
        const Point point { static_cast<double>(stepsOf(*curve, i).last.value), bucket.last - origin };
        // One that falls back was counted anew: what it had seen before stays seen.
        if (bucket.finite > 0 && (progress.m_points.empty() || point.quantity > progress.m_points.back().quantity))
            progress.m_points.push_back(point);
    }
    return progress;
}

double Progress::at(Step step) const
{
    const auto wanted = static_cast<double>(step.value);
    auto right = std::lower_bound(
        m_points.begin(), m_points.end(), wanted, [](const Point& point, double value) { return point.step < value; });
    right = std::clamp(right, m_points.begin() + 1, m_points.end() - 1);
    const Point& to = *right;
    const Point& from = *(right - 1);
    return from.quantity + (wanted - from.step) * (to.quantity - from.quantity) / (to.step - from.step);
}

std::optional<Step> Progress::stepAt(double quantity) const
{
    auto right = std::lower_bound(m_points.begin(), m_points.end(), quantity,
        [](const Point& point, double value) { return point.quantity < value; });
    right = std::clamp(right, m_points.begin() + 1, m_points.end() - 1);
    const Point& to = *right;
    const Point& from = *(right - 1);
    const double step = from.step + (quantity - from.quantity) * (to.step - from.step) / (to.quantity - from.quantity);
    // Half a step beyond the ends is still the nearest one.
    if (step < m_points.front().step - 0.5 || step > m_points.back().step + 0.5)
        return std::nullopt;
    return Step { std::llround(std::clamp(step, m_points.front().step, m_points.back().step)) };
}

StepRange hullOf(const StepColumns& columns)
{
    StepRange hull;
    for (const StepRange& steps : columns) {
        if (!steps.isEmpty())
            hull = hull.isEmpty() ? steps
                                  : StepRange { std::min(hull.first, steps.first), std::max(hull.last, steps.last) };
    }
    return hull;
}

series::HeatResult movedTo(const StepColumns& columns, StepRange range, const series::HeatResult& result)
{
    series::HeatResult moved;
    moved.range = range;
    moved.rows = result.rows;
    moved.columns = static_cast<int>(columns.size());
    moved.reduction = result.reduction;
    moved.level = result.level;
    const std::size_t count = static_cast<std::size_t>(moved.rows) * columns.size();
    moved.values.assign(count, 0);
    moved.states.assign(count, CellState::NotCollected);
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto [first, last] = bucketsOf(columns[c], result.range, result.columns);
        for (int row = 0; row < result.rows; ++row) {
            const std::size_t to = static_cast<std::size_t>(row) * columns.size() + c;
            double sum = 0;
            int values = 0;
            for (int from = first; from <= last; ++from) {
                const std::size_t at = static_cast<std::size_t>(row) * static_cast<std::size_t>(result.columns)
                    + static_cast<std::size_t>(from);
                const CellState state = result.states[at];
                const float value = result.values[at];
                if (state > moved.states[to]
                    || (state == CellState::Value && moved.states[to] == CellState::Value
                        && isStronger(result.reduction, value, moved.values[to]))) {
                    moved.states[to] = state;
                    moved.values[to] = value;
                }
                sum += state == CellState::Value ? static_cast<double>(value) : 0;
                values += state == CellState::Value ? 1 : 0;
            }
            const bool isMean = result.reduction == series::Reduction::Mean;
            if (moved.states[to] == CellState::Value && values > 1
                && (isMean || result.reduction == series::Reduction::Sum))
                moved.values[to] = static_cast<float>(isMean ? sum / values : sum);
        }
    }
    return moved;
}

series::CurveResult movedTo(const StepColumns& columns, StepRange range, const series::CurveResult& result)
{
    series::CurveResult moved;
    moved.range = range;
    moved.level = result.level;
    moved.exact = result.exact;
    moved.buckets.resize(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto [first, last] = bucketsOf(columns[c], result.range, static_cast<int>(result.buckets.size()));
        std::vector<series::Bucket> together(1);
        for (int from = first; from <= last; ++from)
            widen(together, { result.buckets[static_cast<std::size_t>(from)] });
        moved.buckets[c] = together.front();
    }
    return moved;
}

}
