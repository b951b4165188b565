// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/ids.h>

namespace telltale {

/// What a rank answered to the newest config that asks for it, and what it runs. Thread: any (a value).
struct RankSteering {
    enum class State {
        None, ///< nothing has been offered to it
        Offered, ///< no answer yet
        Accepted, ///< waits for its step
        Refused, ///< `reason` says why; it keeps what it runs
        Applied, ///< runs it from `step` on
        Lost, ///< went away before it was applied; it is offered again when it comes back
    };

    Rank rank;
    std::string host;
    State state = State::None;
    std::uint64_t rev = 0; ///< of the config that the state is about
    std::int64_t step = 0; ///< first step under it
    std::int64_t tookMs = -1; ///< from the offer until it ran it or refused, -1 = not known
    std::string reason;
    std::uint64_t runsRev = 0; ///< what it runs, 0 = a config of its own
    std::string runs; ///< the same as canonical text, "" = it has not said
    bool isAway = false; ///< nobody is connected as the rank; known only where the run is recorded

    bool operator==(const RankSteering&) const = default;
};

/// The states' words on the command line and in scripts.
inline constexpr std::array<std::string_view, 6> kSteeringStateNames { "none", "offered", "accepted", "refused",
    "applied", "lost" };
static_assert(kSteeringStateNames.size() == static_cast<std::size_t>(RankSteering::State::Lost) + 1);
inline std::string_view steeringStateName(RankSteering::State state)
{
    return kSteeringStateNames.at(static_cast<std::size_t>(state));
}

/// How a run's collection is steered: the newest revision, and where each rank stands. Thread: any (a value).
struct RunSteering {
    std::string runId;
    std::uint64_t rev = 0; ///< 0 = nothing has been offered yet
    std::string config; ///< canonical text
    std::string author;
    std::int64_t applyAtStep = 0;
    std::int64_t wallNs = 0; ///< when it was offered
    std::vector<Rank> asked; ///< empty = all
    std::vector<RankSteering> ranks; ///< by number; those that stream into the run

    bool operator==(const RunSteering&) const = default;
};

/// A config that somebody wants a run's ranks to collect by. Thread: any (a value).
struct ConfigRequest {
    std::string runId;
    std::string config; ///< text of a config.json
    std::vector<Rank> ranks; ///< empty = all
    std::int64_t atStep = 0; ///< first step under it; 0 = as soon as all can
    std::string author;
    /// Only while this is the newest revision, and every rank has answered to it: who asks takes nobody's place.
    std::optional<std::uint64_t> onlyAfter {};

    bool operator==(const ConfigRequest&) const = default;
};

}
