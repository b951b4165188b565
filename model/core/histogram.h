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

}
