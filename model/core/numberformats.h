// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <telltale/core/kinds.h>

/// What number formats would lose of a tensor, by its histogram (histogram.h). Thread: any (pure).
namespace telltale {

/// Those that a tensor may be kept in.
enum class NumberFormat : std::uint8_t { Fp16, Bf16, E4M3, E5M2 };

struct NumberFormatFacts {
    const char* name;
    double flushed; ///< up to this magnitude an element rounds to zero: half the smallest subnormal number
    double normal; ///< smallest normal number
    double over; ///< above this magnitude an element rounds beyond the largest number (to infinity; E4M3: to NaN)
};
inline constexpr std::array<NumberFormatFacts, 4> kNumberFormats { {
    { "fp16", 0x1p-25, 0x1p-14, 65520 },
    { "bf16", 0x1p-134, 0x1p-126, 0x1.FFp127 },
    { "fp8 e4m3", 0x1p-10, 0x1p-6, 464 },
    { "fp8 e5m2", 0x1p-17, 0x1p-14, 61440 },
} };

/// A share of the elements, known to lie between the two. They are equal where an edge is the limit itself.
struct ShareBounds {
    double least = 0;
    double most = 0;

    bool isExact() const { return least == most; }
};

/// What of a tensor a format would lose, as shares of all counted elements. NaN is in no bin and counts nowhere; Inf is
/// in the outer bins and overflows everywhere.
struct FormatLoss {
    ShareBounds flushed; ///< not zero, and zero in the format; an element exactly on the limit counts as subnormal
    ShareBounds subnormal; ///< below the smallest normal number, and not flushed: kept with fewer digits
    ShareBounds overflowed; ///< larger than the largest number. No limit is a power of two: see `most`
};

/// Exact for flushed and subnormal with bins by octaves; all zero to all where nothing was counted.
FormatLoss lossOf(std::span<const double> edges, std::span<const double> counts, NumberFormat format);
/// Whether flushed and subnormal are exact for every format, whatever is counted.
bool hasOctaves(std::span<const double> edges);

/// Whether a statistic is such a share: `flushed`, or `overflowed.least`. Only histograms with octaves answer.
constexpr bool isFormatShare(Stat stat)
{
    return isDerivedStat(stat) && stat != Stat::AbsMax;
}
/// The bins whose elements such a share counts, a byte each: over all bins together, their counts are its sum.
std::vector<std::uint8_t> lostBins(std::span<const double> edges, Stat share);

}
