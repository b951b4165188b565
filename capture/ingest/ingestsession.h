// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <telltale/core/connectioninfo.h>
#include <telltale/core/threadhome.h>
#include <telltale/ingest/arrivalrate.h>
#include <telltale/ingest/batchsink.h>
#include <telltale/ingest/costrate.h>
#include <telltale/ingest/eventthrottle.h>
#include <telltale/protocol/deliveryrules.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/protocol/messages.h>
#include <telltale/protocol/refusals.h>

namespace telltale::ingest {

/// One open stream on one connection: receive rules, layouts, decoding, hand-over to the sink, counters. Socket-free.
/// Thread: owned by one (capture).
///
/// Invariant: batches reach the sink in seq order, each once. What the sink has no room for waits here, undecoded
/// except for the first, so that a window of small batches with large contents costs the window and no more.
class IngestSession {
public:
    using Clock = std::chrono::steady_clock;
    using Verdict = protocol::ReceiveRules::Verdict;

    struct Credit {
        std::uint64_t bytes = 0;
        std::uint64_t batches = 0;
    };

    IngestSession(BatchSink& sink, const store::StreamOpened& opened, Credit credit);

    StreamId stream() const { return m_stream; }
    /// What the receive rules say; Accept means that the batch is ours to deliver.
    Verdict onBatch(protocol::Batch batch);
    void onHeartbeat(const protocol::Heartbeat& heartbeat, std::int64_t nowWallNs);
    /// Rate and lag are over what became durable.
    void onDurable(std::uint64_t seq, std::int64_t nowWallNs);
    /// Durable too: the sink commits in order.
    void onQuarantined(std::uint64_t seq, std::string reason, std::int64_t nowWallNs);
    void setPaused(bool paused) { m_rules.setPaused(paused); }
    /// Offers what waits to the sink again. True when nothing waits any more.
    bool offerWaiting();

    bool hasWaiting() const { return m_prepared.index() != 0 || !m_waiting.empty(); }
    /// Nothing that the sink took is still on its way to the disk.
    bool isSettled() const { return m_pending.empty(); }
    bool ackIsDue() const { return m_rules.ackIsDue(); }
    protocol::Ack takeAck() { return m_rules.takeAck(); }
    const protocol::ReceiveRules& rules() const { return m_rules; }
    /// A batch to be sent again with its layouts, which it came without: that the caller has to say Nack. Told once.
    bool takeNack() { return std::exchange(m_nackDue, false); }
    /// The newest steps that data came of, and when they were by the agent's clock; step -1 = none yet.
    struct StepsSeen {
        Step first { -1 }; ///< of the batch that brought the last
        std::int64_t firstNs = 0;
        Step last { -1 };
        std::int64_t lastNs = 0;
    };
    const StepsSeen& newestSteps() const { return m_newestSteps; }
    std::uint64_t durableSamples() const { return m_samples; }
    std::uint64_t rejected() const { return m_rejected; }
    /// The newest batch that the agent is known to have made.
    std::uint64_t announcedSeq() const;
    /// What the agent has said of its samples.
    const Produced& produced() const { return m_produced; }
    /// The agent of that incarnation is gone and has not said how much it produced in all: perhaps it left a page on
    /// this machine that does.
    void lookForPage(std::uint64_t incarnation);

    /// Fills in what is known of this connection; `now` moves the rate on.
    void describe(ConnectionInfo& info, Clock::time_point now, std::int64_t nowWallNs);

private:
    struct Raw {
        std::uint64_t seq;
        std::string bytes;
        std::string reason;
        Lost lost;
    };
    using Prepared = std::variant<std::monostate, std::shared_ptr<const SampleBatch>, Raw>;
    struct Pending {
        std::uint64_t seq;
        std::int64_t newestWallNs; ///< 0 = no steps in it
        std::uint64_t samples;
    };

    Prepared prepare(protocol::Batch batch);
    Prepared accept(SampleBatch decoded, protocol::Batch batch);
    void noteRefused(SampleBatch& decoded, const protocol::Batch& batch);
    bool offerPrepared();
    void note(const SampleBatch& batch);

    BatchSink& m_sink;
    const StreamId m_stream;
    protocol::ReceiveRules m_rules;
    protocol::LayoutTable m_layouts;
    protocol::Refusals m_refusals;
    EventThrottle m_throttle;
    Prepared m_prepared;
    std::deque<protocol::Batch> m_waiting;
    std::deque<Pending> m_pending;
    StepsSeen m_newestSteps;

    std::uint64_t m_receivedBytes = 0;
    std::uint64_t m_receivedBatches = 0;
    std::uint64_t m_nacks = 0;
    std::uint64_t m_askedAgain = 0; ///< the newest seq that came without its layouts
    bool m_nackDue = false;
    std::uint64_t m_rejected = 0;
    std::uint64_t m_dropped = 0;
    std::uint64_t m_reportedDrops = 0;
    std::uint64_t m_agentNextSeq = 0;
    Produced m_produced;
    CostRate m_cost;
    protocol::CostSums m_costSums; ///< as they were said last
    std::int64_t m_nextStep = 0;
    protocol::Thinning m_thinning {};
    std::uint64_t m_ringBytes = 0;
    std::uint64_t m_spoolBytes = 0;
    double m_clockOffset = 0; ///< seconds: our wall clock minus the agent's, least seen (so, with the shortest way)
    bool m_clockOffsetKnown = false;
    double m_lagSeconds = 0;
    std::int64_t m_newestWallNs = 0; ///< of a durable step, by the agent's clock
    std::uint64_t m_samples = 0;
    ArrivalRate m_arrivals;
    ThreadHome m_home;
};

}
