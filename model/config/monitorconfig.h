// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>

namespace telltale::config {

/// A finding about one field: shown to the user as it stands.
struct Problem {
    std::string pointer; ///< JSON pointer, "/ops/0"
    std::string sentence; ///< what is wrong, what is allowed, the nearest known name
    bool isError = true; ///< false: a warning
};

/// The monitor's config.json as far as the agents serve it. Defaults are msprobe's.
struct MonitorConfig {
    std::map<std::string, std::string>
        targets; ///< name or glob -> tuple selection text ("" = all); empty map = everything
    std::vector<std::string> ops { "norm", "mean", "min", "max", "zeros", "nans" };
    bool wgDistribution = true;
    bool mvDistribution = false;
    bool paramDistribution = false;
    bool xyDistribution = false;
    bool attentionHook = false;
    bool forwardOnly = false;
    bool backwardOnly = false;
    bool allXy = true;
    bool printStruct = false;
    bool monitorMbsGrad = false;
    std::vector<int> moduleRanks; ///< empty = all
    std::int64_t startStep = 0;
    std::int64_t stepInterval = 1;
    std::int64_t collectTimes = 100'000'000;
    double eps = 1e-8;
    bool dynamicOn = true;

    bool collectsAt(std::int64_t step) const
    {
        return dynamicOn && step >= startStep && (step - startStep) % stepInterval == 0;
    }
};

struct ParsedConfig {
    MonitorConfig config; ///< bad fields hold their defaults
    std::vector<Problem> problems; ///< all of them, in document order
};

/// `//` comments and trailing commas are accepted. Fails only when the text is not a JSON object at all.
Expected<ParsedConfig> parseMonitorConfig(std::string_view text);
/// Does `name` (dotted) fall under `target` (exact name selects itself and everything below; globs allowed)?
bool targetMatches(std::string_view target, std::string_view name);
/// Does a target's selection (a value of MonitorConfig::targets) ask for this slot ("input", "output_1"), or for its
/// gradient? "" asks for everything; {"output": "tuple[2]:1"} for output_1 alone.
bool selectsSlot(std::string_view selection, std::string_view slot, bool gradient);

}
