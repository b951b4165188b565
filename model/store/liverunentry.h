// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <telltale/core/threadhome.h>
#include <telltale/store/runfacts.h>
#include <telltale/store/runrecorder.h>
#include <telltale/store/storeservice.h>

namespace telltale::store {

/// One run that is being recorded: what writes it, and who is connected. Thread: store.
class LiveRunEntry {
public:
    using Clock = std::chrono::steady_clock;

    static Expected<std::unique_ptr<LiveRunEntry>> create(const std::string& dataDir, const StreamRequest& request);
    static Expected<std::unique_ptr<LiveRunEntry>> open(const RunLocator& run);

    RunRecorder& recorder() { return *m_recorder; }
    const RunRecorder& recorder() const { return *m_recorder; }
    const RunRef& ref() const { return m_ref; }

    RunFacts facts() const;
    /// Finds or makes the source and stream; returns the stream's row.
    Expected<std::int64_t> admit(const StreamRequest& request);
    Expected<void> leave(std::int64_t stream, const std::string& byeReason, std::uint64_t lastSeq, Produced produced,
        std::int64_t nowNs);
    /// Says so in the capsule once nobody was connected for `lostAfter` and somebody never said Bye. True when that is
    /// new.
    bool noticeLoss(Clock::time_point now, std::chrono::milliseconds lostAfter);

    /// Readers go on with what the file holds.
    void abandon();
    /// What has become durable since the last call.
    Durable takeNews();

    bool hasConnections() const { return !m_connected.empty(); }
    /// Nobody is there, and everybody said Bye (every rank of the world, or those that ever came, 10 s ago) or the run
    /// is lost and nobody came back for `grace`. Whoever comes after that opens the run again.
    bool isOver(Clock::time_point now, std::chrono::milliseconds grace) const;
    /// Finished or Failed when everybody said so; else Lost when they went before us, Interrupted when we go first.
    RunState finalState() const;

private:
    LiveRunEntry() = default;
    int knownRanks() const;
    void countConnections();

    std::shared_ptr<LiveRun> m_live;
    bool m_isNewlyLost = false;
    std::unique_ptr<RunRecorder> m_recorder;
    RunRef m_ref;
    std::set<std::int64_t> m_connected; ///< stream rows
    std::map<std::int64_t, SourceState> m_stateBefore; ///< of connected streams: how they had ended
    std::int64_t m_lastSeenNs = 0; ///< by the wall clock, as the capsule says it
    Clock::time_point m_quietSince = Clock::now(); ///< when the last connection went; no clock that somebody sets
    ThreadHome m_home;
};

}
