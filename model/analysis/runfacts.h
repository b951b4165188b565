// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <telltale/config/revision.h>
#include <telltale/config/runcheck.h>
#include <telltale/core/expected.h>
#include <telltale/store/confighistory.h>
#include <telltale/store/runreader.h>

namespace telltale::analysis {

/// A config that was offered to a run's ranks, for people. Thread: any (a value).
struct RevisionFacts {
    std::uint64_t rev = 0;
    Step applyAtStep;
    std::int64_t wallNs = 0;
    std::string author;
    std::vector<config::FieldChange> changes; ///< against `before`
    std::string config; ///< JSON
    /// JSON: the last before it that its ranks did not refuse, of the first what the run began with; "" = not known.
    std::string before;
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
/// All of a history's, oldest first. Thread: query.
std::vector<RevisionFacts> revisionFacts(store::RunReader& reader, const store::ConfigHistory& history);
/// Thread: query.
Expected<ConfigFacts> configFactsOf(store::RunReader& reader);

}
