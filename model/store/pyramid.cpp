// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/pyramid.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace telltale::store {
namespace {

using series::kTileColumns;
using series::kTileSeries;
using series::OpenTile;
using series::PlaneType;

constexpr std::uint8_t kNan = 1;
constexpr std::uint8_t kPosInf = 2;
constexpr std::uint8_t kNegInf = 4;

template <typename T> bool isFiniteValue(T value)
{
    if constexpr (std::is_floating_point_v<T>)
        return std::abs(value) <= std::numeric_limits<T>::max();
    else
        return true;
}

/// 16 bits of mantissa halve what a mean costs; no eye sees the rest.
double roundedMean(double mean, double low, double high)
{
    const auto narrow = static_cast<float>(mean);
    if (std::isfinite(narrow)) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(narrow);
        const float rounded = std::bit_cast<float>((bits + 0x80u) & ~0xFFu);
        if (std::isfinite(rounded))
            mean = static_cast<double>(rounded);
    }
    if (!(mean >= low))
        return low;
    return mean > high ? high : mean;
}

/// One bucket while it is being filled, lane by lane.
template <typename T> struct Row {
    std::array<T, kTileSeries> low, high;
    std::array<double, kTileSeries> sum {};
    std::array<std::uint32_t, kTileSeries> samples {}, finite {}, nans {}, posInfs {}, negInfs {};

    Row()
    {
        low.fill(std::numeric_limits<T>::max());
        high.fill(std::numeric_limits<T>::lowest());
    }

    void add(const T* values, const std::uint8_t* present, std::size_t lanes)
    {
        for (std::size_t i = 0; i < lanes; ++i) {
            const T value = values[i];
            const bool use = (present[i] != 0) & isFiniteValue(value);
            low[i] = use && value < low[i] ? value : low[i];
            high[i] = use && value > high[i] ? value : high[i];
            sum[i] += use ? static_cast<double>(value) : 0.0;
            finite[i] += use ? 1u : 0u;
            samples[i] += present[i];
        }
    }
    void addFlags(const std::uint8_t* flags, std::size_t lanes)
    {
        for (std::size_t i = 0; i < lanes; ++i) {
            nans[i] += (flags[i] & kNan) != 0 ? 1u : 0u;
            posInfs[i] += (flags[i] & kPosInf) != 0 ? 1u : 0u;
            negInfs[i] += (flags[i] & kNegInf) != 0 ? 1u : 0u;
        }
    }
    void store(LevelBuckets& out, std::size_t at, std::size_t lanes) const
    {
        for (std::size_t i = 0; i < lanes; ++i) {
            const std::size_t cell = at + i;
            out.samples[cell] = samples[i];
            out.finite[cell] = finite[i];
            out.nans[cell] = nans[i];
            out.posInfs[cell] = posInfs[i];
            out.negInfs[cell] = negInfs[i];
            if (finite[i] == 0)
                continue;
            out.min[cell] = static_cast<double>(low[i]);
            out.max[cell] = static_cast<double>(high[i]);
            out.mean[cell] = out.adds
                ? sum[i]
                : roundedMean(sum[i] / static_cast<double>(finite[i]), out.min[cell], out.max[cell]);
        }
    }
};

template <typename T>
void reduceAs(
    const OpenTile& tile, const T* values, const std::vector<std::uint8_t>& flags, bool ownFlags, LevelBuckets& out)
{
    static const std::array<T, kTileSeries> kZeros {};
    const auto lanes = static_cast<std::size_t>(tile.seriesCount());
    const std::uint8_t* presence = tile.presence();
    std::array<std::uint8_t, kTileSeries> own {};
    for (int bucket = 0; bucket < out.buckets(); ++bucket) {
        Row<T> row;
        const int end = std::min(tile.writtenColumns(), (bucket + 1) * 16);
        for (int column = bucket * 16; column < end; ++column) {
            const std::size_t at = static_cast<std::size_t>(column) * lanes;
            const T* cells = values ? values + at : kZeros.data();
            row.add(cells, presence + at, lanes);
            if (!flags.empty())
                row.addFlags(flags.data() + at, lanes);
            if constexpr (std::is_floating_point_v<T>) {
                if (!ownFlags || !values)
                    continue;
                for (std::size_t i = 0; i < lanes; ++i) {
                    const T value = cells[i];
                    own[i] = presence[at + i] == 0                     ? std::uint8_t { 0 }
                        : std::isnan(value)                            ? kNan
                        : value == std::numeric_limits<T>::infinity()  ? kPosInf
                        : value == -std::numeric_limits<T>::infinity() ? kNegInf
                                                                       : std::uint8_t { 0 };
                }
                row.addFlags(own.data(), lanes);
            }
        }
        row.store(out, static_cast<std::size_t>(bucket) * lanes, lanes);
    }
}

