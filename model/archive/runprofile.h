// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/logrecord.h>
#include <telltale/store/runlocator.h>

namespace telltale::archive {

/// How many incidents a run has of each severity; without those that somebody called false alarms.
using IncidentCounts = std::array<std::size_t, 3>;

/// What a run is chosen by among thousands and what listing them does not read. Thread: any (a value).
struct RunProfile {
    std::vector<std::string> tags;
    std::vector<std::string> notes; ///< the run's own, and those that stand at its steps
    IncidentCounts incidents {};
    /// Every value of its hyperparameters and of its config by its place: {"optimizer.lr", "0.001"}.
    std::vector<std::pair<std::string, std::string>> settings;

    std::size_t incidentsFrom(store::Severity least) const;
    bool operator==(const RunProfile&) const = default;
};

/// Reads it from the run. Thread: query; blocks.
Expected<RunProfile> readProfile(const store::RunLocator& run);

}
