// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <telltale/store/archive.h>
#include <telltale/store/pins.h>

namespace telltale::store {

/// Which runs may go: those for which everything that is said here holds. Thread: any (a value).
struct RetentionRule {
    std::optional<std::int64_t> olderThanNs; ///< since anything was recorded into it
    std::optional<std::size_t> keep; ///< so many newest runs stay, whatever their age
};

/// The runs of a list that the rule lets go, the oldest first; never a pinned one, nor one that is recorded or may be
/// going on, nor one that this version cannot read. Nothing where the rule says nothing. Thread: any.
std::vector<RunSummary> runsToGo(
    std::vector<RunSummary> runs, const Pins& pins, const RetentionRule& rule, std::int64_t nowNs);

}
