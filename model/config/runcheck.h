// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/config/monitorconfig.h>
#include <telltale/core/kinds.h>

namespace telltale::config {

/// What a config is held against: the model and the ranks of a run. Thread: any (a value).
struct RunFacts {
    struct Module {
        std::string name;
        std::string type; ///< "Linear"; empty of a parameter
        double elements = 0; ///< of a parameter
    };
    /// What one of them has in the run's series of a kind, in one rank.
    struct Seen {
        double series = 0;
        double samples = 0; ///< a step
        double elements = 0;
    };
    std::vector<Module> modules; ///< and parameters, every name once; empty = not known
    std::vector<std::int64_t> ranks; ///< in order; empty = not known
    std::map<Kind, std::map<std::string, Seen, std::less<>>> seen; ///< by name
};

/// The modules and parameters of a run's "structure" document; nothing of what is none.
std::vector<RunFacts::Module> modulesOf(std::string_view structureJson);
/// What is wrong with a config for this run alone: targets that match nothing in its model, modules under l2_targets
/// that are of another type, ranks that it does not have. Each leaves the rest of the config in force.
std::vector<Problem> problemsInRun(const MonitorConfig& config, const RunFacts& run);
/// How many modules and parameters the targets select; nothing while the model is not known.
std::optional<std::size_t> selectedCount(const MonitorConfig& config, const RunFacts& run);

}
