// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

namespace telltale::config {

/// What steps of a training take, all in the same unit.
struct StepCosts {
    double collected = 0; ///< monitoring, in a step that is collected
    double idle = 0; ///< monitoring, in one that is not
    double own = 0; ///< the training itself
};

/// The fewest that telltale.overhead_budget leaves: one in so many of the steps that a config selects.
inline constexpr std::int64_t kMostStride = 1024;

/// What monitoring takes of the training's own time where one step in `every` is collected.
inline double shareAt(const StepCosts& costs, double every)
{
    const double idle = std::min(costs.idle, costs.collected);
    return (idle + (costs.collected - idle) / std::max(1.0, every)) / costs.own;
}

/// The smallest power of two of which holds: with one step in so many of those that the config selects, each
/// `interval`th, monitoring takes no more than `share`; kMostStride where none does.
inline std::int64_t strideWithin(double share, const StepCosts& costs, std::int64_t interval)
{
    std::int64_t stride = 1;
    while (stride < kMostStride && shareAt(costs, static_cast<double>(stride) * static_cast<double>(interval)) > share)
        stride *= 2;
    return stride;
}

}
