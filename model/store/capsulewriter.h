// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/drops.h>
#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>
#include <telltale/store/account.h>
#include <telltale/store/archive.h>
#include <telltale/store/catalog.h>
#include <telltale/store/livelayout.h>
#include <telltale/store/runhandle.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/storefeed.h>
#include <telltale/store/tilesealer.h>

namespace telltale::store {

struct StreamRequest;

/// What identifies a run, as `meta` holds it.
struct RunMeta {
    std::string storeId;
    std::string runId;
    std::string runKey;
    std::string keySource;
    std::string name;
    int worldSize = 1;
    std::int64_t createdNs = 0;
};

/// The only writing connection of one capsule. Batches are staged (they fill the open tiles, unpublished) and committed
/// in groups; a commit that fails changes nothing and may be repeated until it succeeds. Thread: store.
class CapsuleWriter {
public:
    struct StreamRow {
        std::int64_t id = 0;
        SourceId source;
        std::string agentId;
        std::uint64_t incarnation = 0;
        std::uint64_t durableSeq = 0; ///< committed
        std::uint64_t stagedSeq = 0; ///< taken
        std::uint64_t duplicates = 0;
        std::uint64_t rejected = 0;
        std::uint32_t epoch = 0; ///< counts the connections of the stream
        std::uint64_t batches = 0; ///< taken since the capsule was opened, with blocks
        std::uint64_t announcedSeq = 0; ///< the newest batch that its agent is known to have made
        std::optional<StreamAccount> account = StreamAccount {}; ///< staged; none: its beginning was not counted
        std::map<LayoutId, LiveLayout*> layouts;
    };

    /// The file appears under its name only when it is a whole capsule.
    static Expected<std::unique_ptr<CapsuleWriter>> create(const std::string& path, const RunMeta& meta, LiveRun& live);
    /// Opens for more: replays the tail.
    static Expected<std::unique_ptr<CapsuleWriter>> open(const std::string& path, LiveRun& live);
    ~CapsuleWriter();

    const RunMeta& meta() const { return m_meta; }
    const std::string& path() const { return m_path; }
    const std::map<std::int64_t, StreamRow>& streams() const { return m_streams; }
    const std::map<std::int64_t, SourceInfo>& sources() const { return m_sources; }
    std::vector<std::shared_ptr<const SeriesLayout>> layouts(std::int64_t stream) const;
    const std::vector<std::string>& damage() const { return m_damage; }

    /// The stream of a known incarnation, 0 without one.
    std::int64_t findStream(const std::string& agentId, std::uint64_t incarnation) const;
    int attemptsOf(Rank rank) const;
    /// Durable on return. A new incarnation becomes the given attempt of its rank.
    Expected<std::int64_t> addStream(const StreamRequest& request, int attempt);
    /// Everything below firstRetained is lost for good: recorded as a gap.
    Expected<void> skipTo(std::int64_t stream, std::uint64_t firstRetained);
    /// A known stream is back: its source runs, and batches of its earlier connections are stale.
    Expected<void> resume(std::int64_t stream);
    /// How it ended, and what its agent made up to then.
    Expected<void> leave(std::int64_t stream, SourceState state, std::uint64_t announcedSeq, Produced produced = {});
    Expected<void> setMeta(const std::string& key, const std::string& value);
    Expected<void> setState(RunState state);