/// All that there is to say of a plane of zeros: counts of non-finite elements, nearly always.
void countSamples(const OpenTile& tile, LevelBuckets& out)
{
    const auto lanes = static_cast<std::size_t>(tile.seriesCount());
    for (int column = 0; column < tile.writtenColumns(); ++column) {
        const std::uint8_t* present = tile.presence() + static_cast<std::size_t>(column) * lanes;
        std::uint64_t* samples = out.samples.data() + static_cast<std::size_t>(column / 16) * lanes;
        for (std::size_t lane = 0; lane < lanes; ++lane)
            samples[lane] += present[lane];
    }
    out.finite = out.samples;
}

std::uint8_t flagOf(Stat stat)
{
    return stat == Stat::Nans ? kNan : stat == Stat::PosInfs ? kPosInf : kNegInf;
}

}

void LevelBuckets::addBuckets(int count)
{
    const std::size_t total = static_cast<std::size_t>(buckets() + count);
    firstSteps.resize(total);
    lastSteps.resize(total);
    const std::size_t cells = total * static_cast<std::size_t>(lanes);
    for (auto* values : { &min, &max, &mean })
        values->resize(cells);
    for (auto* counts : { &samples, &finite, &nans, &posInfs, &negInfs })
        counts->resize(cells);
}

void LevelBuckets::padTo(std::int64_t count)
{
    const int before = buckets();
    if (count <= before)
        return;
    addBuckets(static_cast<int>(count) - before);
    std::fill(firstSteps.begin() + before, firstSteps.end(), lastSteps[static_cast<std::size_t>(before) - 1]);
    std::fill(lastSteps.begin() + before, lastSteps.end(), lastSteps[static_cast<std::size_t>(before) - 1]);
}

bool hasCounts(const std::vector<Stat>& stats)
{
    return std::any_of(stats.begin(), stats.end(), isNonFiniteCount);
}

std::vector<std::uint8_t> nonFiniteFlags(const OpenTile& tile)
{
    std::vector<std::uint8_t> flags;
    const auto lanes = static_cast<std::size_t>(tile.seriesCount());
    const std::size_t cells = static_cast<std::size_t>(tile.writtenColumns()) * lanes;
    for (std::size_t s = 0; s < tile.stats().size(); ++s) {
        const Stat stat = tile.stats()[s];
        const series::PlaneData plane = tile.plane(static_cast<int>(s));
        if (!isNonFiniteCount(stat) || plane.type == PlaneType::Zero)
            continue;
        flags.resize(cells);
        const auto mark = [&](const auto* values) {
            for (std::size_t i = 0; i < cells; ++i) {
                if (values[i] > 0 && tile.presence()[i] != 0)
                    flags[i] = static_cast<std::uint8_t>(flags[i] | flagOf(stat));
            }
        };
        if (plane.type == PlaneType::F32)
            mark(static_cast<const float*>(plane.values));
        else if (plane.type == PlaneType::F64)
            mark(static_cast<const double*>(plane.values));
        else
            mark(static_cast<const std::uint64_t*>(plane.values));
    }
    return flags;
}

LevelBuckets reduceTile(const OpenTile& tile, int statIndex, const std::vector<std::uint8_t>& flags)
{
    const Stat stat = tile.stats()[static_cast<std::size_t>(statIndex)];
    LevelBuckets out;
    out.adds = factsOf(stat).reduction == Reduction::Sum;
    out.lanes = tile.seriesCount();
    out.addBuckets((tile.writtenColumns() + 15) / 16);
    for (int bucket = 0; bucket < out.buckets(); ++bucket) {
        Step first = tile.stepAt(bucket * 16);
        Step last = first;
        for (int column = bucket * 16; column < std::min(tile.writtenColumns(), (bucket + 1) * 16); ++column) {
            first = std::min(first, tile.stepAt(column));
            last = std::max(last, tile.stepAt(column));
        }
        out.firstSteps[static_cast<std::size_t>(bucket)] = first;
        out.lastSteps[static_cast<std::size_t>(bucket)] = last;
    }
    static const std::vector<std::uint8_t> kNone;
    const std::vector<std::uint8_t>& applied = isWhole(stat) ? kNone : flags;
    const bool ownFlags = !hasCounts(tile.stats());
    const series::PlaneData plane = tile.plane(statIndex);
    if (plane.type == PlaneType::Zero && applied.empty()) {
        countSamples(tile, out);
        return out;
    }
    switch (plane.type) {
    case PlaneType::F64:
        reduceAs(tile, static_cast<const double*>(plane.values), applied, ownFlags, out);
        break;
    case PlaneType::U64:
        reduceAs(tile, static_cast<const std::uint64_t*>(plane.values), applied, ownFlags, out);
        break;
    default:
        reduceAs(tile, static_cast<const float*>(plane.values), applied, ownFlags, out);
        break;
    }
    return out;
}

