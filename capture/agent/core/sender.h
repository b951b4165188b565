// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <telltale/agent/agentoptions.h>
#include <telltale/agent/counters.h>
#include <telltale/agent/dropledger.h>
#include <telltale/agent/earlierstreams.h>
#include <telltale/agent/encoder.h>
#include <telltale/agent/layoutregistry.h>
#include <telltale/agent/session.h>
#include <telltale/agent/sidequeue.h>
#include <telltale/agent/slabring.h>
#include <telltale/agent/spscqueue.h>
#include <telltale/agent/steering.h>
#include <telltale/core/threadhome.h>
#include <telltale/spool/stream.h>

namespace telltale::agent {

/// What the training side and the sender share. Thread: see each part.
struct Handover {
    explicit Handover(const AgentOptions& options)
        : ring(options.ringBytes)
        , side(kSideQueueBytes)
        , steering(options.steering)
    {
    }

    LayoutRegistry layouts;
    SlabRing ring;
    SpscQueue<RingDrop, 256> ringDrops;
    SideQueue side;
    Steering steering;
    Counters counters;
    DropLedger drops { counters };
    LastError lastError;
    std::atomic<bool> isDisabled { false }; ///< after three internal errors
};

/// The agent's own thread: takes steps from the ring, encodes, holds, spools and delivers them. Thread: sender, but for
/// the functions that say any.
class Sender {
public:
    using Clock = std::chrono::steady_clock;

    Sender(const AgentOptions& options, Handover& handover);
    ~Sender();

    /// The thread's body; ends after stop().
    void run();

    /// Any thread. Ends run() within `flush` and a little; `reason` goes into Bye.
    void stop(const std::string& reason, std::chrono::milliseconds flush);
    /// Any thread. False: run() has not ended by then.
    bool waitEnded(Clock::time_point deadline);
    /// Any thread. A number for isFlushed(): everything handed over before this call.
    std::uint64_t requestFlush();
    bool isFlushed(std::uint64_t ticket) const { return m_flushDone.load(std::memory_order_acquire) >= ticket; }
    /// After run(): the server has everything, and knows how much that was.
    bool hasToldAll() const { return m_hasToldAll.load(std::memory_order_relaxed); }
    /// After run(): nothing is left unacknowledged.
    bool isAllAcknowledged() const { return m_isAllAcknowledged.load(std::memory_order_relaxed); }

private:
    void start();
    bool iterate();
    bool mayTake(std::size_t bytes = HeldStore::kTurnBytes) const;
    bool drainRing();
    void drainSideQueue();
    void noteRingDrops();
    void flushDrops();
    void take(EncodedBatch&& batch);
    void maintain();
    void noteClockJump();
    void answerFlush();
    void finish();
    bool takeRest();
    void countLost(Lost lost, const char* reason);
    void countUnwritten();
    void wait(bool wasBusy);
    void strike(const char* what);
    Session::Events sessionEvents();

    const AgentOptions m_options;
    Handover& m_handover;
    Counters& m_counters;
    boost::asio::io_context m_context;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> m_work;
    Stream m_stream;
    Encoder m_encoder;
    DropLedger& m_drops;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<EarlierStreams> m_earlier;

    Clock::time_point m_now;
    Clock::time_point m_lastHousekeeping {};
    Clock::time_point m_firstPendingDrop {};
    std::chrono::microseconds m_idle { 1000 };
    std::int64_t m_step = 0;
    std::uint64_t m_stepsTaken = 0;
    std::int64_t m_clockOffset = 0;
    double m_fill = 0;
    bool m_isDiskAway = false; ///< takes nothing now
    bool m_isTimeUp = false; ///< at the end: what has no room now never will
    int m_strikes = 0;
    std::uint64_t m_flushNoted = 0; ///< asked for when this much of the ring was filled:
    std::uint64_t m_flushRing = 0;
    std::uint64_t m_flushSeen = 0;
    std::uint64_t m_flushSeq = 0;

    std::atomic<std::uint64_t> m_flushWanted { 0 };
    std::atomic<std::uint64_t> m_flushDone { 0 };
    std::atomic<bool> m_isStopping { false };
    std::atomic<bool> m_isAllAcknowledged { false };
    std::atomic<bool> m_hasToldAll { false };
    std::mutex m_stopMutex;
    std::condition_variable m_ended;
    bool m_hasEnded = false; ///< under m_stopMutex, as what follows
    std::string m_stopReason;
    std::chrono::milliseconds m_stopFlush { 0 };
    ThreadHome m_home;
};

}
