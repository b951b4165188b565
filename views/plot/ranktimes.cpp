// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranktimes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <telltale/common/rowlist.h>
#include <telltale/judge/scalarrole.h>

#include "curvequery.h"

namespace telltale::views {
namespace {

constexpr double kSlow = 1.05;

/// 3: computing alone, in time of the processor, which other work on the machine does not lengthen; 2: computing alone;
/// 1: a whole step, for which all ranks wait; 0: something else.
int rateOf(const QString& name)
{
    const std::string word = name.toStdString();
    if (judge::scalarRoleOf(word) == judge::ScalarRole::ComputeTime)
        return name.contains(QLatin1String("cpu"), Qt::CaseInsensitive) ? 3 : 2;
    const bool isStep = name.contains(QLatin1String("step"), Qt::CaseInsensitive);
    const bool isRate = name.contains(QLatin1String("per_s")) || name.contains(QLatin1String("/s"));
    return isStep && !isRate && judge::isTiming(word) ? 1 : 0;
}

double quantile(const std::vector<double>& sorted, double share)
{
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double next = sorted[std::min(below + 1, sorted.size() - 1)];
    return sorted[below] + (next - sorted[below]) * (place - std::floor(place));
}

void markSlow(std::vector<RankTimes::Box>& boxes)
{
    std::vector<double> medians;
    medians.reserve(boxes.size());
    for (const RankTimes::Box& box : boxes)
        medians.push_back(box.median);
    std::sort(medians.begin(), medians.end());
    if (medians.size() < 3)
        return; // of two nobody knows which is slow
    const std::size_t others = medians.size() - 1;
    for (RankTimes::Box& box : boxes) {
        const auto own
            = static_cast<std::size_t>(std::lower_bound(medians.begin(), medians.end(), box.median) - medians.begin());
        const auto other = [&](std::size_t i) { return medians[i < own ? i : i + 1]; }; // the i-th of the others
        const double usual = (other((others - 1) / 2) + other(others / 2)) / 2;
        box.isSlow = box.median > kSlow * usual && box.quarter > usual;
    }
}

}

std::vector<double> thinned(const std::vector<double>& values, std::size_t points)
{
    if (values.size() <= points || points == 0)
        return values;
    std::vector<double> means(points, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < points; ++i) {
        double sum = 0;
        int count = 0;
        for (std::size_t j = i * values.size() / points; j < (i + 1) * values.size() / points; ++j) {
            if (!std::isfinite(values[j]))
                continue;
            sum += values[j];
            ++count;
        }
        if (count > 0)
            means[i] = sum / count;
    }
    return means;
}

Expected<RankTimes> readRankTimes(
    store::RunReader& reader, const CurveRequest& request, const series::CancelToken& cancel)
{
    RowWish wish;
    wish.kind = Kind::Scalar;
    std::vector<Row> rows = buildRows(*request.catalog, wish);
    int best = 0;
    QString name;
    for (const Row& row : rows) {
        if (const int rate = rateOf(row.key.name); rate > best) {
            best = rate;
            name = row.key.name;
        }
    }
    RankTimes times;
    std::erase_if(rows, [&name](const Row& row) { return row.key.name != name; });
    if (best == 0 || rows.size() < 2)
        return times;
    times.scalar = name.toStdString();
    // Another run that it is compared with may have gone on for longer.
    const Step last = std::min(request.range.last, request.own.last);
    times.steps = { Step { std::max(last.value - RankTimes::kSteps + 1, std::int64_t { 0 }) }, last };
    series::HeatQuery query;
    query.stat = Stat::Value;
    query.range = times.steps;
    query.pixels = static_cast<int>(times.steps.count());
    for (const Row& row : rows)
        query.rows.push_back(row.attempts);
    const auto found = reader.heatmap(query, cancel);
    if (!found)
        return tl::unexpected(found.error());
    const auto columns = static_cast<std::size_t>(found->columns);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        RankTimes::Box box;
        box.rank = rows[row].rank;
        box.steps.assign(columns, std::numeric_limits<double>::quiet_NaN());
        std::vector<double> values;
        for (std::size_t i = 0; i < columns; ++i) {
            if (found->states[row * columns + i] != series::CellState::Value)
                continue;
            box.steps[i] = static_cast<double>(found->values[row * columns + i]);
            values.push_back(box.steps[i]);
        }
        if (values.empty())
            continue;
        std::sort(values.begin(), values.end());
        box.low = quantile(values, 0.025);
        box.quarter = quantile(values, 0.25);
        box.median = quantile(values, 0.5);
        box.threeQuarters = quantile(values, 0.75);
        box.high = quantile(values, 0.975);
        times.boxes.push_back(std::move(box));
    }
    std::sort(times.boxes.begin(), times.boxes.end(),
        [](const RankTimes::Box& a, const RankTimes::Box& b) { return a.rank < b.rank; });
    markSlow(times.boxes);
    return times;
}

}
