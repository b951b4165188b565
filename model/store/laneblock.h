// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/kinds.h>
#include <telltale/series/blockcache.h>
#include <telltale/series/envelope.h>
#include <telltale/series/opentile.h>
#include <telltale/store/binshares.h>
#include <telltale/store/tilecodec.h>

namespace telltale::store {

/// What a cell says beside its numbers.
namespace cell {
inline constexpr std::uint8_t kCollected = 1;
inline constexpr std::uint8_t kFinite = 2;
inline constexpr std::uint8_t kNegInf = 4;
inline constexpr std::uint8_t kPosInf = 8;
inline constexpr std::uint8_t kNaN = 16;
inline constexpr std::uint8_t kGap = 32; ///< no cell of a tile: what a canvas knows of cells without one
inline constexpr std::uint8_t kDamaged = 64;
inline constexpr std::uint8_t kPlain = kCollected | kFinite;
}

/// The state that a set of cell bits amounts to; NotCollected without any.
constexpr series::CellState stateOfBits(std::uint8_t bits)
{
    if (bits & cell::kNaN)
        return series::CellState::NaN;
    if (bits & cell::kPosInf)
        return series::CellState::PosInf;
    if (bits & cell::kNegInf)
        return series::CellState::NegInf;
    if (bits & cell::kFinite)
        return series::CellState::Value;
    if (bits & cell::kCollected)
        return series::CellState::Absent;
    if (bits & cell::kDamaged)
        return series::CellState::Damaged;
    return bits & cell::kGap ? series::CellState::Gap : series::CellState::NotCollected;
}

/// A few series (lanes) of one tile, decoded, with the rules that combine a value and its counts already applied: all
/// that sweeping over columns needs. At level 0 a column is one step and Min, Max and Mean are the one value; above, a
/// column is a bucket; of what adds up all three are the bucket's mean there. Immutable once built. Thread: any.
class LaneBlock : public series::CachedBlock {
public:
    enum Plane : std::uint8_t { Min = 0, Max = 1, Mean = 2 };
    enum Count : std::uint8_t { Samples = 0, Finite = 1, Nans = 2, PosInfs = 3, NegInfs = 4 };
    static constexpr int kCounts = 5;

    /// Level 0. `counts` are the tiles of Nans, PosInfs and NegInfs, null where the group has none; values of a group
    /// without any of them speak for themselves, and so do whole numbers.
    static Expected<std::shared_ptr<const LaneBlock>> fromSamples(
        const TileView& values, std::span<const TileView* const> counts, Stat stat, int subBlock);
    static Expected<std::shared_ptr<const LaneBlock>> fromBuckets(const TileView& tile, int subBlock);
    /// Published columns [first, first + columns) of an open tile; null when it has no such stat or lanes.
    static std::shared_ptr<const LaneBlock> fromOpen(
        const series::OpenTile& tile, Stat stat, int subBlock, int first, int columns);
    /// The largest magnitude, from the blocks of Min and Max in the same place. Any infinity makes it +Inf. Of a bucket
    /// the largest is exact; its smallest and mean are the best lower bounds that the pyramid allows.
    static std::shared_ptr<const LaneBlock> absMax(const LaneBlock& min, const LaneBlock& max);

    /// Of a tile of histograms (level 0, or buckets) a share of its elements, in the lane where each histogram begins;
    /// other lanes have nothing, and there are no more than needed. Null: no histogram begins in the sub-block. Of a
    /// bucket it is the share over all its steps. A histogram without elements is absent.
    static Expected<std::shared_ptr<const LaneBlock>> fromBins(
        const TileView& tile, bool isBuckets, const BinShares& shares, int subBlock);
    static std::shared_ptr<const LaneBlock> fromOpenBins(
        const series::OpenTile& tile, const BinShares& shares, int subBlock, int first, int columns);

    std::size_t byteSize() const override;
    int lanes() const { return m_lanes; }
    int columns() const { return m_columns; }
    /// Whether the numbers are doubles (`wide`) or floats (`narrow`).
    bool isWide() const { return !m_wide.empty(); }
    const float* narrow(Plane plane, int lane) const { return m_narrow.data() + offset(plane, lane); }
    const double* wide(Plane plane, int lane) const { return m_wide.data() + offset(plane, lane); }
    /// Bits of every column, null where all cells are collected, finite and without non-finite elements.
    const std::uint8_t* bits(int lane) const { return m_bits.empty() ? nullptr : m_bits.data() + cellOf(lane); }
    /// Samples in a column's bucket (and the other counts).
    std::uint32_t count(Count what, int lane, int column) const;
    double number(Plane plane, int lane, int column) const;
    series::Bucket bucket(int lane, int column) const;
    /// Level 0 only.
    series::Sample sample(int lane, int column) const;

private:
    LaneBlock(int lanes, int columns, int planes);
    std::size_t cellOf(int lane) const { return static_cast<std::size_t>(lane) * static_cast<std::size_t>(m_columns); }
    std::size_t cells() const { return cellOf(m_lanes); }
    std::size_t offset(Plane plane, int lane) const { return (m_planes == 1 ? 0 : plane * cells()) + cellOf(lane); }
    static std::shared_ptr<const LaneBlock> fromPlane(
        const series::OpenTile& tile, int statIndex, int subBlock, int first, int columns);
    struct BinSums;
    void setShares(int lane, const BinSums& sums, std::uint64_t numel);
    void dropPlainBits();
    void dropEqualCounts();
    void divideSums();

    int m_lanes;
    int m_columns;
    int m_planes;
    std::vector<float> m_narrow;
    std::vector<double> m_wide;
    std::vector<std::uint64_t> m_identities; ///< empty for all that is a number
    std::vector<std::uint8_t> m_bits;
    std::vector<std::uint32_t> m_counts; ///< kCounts planes; empty where every bucket has m_uniform finite samples
    std::uint32_t m_uniform = 1;
};

inline std::uint32_t LaneBlock::count(Count what, int lane, int column) const
{
    const std::size_t at = cellOf(lane) + static_cast<std::size_t>(column);
    if (!m_counts.empty())
        return m_counts[what * cells() + at];
    constexpr std::array<std::uint8_t, kCounts> kBits { cell::kCollected, cell::kFinite, cell::kNaN, cell::kPosInf,
        cell::kNegInf };
    const std::uint8_t bits = m_bits.empty() ? cell::kPlain : m_bits[at];
    return bits & kBits[what] ? m_uniform : 0;
}

inline double LaneBlock::number(Plane plane, int lane, int column) const
{
    const std::size_t at = offset(plane, lane) + static_cast<std::size_t>(column);
    return isWide() ? m_wide[at] : static_cast<double>(m_narrow[at]);
}

}
