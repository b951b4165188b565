// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace telltale {

/// What a Drop is of: the least dispensable first.
namespace dropclass {
inline constexpr std::uint32_t kEvents = 0;
inline constexpr std::uint32_t kScalars = 1;
inline constexpr std::uint32_t kTensors = 2;
inline constexpr std::uint32_t kHistograms = 3;
inline constexpr std::uint32_t kBlobs = 4;

/// Whether its items are samples.
constexpr bool isSamples(std::uint32_t dropClass)
{
    return dropClass == kTensors || dropClass == kHistograms;
}
}

/// Stands in the reason of a drop that may have been of more.
inline constexpr const char* kAtLeastSoMany = "at least so many";

/// How much a process has produced, as it says itself.
struct Produced {
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
    bool isFinal = false; ///< no more will come; else this is the least
};

/// What a batch held that could not be taken.
struct Lost {
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
};

}
