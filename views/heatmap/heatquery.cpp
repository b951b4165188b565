// SPDX-License-Identifier: GPL-3.0-or-later
#include "heatquery.h"

#include <algorithm>
#include <map>

#include "heatimage.h"

namespace telltale::views {

using series::CellState;

namespace {

HeatPicture pictureOf(const HeatRequest& request)
{
    HeatPicture picture;
    picture.axes = request.axes;
    picture.scaleMode = request.scale;
    picture.order = request.order;
    picture.kind = request.kind;
    picture.stat = request.stat;
    picture.isLive = request.isLive;
    picture.atStep = request.atStep;
    if (request.axes != HeatAxes::ModuleByStep)
        picture.rankBands = request.rankBands;
    return picture;
}

/// Places of the ranks on an axis that has them in groups.
std::map<Rank, std::size_t> placesIn(const std::vector<RankBand>& bands)
{
    std::map<Rank, std::size_t> places;
    for (const RankBand& band : bands) {
        for (const Rank rank : band.ranks)
            places.emplace(rank, places.size());
    }
    return places;
}

/// By group, and by number within one.
template <class Ranks, class RankOf> void orderByBands(Ranks& ranks, const std::vector<RankBand>& bands, RankOf rankOf)
{
    const auto places = placesIn(bands);
    const auto keyOf = [&](const auto& one) {
        const auto place = places.find(rankOf(one));
        return std::pair(place == places.end() ? places.size() : place->second, rankOf(one));
    };
    std::stable_sort(ranks.begin(), ranks.end(), [&](const auto& a, const auto& b) { return keyOf(a) < keyOf(b); });
}

Expected<HeatPicture> readSteps(
    store::RunReader& reader, const HeatRequest& request, std::vector<Row> rows, const series::CancelToken& cancel)
{
    HeatPicture picture = pictureOf(request);
    series::HeatQuery query;
    query.stat = request.stat;
    query.range = request.range;
    query.pixels = static_cast<int>(std::min<std::int64_t>(request.pixels, request.range.count()));
    query.rows.reserve(rows.size());
    for (const Row& row : rows)
        query.rows.push_back(row.attempts);
    auto result = reader.heatmap(query, cancel);
    if (!result)
        return tl::unexpected(std::move(result).error());
    picture.rows = std::move(rows);
    picture.result = std::move(*result);
    if (request.whole != 1) {
        const auto share = [&request](float& value) { value = static_cast<float>(value / request.whole); };
        std::ranges::for_each(picture.result.values, share);
        share(picture.result.min);
        share(picture.result.max);
    }
    picture.finish();
    return picture;
}

Expected<HeatPicture> readRanks(store::RunReader& reader, const HeatRequest& request, std::vector<Row> rows)
{
    HeatPicture picture = pictureOf(request);
    picture.columnRanks = ranksOf(*request.catalog, request.kind);
    orderByBands(picture.columnRanks, request.rankBands, [](Rank rank) { return rank; });
    std::vector<series::RowAttempts> asked;
    asked.reserve(rows.size());
    for (const Row& row : rows)
        asked.push_back(row.attempts);
    const auto cells = reader.column(request.atStep, request.stat, asked, true);
    if (!cells)
        return tl::unexpected(cells.error());

    std::map<std::pair<QString, QString>, int> known;
    std::vector<std::size_t> first;
    std::vector<int> rowOf(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [it, isNew] = known.try_emplace({ rows[i].key.name, rows[i].label }, static_cast<int>(first.size()));
        if (isNew)
            first.push_back(i);
        rowOf[i] = it->second;
    }
    series::HeatResult& result = picture.result;
    result.range = { request.atStep, request.atStep };
    result.rows = static_cast<int>(first.size());
    result.columns = static_cast<int>(picture.columnRanks.size());
    result.reduction = series::reductionFor(request.stat);
    const std::size_t count = first.size() * picture.columnRanks.size();
    result.values.assign(count, 0);
    result.states.assign(count, CellState::NotCollected);
    picture.cellSteps.assign(count, request.atStep);
    std::optional<Step> newest;
    for (std::size_t i = 0; i < rows.size() && i < cells->size(); ++i) {
        const auto column = std::find(picture.columnRanks.begin(), picture.columnRanks.end(), rows[i].rank);
        if (column == picture.columnRanks.end())
            continue;
        const std::size_t at = static_cast<std::size_t>(rowOf[i]) * picture.columnRanks.size()
            + static_cast<std::size_t>(column - picture.columnRanks.begin());
        result.values[at] = static_cast<float>((*cells)[i].value);
        result.states[at] = (*cells)[i].state;
        picture.cellSteps[at] = (*cells)[i].step;
        if ((*cells)[i].state >= CellState::Absent)
            newest = std::max(newest, std::optional((*cells)[i].step));
    }
    picture.atStep = newest.value_or(request.atStep);
    picture.rows.reserve(first.size());
    for (const std::size_t i : first)
        picture.rows.push_back(std::move(rows[i]));
    picture.finish();
    return picture;
}

}

Expected<HeatPicture> readHeat(store::RunReader& reader, const HeatRequest& request, const series::CancelToken& cancel)
{
    RowWish wish;
    wish.kind = request.kind;
    wish.filter = request.filter;
    wish.stat = request.stat;
    if (request.axes == HeatAxes::ModuleByStep) {
        wish.rank = request.rank;
        wish.only = request.only;
    }
    if (request.axes == HeatAxes::RankByStep) {
        wish.filter.clear();
        if (!request.selection.empty())
            wish.only = { request.selection.front() };
    }
    std::vector<Row> rows = buildRows(*request.catalog, wish);
    if (request.axes == HeatAxes::RankByStep) {
        // Without a selection the first tensor of the model answers for its ranks.
        const ModuleKey key = rows.empty() ? ModuleKey {} : rows.front().key;
        std::erase_if(rows, [&](const Row& row) { return row.key != key; });
        orderByBands(rows, request.rankBands, [](const Row& row) { return row.rank; });
        for (Row& row : rows) {
            row.group.clear();
            for (const RankBand& band : request.rankBands) {
                if (std::find(band.ranks.begin(), band.ranks.end(), row.rank) != band.ranks.end())
                    row.group = band.label;
            }
        }
    }
    if (rows.empty() || request.range.isEmpty() || request.pixels <= 0)
        return pictureOf(request);
    auto picture = request.axes == HeatAxes::ModuleByRank ? readRanks(reader, request, std::move(rows))
                                                          : readSteps(reader, request, std::move(rows), cancel);
    if (picture)
        paintCells(*picture, request);
    return picture;
}

void paintCells(HeatPicture& picture, const HeatRequest& request)
{
    if (picture.columns() <= 0 || picture.rows.empty() || request.plot.isEmpty())
        return;
    picture.cells = HeatImage::cells(picture, request.plot, request.pixelRatio, *request.theme);
    picture.cellsTheme = request.theme;
}

}
