// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <telltale/core/expected.h>

namespace telltale {

/// How the elements of a tensor spread over bins. Bin i counts the elements x with edges[i] <= x < edges[i + 1]; the
/// greatest finite edge itself belongs to the bin below it, as torch.histc has it. The outer edges may be infinite. NaN
/// lies in no bin. Counts are exact, and those of several steps add up. Thread: any (pure).
inline constexpr std::size_t kMaxBins = 128;

/// Rising, and those of 1 to kMaxBins bins.
Expected<void> checkEdges(std::span<const double> edges);
/// "[-0.5, 0.25)", "(1, inf]": a bin for people.
std::string binText(std::span<const double> edges, std::size_t bin);
/// The bin of a value that is no NaN; edges.size() where it lies in none.
std::size_t binOf(std::span<const double> edges, double value);

/// The bin of zeros alone, as octaveEdges() has one.
bool isZeroBin(std::span<const double> edges, std::size_t bin);

/// Whether all that is in no bin is NaN: both outer edges are infinite.
constexpr bool hasOpenEnds(std::span<const double> edges)
{
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    return edges.front() == -kInfinite && edges.back() == kInfinite;
}
/// Whether fewer elements than a tensor has are in all bins together, over as many steps as `samples`: of open bins the
/// rest is NaN. `numel` 0: unknown, and never. Counts may be rounded: what is less than that is no news.
constexpr bool isMissing(double counted, std::uint64_t numel, std::uint32_t samples)
{
    return counted < static_cast<double>(numel) * static_cast<double>(samples) * (1 - 1e-6) - 0.5;
}

/// Of telltale.histogram: signed bins by the exponent. One for zero alone, an octave each from 2^-32 to 2^17, four from
/// 2^-64 up to there, and edges where bf16 begins to lose beyond these; the outer bins are open and hold Inf. A power
/// of two belongs to the larger magnitudes on both sides: the edges below zero stand a last place nearer to it.
std::span<const double> octaveEdges();

}
