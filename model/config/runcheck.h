// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/config/monitorconfig.h>

namespace telltale::config {

/// What a config is held against: the model and the ranks of a run. Thread: any (a value).
struct RunFacts {
    struct Module {
        std::string name;
        std::string type; ///< "Linear"; empty of a parameter
    };
    std::vector<Module> modules; ///< and parameters, every name once; empty = not known
    std::vector<std::int64_t> ranks; ///< in order; empty = not known
};

/// The modules and parameters of a run's "structure" document; nothing of what is none.
std::vector<RunFacts::Module> modulesOf(std::string_view structureJson);
/// What is wrong with a config for this run alone: targets that match nothing in its model, modules under l2_targets
/// that are of another type, ranks that it does not have. Each leaves the rest of the config in force.
std::vector<Problem> problemsInRun(const MonitorConfig& config, const RunFacts& run);
/// How many modules and parameters the targets select; nothing while the model is not known.
std::optional<std::size_t> selectedCount(const MonitorConfig& config, const RunFacts& run);

}
