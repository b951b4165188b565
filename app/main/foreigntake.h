// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <telltale/core/expected.h>

#include "args.h"
#include "importer.h"
#include "progressline.h"

namespace telltale::app {

// What another tool recorded becomes a run; the answers are what `telltale import --json` says of it. Thread: the
// verb's.

/// A run that is whole: through a capsule of its own. What is here already is not taken again, but for `isAgain`.
Expected<nlohmann::json> takeForeign(Importer& importer, const std::string& dataDir,
    const std::vector<std::filesystem::path>& paths, bool isAgain, ProgressLine& line);

/// How long nothing may come before a run that is followed is over; none: for ever.
Expected<std::optional<std::chrono::seconds>> idleOf(const Args& args);
/// A run that grows: until nothing has come for a while, or the user has had enough. The one that was followed before
/// goes on, but for `isAgain`.
Expected<nlohmann::json> followForeign(Importer& importer, const std::vector<std::filesystem::path>& paths,
    bool isAgain, std::optional<std::chrono::seconds> idle, ProgressLine& line);

}
