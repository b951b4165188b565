// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <span>

/// What a histogram (core/histogram.h) says of the tensor that it counts. Thread: any (pure).
namespace telltale::analysis {

/// The value that `share` (0..1) of the counted elements lie below, NaN without elements. Inside a bin the elements are
/// taken to lie evenly, over the logarithm where the bin spans more than an octave on one side of zero; so it is off by
/// a bin's width at most. Of an open bin its finite edge is the answer.
double quantile(std::span<const double> edges, std::span<const double> counts, double share);

/// Number formats that a tensor may be kept in.
enum class Format : std::uint8_t { Fp16, Bf16, E4M3, E5M2 };

struct FormatFacts {
    const char* name;
    double flushed; ///< up to this magnitude an element rounds to zero: half the smallest subnormal number
    double normal; ///< smallest normal number
    double over; ///< above this magnitude an element rounds beyond the largest number (to infinity; E4M3: to NaN)
};
inline constexpr std::array<FormatFacts, 4> kFormats { {
    { "fp16", 0x1p-25, 0x1p-14, 65520 },
    { "bf16", 0x1p-134, 0x1p-126, 0x1.FFp127 },
    { "fp8 e4m3", 0x1p-10, 0x1p-6, 464 },
    { "fp8 e5m2", 0x1p-17, 0x1p-14, 61440 },
} };
constexpr const FormatFacts& formatFacts(Format format)
{
    return kFormats[static_cast<std::size_t>(format)];
}

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
FormatLoss lossOf(std::span<const double> edges, std::span<const double> counts, Format format);
/// Whether flushed and subnormal are exact for every format, whatever is counted.
bool hasOctaves(std::span<const double> edges);

}
