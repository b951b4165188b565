// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include <telltale/core/drops.h>
#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/exchange/followblocks.h>
#include <telltale/exchange/foreignrun.h>

namespace telltale::ingest {

/// What a run has of event files that were followed before. Thread: one.
class FollowedBefore {
public:
    static Expected<FollowedBefore> read(const std::string& capsule);

    /// What the process's stream said of its values when it ended.
    Produced producedBy(Rank rank, int attempt) const;
    /// Has the blocks leave out what the run has.
    void prepare(exchange::FollowBlocks& blocks, Rank rank, int attempt) const;
    /// Takes out of a process the documents that the run has.
    void leaveStored(exchange::ForeignProcess& process, int attempt) const;

private:
    struct Stored {
        Rank rank;
        int attempt = 0; ///< as the run numbers it
        std::size_t layouts = 0; ///< at most; each is one group or more
        Produced produced;
    };
    const Stored* find(Rank rank, int attempt) const;
    const exchange::ForeignProcess* processOf(const Stored* stored) const;

    exchange::ForeignRun m_run; ///< its steps, values and documents
    std::map<std::string, Stored> m_stored; ///< by agent
};

}
