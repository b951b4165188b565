// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvequery.h"

#include <algorithm>
#include <array>

namespace telltale::views {

namespace {

Expected<CurveSeries> readOne(
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
    one.row = std::move(row);
    one.stat = stat;
    one.result = std::move(*result);
    return one;
}

/// Widens the buckets of `into` by those of another rank: an envelope over ranks.
void widen(std::vector<series::Bucket>& into, const std::vector<series::Bucket>& other)
{
    for (std::size_t i = 0; i < std::min(into.size(), other.size()); ++i) {
        const series::Bucket& bucket = other[i];
        if (bucket.finite == 0)
            continue;
        if (into[i].finite == 0) {
            into[i] = bucket;
            continue;
        }
        into[i].min = std::min(into[i].min, bucket.min);
        into[i].max = std::max(into[i].max, bucket.max);
        into[i].finite += bucket.finite;
        into[i].samples += bucket.samples;
        into[i].last = bucket.last;
    }
    // What is wrong on another rank is that rank's curve to tell; the envelope is about what is usual.
    for (series::Bucket& bucket : into)
        bucket.nans = bucket.posInfs = bucket.negInfs = 0;
}

Expected<CurveSeries> readOtherRanks(
    store::RunReader& reader, const CurveSeries& of, const CurveRequest& request, const series::CancelToken& cancel)
{
    RowWish wish;
    wish.kind = of.row.kind;
    wish.only = { of.row.key };
    CurveSeries group;
    int ranks = 0;
    for (Row& row : buildRows(*request.catalog, wish)) {
        if (row.rank == of.row.rank || row.label != of.row.label)
            continue;
        auto one = readOne(reader, std::move(row), of.stat, request, cancel);
        if (!one)
            return one;
        if (++ranks == 1)
            group = std::move(*one);
        else
            widen(group.result.buckets, one->result.buckets);
    }
    widen(group.result.buckets, {});
    for (series::Bucket& bucket : group.result.buckets)
        bucket.state = bucket.finite > 0 ? series::CellState::Value : series::CellState::NotCollected;
    group.isGroup = ranks > 0;
    group.slot = of.slot;
    group.groupText = QString::number(ranks);
    return group;
}

/// Smaller comes first; what the field does not know stays in the run's order.
int scalarOrder(const QString& name)
{
    static constexpr std::array kOrder { "loss", "grad-norm", "grad_norm", "lr", "learning-rate", "throughput" };
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
    for (std::size_t i = 0; i < request.selection.size(); ++i) {
        RowWish wish;
        wish.kind = request.kind;
        wish.rank = request.rank;
        wish.only = { request.selection[i] };
        Stat stat = request.stat;
        std::vector<Row> rows = buildRows(*request.catalog, wish);
        if (rows.empty()) {
            wish.kind = Kind::Scalar;
            stat = Stat::Value;
            rows = buildRows(*request.catalog, wish);
        }
        for (Row& row : rows) {
            auto one = readOne(reader, std::move(row), stat, request, cancel);
            if (!one)
                return tl::unexpected(std::move(one).error());
            one->slot = i < request.colours.size() ? request.colours[i] : static_cast<int>(i);
            picture.series.push_back(std::move(*one));
        }
    }
    if (request.withOtherRanks && !picture.series.empty()) {
        auto group = readOtherRanks(reader, picture.series.front(), request, cancel);
        if (!group)
            return tl::unexpected(std::move(group).error());
        if (group->isGroup)
            picture.series.push_back(std::move(*group));
    }
    return picture;
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
    std::erase_if(rows, [](const Row& row) { return row.key.name.startsWith(QLatin1String("telltale.")); });
    std::stable_sort(rows.begin(), rows.end(),
        [](const Row& a, const Row& b) { return scalarOrder(a.key.name) < scalarOrder(b.key.name); });
    int slot = 0;
    for (Row& row : rows) {
        auto one = readOne(reader, std::move(row), Stat::Value, request, cancel);
        if (!one)
            return tl::unexpected(std::move(one).error());
        one->slot = slot++;
        picture.series.push_back(std::move(*one));
    }
    return picture;
}

Expected<std::vector<std::vector<series::CellValue>>> readValues(
    store::RunReader& reader, const CurvePicture& picture, const std::vector<Step>& steps)
{
    std::vector<std::vector<series::CellValue>> values;
    for (const Step step : steps) {
        std::vector<series::CellValue> cells(picture.series.size());
        // One question for each statistic: scalars and tensors may stand in one plot.
        for (const Stat stat : { Stat::Value, picture.series.empty() ? Stat::Norm : picture.series.front().stat }) {
            std::vector<series::RowAttempts> rows;
            std::vector<std::size_t> at;
            for (std::size_t i = 0; i < picture.series.size(); ++i) {
                if (picture.series[i].stat == stat && !picture.series[i].isGroup) {
                    rows.push_back(picture.series[i].row.attempts);
                    at.push_back(i);
                }
            }
            if (rows.empty())
                continue;
            const auto column = reader.column(step, stat, rows);
            if (!column)
                return tl::unexpected(column.error());
            for (std::size_t i = 0; i < at.size() && i < column->size(); ++i)
                cells[at[i]] = (*column)[i];
        }
        values.push_back(std::move(cells));
    }
    return values;
}

}
