// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/binshares.h>

#include <algorithm>
#include <functional>
#include <limits>

#include <telltale/core/histogram.h>
#include <telltale/store/laneblock.h>

namespace telltale::store {

namespace {

constexpr double kMostSamples = std::numeric_limits<std::uint32_t>::max();

/// The place of the first histogram that begins in a sub-block or behind it.
int firstIn(int subBlock, const BinShares& shares)
{
    return (subBlock * kSubBlockSeries + shares.bins() - 1) / shares.bins();
}

/// The last lane of a sub-block in which a histogram of a group begins, counted in the sub-block; -1: none does.
int lastBegin(int subBlock, int lanes, const BinShares& shares)
{
    const int end = std::min(lanes - shares.bins() + 1, (subBlock + 1) * kSubBlockSeries); // behind where one may begin
    return end <= 0 ? -1 : (end - 1) / shares.bins() * shares.bins() - subBlock * kSubBlockSeries;
}

}

/// What the bins of one histogram add up to, beside the columns.
struct LaneBlock::BinSums {
    explicit BinSums(int columns)
        : all(static_cast<std::size_t>(columns))
        , lost(all.size())
        , samples(all.size())
    {
    }
    void add(const double* counts, bool isLost)
    {
        for (std::size_t c = 0; c < all.size(); ++c)
            all[c] += counts[c];
        for (std::size_t c = 0; isLost && c < all.size(); ++c)
            lost[c] += counts[c];
    }

    std::vector<double> all;
    std::vector<double> lost;
    std::vector<std::uint32_t> samples;
};

void LaneBlock::setShares(int lane, const BinSums& sums, std::uint64_t numel)
{
    for (int column = 0; column < m_columns; ++column) {
        const auto c = static_cast<std::size_t>(column);
        const std::size_t at = cellOf(lane) + c;
        if (sums.samples[c] == 0)
            continue;
        const bool hasAny = sums.all[c] > 0;
        const bool hasNaN = isMissing(sums.all[c], numel, sums.samples[c]);
        m_wide[at] = hasAny ? sums.lost[c] / sums.all[c] : 0;
        m_bits[at] = static_cast<std::uint8_t>(
            (hasAny ? cell::kPlain : cell::kCollected) | (hasNaN ? cell::kNaN : std::uint8_t { 0 }));
        if (m_counts.empty())
            continue;
        m_counts[Samples * cells() + at] = sums.samples[c];
        m_counts[Finite * cells() + at] = hasAny ? sums.samples[c] : 0;
        m_counts[Nans * cells() + at] = hasNaN ? 1 : 0; // of how many steps nobody knows
    }
}

void LaneBlock::dropEqualCounts()
{
    const auto samples = m_counts.begin();
    const auto end = samples + static_cast<std::ptrdiff_t>(m_counts.empty() ? 0 : cells());
    if (samples == end || !m_bits.empty() || std::adjacent_find(samples, end, std::not_equal_to<>()) != end)
        return;
    m_uniform = *samples;
    std::vector<std::uint32_t>().swap(m_counts);
}

Expected<std::shared_ptr<const LaneBlock>> LaneBlock::fromBins(
    const TileView& tile, bool isBuckets, const BinShares& shares, int subBlock)
{
    const int lanes = lastBegin(subBlock, tile.lanes(), shares) + 1;
    const bool hasSums = tile.hasPlane(PlaneRole::Sum);
    const PlaneRole role = !isBuckets ? PlaneRole::Value : hasSums ? PlaneRole::Sum : PlaneRole::Mean;
    if (lanes <= 0 || !tile.hasPlane(role) || (isBuckets && !tile.hasPlane(PlaneRole::Samples)))
        return std::shared_ptr<const LaneBlock>();
    std::shared_ptr<LaneBlock> block(new LaneBlock(lanes, tile.columns(), 1));
    block->m_wide.resize(block->cells());
    block->m_bits.resize(block->cells());
    block->m_counts.resize(isBuckets ? kCounts * block->cells() : 0);
    const auto columns = static_cast<std::size_t>(tile.columns());
    std::vector<double> samplesOf(isBuckets ? columns * kSubBlockSeries : 0);
    for (int place = firstIn(subBlock, shares); place * shares.bins() < subBlock * kSubBlockSeries + lanes; ++place) {
        const int begin = place * shares.bins();
        BinSums sums(tile.columns());
        const int end = begin + shares.bins();
        if (auto ok = tile.addLanes(role, begin, end, shares.isLost.data(), sums.all.data(), sums.lost.data()); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
        const int inner = begin - subBlock * kSubBlockSeries;
        if (isBuckets) {
            if (auto ok = tile.decode(PlaneRole::Samples, subBlock, samplesOf.data()); !ok)
                return tl::unexpected<Error>(std::move(ok.error()));
        }
        for (std::size_t c = 0; c < columns; ++c) {
            const double samples = isBuckets ? samplesOf[static_cast<std::size_t>(inner) * columns + c]
                                             : tile.isPresent(begin, static_cast<int>(c));
            sums.samples[c] = samples > 0 ? static_cast<std::uint32_t>(std::min(samples, kMostSamples)) : 0;
        }
        // Means of older runs are rounded too much to tell what is missing.
        const bool isExact = !isBuckets || hasSums;
        block->setShares(inner, sums, isExact ? shares.numelOf(place) : 0);
    }
    block->dropPlainBits();
    block->dropEqualCounts();
    return block;
}

std::shared_ptr<const LaneBlock> LaneBlock::fromOpenBins(
    const series::OpenTile& tile, const BinShares& shares, int subBlock, int first, int columns)
{
    const int lanes = lastBegin(subBlock, tile.seriesCount(), shares) + 1;
    const auto stat = std::find(tile.stats().begin(), tile.stats().end(), Stat::Hist);
    if (lanes <= 0 || stat == tile.stats().end())
        return nullptr;
    std::shared_ptr<LaneBlock> block(new LaneBlock(lanes, columns, 1));
    block->m_wide.resize(block->cells());
    block->m_bits.resize(block->cells());
    std::vector<double> counts(static_cast<std::size_t>(columns));
    std::vector<std::uint8_t> present(counts.size());
    for (int place = firstIn(subBlock, shares); place * shares.bins() < subBlock * kSubBlockSeries + lanes; ++place) {
        const int begin = place * shares.bins();
        BinSums sums(columns);
        for (int bin = 0; bin < shares.bins(); ++bin) {
            tile.read(begin + bin, static_cast<int>(stat - tile.stats().begin()), first, columns, counts.data(),
                present.data());
            sums.add(counts.data(), shares.isLost[static_cast<std::size_t>(bin)] != 0);
        }
        sums.samples.assign(present.begin(), present.end());
        block->setShares(begin - subBlock * kSubBlockSeries, sums, shares.numelOf(place));
    }
    block->dropPlainBits();
    return block;
}

}
