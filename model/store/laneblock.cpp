// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/laneblock.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace telltale::store {

using series::CellState;
using series::PlaneType;

namespace {

/// The counts as they stand in a group's own tiles, in the order of the bits.
constexpr std::array<std::uint8_t, 3> kBitOfCount { cell::kNaN, cell::kPosInf, cell::kNegInf };

std::uint8_t bitsOfValue(double value)
{
    if (std::isfinite(value))
        return cell::kPlain;
    if (std::isnan(value))
        return cell::kCollected | cell::kNaN;
    return cell::kCollected | (value > 0 ? cell::kPosInf : cell::kNegInf);
}

template <typename T> void describeValues(std::span<const T> values, std::uint8_t* bits, bool hasCounts)
{
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = static_cast<double>(values[i]);
        if (hasCounts)
            bits[i] = std::isfinite(value) ? cell::kPlain : cell::kCollected;
        else
            bits[i] = bitsOfValue(value);
    }
}

/// A cell that a repeated scalar may overwrite meanwhile.
template <typename T> T load(const T* cell)
{
    return std::atomic_ref<T>(const_cast<T&>(*cell)).load(std::memory_order_relaxed);
}

/// As OpenTile::read, of one published column and `lanes` series that lie side by side.
void readColumn(const series::OpenTile& tile, int firstLane, int lanes, int statIndex, int column, double* values,
    std::uint8_t* present)
{
    const auto count = static_cast<std::size_t>(lanes);
    const std::size_t first = static_cast<std::size_t>(column) * static_cast<std::size_t>(tile.seriesCount())
        + static_cast<std::size_t>(firstLane);
    for (std::size_t i = 0; i < count; ++i)
        present[i] = load(tile.presence() + first + i);
    const series::PlaneData plane = tile.plane(statIndex);
    const auto take = [&](const auto* cells) {
        for (std::size_t i = 0; i < count; ++i)
            values[i] = static_cast<double>(load(cells + first + i));
    };
    if (plane.type == PlaneType::F32)
        take(static_cast<const float*>(plane.values));
    else if (plane.type == PlaneType::F64)
        take(static_cast<const double*>(plane.values));
    else if (plane.type == PlaneType::U64)
        take(static_cast<const std::uint64_t*>(plane.values));
    else
        std::fill_n(values, count, 0.0);
}

std::uint32_t asCount(double value)
{
    constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
    return value >= 0 ? static_cast<std::uint32_t>(std::min(value, kMost)) : 0;
}

}

LaneBlock::LaneBlock(int lanes, int columns, int planes)
    : m_lanes(lanes)
    , m_columns(columns)
    , m_planes(planes)
{
}

void LaneBlock::dropPlainBits()
{
    if (std::all_of(m_bits.begin(), m_bits.end(), [](std::uint8_t bits) { return bits == cell::kPlain; }))
        std::vector<std::uint8_t>().swap(m_bits);
}

void LaneBlock::divideSums()
{
    for (int lane = 0; lane < m_lanes; ++lane) {
        for (int column = 0; column < m_columns; ++column) {
            const std::uint32_t finite = count(Finite, lane, column);
            for (const Plane plane : { Min, Max, Mean })
                m_wide[offset(plane, lane) + static_cast<std::size_t>(column)] /= std::max(finite, 1u);
        }
    }
}

