// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <telltale/client/controlclient.h>
#include <telltale/core/steering.h>

#include "args.h"

namespace telltale::app {

/// The server that steers the runs: $TELLTALE_CONTROL's, unless --data-dir is given, else that of the data directory.
/// NotFound where none is running there.
Expected<std::unique_ptr<client::ControlClient>> steeringServer(const Args& args);

/// A config text as it is; null where it is none.
nlohmann::json configJson(const std::string& text);
/// The state that scripts are told: "applied", "accepted", "refused" or "lost", and why.
nlohmann::json rankJson(const RankSteering& rank);
/// What the ranks run, or will where they have not refused it; "" where none has said so. `ranks`: who is asked, empty
/// = all.
std::string standingConfig(const RunSteering& steering, const std::vector<Rank>& ranks = {});
/// One of the ranks, empty = of all, has refused the newest revision, and the others of them are away.
bool isRefused(const RunSteering& steering, const std::vector<Rank>& ranks = {});
/// A rank on a line of its own, for people.
std::string rankLine(const RankSteering& rank);
/// "all ranks", "ranks 0, 3".
std::string rankNames(const std::vector<Rank>& ranks);

}
