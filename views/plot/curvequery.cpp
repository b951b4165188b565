// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvequery.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <telltale/common/seriesstyle.h>

#include "curvetrace.h"
#include "rankcurves.h"
#include "scalarpanels.h"

namespace telltale::views {

namespace {

/// Steps before the range until smoothing has forgotten all but a thousandth; its memory counts samples.
StepRange leadOf(const CurveRequest& request, const series::CurveResult& result)
{
    constexpr double kForgotten = 1e-3;
    std::int64_t samples = 0;
    for (const series::Bucket& bucket : result.buckets)
        samples += bucket.samples;
    if (request.smoothing <= 0 || request.smoothing >= 1 || samples == 0)
        return {};
    const auto count = static_cast<double>(request.range.count());
    const double steps
        = std::log(kForgotten) / std::log(request.smoothing) * std::max(1.0, count / static_cast<double>(samples));
    const std::int64_t first = request.range.first.value;
    return { Step { std::max<std::int64_t>(0, first - static_cast<std::int64_t>(std::ceil(steps))) },
        Step { first - 1 } };
}

void divide(std::vector<series::Bucket>& buckets, double whole)
{
    for (series::Bucket& bucket : buckets) {
        if (whole <= 0)
            bucket = {};
        for (double* value : { &bucket.min, &bucket.max, &bucket.mean, &bucket.first, &bucket.last })
            *value /= whole > 0 ? whole : 1;
    }
}

}

Expected<std::optional<double>> readStart(
    store::RunReader& reader, const series::RowAttempts& row, StepRange steps, const series::CancelToken& cancel)
{
    constexpr std::int64_t kNear = 64; ///< steps, before all of them are asked
    for (const Step last : { std::min(steps.last, Step { steps.first.value + kNear - 1 }), steps.last }) {
        series::CurveQuery query;
        query.row = row;
        query.stat = Stat::Value;
        query.range = { steps.first, last };
        query.pixels = 1;
        const auto all = reader.curve(query, cancel);
        if (!all)
            return tl::unexpected(all.error());
        if (!all->buckets.empty() && all->buckets.front().finite > 0)
            return all->buckets.front().first;
    }
    return std::nullopt;
}

Expected<CurveSeries> readCurve(
    store::RunReader& reader, Row row, Stat stat, const CurveRequest& request, const series::CancelToken& cancel)
{
    series::CurveQuery query;
    query.row = row.attempts;
    query.stat = stat;
    query.range = request.range;
    query.pixels = static_cast<int>(std::min<std::int64_t>(request.pixels, request.range.count()));
    auto result = reader.curve(query, cancel);
    if (!result)
        return tl::unexpected(std::move(result).error());
    CurveSeries one;
    if (const StepRange lead = leadOf(request, *result); !lead.isEmpty()) {
        const double pitch = static_cast<double>(query.pixels) / static_cast<double>(query.range.count());
        query.range = lead;
        query.pixels = static_cast<int>(std::ceil(static_cast<double>(lead.count()) * pitch));
        auto before = reader.curve(query, cancel);
        if (!before)
            return tl::unexpected(std::move(before).error());
        one.lead = std::move(before->buckets);
    }
    one.row = std::move(row);
    one.stat = stat;
    one.result = std::move(*result);
    if (request.wholeOf) {
        one.whole = request.wholeOf(one.row.key);
        divide(one.result.buckets, one.whole);
        divide(one.lead, one.whole);
    }
    one.join = longestJoin(one.result.buckets);
    one.isOfOneRank = request.catalog && ranksOf(*request.catalog, one.row.kind).size() == 1;
    one.runName = request.runName;
    one.isOtherRun = !request.runName.isEmpty();
    return one;
}

CurveRequest CurveRequest::of(const ViewState& state, int pixels)
{
    CurveRequest request;
    request.catalog = state.catalog();
    request.kind = state.kind();
    request.stat = state.stat();
    request.rank = state.rank();
    request.ranks = state.ranks();
    request.selection = state.selection();
    request.omitted = static_cast<int>(state.omitted().size());
    for (const ModuleKey& key : state.selection())
        request.colors.push_back(state.slotOf(key));
    request.areRanksApart = !state.comparedRun();
    request.range = state.visibleRange();
    request.own = state.ownRange();
    request.pixels = pixels;
    request.isLive = state.run() && state.run()->isLive();
    return request;
}

namespace {

/// Null where the run does not record the quantity; any rank that does answers for all.
Expected<std::shared_ptr<const XWarp>> readWarp(
    store::RunReader& reader, const CurveRequest& request, const series::CancelToken& cancel)
{
    RowWish wish;
    wish.kind = Kind::Scalar;
    wish.only = { { scalarOf(request.xAxis), {} } };
    std::vector<Row> rows = buildRows(*request.catalog, wish);
    std::stable_partition(rows.begin(), rows.end(), [&](const Row& row) { return row.rank == request.rank; });
    if (rows.empty())
        return std::shared_ptr<const XWarp>();
    const auto quantity = readCurve(reader, std::move(rows.front()), Stat::Value, request, cancel);
    if (!quantity)
        return tl::unexpected(quantity.error());
    const auto start = readStart(reader, quantity->row.attempts, request.own, cancel);
    if (!start)
        return tl::unexpected(start.error());
    return XWarp::of(request.xAxis, quantity->result, *start);
}

/// Smaller comes first; what the field does not know stays in the run's order.
int scalarOrder(const QString& name)
{
    static constexpr std::array kOrder { "loss", "local_loss", "grad-norm", "grad_norm", "device_local_norm", "lr",
        "learning-rate", "throughput", "iteration-time" };
    for (std::size_t i = 0; i < kOrder.size(); ++i) {
        if (name == QLatin1String(kOrder.at(i)))
            return static_cast<int>(i);
    }
    return static_cast<int>(kOrder.size());
}

}

Expected<CurvePicture> readCurves(
    store::RunReader& reader, const CurveRequest& request, const series::CancelToken& cancel)
{
    CurvePicture picture;
    picture.range = request.range;
    picture.isLive = request.isLive;
    picture.omitted = request.omitted;
    for (std::size_t i = 0; i < request.selection.size(); ++i) {
        RowWish wish;
        wish.kind = request.kind;
        wish.rank = request.rank;
        wish.only = { request.selection[i] };
        Stat stat = request.stat;
        wish.stat = stat; // of a tensor's statistics and its histogram those that have it
        std::vector<Row> rows = buildRows(*request.catalog, wish);
        if (rows.empty()) {
            wish.stat.reset();
            rows = buildRows(*request.catalog, wish);
        }
        if (rows.empty()) {
            wish.kind = Kind::Scalar;
            stat = Stat::Value;
            rows = buildRows(*request.catalog, wish);
        }
        for (Row& row : rows) {
            auto one = readCurve(reader, std::move(row), stat, request, cancel);
            if (!one)
                return tl::unexpected(std::move(one).error());
            one->slot = i < request.colors.size() ? request.colors[i] : static_cast<int>(i);
            picture.series.push_back(std::move(*one));
        }
    }
    if (request.xAxis != XAxis::Step) {
        auto warp = readWarp(reader, request, cancel);
        if (!warp)
            return tl::unexpected(std::move(warp).error());
        picture.warp = std::move(*warp);
    }
    return withOtherRanks(reader, std::move(picture), request, cancel);
}

namespace {

/// A bucket may be of many steps: which of them was the last whose state is between two, the run says.
Expected<std::optional<std::pair<Step, double>>> lastIn(store::RunReader& reader, const CurveSeries& one, int bucket,
    series::CellState least, series::CellState most, const series::CancelToken& cancel)
{
    // Where many steps are summed up, a bucket has some of the steps that stand in the one before it.
    const StepRange steps { stepsOf(one.result, std::max(bucket - 1, 0)).first, stepsOf(one.result, bucket).last };
    constexpr std::int64_t kMostSteps = std::int64_t { 1 } << 16;
    std::optional<std::pair<Step, double>> last;
    if (steps.count() > kMostSteps)
        return last;
    series::HeatQuery query;
    query.rows = { one.row.attempts };
    query.stat = one.stat;
    query.range = steps;
    query.pixels = static_cast<int>(steps.count());
    const auto found = reader.heatmap(query, cancel);
    if (!found)
        return tl::unexpected(found.error());
    for (auto i = static_cast<std::size_t>(found->columns); i-- > 0 && !last;) {
        if (found->states[i] >= least && found->states[i] <= most)
            last = { Step { steps.first.value + static_cast<std::int64_t>(i) }, found->values[i] };
    }
    return last;
}

Expected<void> findLastFinite(store::RunReader& reader, CurveSeries& one, const series::CancelToken& cancel)
{
    const auto& buckets = one.result.buckets;
    const auto isMeasured = [](const series::Bucket& bucket) { return bucket.state >= series::CellState::Value; };
    const auto newest = std::find_if(buckets.rbegin(), buckets.rend(), isMeasured);
    if (newest == buckets.rend() || !series::isNonFinite(newest->state))
        return {};
    const auto last
        = std::find_if(newest, buckets.rend(), [](const series::Bucket& bucket) { return bucket.finite > 0; });
    if (last == buckets.rend())
        return {};
    const auto index = static_cast<int>(buckets.rend() - last) - 1;
    return lastIn(reader, one, index, series::CellState::Value, series::CellState::Value, cancel)
        .map([&one](const auto& found) { one.lastFinite = found; });
}

Expected<std::vector<series::CellValue>> readColumn(
    store::RunReader& reader, const std::vector<CurveSeries*>& ranks, Step step)
{
    std::vector<series::RowAttempts> rows;
    rows.reserve(ranks.size());
    for (const CurveSeries* one : ranks)
        rows.push_back(one->row.attempts);
    return reader.column(step, Stat::Value, rows, true);
}

/// The ranks of a live run come to a step one after another: compared are those of one step.
Expected<void> findNewestOfAll(store::RunReader& reader, CurvePicture& picture)
{
    constexpr std::int64_t kLate = 10; ///< steps
    std::vector<CurveSeries*> all;
    for (CurveSeries& one : picture.series) {
        if (!one.isGroup)
            all.push_back(&one);
    }
    const auto newest = readColumn(reader, all, picture.range.last);
    if (!newest)
        return tl::unexpected(newest.error());
    std::map<ModuleKey, StepRange> spans; // from the newest step of the last rank to that of the first
    for (std::size_t i = 0; i < all.size(); ++i) {
        if ((*newest)[i].state < series::CellState::Value)
            continue;
        const Step step = (*newest)[i].step;
        StepRange& span = spans.try_emplace(all[i]->row.key, StepRange { step, step }).first->second;
        span = { std::min(span.first, step), std::max(span.last, step) };
    }
    std::map<Step, std::vector<CurveSeries*>> apart;
    for (CurveSeries* one : all) {
        const auto span = spans.find(one->row.key);
        if (span == spans.end() || span->second.count() == 1)
            continue;
        one->hasLateRank = span->second.count() > kLate;
        apart[span->second.first].push_back(one);
    }
    for (const auto& [step, ranks] : apart) {
        const auto cells = readColumn(reader, ranks, step);
        if (!cells)
            return tl::unexpected(cells.error());
        for (std::size_t i = 0; i < ranks.size(); ++i)
            ranks[i]->newestOfAll = (*cells)[i];
    }
    return {};
}

/// The ranks of an archived run may end at other steps than each other.
Expected<void> findNewest(store::RunReader& reader, CurvePicture& picture, const series::CancelToken& cancel)
{
    std::map<ModuleKey, std::vector<CurveSeries*>> scalars;
    for (CurveSeries& one : picture.series) {
        if (!one.isGroup && newestBucketOf(one.result) >= 0)
            scalars[one.row.key].push_back(&one);
    }
    for (const auto& scalar : scalars) {
        const std::vector<CurveSeries*>& ranks = scalar.second;
        if (ranks.size() < 2)
            continue;
        const auto cells = readColumn(reader, ranks, picture.range.last);
        if (!cells)
            return tl::unexpected(cells.error());
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            ranks[i]->newest = (*cells)[i].step;
            if ((*cells)[i].state >= series::CellState::Value)
                continue;
            const auto last = lastIn(reader, *ranks[i], newestBucketOf(ranks[i]->result), series::CellState::Value,
                series::CellState::NaN, cancel);
            if (!last)
                return tl::unexpected(last.error());
            ranks[i]->newest = *last ? std::optional((*last)->first) : std::nullopt;
        }
        const auto isLikeFirst = [&](const CurveSeries* one) { return one->newest == ranks.front()->newest; };
        if (std::ranges::all_of(ranks, isLikeFirst))
            std::ranges::for_each(ranks, [](CurveSeries* one) { one->newest.reset(); });
    }
    return {};
}

}