    /// Empty when taken, else why the batch breaks the schema (nothing was changed). An error is the file's: nothing
    /// was changed, and the batch may be offered again.
    Expected<std::string> stage(std::int64_t stream, std::shared_ptr<const SampleBatch> batch);
    /// `drops`: what the batch had to say of earlier losses, where that could be read.
    void stageQuarantine(std::int64_t stream, std::uint64_t seq, std::string raw, std::string reason, Lost lost = {},
        std::vector<Drop> drops = {});
    bool hasStaged() const { return !m_staged.empty() || !m_quarantined.empty(); }
    /// Writes what was staged and seals some full tiles, in one transaction; then publishes.
    Expected<void> commit();
    using Clock = std::chrono::steady_clock;
    /// Seals the layouts that had no block for `grace` and whose stream ended or went on with others, and gives their
    /// memory back. stage() takes the last tile of one that comes back apart again.
    Expected<void> releaseIdle(Clock::time_point now, std::chrono::milliseconds grace);
    /// Seals everything, writes `state`, checkpoints. The file is complete; isSingleFile() tells whether readers let
    /// go.
    Expected<void> finish(RunState state);
    /// Leaves WAL mode; false while a reader holds the file.
    bool leaveWal();
    /// What has become durable since the last call, but for the run that it is of.
    Durable takeNews() { return std::exchange(m_news, {}); }

private:
    struct Staged {
        std::int64_t stream = 0;
        std::int64_t tailId = 0; ///< 0 = no blocks
        std::shared_ptr<const SampleBatch> batch;
        std::string tail;
    };
    struct Quarantined {
        std::int64_t stream = 0;
        std::uint64_t seq = 0;
        std::string raw;
        std::string reason;
        std::vector<Drop> drops; ///< what it held, and what it told of
    };
    struct CallOrder {
        std::int64_t stream = 0;
        LayoutId layout;
        Step step;
        std::vector<std::uint32_t> ids;
    };
    struct TailRow {
        std::int64_t id = 0;
        std::vector<std::pair<LiveLayout*, std::int64_t>> columns; ///< newest column of each layout
        bool trimmed = false;
    };
    struct Statements;
    struct SealJob {
        LiveLayout* layout = nullptr;
        std::size_t group = 0;
    };

    CapsuleWriter(std::string path, Connection db, LiveRun& live);
    static Expected<std::unique_ptr<CapsuleWriter>> open(const std::string& path, LiveRun& live, bool isNew);
    Expected<void> prepare();
    Expected<void> load();
    Expected<void> loadMeta();
    Expected<void> loadStreams();
    bool isIdle(const LiveLayout& layout, Clock::time_point now, std::chrono::milliseconds grace) const;
    Expected<void> sealLayout(LiveLayout& layout);
    Expected<void> restore(LiveLayout& layout);
    Expected<void> restoreLayout(LiveLayout& layout);
    void giveBack(LiveLayout& layout);
    void forgetDropped();
    LiveLayout* addLayout(StreamRow& stream, const std::shared_ptr<const SeriesLayout>& layout);
    std::string conflict(const StreamRow& stream, const SampleBatch& batch) const;

    /// A row of `source` was written.
    Expected<void> sourceWritten(SourceId source);
    Expected<void> transaction(const std::function<Expected<void>()>& work);
    Expected<void> writeStaged();
    Expected<void> writeLayout(const LiveLayout& layout);
    static bool hasRoomForQuarantine(sqlite3* db);
    Expected<void> writeExtras(const Staged& staged);
    Expected<void> writeQuarantined(const Quarantined& bad);
    Expected<void> writeDropped(SourceId source, const Drop& drop);
    Expected<void> writeStreams();
    Expected<void> sealSome();
    Expected<void> dropSealedTails();
    Expected<void> trimTail(TailRow& row);
    Expected<void> sealRest();
    bool isSealedTo(const LiveLayout& layout, std::int64_t column) const;
    void afterCommit();
    void rolledBack();
    void publish(LiveLayout& layout);
    void checkpoint(bool truncate);

    std::string m_path;
    Connection m_db;
    LiveRun& m_live;
    RunMeta m_meta;
    std::unique_ptr<Statements> m_sql;
    std::unique_ptr<TileSealer> m_sealer;
    std::map<std::int64_t, StreamRow> m_streams;
    std::map<std::int64_t, SourceInfo> m_sources;
    std::vector<std::unique_ptr<LiveLayout>> m_layouts;
    std::vector<std::string> m_damage;

    std::vector<LiveLayout*> m_newLayouts;
    std::vector<Staged> m_staged;
    std::vector<Quarantined> m_quarantined;
    std::vector<CallOrder> m_callOrders;
    std::map<std::pair<std::int64_t, LayoutId>, std::vector<std::uint32_t>> m_lastOrder;
    std::set<LiveLayout*> m_touched;
    std::set<std::int64_t> m_touchedStreams;

    std::deque<SealJob> m_full; ///< groups with a full tile, round-robin
    std::map<const LiveGroup*, std::int64_t> m_sealedNow; ///< in the transaction under way: sealed up to
    std::deque<TailRow> m_tails;
    std::vector<std::int64_t> m_droppedNow;

    std::int64_t m_nextGroup = 1;
    std::int64_t m_nextSeries = 1;
    std::int64_t m_nextTail = 1;
    Durable m_writing; ///< by the transaction under way
    Durable m_news;
    bool m_trimmedNow = false;
    std::int64_t m_lastMetaNs = 0;
    int m_walPages = 0;
};

}
