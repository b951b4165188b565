// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <telltale/config/runcheck.h>
#include <telltale/core/runrates.h>

namespace telltale::config {

/// What a config would make of a run. What is not known is missing.
struct CostEstimate {
    double series = 0; ///< of all ranks
    double samples = 0; ///< a step that is collected, of all ranks
    bool isWhole = true; ///< false: something is asked for that the run has not shown yet, and comes on top
    std::optional<double> bytesPerSecond;
    std::optional<double> addedMs; ///< a step, on average, against what runs
    double addedShare = 0; ///< of a step
    /// Where it would take more than the running config's budget: one in so many steps will be collected; else 0.
    std::int64_t everyWithin = 0;
};

/// Nothing while the model is not known. `running` is what runs now, which the rates are of.
std::optional<CostEstimate> estimateCost(
    const MonitorConfig& draft, const MonitorConfig& running, const RunFacts& run, const RunRates& rates);

}
