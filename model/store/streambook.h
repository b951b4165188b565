// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <telltale/core/threadhome.h>
#include <telltale/store/capsuletransaction.h>
#include <telltale/store/recordwriter.h>
#include <telltale/store/runrecorder.h>

namespace telltale::store {

/// Who a capsule is of: the run, its sources and their streams, and how far each stream is taken and durable. What
/// changes one of them is durable on return, but for what a commit writes. Thread: store.
class StreamBook {
public:
    StreamBook(CapsuleTransaction& transaction, RecordWriter& records)
        : m_transaction(transaction)
        , m_records(records)
    {
    }
    Expected<void> load();

    const RunMeta& meta() const { return m_meta; }
    const std::map<std::int64_t, StreamRow>& streams() const { return m_streams; }
    const std::map<std::int64_t, SourceInfo>& sources() const { return m_sources; }
    const SourceInfo& sourceOf(std::int64_t stream) const { return m_sources.at(m_streams.at(stream).source.value); }
    bool isRunning(std::int64_t stream) const;
    /// The stream of a known incarnation, 0 without one.
    std::int64_t findStream(const std::string& agentId, std::uint64_t incarnation) const;
    int attemptsOf(Rank rank) const;
    /// The newest source of the rank; one without id where there is none.
    SourceInfo newestOf(Rank rank) const;

    /// A new incarnation becomes the given attempt of its rank.
    Expected<std::int64_t> addStream(const StreamRequest& request, int attempt);
    /// Everything below firstRetained is lost for good: recorded as a gap.
    Expected<void> skipTo(std::int64_t stream, std::uint64_t firstRetained);
    /// A known stream is back: its source runs, and batches of its earlier connections are stale.
    Expected<void> resume(std::int64_t stream);
    /// How it ended, and what its agent made up to then.
    Expected<void> leave(std::int64_t stream, SourceState state, std::uint64_t announcedSeq, Produced produced = {});
    Expected<void> setMeta(const std::string& key, const std::string& value);

    /// The row of a stream of which something was staged: the next commit writes it.
    StreamRow& touch(std::int64_t stream);
    /// In a commit: what is staged of the touched streams, and the steps that its batches brought to their sources.
    Expected<void> writeTouched(const std::map<SourceId, StepRange>& steps);
    void committed();

private:
    Expected<void> loadMeta();
    /// A row of `source` was written.
    Expected<void> sourceWritten(SourceId source);
    Expected<void> writeSeq(const StreamRow& stream, std::uint64_t seq);

    CapsuleTransaction& m_transaction;
    RecordWriter& m_records;
    Statement m_saveMeta, m_source, m_sourceState, m_sourceSteps, m_sourceText, m_stream, m_streamEpoch, m_streamSeq;
    RunMeta m_meta;
    std::map<std::int64_t, StreamRow> m_streams;
    std::map<std::int64_t, SourceInfo> m_sources;
    std::set<std::int64_t> m_touched;
    std::int64_t m_lastMetaNs = 0;
    ThreadHome m_home;
};

}
