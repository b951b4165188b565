// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <telltale/core/threadhome.h>
#include <telltale/store/liverunentry.h>
#include <telltale/store/storefeed.h>
#include <telltale/store/storequeue.h>

namespace telltale::store {

/// The body of the store thread: groups batches into commits, finds or makes runs, closes them. Talks to the outside
/// only through the queue, the feed, the outlet and atomics. Thread: store.
class StoreThread {
public:
    /// Where results go. Functions may be called from the store thread only and must not block.
    struct Outlet {
        std::function<void(std::vector<StoreEvent>)> events;
        std::function<void(const StoreCounters&)> counters;
    };

    StoreThread(const StoreOptions& options, StoreQueue& queue, StoreFeed& feed, Outlet outlet);
    ~StoreThread();

    /// Seals and closes what a crash left open. Before run().
    void recover();
    /// Until the queue is closed and empty, or `giveUpAt` (read again at each turn) has passed.
    void run(const std::function<std::chrono::steady_clock::time_point()>& giveUpAt);

private:
    using Clock = std::chrono::steady_clock;
    struct OpenStream {
        LiveRunEntry* run = nullptr;
        std::int64_t row = 0;
    };

    void handle(StoreMessage message);
    void takeBatch(const std::shared_ptr<const SampleBatch>& batch);
    void takeQuarantine(QuarantineMessage message);
    void takeRecord(OwnRecord record);
    /// Into a run that is not being recorded: its file is whole again afterwards.
    void writeIdle(OwnRecord record);
    void open(const StreamRequest& request);
    void close(const CloseMessage& message);
    Expected<LiveRunEntry*> findRun(const StreamRequest& request);
    Expected<LiveRunEntry*> reopen(const RunLocator& run);
    std::vector<std::pair<RunLocator, RunFacts>> archivedRuns(const std::string& runKey);

    /// Done; the time is up; or trying again is no use.
    enum class Outcome { Done, TimeUp, Hopeless };

    /// Commits the group; repeats until it succeeds. False when giving up.
    bool flush();
    Outcome commitRun(LiveRunEntry& run);
    /// What became of the run's records.
    static void addWritten(LiveRunEntry& run, std::vector<StoreEvent>& events);
    /// Repeats work that may succeed later (full disk, I/O error). A hopeless error stays in m_hopeless.
    Outcome retry(const std::string& what, const std::function<Expected<void>()>& work);
    void setTrouble(const Error* error);
    /// Gives the run up: its streams end, and nothing of what was staged is acknowledged.
    void stopRun(LiveRunEntry& run);
    void noticeLosses();
    void closeFinishedRuns();
    void releaseIdle();
    void closeRun(std::unique_ptr<LiveRunEntry> run);
    void tidyUp();
    void closeAll();
    void publishRuns();
    /// What became durable, to the subscribers.
    void tell(LiveRunEntry& run);

    const StoreOptions& m_options;
    StoreQueue& m_queue;
    StoreFeed& m_feed;
    Outlet m_outlet;
    std::function<Clock::time_point()> m_giveUpAt;
    std::vector<std::unique_ptr<LiveRunEntry>> m_runs;
    std::vector<std::unique_ptr<LiveRunEntry>> m_leaving; ///< complete, but a reader still holds the file
    std::unordered_map<StreamId, OpenStream> m_streams;
    std::map<RunLocator, std::string> m_runKeys; ///< of closed runs
    std::map<RunLocator, Error> m_stopped; ///< runs that were given up
    Error m_hopeless;
    std::int64_t m_lastStream = 0;

    std::vector<StoreEvent> m_afterCommit;
    std::vector<StreamId> m_groupStreams;
    std::size_t m_groupBytes = 0;
    int m_groupBatches = 0;
    Clock::time_point m_groupSince;
    Clock::time_point m_lastTick;
    StoreCounters m_counters;
    ThreadHome m_home;
};

}
