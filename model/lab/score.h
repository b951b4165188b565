// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <telltale/judge/incident.h>
#include <telltale/lab/truth.h>

namespace telltale::lab {

/// Two incidents of one run that are one and the same cause: of one rank, where both are of one, at one tensor or in
/// one block of the model, begun within this many steps. The rule may be another: the one that sees it first wins.
inline constexpr std::int64_t kNearSteps = 50;
bool isSame(const judge::Incident& a, const judge::Incident& b);

/// What some rules give on a run, or one of them, against what people said of it. Thread: any (a value).
struct Score {
    std::string rule; ///< "" for all of them together
    int before = 0; ///< incidents by the rules in force
    int after = 0; ///< by those that are tried
    // Of those that are tried:
    int hits = 0; ///< incidents labeled true that are found
    int missed = 0; ///< that are not
    int falseAlarms = 0; ///< incidents that are labeled false, or found in a clean run
    /// How many steps earlier (or, below 0, later) than the labeled ones those that are hits become known; the median.
    std::optional<std::int64_t> lead;

    bool operator==(const Score&) const = default;
};

/// What changes on a run. Thread: any (a value).
struct Comparison {
    Score all;
    std::vector<Score> rules; ///< that say anything, in the order of the table
    std::vector<judge::Incident> appeared;
    std::vector<judge::Incident> vanished;
};
Comparison compare(
    const Truth& truth, const std::vector<judge::Incident>& before, const std::vector<judge::Incident>& after);

}
