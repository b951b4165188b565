// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <telltale/store/laneblock.h>
#include <telltale/store/tilecodec.h>

using namespace telltale;
using namespace telltale::store;

namespace {

void require(bool holds)
{
    if (!holds)
        std::abort();
}

template <typename T> void requireSentence(const Expected<T>& result)
{
    require(result.has_value() || !result.error().what.empty());
}

void decodeAll(const TileView& tile, PlaneRole role)
{
    std::vector<double> doubles(static_cast<std::size_t>(kSubBlockSeries) * series::kTileColumns);
    std::vector<float> floats(doubles.size());
    std::vector<std::uint64_t> integers(doubles.size());
    for (int s = 0; s < tile.subBlocks(); ++s) {
        const auto cells = static_cast<std::size_t>(tile.lanesOf(s)) * static_cast<std::size_t>(tile.columns());
        require(cells <= doubles.size());
        const auto decoded = tile.decode(role, s, doubles.data());
        requireSentence(decoded);
        if (tile.planeType(role) == series::PlaneType::F32)
            require(tile.decodeFloats(role, s, floats.data()).has_value() == decoded.has_value());
        else
            requireSentence(tile.decodeIntegers(role, s, integers.data()));
        const auto constant = tile.constant(role, s);
        for (std::size_t i = 0; decoded && constant && i < cells; ++i)
            require(doubles[i] == *constant || (doubles[i] != doubles[i] && *constant != *constant));
    }
}

void addUp(const TileView& tile, PlaneRole role)
{
    std::vector<double> all(static_cast<std::size_t>(tile.columns())), marked(all.size());
    const std::vector<std::uint8_t> isMarked(static_cast<std::size_t>(tile.lanes()), 1);
    const auto added = tile.addLanes(role, 0, tile.lanes(), isMarked.data(), all.data(), marked.data());
    requireSentence(added);
    for (std::size_t i = 0; added && i < all.size(); ++i)
        require(all[i] == marked[i] || all[i] != all[i]);
}

/// As the reader turns a tile into lanes, as samples, as counts and as buckets, with counts of the same tile.
void makeLanes(const TileView& tile)
{
    const std::array<const TileView*, 3> none {};
    const std::array<const TileView*, 3> same { &tile, &tile, &tile };
    for (int s = 0; s < tile.subBlocks(); ++s) {
        requireSentence(LaneBlock::fromSamples(tile, none, Stat::Norm, s));
        requireSentence(LaneBlock::fromSamples(tile, none, Stat::Checksum, s));
        requireSentence(LaneBlock::fromSamples(tile, same, Stat::Norm, s));
        requireSentence(LaneBlock::fromBuckets(tile, s));
    }
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto tile = openTile({ reinterpret_cast<const char*>(data), size });
    if (!tile) {
        require(!tile.error().what.empty());
        return 0;
    }
    const auto columns = static_cast<std::size_t>(tile->columns());
    require(tile->firstSteps().size() == columns && tile->lastSteps().size() == columns);
    require(1 <= tile->lanes() && tile->lanes() <= series::kTileSeries && columns <= series::kTileColumns);
    tile->isPresent(tile->lanes() - 1, tile->columns() - 1);
    for (int role = 0; role <= static_cast<int>(PlaneRole::Sum); ++role) {
        if (!tile->hasPlane(static_cast<PlaneRole>(role)))
            continue;
        decodeAll(*tile, static_cast<PlaneRole>(role));
        addUp(*tile, static_cast<PlaneRole>(role));
    }
    makeLanes(*tile);
    return 0;
}
