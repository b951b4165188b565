// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/store/capsuletransaction.h>
#include <telltale/store/openlayouts.h>
#include <telltale/store/recordwriter.h>
#include <telltale/store/runrecorder.h>
#include <telltale/store/stagedbatches.h>
#include <telltale/store/streambook.h>

namespace telltale::store {

/// The only writing connection of one capsule. Batches are staged (they fill the open tiles, unpublished) and committed
/// in groups; a commit that fails changes nothing and may be repeated until it succeeds. What that takes is done by its
/// parts: this one says when, and in which transaction. Thread: store.
class CapsuleWriter final : public RunRecorder {
public:
    /// The file appears under its name only when it is a whole capsule.
    static Expected<std::unique_ptr<CapsuleWriter>> create(const std::string& path, const RunMeta& meta, LiveRun& live);
    /// Opens for more: replays the tail.
    static Expected<std::unique_ptr<CapsuleWriter>> open(const std::string& path, LiveRun& live);

    const RunMeta& meta() const override { return m_book.meta(); }
    const std::map<std::int64_t, StreamRow>& streams() const override { return m_book.streams(); }
    const std::map<std::int64_t, SourceInfo>& sources() const override { return m_book.sources(); }
    std::vector<std::shared_ptr<const SeriesLayout>> layouts(std::int64_t stream) const override
    {
        return m_layouts.layoutsOf(stream);
    }
    const std::vector<std::string>& damage() const { return m_damage; }
    /// For who makes a capsule out of other streams than those that come.
    StreamBook& book() { return m_book; }
    /// See OpenLayouts::keepOpen.
    void keepOpen(std::size_t bytes) { m_layouts.keepOpen(bytes); }

    std::int64_t findStream(const std::string& agentId, std::uint64_t incarnation) const override
    {
        return m_book.findStream(agentId, incarnation);
    }
    Expected<std::int64_t> addStream(const StreamRequest& request) override;
    Expected<void> resume(std::int64_t stream) override { return m_book.resume(stream); }
    Expected<void> skipTo(std::int64_t stream, std::uint64_t firstRetained) override
    {
        return m_book.skipTo(stream, firstRetained);
    }
    Expected<void> leave(std::int64_t stream, SourceState state, std::uint64_t announcedSeq, Produced produced) override
    {
        return m_book.leave(stream, state, announcedSeq, produced);
    }
    Expected<void> setState(RunState state) override;

    Expected<std::string> stage(std::int64_t stream, std::shared_ptr<const SampleBatch> batch) override;
    void stageQuarantine(std::int64_t stream, std::uint64_t seq, std::string raw, std::string reason, Lost lost,
        std::vector<Drop> drops) override;
    void stageRecord(OwnRecord record) override { m_staged.add(std::move(record)); }
    std::vector<RecordWritten> takeWritten() override { return m_staged.takeWritten(); }
    void giveUpRecords(const Error& error) override { m_staged.giveUpRecords(error); }
    bool hasStaged() const override { return !m_staged.isEmpty(); }
    /// Seals some full tiles in the same transaction.
    Expected<void> commit() override;
    Durable takeNews() override { return m_transaction.takeNews(); }

    /// Seals such layouts. stage() takes the last tile of one that comes back apart again.
    Expected<void> releaseIdle(Clock::time_point now, std::chrono::milliseconds grace) override;
    /// Seals everything, writes `state`, checkpoints.
    Expected<void> finish(RunState state) override;
    /// Leaves WAL mode.
    bool tidyUp() override;

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
