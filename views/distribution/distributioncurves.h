// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <functional>

#include "distributionpicture.h"

namespace telltale::views {

struct QuantileName {
    const char* name;
    double share;
};
inline constexpr std::array<QuantileName, 7> kQuantiles { { { "p99", 0.99 }, { "p95", 0.95 }, { "p75", 0.75 },
    { "p50", 0.5 }, { "p25", 0.25 }, { "p5", 0.05 }, { "p1", 0.01 } } };

/// Quantiles of every column, or what the number formats would lose there, as curves. A column of several steps is one
/// distribution. Where something is not finite the curve breaks, as any does. Thread: any.
CurvePicture curvesBelow(const DistributionStrip& strip, BelowStrips below, StepRange range, bool isLive);

}
