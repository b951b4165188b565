// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <telltale/core/drops.h>
#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>
#include <telltale/store/runhandle.h>
#include <telltale/store/storefeed.h>

namespace telltale::store {

/// Who wants to send: what the store needs of a Hello to find or make the run, the source and the stream.
struct StreamRequest {
    std::uint64_t token = 0; ///< chosen by the caller, comes back in StreamOpened
    std::string runKey;
    std::string runName;
    std::string keySource; ///< "MASTER_ADDR" keys become a new run after 10 minutes without any rank
    std::string agentId;
    std::string host;
    std::uint64_t incarnation = 0;
    int restartCount = 0;
    Rank rank;
    int worldSize = 1;
    int dp = -1, tp = -1, pp = -1, ep = -1;
    std::string framework;
    std::string agentVersion;
    std::int64_t pid = 0;
    std::string device;
    std::uint64_t firstRetainedSeq = 1;
};

/// A record of a run's log that no agent sent: what this process itself did to the run.
struct OwnRecord {
    std::uint64_t token = 0; ///< chosen by the caller, comes back in RecordWritten
    RunLocator run; ///< recorded now or not
    Rank rank { -1 }; ///< that it is of
    Event event;
};

struct StreamOpened {
    std::uint64_t token = 0;
    StreamId stream; ///< unique in this process, over all runs
    std::string storeId;
    std::uint32_t epoch = 0;
    std::uint64_t durableSeq = 0;
    std::vector<std::shared_ptr<const SeriesLayout>> layouts; ///< known layouts of a continued stream
    RunRef run;
    /// What earlier connections of the same agent and incarnation knew this stream as: nothing is taken under these ids
    /// any more.
    std::vector<StreamId> fenced;
};
struct StreamRefused {
    std::uint64_t token = 0;
    Error error;
};
/// Everything of the stream up to seq is committed.
struct StreamDurable {
    StreamId stream;
    std::uint64_t seq = 0;
};
/// A batch broke the store's schema; its raw bytes are in quarantine, durable, and it counts as done.
struct BatchQuarantined {
    StreamId stream;
    std::uint64_t seq = 0;
    std::string reason;
};
/// The file will never take what was accepted (read-only, damaged, gone): the run is recorded no further. Nothing was
/// acknowledged of it, so its agents still have it.
struct RunStopped {
    std::string name;
    RunLocator locator;
    std::vector<StreamId> streams;
    Error error;
};
/// Disk full or I/O error: stop granting credit until `recovered`. Nothing accepted is lost; the store retries.
struct StoreTrouble {
    bool recovered = false;
    Error error;
};
/// An OwnRecord is durable, or never will be.
struct RecordWritten {
    std::uint64_t token = 0;
    std::int64_t id = 0; ///< in the run's log, for the `ref` of later ones; 0 = it is not written, see `error`
    Error error;
};
using StoreEvent = std::variant<StreamOpened, StreamRefused, StreamDurable, BatchQuarantined, StoreTrouble, RunStopped,
    RecordWritten>;

struct StoreCounters {
    std::uint64_t commits = 0;
    std::uint64_t batches = 0;
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
    std::uint64_t queuedBytes = 0;
    std::int64_t lastCommitUs = 0;
    bool inTrouble = false;
    std::uint64_t stoppedRuns = 0; ///< see RunStopped
};

/// Kept of a rejected batch; of how many: capsulebatches.cpp.
inline constexpr std::size_t kMaxQuarantineBytes = 64u << 10;

struct StoreOptions {
    std::string dataDir;
    std::size_t queueBytes = 64u << 20;
    std::int64_t commitMs = 50; ///< commit group: first of commitMs, commitBytes, commitBatches
    std::size_t commitBytes = 1u << 20;
    int commitBatches = 256;
    /// A run without any connection, whose agents never said Bye, is live for this long and then lost: the 15 s in
    /// which a silent peer is cut, and one heartbeat of grace.
    std::int64_t lostAfterMs = 20'000;
    /// A run that stays lost for this long without any connection is closed: its file is whole, and whoever comes back
    /// opens it again. So long, too, a layout that nobody writes any more keeps its open tiles.
    std::int64_t closeAfterMs = 300'000;
};

/// The store thread and all live capsules of one data directory. One writing connection per capsule, all on that
/// thread. Thread: the public functions may be called from any thread.
class StoreService {
public:
    /// Takes the directory's lock (Busy names the holder's pid), recovers what a crash left (re-seals tails), starts
    /// the thread.
    static Expected<std::unique_ptr<StoreService>> start(StoreOptions options);
    ~StoreService(); ///< stop(2 s)

    /// Called from the store thread when events became available; must only wake the consumer.
    void setWake(std::function<void()> wake);
    std::vector<StoreEvent> takeEvents();

    /// False: too many requests wait already; nothing will come of this one.
    bool openStream(StreamRequest request);
    /// Keeps the batch in order with all others. False when the queue is full: the batch is not taken, offer it again.
    bool submit(std::shared_ptr<const SampleBatch> batch);
    /// Raw bytes of a batch that broke a limit or schema (at most kMaxQuarantineBytes are kept). What it held counts as
    /// dropped.
    bool quarantine(StreamId stream, std::uint64_t seq, std::string raw, std::string reason, Lost lost = {});
    /// The agent said Bye(reason) or its socket went away (empty reason). `lastSeq`: the newest batch that it is known
    /// to have made; `produced`: what it said of its samples.
    void closeStream(StreamId stream, std::string byeReason, std::uint64_t lastSeq, Produced produced = {});

    /// False: too many records wait already, offer it again. Taken, it is written with the run's next commit, and
    /// RecordWritten says so.
    bool append(OwnRecord record);

    /// Runs with a live part.
    std::vector<RunRef> liveRuns() const;
    /// Something else has brought a run into the data directory, or taken one away: subscribers are told.
    void noteArchiveChanged() const;
    /// Tells `subscriber`, which must outlive the subscription, what becomes durable.
    std::unique_ptr<Subscription> subscribe(
        StoreSubscriber& subscriber, std::size_t capacity = StoreFeed::kCapacity) const;
    StoreCounters counters() const;
    const std::string& dataDir() const;

    /// Waits until all that was offered before is durable, and every subscription has it to tell. False: not within
    /// `atMost`.
    bool flush(std::chrono::milliseconds atMost);
    /// Drains the queue, commits, seals, closes every run; gives up waiting after `boundMs` (what is not durable stays
    /// unacked).
    void stop(std::int64_t boundMs = 2000);

private:
    struct State;
    explicit StoreService(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

}
