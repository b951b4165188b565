// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
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

/// Of telltale.histogram: signed bins by the exponent. One for zero alone, an octave each from 2^-32 to 2^17, four from
/// 2^-64 up to there, and edges where bf16 begins to lose beyond these; the outer bins are open and hold Inf. A power
/// of two belongs to the larger magnitudes on both sides: the edges below zero stand a last place nearer to it.
std::span<const double> octaveEdges();

}
