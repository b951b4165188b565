// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/demo/options.h>

namespace telltale {
class Sink;
struct LoadedConfig;
}

namespace telltale::demo {

/// What a training did.
struct TrainingResult {
    std::int64_t steps = 0;
    double finalLoss = 0; ///< of the last step, NaN without one
    bool wasInterrupted = false;
    std::vector<std::int64_t> stepMicroseconds;
    std::vector<std::int64_t> monitorMicroseconds; ///< of each step, the part spent in the monitor
    std::string weights; ///< final parameters' raw bytes in the order of named_parameters, when asked for
};

/// Trains the transformer as the options say. `sink` null = without any monitor. `interrupted` is looked at between
/// steps. Progress goes to standard error. Thread: the caller's, which becomes the training thread.
Expected<TrainingResult> train(
    const Options& options, const LoadedConfig& wanted, Sink* sink, int rank, const std::atomic<bool>& interrupted);

}
