// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <telltale/core/drops.h>
#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>
#include <telltale/core/threadhome.h>
#include <telltale/store/archive.h>
#include <telltale/store/capsuletransaction.h>
#include <telltale/store/openlayouts.h>
#include <telltale/store/recordwriter.h>
#include <telltale/store/stagedbatches.h>
#include <telltale/store/streambook.h>

namespace telltale::store {

/// The only writing connection of one capsule. Batches are staged (they fill the open tiles, unpublished) and committed
/// in groups; a commit that fails changes nothing and may be repeated until it succeeds. What that takes is done by its
/// parts: this one says when, and in which transaction. Thread: store.
class CapsuleWriter {
public:
    /// The file appears under its name only when it is a whole capsule.
    static Expected<std::unique_ptr<CapsuleWriter>> create(const std::string& path, const RunMeta& meta, LiveRun& live);
    /// Opens for more: replays the tail.
    static Expected<std::unique_ptr<CapsuleWriter>> open(const std::string& path, LiveRun& live);

    const RunMeta& meta() const { return m_book.meta(); }
    const std::map<std::int64_t, StreamRow>& streams() const { return m_book.streams(); }
    const std::map<std::int64_t, SourceInfo>& sources() const { return m_book.sources(); }
    /// Who streams into the run, and how that changes.
    StreamBook& book() { return m_book; }
    std::vector<std::shared_ptr<const SeriesLayout>> layouts(std::int64_t stream) const
    {
        return m_layouts.layoutsOf(stream);
    }
    const std::vector<std::string>& damage() const { return m_damage; }
    Expected<void> setState(RunState state);

    /// Empty when taken, else why the batch breaks the schema (nothing was changed). An error is the file's: nothing
    /// was changed, and the batch may be offered again.
    Expected<std::string> stage(std::int64_t stream, std::shared_ptr<const SampleBatch> batch);
    /// `drops`: what the batch had to say of earlier losses, where that could be read.
    void stageQuarantine(std::int64_t stream, std::uint64_t seq, std::string raw, std::string reason, Lost lost = {},
        std::vector<Drop> drops = {});
    void stageRecord(OwnRecord record) { m_staged.add(std::move(record)); }
    std::vector<RecordWritten> takeWritten() { return m_staged.takeWritten(); }
    void giveUpRecords(const Error& error) { m_staged.giveUpRecords(error); }
    bool hasStaged() const { return !m_staged.isEmpty(); }
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
    Durable takeNews() { return m_transaction.takeNews(); }

private:
    CapsuleWriter(Connection db, LiveRun& live);
    static Expected<std::unique_ptr<CapsuleWriter>> open(const std::string& path, LiveRun& live, bool isNew);
    Expected<void> load();
    bool isDuplicate(std::int64_t stream, std::uint64_t seq);
    Expected<void> restore(LiveLayout& layout);
    void checkpoint(bool truncate);

    Connection m_db;
    LiveRun& m_live;
    CapsuleTransaction m_transaction;
    RecordWriter m_records;
    StreamBook m_book;
    OpenLayouts m_layouts;
    StagedBatches m_staged;
    std::vector<std::string> m_damage;
    int m_walPages = 0;
    ThreadHome m_home;
};

}
