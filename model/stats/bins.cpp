// SPDX-License-Identifier: GPL-3.0-or-later
#include "binblock.h"

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include <telltale/core/histogram.h>
#include <telltale/core/nothrow.h>
#include <telltale/stats/stats.h>

#include "exactblock.h"

namespace telltale::stats {
namespace {

constexpr int kZeroBin = TT_BINS / 2;
constexpr int kLeast = -1074; // exponent of the smallest double
constexpr int kMost = 1024; // stands for infinity

/// Bins of positive numbers by their exponent; those of negative ones lie mirrored about zero's.
const std::array<std::uint8_t, kMost - kLeast + 1>& binsByExponent()
{
    static const auto kBins = [] {
        std::array<std::uint8_t, kMost - kLeast + 1> bins {};
        for (int exponent = kLeast; exponent <= kMost; ++exponent)
            bins[static_cast<std::size_t>(exponent - kLeast)]
                = static_cast<std::uint8_t>(binOf(octaveEdges(), std::ldexp(1.0, exponent)));
        return bins;
    }();
    return kBins;
}

std::size_t binAt(int exponent, bool isNegative)
{
    const std::size_t bin = binsByExponent()[static_cast<std::size_t>(exponent - kLeast)];
    return isNegative ? TT_BINS - 1 - bin : bin;
}

/// Where an element's bits have its parts.
template <typename Bits, int mantissa, int exponents> struct Floating {
    using Integer = Bits;
    static constexpr int kMantissa = mantissa;
    static constexpr std::size_t kExponents = std::size_t { 1 } << exponents;
    static constexpr int kBias = (1 << (exponents - 1)) - 1;
    /// Tables side by side, so that equal neighbors do not wait for one another.
    static constexpr std::size_t kWays = exponents > 8 ? 1 : 4;
};
template <typename T> struct PartsOf;
template <> struct PartsOf<float> : Floating<std::uint32_t, 23, 8> {
};
template <> struct PartsOf<double> : Floating<std::uint64_t, 52, 11> {
};
template <> struct PartsOf<Half> : Floating<std::uint16_t, 10, 5> {
};
template <> struct PartsOf<BFloat> : Floating<std::uint16_t, 7, 8> {
};

template <typename Parts> typename Parts::Integer bitsAt(const void* data, std::size_t place)
{
    typename Parts::Integer bits;
    std::memcpy(&bits, static_cast<const unsigned char*>(data) + place * sizeof bits, sizeof bits);
    return bits;
}

/// What the exponent alone does not tell: zeros, subnormal numbers, infinities and NaN.
template <typename Parts>
void addSpecial(const void* data, std::size_t first, std::size_t count, std::array<std::uint32_t, TT_BINS>& found)
{
    constexpr auto kMask
        = static_cast<typename Parts::Integer>((typename Parts::Integer { 1 } << Parts::kMantissa) - 1);
    constexpr std::size_t kAll = Parts::kExponents - 1;
    for (std::size_t i = first; i < first + count; ++i) {
        const auto bits = bitsAt<Parts>(data, i);
        const auto pattern = static_cast<std::size_t>(bits >> Parts::kMantissa);
        const std::size_t exponent = pattern & kAll;
        if (exponent != 0 && exponent != kAll)
            continue;
        const auto mantissa = static_cast<std::uint64_t>(bits & kMask);
        const bool isNegative = pattern != exponent;
        if (exponent == 0 && mantissa == 0)
            ++found[kZeroBin];
        else if (exponent == 0)
            ++found[binAt(1 - Parts::kBias - Parts::kMantissa + 63 - std::countl_zero(mantissa), isNegative)];
        else if (mantissa == 0)
            ++found[binAt(kMost, isNegative)];
    }
}

template <typename T>
void addFloating(const void* data, std::size_t first, std::size_t count, std::array<std::uint32_t, TT_BINS>& found)
{
    using Parts = PartsOf<T>;
    constexpr std::size_t kAll = Parts::kExponents - 1;
    std::array<std::array<std::uint32_t, 2 * Parts::kExponents>, Parts::kWays> tables {};
    std::size_t i = first;
    for (const std::size_t whole = first + count / Parts::kWays * Parts::kWays; i < whole; i += Parts::kWays) {
        for (std::size_t way = 0; way < Parts::kWays; ++way)
            ++tables[way][static_cast<std::size_t>(bitsAt<Parts>(data, i + way) >> Parts::kMantissa)];
    }
    for (; i < first + count; ++i)
        ++tables[0][static_cast<std::size_t>(bitsAt<Parts>(data, i) >> Parts::kMantissa)];
    bool hasSpecial = false;
    for (std::size_t pattern = 0; pattern < 2 * Parts::kExponents; ++pattern) {
        std::uint32_t some = 0;
        for (const auto& table : tables)
            some += table[pattern];
        if (some == 0)
            continue;
        const std::size_t exponent = pattern & kAll;
        if (exponent == 0 || exponent == kAll)
            hasSpecial = true;
        else
            found[binAt(static_cast<int>(exponent) - Parts::kBias, pattern != exponent)] += some;
    }
    if (hasSpecial)
        addSpecial<Parts>(data, first, count, found);
}

template <typename T>
void addWhole(const void* data, std::size_t first, std::size_t count, std::array<std::uint32_t, TT_BINS>& found)
{
    for (std::size_t i = first; i < first + count; ++i) {
        const double value = widen(static_cast<const T*>(data)[i]);
        ++found[value == 0 ? kZeroBin : binAt(std::ilogb(value), value < 0)];
    }
}

}

void countBins(const void* data, std::uint32_t dtype, std::size_t first, std::size_t count, std::uint64_t* bins)
{
    static_assert(kBlockElements < 1u << 31);
    using Count = void (*)(const void*, std::size_t, std::size_t, std::array<std::uint32_t, TT_BINS>&);
    static constexpr std::array<Count, 11> kCounts { nullptr, addFloating<float>, addFloating<double>,
        addFloating<Half>, addFloating<BFloat>, addWhole<std::int8_t>, addWhole<std::uint8_t>, addWhole<std::int16_t>,
        addWhole<std::int32_t>, addWhole<std::int64_t>, addWhole<Boolean> };
    std::array<std::uint32_t, TT_BINS> found {};
    kCounts[dtype](data, first, count, found);
    for (std::size_t bin = 0; bin < TT_BINS; ++bin) {
        if (found[bin] != 0)
            std::atomic_ref(bins[bin]).fetch_add(found[bin], std::memory_order_relaxed);
    }
}

}

extern "C" const double* tt_stats_bin_edges(void)
{
    return telltale::withoutThrowing([]() -> const double* {
        const auto edges = telltale::octaveEdges();
        return edges.size() == TT_BINS + 1 ? edges.data() : nullptr;
    });
}