Expected<CurvePicture> readScalars(
    store::RunReader& reader, const CurveRequest& request, const series::CancelToken& cancel)
{
    CurvePicture picture;
    picture.range = request.range;
    picture.isLive = request.isLive;
    RowWish wish;
    wish.kind = Kind::Scalar;
    wish.rank = request.rank;
    std::vector<Row> rows = buildRows(*request.catalog, wish);
    if (rows.empty()) {
        // The chosen rank logs nothing: the lowest rank that does speaks for the run.
        const std::vector<Rank> ranks = ranksOf(*request.catalog, Kind::Scalar);
        if (!ranks.empty()) {
            wish.rank = ranks.front();
            rows = buildRows(*request.catalog, wish);
        }
    }
    std::erase_if(rows, [&request](const Row& row) {
        return row.isAxis() || row.key.name.startsWith(kSystemGroup) != request.isSystem;
    });
    std::stable_sort(rows.begin(), rows.end(),
        [](const Row& a, const Row& b) { return scalarOrder(a.key.name) < scalarOrder(b.key.name); });
    putPanelsTogether(rows);
    int slot = 0;
    QString panel;
    for (Row& row : rows) {
        // Lines of one plot have the colors from the first on; plots that follow one another have different ones.
        const QString key = panelKey(row.key.name);
        const bool isNumbered = key != row.key.name;
        if (isNumbered && key != panel)
            slot = 0;
        panel = key;
        auto one = readCurve(reader, std::move(row), Stat::Value, request, cancel);
        if (!one)
            return tl::unexpected(std::move(one).error());
        // Alone in its plot a dash would say nothing.
        one->slot = isNumbered ? slot : slot % SeriesStyle::kColors;
        ++slot;
        if (auto ok = findLastFinite(reader, *one, cancel); !ok)
            return tl::unexpected(std::move(ok).error());
        picture.series.push_back(std::move(*one));
    }
    auto all = withOtherRanks(reader, std::move(picture), request, cancel);
    if (all && (all->isLive || !request.isSystem)) { // those of a machine come when they come
        if (auto ok = all->isLive ? findNewestOfAll(reader, *all) : findNewest(reader, *all, cancel); !ok)
            return tl::unexpected(std::move(ok).error());
    }
    return all;
}