Expected<void> appendBuckets(LevelBuckets& out, const TileView& tile, int factor)
{
    if (tile.lanes() != out.lanes)
        return failure(ErrorCode::Damaged, "a tile has another number of series than its group");
    const int columns = tile.columns();
    const int before = out.buckets();
    out.addBuckets((columns + factor - 1) / factor);
    for (int column = 0; column < columns; ++column) {
        const auto at = static_cast<std::size_t>(before + column / factor);
        const auto from = static_cast<std::size_t>(column);
        const bool opens = column % factor == 0;
        out.firstSteps[at] = opens ? tile.firstSteps()[from] : std::min(out.firstSteps[at], tile.firstSteps()[from]);
        out.lastSteps[at] = opens ? tile.lastSteps()[from] : std::max(out.lastSteps[at], tile.lastSteps()[from]);
    }
    const bool hasSums = tile.hasPlane(PlaneRole::Sum);
    const std::array kRoles { hasSums ? PlaneRole::Sum : PlaneRole::Min, hasSums ? PlaneRole::Sum : PlaneRole::Max,
        hasSums ? PlaneRole::Sum : PlaneRole::Mean, PlaneRole::Samples, PlaneRole::Finite, PlaneRole::Nans,
        PlaneRole::PosInfs, PlaneRole::NegInfs };
    std::array<std::vector<double>, kRoles.size()> cells;
    for (int block = 0; block < tile.subBlocks(); ++block) {
        const int lanes = tile.lanesOf(block);
        const bool isEmpty = std::all_of(kRoles.begin(), kRoles.end(), [&](PlaneRole role) {
            return role == PlaneRole::Samples || role == PlaneRole::Finite || tile.constant(role, block) == 0.0;
        });
        const auto samplesEach = tile.constant(PlaneRole::Samples, block);
        if (isEmpty && samplesEach && samplesEach == tile.constant(PlaneRole::Finite, block)) {
            for (int column = 0; column < columns; ++column) {
                const auto at = static_cast<std::size_t>(before + column / factor) * static_cast<std::size_t>(out.lanes)
                    + static_cast<std::size_t>(block * kSubBlockSeries);
                for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane) {
                    out.samples[at + lane] += static_cast<std::uint64_t>(*samplesEach);
                    out.finite[at + lane] = out.samples[at + lane];
                }
            }
            continue;
        }
        for (std::size_t r = 0; r < kRoles.size(); ++r) {
            cells[r].resize(static_cast<std::size_t>(lanes) * static_cast<std::size_t>(columns));
            if (auto ok = tile.decode(kRoles[r], block, cells[r].data()); !ok)
                return ok;
        }
        const auto& [low, high, mean, samples, finite, nans, posInfs, negInfs] = cells;
        for (int lane = 0; lane < lanes; ++lane) {
            for (int first = 0; first < columns; first += factor) {
                const auto at = static_cast<std::size_t>(before + first / factor) * static_cast<std::size_t>(out.lanes)
                    + static_cast<std::size_t>(block * kSubBlockSeries + lane);
                double sum = 0;
                double count = 0;
                for (int column = first; column < std::min(columns, first + factor); ++column) {
                    const auto from = static_cast<std::size_t>(lane) * static_cast<std::size_t>(columns)
                        + static_cast<std::size_t>(column);
                    out.samples[at] += static_cast<std::uint64_t>(samples[from]);
                    out.nans[at] += static_cast<std::uint64_t>(nans[from]);
                    out.posInfs[at] += static_cast<std::uint64_t>(posInfs[from]);
                    out.negInfs[at] += static_cast<std::uint64_t>(negInfs[from]);
                    if (!(finite[from] > 0))
                        continue;
                    out.min[at] = count == 0 ? low[from] : std::min(out.min[at], low[from]);
                    out.max[at] = count == 0 ? high[from] : std::max(out.max[at], high[from]);
                    sum += hasSums ? mean[from] : mean[from] * finite[from];
                    count += finite[from];
                }
                out.finite[at] = static_cast<std::uint64_t>(count);
                if (count > 0)
                    out.mean[at] = out.adds ? std::round(sum) : roundedMean(sum / count, out.min[at], out.max[at]);
            }
        }
    }
    return {};
}

std::string encodeBuckets(const LevelBuckets& buckets)
{
    TilePlanes tile;
    tile.lanes = buckets.lanes;
    tile.columns = buckets.buckets();
    tile.firstSteps = buckets.firstSteps;
    tile.lastSteps = buckets.lastSteps;
    const auto stride = static_cast<std::size_t>(buckets.lanes);
    const auto add = [&](PlaneRole role, PlaneType type, const void* values) {
        tile.planes.push_back({ role, type, values, 1, stride });
    };
    std::vector<std::uint64_t> sums;
    if (buckets.adds) {
        sums.assign(buckets.mean.begin(), buckets.mean.end());
        add(PlaneRole::Sum, PlaneType::U64, sums.data());
        tile.planes.back().areBins = true;
    } else {
        add(PlaneRole::Min, PlaneType::F64, buckets.min.data());
        add(PlaneRole::Max, PlaneType::F64, buckets.max.data());
        add(PlaneRole::Mean, PlaneType::F64, buckets.mean.data());
    }
    add(PlaneRole::Samples, PlaneType::U64, buckets.samples.data());
    add(PlaneRole::Finite, PlaneType::U64, buckets.finite.data());
    add(PlaneRole::Nans, PlaneType::U64, buckets.nans.data());
    add(PlaneRole::PosInfs, PlaneType::U64, buckets.posInfs.data());
    add(PlaneRole::NegInfs, PlaneType::U64, buckets.negInfs.data());
    return encodeTile(tile);
}

}
