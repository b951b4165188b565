// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranksquery.h"

#include <algorithm>
#include <map>

#include "replicaquery.h"

namespace telltale::views {

using analysis::RankOddness;
using series::CellState;

namespace {

constexpr std::array kAxes { HeatAxes::ModuleByStep, HeatAxes::ModuleByRank, HeatAxes::RankByStep };

/// One range of colors for all, so that a color means one value wherever it stands; one legend speaks for all of them.
void shareScale(std::array<HeatPicture, kFaces>& faces)
{
    const HeatPicture* any = nullptr;
    double low = 0;
    double high = 0;
    const auto hasColors
        = [](const HeatPicture& face) { return !face.rows.empty() && face.columns() > 0 && face.hasScale; };
    const bool isZero
        = std::ranges::all_of(faces, [&](const HeatPicture& face) { return !hasColors(face) || face.isZero; });
    for (const HeatPicture& face : faces) {
        if (!hasColors(face) || (face.isZero && !isZero))
            continue;
        low = any ? std::min(low, face.scale.low()) : face.scale.low();
        high = any ? std::max(high, face.scale.high()) : face.scale.high();
        any = any && any->isDiverging() ? any : &face;
    }
    if (any && any->isDiverging()) // zero is in the middle for all
        low = -(high = std::max(-low, high));
    bool clippedLow = false;
    bool clippedHigh = false;
    for (HeatPicture& face : faces) {
        face.hasScale = any != nullptr;
        face.isZero = isZero && any != nullptr;
        if (any && any->scaleMode != HeatScale::Deviation) {
            face.scale = ValueScale(any->scale.mode(), low, high).ofShares(any->scale.isOfShares());
            face.markClipped();
        }
        clippedLow = clippedLow || face.clippedLow;
        clippedHigh = clippedHigh || face.clippedHigh;
    }
    for (HeatPicture& face : faces) {
        face.clippedLow = clippedLow;
        face.clippedHigh = clippedHigh;
    }
}

/// Compares the ranks of each group with each other; `at(rank, cell)` is where a cell of the picture lies, -1: nowhere.
template <class At>
std::map<Rank, RankOddness> compare(
    const HeatPicture& picture, const analysis::RankTopology& topology, int cells, const At& at)
{
    std::map<Rank, RankOddness> found;
    std::vector<float> values;
    std::vector<CellState> states;
    for (const std::vector<Rank>& peers : topology.replicas()) {
        values.clear();
        states.clear();
        for (const Rank rank : peers) {
            for (int cell = 0; cell < cells; ++cell) {
                const std::ptrdiff_t place = at(rank, cell);
                values.push_back(place < 0 ? 0 : picture.result.values[static_cast<std::size_t>(place)]);
                states.push_back(
                    place < 0 ? CellState::NotCollected : picture.result.states[static_cast<std::size_t>(place)]);
            }
        }
        const auto odd = analysis::oddRanks(values, states, peers.size(), static_cast<std::size_t>(cells));
        for (std::size_t i = 0; i < peers.size(); ++i) {
            if (odd[i].compared > 0)
                found[peers[i]] = odd[i];
        }
    }
    return found;
}

std::map<Rank, RankOddness> oddOf(const HeatPicture& picture, const analysis::RankTopology& topology)
{
    std::map<Rank, int> lineOf;
    const bool areColumns = picture.axes == HeatAxes::ModuleByRank;
    for (int i = 0; i < static_cast<int>(picture.columnRanks.size()) && areColumns; ++i)
        lineOf.emplace(picture.columnRanks[static_cast<std::size_t>(i)], i);
    for (int i = 0; i < static_cast<int>(picture.rows.size()) && !areColumns; ++i)
        lineOf.emplace(picture.rows[static_cast<std::size_t>(i)].rank, i);
    return compare(picture, topology, areColumns ? picture.result.rows : picture.columns(),
        [&](Rank rank, int cell) -> std::ptrdiff_t {
            const auto line = lineOf.find(rank);
            if (line == lineOf.end())
                return -1;
            return areColumns ? static_cast<std::ptrdiff_t>(cell) * picture.columns() + line->second
                              : static_cast<std::ptrdiff_t>(line->second) * picture.columns() + cell;
        });
}

/// The stronger of what the modules of one step and the steps shown say of the rank.
void takeOddness(MapRank& one, const std::array<HeatPicture, kFaces>& faces)
{
    for (const Face face : { LayersByRanks, RanksBySteps }) {
        const auto known = faces[face].odd.find(one.rank);
        if (known != faces[face].odd.end() && (one.odd.compared == 0 || known->second.grade > one.odd.grade)) {
            one.odd = known->second;
            one.isOverSteps = face == RanksBySteps;
        }
    }
}

Expected<RankMapPicture> readMap(store::RunReader& reader, const RanksRequest& request,
    const analysis::RankTopology& topology, const std::array<HeatPicture, kFaces>& faces)
{
    RankMapPicture map;
    map.topology = topology;
    map.stat = request.face.stat;
    map.atStep = request.face.atStep;
    map.scale = faces[RanksBySteps].scale;
    std::vector<series::RowAttempts> asked;
    std::map<Rank, std::size_t> placeOf;
    for (const Row& row : faces[RanksBySteps].rows) {
        map.key = row.key;
        if (placeOf.try_emplace(row.rank, asked.size()).second)
            asked.push_back(row.attempts);
    }
    std::vector<series::CellValue> values;
    if (!asked.empty()) {
        auto column = reader.column(request.face.atStep, request.face.stat, asked, true);
        if (!column)
            return tl::unexpected(std::move(column).error());
        values = std::move(*column);
    }
    for (const Rank rank : topology.ranks()) {
        MapRank one { rank, {}, {} };
        takeOddness(one, faces);
        if (const auto place = placeOf.find(rank); place != placeOf.end())
            one.value = values[place->second];
        else
            one.value.step = map.atStep;
        map.ranks.push_back(one);
    }
    const auto parts = topology.replicas();
    map.areCompared = std::any_of(parts.begin(), parts.end(),
        [](const std::vector<Rank>& ranks) { return ranks.size() >= analysis::kLeastPeers; });
    return map;
}

}

std::vector<RankBand> rankBands(const analysis::RankTopology& topology, std::optional<analysis::Parallel> grouping)
{
    std::vector<RankBand> bands;
    if (!grouping)
        return bands;
    const auto name = analysis::parallelName(*grouping);
    const QString word = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
    for (const analysis::RankGroup& group : topology.groups(*grouping))
        bands.push_back(
            { group.coordinate < 0 ? word + QStringLiteral(" ?") : word + QStringLiteral(" %1").arg(group.coordinate),
                group.ranks });
    return bands;
}

Expected<RanksAnswer> readRanks(
    store::RunReader& reader, const RanksRequest& request, const series::CancelToken& cancel)
{
    const analysis::RankTopology topology(*request.face.catalog);
    std::array<HeatPicture, kFaces> faces;
    std::array<HeatRequest, kFaces> asked;
    for (std::size_t i = 0; i < kFaces; ++i) {
        asked[i] = request.face;
        asked[i].axes = kAxes[i];
        asked[i].plot = {};
        asked[i].rankBands = rankBands(topology, request.grouping);
        // Where nothing is selected the ranks are those of the first of the modules that are shown.
        if (i == RanksBySteps && asked[i].selection.empty() && !faces[LayersBySteps].rows.empty())
            asked[i].selection = { faces[LayersBySteps].rows.front().key };
        auto face = readHeat(reader, asked[i], cancel);
        if (!face)
            return tl::unexpected(std::move(face).error());
        faces[i] = std::move(*face);
        if (i != LayersBySteps && !faces[i].rows.empty())
            faces[i].odd = oddOf(faces[i], topology);
    }
    shareScale(faces);
    RanksAnswer answer;
    auto map = readMap(reader, request, topology, faces);
    if (!map)
        return tl::unexpected(std::move(map).error());
    answer.map = std::make_shared<const RankMapPicture>(std::move(*map));
    if (request.replicaPixels > 0 && !faces[RanksBySteps].rows.empty()) {
        auto replicas = readReplicas(
            reader, request.face, topology, faces[RanksBySteps], faces[LayersByRanks], request.replicaPixels, cancel);
        if (!replicas)
            return tl::unexpected(std::move(replicas).error());
        answer.replicas = std::make_shared<const ReplicaPicture>(std::move(*replicas));
    }
    for (std::size_t i = 0; i < kFaces; ++i) {
        asked[i].plot = request.plots[i];
        paintCells(faces[i], asked[i]);
        answer.faces[i] = std::make_shared<const HeatPicture>(std::move(faces[i]));
    }
    return answer;
}

}
