// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <telltale/config/revision.h>
#include <telltale/config/runcheck.h>
#include <telltale/core/expected.h>
#include <telltale/store/runreader.h>

namespace telltale::analysis {

/// A config that was offered to a run's ranks, for people. Thread: any (a value).
struct RevisionFacts {
    std::uint64_t rev = 0;
    Step applyAtStep;
    std::int64_t wallNs = 0;
    std::string author;
    std::vector<config::FieldChange> changes; ///< against the revision before it
    std::string config; ///< JSON
    std::string before; ///< JSON: what was to be in force before it, "" = not known
    int applied = 0; ///< ranks
    int refused = 0;
};

/// What a config for a run is held against, and the one that its training told last; "" and nothing where it told none.
struct ConfigFacts {
    config::RunFacts run;
    std::string text;
    std::vector<RevisionFacts> revisions; ///< the last kMostRevisions, newest first
};
inline constexpr std::size_t kMostRevisions = 50;
/// Thread: query.
Expected<ConfigFacts> configFactsOf(store::RunReader& reader);

}
