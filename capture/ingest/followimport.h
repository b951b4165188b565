// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/exchange/eventfollower.h>
#include <telltale/exchange/followblocks.h>
#include <telltale/ingest/followedbefore.h>
#include <telltale/ingest/foreignimport.h>
#include <telltale/ingest/importtarget.h>

namespace telltale::ingest {

/// Imports event files while another tool writes them: the run is live meanwhile. One that was followed before goes on
/// where it was, with what came in between. Thread: owned by one; blocks.
class FollowImport {
public:
    /// `isAgain`: into a run of its own, whatever was followed before.
    FollowImport(std::vector<std::filesystem::path> paths, ImportTarget& target, bool isAgain = false);
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
    /// Whether a run that was followed before goes on.
    bool goesOn() const { return m_before.has_value(); }

private:
    struct Process;
    Expected<void> findRun();
    Expected<void> take(const exchange::EventFollower::News& news);
    Expected<Process*> processOf(const exchange::EventFollower::News& news);
    Expected<void> submit(Process& process, const std::shared_ptr<SampleBatch>& batch);

    exchange::ForeignRun m_run;
    exchange::EventFollower m_follower;
    ImportTarget& m_target;
    std::map<std::pair<Rank, int>, std::unique_ptr<Process>> m_processes; ///< by rank and attempt
    const std::vector<std::filesystem::path> m_paths;
    std::string m_key; ///< empty: nothing came yet
    std::optional<FollowedBefore> m_before;
    int m_worldSize = 1;
    ForeignReport m_report;
    ThreadHome m_home;
};

}
