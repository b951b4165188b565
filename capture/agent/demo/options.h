// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <telltale/core/expected.h>
#include <telltale/demo/fault.h>

namespace telltale::demo {

/// What the command line of telltale-demo-trainer says. Thread: any (a value).
struct Options {
    std::string join; ///< empty: TELLTALE_JOIN
    std::string configPath; ///< empty: everything the monitor serves is collected
    std::int64_t steps = 1000;
    int layers = 4;
    int heads = 4;
    int width = 160;
    std::string schedule = "cosine";
    std::string textPath = "/usr/share/common-licenses/GPL-3";
    std::uint64_t seed = 1234;
    Fault fault;
    bool agentWanted = true;
    std::string weightsPath;
    std::string stepTimesPath;
    std::string help; ///< what --help wants to be printed, else empty
};

/// Arguments without the program's name. The error is one sentence fit to be printed after "telltale-demo-trainer: ".
Expected<Options> parseOptions(std::span<const char* const> arguments);
}
