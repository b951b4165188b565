// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <telltale/core/drops.h>

namespace telltale::agent {

/// What is still taken in while the spool fills up: raw data goes first, then histograms, then ever more steps of the
/// per-tensor statistics; scalars and events stay until nothing fits any more. It decides at the door: what has a seq
/// is never touched again, so that nothing on disk is rewritten. Thread: any (pure).
namespace thinning {
inline constexpr double kNoRaw = 0.80;
inline constexpr double kNoHistograms = 0.85;
inline constexpr double kHalfSteps = 0.88;
inline constexpr double kQuarterSteps = 0.91;
inline constexpr double kEighthSteps = 0.94;
inline constexpr double kFewSteps = 0.97;

/// Whether data of a drop class of this step is kept at a spool fill of 0..1. `step` counts the collected steps: their
/// own numbers may all be odd, and no fill may take every one of them.
constexpr bool keeps(std::uint32_t dropClass, std::uint64_t step, double fill)
{
    const auto every = [step](std::uint64_t n) { return step % n == n - 1; };
    switch (dropClass) {
    case dropclass::kEvents:
    case dropclass::kScalars:
        return true;
    case dropclass::kTensors:
        if (fill >= kFewSteps)
            return every(64);
        if (fill >= kEighthSteps)
            return every(8);
        if (fill >= kQuarterSteps)
            return every(4);
        return fill < kHalfSteps || every(2);
    case dropclass::kHistograms:
        return fill < kNoHistograms;
    default:
        return fill < kNoRaw;
    }
}
}

}
