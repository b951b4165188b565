// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <telltale/core/drops.h>
#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>
#include <telltale/store/account.h>
#include <telltale/store/archive.h>
#include <telltale/store/catalog.h>
#include <telltale/store/storefeed.h>
#include <telltale/store/storeservice.h>

namespace telltale::store {

/// What identifies a run. Thread: any (a value).
struct RunMeta {
    std::string storeId;
    std::string runId;
    std::string runKey;
    std::string keySource;
    std::string name;
    int worldSize = 1;
    std::int64_t createdNs = 0;
};

/// A stream of a run, and how far it is taken and durable. Thread: any (a value).
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
};

/// What writes one run, in whatever store it is. Batches and records are staged and become durable in groups; a commit
/// that fails changes nothing and may be repeated until it succeeds. Whatever changes a stream otherwise is durable on
/// return. Thread: store.
class RunRecorder {
public:
    using Clock = std::chrono::steady_clock;
    virtual ~RunRecorder() = default;

    virtual const RunMeta& meta() const = 0;
    virtual const std::map<std::int64_t, StreamRow>& streams() const = 0;
    virtual const std::map<std::int64_t, SourceInfo>& sources() const = 0;
    /// What the stream has announced.
    virtual std::vector<std::shared_ptr<const SeriesLayout>> layouts(std::int64_t stream) const = 0;

    /// The stream of a known incarnation, 0 without one.
    virtual std::int64_t findStream(const std::string& agentId, std::uint64_t incarnation) const = 0;
    /// A new incarnation becomes the next attempt of its rank.
    virtual Expected<std::int64_t> addStream(const StreamRequest& request) = 0;
    /// A known stream is back: its source runs, and batches of its earlier connections are stale.
    virtual Expected<void> resume(std::int64_t stream) = 0;
    /// Everything below `firstRetained` is lost for good: recorded as a gap.
    virtual Expected<void> skipTo(std::int64_t stream, std::uint64_t firstRetained) = 0;
    /// How a stream ended, and what its agent made up to then.
    virtual Expected<void> leave(std::int64_t stream, SourceState state, std::uint64_t announcedSeq, Produced produced)
        = 0;
    virtual Expected<void> setState(RunState state) = 0;

    /// Empty when taken, else why the batch breaks the schema (nothing was changed). An error is the store's: nothing
    /// was changed, and the batch may be offered again.
    virtual Expected<std::string> stage(std::int64_t stream, std::shared_ptr<const SampleBatch> batch) = 0;
    /// `drops`: what the batch had to say of earlier losses, where that could be read.
    virtual void stageQuarantine(
        std::int64_t stream, std::uint64_t seq, std::string raw, std::string reason, Lost lost, std::vector<Drop> drops)
        = 0;
    virtual void stageRecord(OwnRecord record) = 0;
    virtual std::vector<RecordWritten> takeWritten() = 0;
    virtual void giveUpRecords(const Error& error) = 0;
    virtual bool hasStaged() const = 0;
    /// Writes what was staged, then publishes.
    virtual Expected<void> commit() = 0;
    /// What has become durable since the last call, but for the run that it is of.
    virtual Durable takeNews() = 0;

    /// Gives back the memory of what had no block for `grace` and whose stream ended or went on otherwise.
    virtual Expected<void> releaseIdle(Clock::time_point now, std::chrono::milliseconds grace) = 0;
    /// Completes the run and writes `state`.
    virtual Expected<void> finish(RunState state) = 0;
    /// After finish(): leaves nothing beside the run. False while readers keep it from that; ask again.
    virtual bool tidyUp() = 0;
};

}
