// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/exchange/eventfollower.h>
#include <telltale/exchange/followblocks.h>
#include <telltale/ingest/foreignimport.h>
#include <telltale/ingest/importtarget.h>

namespace telltale::ingest {

/// Imports event files while another tool writes them: the run is live meanwhile. Thread: owned by one; blocks.
class FollowImport {
public:
    FollowImport(std::vector<std::filesystem::path> paths, ImportTarget& target);
    ~FollowImport();

    /// Brings what is new; how many bytes of the files that was.
    Expected<std::uint64_t> advance(bool isLast = false);
    /// The rest, and the end of every process: `reason` as agents say it.
    Expected<void> finish(const std::string& reason);
    /// The rest, and how it goes on nobody knows.
    Expected<void> interrupt();

    ForeignReport report() const;
    const exchange::ForeignRun& run() const { return m_run; }
    std::size_t files() const { return m_follower.files(); }

private:
    struct Process;
    Expected<void> take(const exchange::EventFollower::News& news);
    Expected<Process*> processOf(const exchange::EventFollower::News& news);
    Expected<void> submit(Process& process, const std::shared_ptr<SampleBatch>& batch);

    exchange::ForeignRun m_run;
    exchange::EventFollower m_follower;
    ImportTarget& m_target;
    std::map<std::pair<Rank, int>, std::unique_ptr<Process>> m_processes; ///< by rank and attempt
    const std::string m_key;
    int m_worldSize = 1;
    ForeignReport m_report;
    ThreadHome m_home;
};

}