Expected<std::vector<std::vector<series::CellValue>>> readValues(
    store::RunReader& reader, const CurvePicture& picture, int run, const std::vector<Step>& steps)
{
    std::vector<std::vector<series::CellValue>> values;
    for (const Step step : steps) {
        std::vector<series::CellValue> cells(picture.series.size());
        // One question for each statistic: scalars and tensors may stand in one plot.
        for (const Stat stat : { Stat::Value, picture.series.empty() ? Stat::Norm : picture.series.front().stat }) {
            std::vector<series::RowAttempts> rows;
            std::vector<std::size_t> at;
            for (std::size_t i = 0; i < picture.series.size(); ++i) {
                const CurveSeries& one = picture.series[i];
                if (one.stat == stat && one.isMeasuredIn(run)) {
                    rows.push_back(one.row.attempts);
                    at.push_back(i);
                }
            }
            if (rows.empty())
                continue;
            const auto column = reader.column(step, stat, rows, true);
            if (!column)
                return tl::unexpected(column.error());
            for (std::size_t i = 0; i < at.size() && i < column->size(); ++i) {
                cells[at[i]] = (*column)[i];
                cells[at[i]].value /= picture.series[at[i]].whole;
            }
        }
        values.push_back(std::move(cells));
    }
    return values;
}

}