Expected<std::shared_ptr<const LaneBlock>> LaneBlock::fromSamples(
    const TileView& values, std::span<const TileView* const> counts, Stat stat, int subBlock)
{
    std::shared_ptr<LaneBlock> block(new LaneBlock(values.lanesOf(subBlock), values.columns(), 1));
    const std::size_t cells = block->cells();
    const bool hasCounts = !isWhole(stat)
        && std::any_of(counts.begin(), counts.end(), [](const TileView* tile) { return tile != nullptr; });
    block->m_bits.resize(cells);
    if (values.planeType(PlaneRole::Value) == PlaneType::F32) {
        block->m_narrow.resize(cells);
        if (auto ok = values.decodeFloats(PlaneRole::Value, subBlock, block->m_narrow.data()); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
        describeValues<float>(block->m_narrow, block->m_bits.data(), hasCounts);
    } else {
        block->m_wide.resize(cells);
        if (auto ok = values.decode(PlaneRole::Value, subBlock, block->m_wide.data()); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
        describeValues<double>(block->m_wide, block->m_bits.data(), hasCounts);
    }
    if (isIdentity(stat)) {
        block->m_identities.resize(cells);
        if (auto ok = values.decodeIntegers(PlaneRole::Value, subBlock, block->m_identities.data()); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    std::vector<double> numbers;
    for (std::size_t i = 0; hasCounts && i < counts.size(); ++i) {
        const TileView* tile = counts[i];
        if (!tile || tile->lanes() != values.lanes() || tile->columns() != values.columns()
            || tile->constant(PlaneRole::Value, subBlock) == 0.0)
            continue;
        numbers.resize(cells);
        if (auto ok = tile->decode(PlaneRole::Value, subBlock, numbers.data()); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
        for (std::size_t c = 0; c < cells; ++c) {
            if (numbers[c] > 0)
                block->m_bits[c] |= kBitOfCount[i];
        }
    }
    if (!values.isAllPresent()) {
        std::size_t c = 0;
        for (int lane = 0; lane < block->m_lanes; ++lane) {
            for (int column = 0; column < block->m_columns; ++column, ++c) {
                if (!values.isPresent(subBlock * kSubBlockSeries + lane, column))
                    block->m_bits[c] = 0;
            }
        }
    }
    block->dropPlainBits();
    return block;
}

Expected<std::shared_ptr<const LaneBlock>> LaneBlock::fromBuckets(const TileView& tile, int subBlock)
{
    std::shared_ptr<LaneBlock> block(new LaneBlock(tile.lanesOf(subBlock), tile.columns(), 3));
    const std::size_t cells = block->cells();
    const bool hasSums = tile.hasPlane(PlaneRole::Sum);
    const std::array kRoles { hasSums ? PlaneRole::Sum : PlaneRole::Min, hasSums ? PlaneRole::Sum : PlaneRole::Max,
        hasSums ? PlaneRole::Sum : PlaneRole::Mean };
    const bool narrow = !hasSums && std::all_of(kRoles.begin(), kRoles.end(), [&tile](PlaneRole role) {
        return tile.planeType(role) == PlaneType::F32;
    });
    narrow ? block->m_narrow.resize(3 * cells) : block->m_wide.resize(3 * cells);
    for (std::size_t i = 0; i < kRoles.size(); ++i) {
        auto ok = narrow ? tile.decodeFloats(kRoles[i], subBlock, block->m_narrow.data() + i * cells)
                         : tile.decode(kRoles[i], subBlock, block->m_wide.data() + i * cells);
        if (!ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    constexpr std::array kCountRoles { PlaneRole::Samples, PlaneRole::Finite, PlaneRole::Nans, PlaneRole::PosInfs,
        PlaneRole::NegInfs };
    std::array<std::optional<double>, kCounts> constants;
    for (std::size_t i = 0; i < constants.size(); ++i)
        constants[i] = tile.hasPlane(kCountRoles[i]) ? tile.constant(kCountRoles[i], subBlock) : 0.0;
    if (constants[Samples] && *constants[Samples] > 0 && constants[Finite] == constants[Samples]
        && constants[Nans] == 0.0 && constants[PosInfs] == 0.0 && constants[NegInfs] == 0.0) {
        block->m_uniform = asCount(*constants[Samples]);
        if (hasSums)
            block->divideSums();
        return block;
    }
    block->m_counts.resize(kCounts * cells);
    block->m_bits.resize(cells);
    std::vector<double> numbers(cells);
    constexpr std::array<std::uint8_t, kCounts> kBits { cell::kCollected, cell::kFinite, cell::kNaN, cell::kPosInf,
        cell::kNegInf };
    for (std::size_t i = 0; i < kCounts; ++i) {
        if (constants[i]) {
            std::fill(numbers.begin(), numbers.end(), *constants[i]);
        } else if (auto ok = tile.decode(kCountRoles[i], subBlock, numbers.data()); !ok) {
            return tl::unexpected<Error>(std::move(ok.error()));
        }
        for (std::size_t c = 0; c < cells; ++c) {
            const std::uint32_t count = asCount(numbers[c]);
            block->m_counts[i * cells + c] = count;
            if (count > 0)
                block->m_bits[c] |= kBits[i];
        }
    }
    block->dropPlainBits();
    if (hasSums)
        block->divideSums();
    return block;
}

std::shared_ptr<const LaneBlock> LaneBlock::fromPlane(
    const series::OpenTile& tile, int statIndex, int subBlock, int first, int columns)
{
    const auto& stats = tile.stats();
    const int firstLane = subBlock * kSubBlockSeries;
    std::shared_ptr<LaneBlock> block(
        new LaneBlock(std::min(kSubBlockSeries, tile.seriesCount() - firstLane), columns, 1));
    const Stat stat = stats[static_cast<std::size_t>(statIndex)];
    constexpr std::array kCountStats { Stat::Nans, Stat::PosInfs, Stat::NegInfs };
    bool hasCounts = false;
    std::array<int, 3> counts { -1, -1, -1 }; // -1: none, or nothing but zeros so far
    for (std::size_t i = 0; i < counts.size() && !isWhole(stat); ++i) {
        const auto it = std::find(stats.begin(), stats.end(), kCountStats[i]);
        hasCounts = hasCounts || it != stats.end();
        const auto index = static_cast<int>(it - stats.begin());
        if (it != stats.end() && tile.plane(index).type != PlaneType::Zero)
            counts[i] = index;
    }
    block->m_wide.resize(block->cells());
    block->m_bits.resize(block->cells());
    block->m_identities.resize(isIdentity(stat) ? block->cells() : 0);
    for (int lane = 0; isIdentity(stat) && lane < block->m_lanes; ++lane)
        tile.readWhole(firstLane + lane, statIndex, first, columns, block->m_identities.data() + block->cellOf(lane));
    // One column, as whoever follows a run asks for, lies side by side.
    const bool isOne = columns == 1;
    const auto together = static_cast<std::size_t>(isOne ? block->m_lanes : columns);
    std::vector<std::uint8_t> present(together);
    std::vector<double> numbers(together);
    for (int lane = 0; lane < (isOne ? 1 : block->m_lanes); ++lane) {
        const auto read = [&](int index, double* into) {
            if (isOne)
                readColumn(tile, firstLane, block->m_lanes, index, first, into, present.data());
            else
                tile.read(firstLane + lane, index, first, columns, into, present.data());
        };
        double* values = block->m_wide.data() + block->cellOf(lane);
        std::uint8_t* bits = block->m_bits.data() + block->cellOf(lane);
        read(statIndex, values);
        describeValues<double>({ values, together }, bits, hasCounts);
        for (std::size_t i = 0; hasCounts && i < counts.size(); ++i) {
            if (counts[i] < 0)
                continue;
            read(counts[i], numbers.data());
            for (std::size_t c = 0; c < numbers.size(); ++c) {
                if (numbers[c] > 0)
                    bits[c] |= kBitOfCount[i];
            }
        }
        for (std::size_t c = 0; c < present.size(); ++c) {
            if (!present[c])
                bits[c] = 0;
        }
    }
    block->dropPlainBits();
    return block;
}

std::shared_ptr<const LaneBlock> LaneBlock::fromOpen(
    const series::OpenTile& tile, Stat stat, int subBlock, int first, int columns)
{
    if (subBlock * kSubBlockSeries >= tile.seriesCount())
        return nullptr;
    if (stat == Stat::AbsMax) {
        const auto min = fromOpen(tile, Stat::Min, subBlock, first, columns);
        const auto max = fromOpen(tile, Stat::Max, subBlock, first, columns);
        return min && max ? absMax(*min, *max) : nullptr;
    }
    const auto& stats = tile.stats();
    const auto it = std::find(stats.begin(), stats.end(), stat);
    return it == stats.end() ? nullptr
                             : fromPlane(tile, static_cast<int>(it - stats.begin()), subBlock, first, columns);
}

std::shared_ptr<const LaneBlock> LaneBlock::absMax(const LaneBlock& min, const LaneBlock& max)
{
    std::shared_ptr<LaneBlock> block(new LaneBlock(max.m_lanes, max.m_columns, max.m_planes));
    block->m_bits = max.m_bits;
    block->m_counts = max.m_counts;
    block->m_uniform = max.m_uniform;
    const std::size_t cells = block->cells();
    if (block->m_bits.empty() && !min.m_bits.empty())
        block->m_bits.assign(cells, cell::kPlain);
    for (std::size_t c = 0; c < block->m_bits.size(); ++c) {
        std::uint8_t& bits = block->m_bits[c];
        if (bits & cell::kNegInf)
            bits = static_cast<std::uint8_t>(bits | cell::kPosInf);
        if (!min.m_bits.empty() && !(min.m_bits[c] & cell::kFinite))
            bits = static_cast<std::uint8_t>(bits & ~cell::kFinite);
    }
    for (std::size_t c = 0; c < cells && !block->m_counts.empty(); ++c) {
        std::uint32_t& posInfs = block->m_counts[PosInfs * cells + c];
        posInfs = std::max(posInfs, block->m_counts[NegInfs * cells + c]);
    }
    // Floats stay floats: a magnitude is one of the numbers given, but for its sign.
    const bool isWide = min.isWide() || max.isWide();
    const std::size_t numbers = static_cast<std::size_t>(block->m_planes) * cells;
    isWide ? block->m_wide.resize(numbers) : block->m_narrow.resize(numbers);
    for (int lane = 0; lane < block->m_lanes; ++lane) {
        for (int column = 0; column < block->m_columns; ++column) {
            const double largest
                = std::max({ std::abs(min.number(Min, lane, column)), std::abs(min.number(Max, lane, column)),
                    std::abs(max.number(Min, lane, column)), std::abs(max.number(Max, lane, column)) });
            const double smallest = std::max({ 0.0, -min.number(Max, lane, column), max.number(Min, lane, column) });
            const double mean
                = std::max(std::abs(min.number(Mean, lane, column)), std::abs(max.number(Mean, lane, column)));
            const double planes[] { block->m_planes == 1 ? largest : smallest, largest, mean };
            for (int plane = 0; plane < block->m_planes; ++plane) {
                const std::size_t at
                    = block->offset(static_cast<Plane>(plane), lane) + static_cast<std::size_t>(column);
                if (isWide)
                    block->m_wide[at] = planes[plane];
                else
                    block->m_narrow[at] = static_cast<float>(planes[plane]);
            }
        }
    }
    return block;
}

std::size_t LaneBlock::byteSize() const
{
    return sizeof(LaneBlock) + m_narrow.size() * sizeof(float) + m_wide.size() * sizeof(double) + m_bits.size()
        + m_counts.size() * sizeof(std::uint32_t) + m_identities.size() * sizeof(std::uint64_t);
}

series::Bucket LaneBlock::bucket(int lane, int column) const
{
    series::Bucket bucket;
    bucket.samples = count(Samples, lane, column);
    bucket.finite = count(Finite, lane, column);
    bucket.nans = count(Nans, lane, column);
    bucket.posInfs = count(PosInfs, lane, column);
    bucket.negInfs = count(NegInfs, lane, column);
    if (bucket.finite > 0) {
        bucket.min = number(Min, lane, column);
        bucket.max = number(Max, lane, column);
        bucket.mean = number(Mean, lane, column);
        bucket.first = bucket.last = bucket.mean;
    }
    bucket.state = stateOf(bucket);
    return bucket;
}

series::Sample LaneBlock::sample(int lane, int column) const
{
    const std::size_t at = cellOf(lane) + static_cast<std::size_t>(column);
    const std::uint8_t bits = m_bits.empty() ? cell::kPlain : m_bits[at];
    series::Sample sample;
    sample.finite = (bits & cell::kFinite) != 0;
    sample.nan = (bits & cell::kNaN) != 0;
    sample.posInf = (bits & cell::kPosInf) != 0;
    sample.negInf = (bits & cell::kNegInf) != 0;
    if (sample.finite)
        sample.value = number(Min, lane, column);
    if (sample.finite && !m_identities.empty())
        sample.identity = m_identities[at];
    return sample;
}

}
