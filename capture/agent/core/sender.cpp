// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/sender.h>

#include <algorithm>
#include <exception>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include <telltale/agent/say.h>
#include <telltale/agent/thinning.h>
#include <telltale/core/nothrow.h>
#include <telltale/core/yieldtoothers.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/limits.h>

namespace telltale::agent {
namespace {

constexpr std::chrono::microseconds kShortestIdle { 1000 };
constexpr std::chrono::microseconds kLongestIdle { 8000 };
constexpr std::chrono::milliseconds kHousekeeping { 1000 };
/// Longer than an ack usually takes. What waits longer goes to the page cache, which a killed process does not lose.
constexpr std::chrono::milliseconds kMemoryTime { 80 };
/// A disk that is in one call for longer takes nothing, as far as the room for new steps is concerned.
constexpr std::chrono::milliseconds kDiskPause { 2000 };
/// And for so long what is on it alone may hold up what comes behind.
constexpr std::chrono::milliseconds kDiskPatience { 10000 };
constexpr std::int64_t kClockJumpNs = 1'000'000'000;
constexpr int kMaxStrikes = 3;
constexpr int kStepsPerTurn = 64;
constexpr const char* kUnreadable = "the spool cannot be read";
constexpr const char* kNoRoom = "neither memory nor spool had room";

}

Sender::Sender(const AgentOptions& options, Handover& handover)
    : m_options(options)
    , m_handover(handover)
    , m_counters(handover.counters)
    , m_work(boost::asio::make_work_guard(m_context))
    , m_stream(options.hello, options.streamFolder(), options.spoolCapBytes, options.disk, kDiskPatience)
    , m_encoder([this](EncodedBatch&& batch) { take(std::move(batch)); })
    , m_drops(handover.drops)
{
}

Sender::~Sender() = default;

void Sender::start()
{
    m_now = Clock::now();
    const protocol::Clocks clocks = clocksNow();
    m_clockOffset = clocks.wallNs - clocks.monotonicNs;
    m_stream.disk.spool().setHello(protocol::encodeMessage(m_options.hello));
    m_stream.disk.useThread();
    if (m_options.mode != Mode::Online)
        return;
    m_earlier = std::make_unique<EarlierStreams>(m_context, m_options.join, m_options.runFolder(),
        m_options.spoolCapBytes, m_options.disk, m_handover.lastError);
    m_session = std::make_unique<Session>(
        m_context, m_options.join, m_stream, &m_counters, m_handover.lastError, sessionEvents(), &m_handover.steering);
}

Session::Events Sender::sessionEvents()
{
    Session::Events events;
    events.onForgotten = [this](const HeldStore::Forgotten& gone) {
        m_counters.batchesAcked += gone.batches;
        m_counters.acked += gone.samples;
        m_counters.scalarsAcked += gone.scalars;
        m_counters.dropped += gone.rejectedSamples;
        m_counters.scalarsDropped += gone.rejectedScalars;
        countLost({ gone.lostSamples, gone.lostScalars }, kUnreadable);
    };
    events.onRejected = [this](const std::string& reason, Lost lost) {
        const std::string why = "the server refused it: " + reason;
        m_drops.tally(dropclass::kTensors, why, lost.samples);
        m_drops.tally(dropclass::kScalars, why, lost.scalars);
    };
    events.onGap = [this](std::uint64_t first, std::uint64_t last) {
        Event event;
        event.kind = "gap";
        event.step = Step { m_step };
        event.wallNs = clocksNow().wallNs;
        event.text = fmt::format("the server lost batches {} to {} that it had acknowledged", first, last);
        event.json = fmt::format(R"({{"first_seq":{},"last_seq":{}}})", first, last);
        m_encoder.addEvent(event, m_now);
    };
    events.describe = [this](protocol::Heartbeat& heartbeat) {
        heartbeat.ringBytes = m_handover.ring.publishedBytes() - m_handover.ring.consumedBytes();
        for (const auto& count : m_counters.dropsByClass)
            heartbeat.dropsByClass.push_back(count.load(std::memory_order_relaxed));
        heartbeat.producedSamples = m_counters.produced.load(std::memory_order_relaxed);
        heartbeat.producedScalars = m_counters.scalarsProduced.load(std::memory_order_relaxed);
        heartbeat.cost = { m_counters.monitorNs.load(std::memory_order_relaxed),
            m_counters.stepNs.load(std::memory_order_relaxed), m_counters.steps.load(std::memory_order_relaxed) };
        heartbeat.thinning = { m_counters.collectedEvery.load(std::memory_order_relaxed),
            m_counters.budgetPpm.load(std::memory_order_relaxed) };
        heartbeat.nextStep = m_handover.steering.step();
        heartbeat.isFinal = m_isStopping.load(std::memory_order_relaxed);
    };
    events.isSilent = [this] { return m_handover.steering.step() > m_step + 2; };
    return events;
}

void Sender::run()
{
    yieldToOthers(); // training comes first
    try {
        start();
    } catch (const std::exception& error) {
        strike(error.what());
    }
    while (!m_isStopping.load(std::memory_order_acquire)) {
        bool wasBusy = false;
        try {
            wasBusy = iterate();
        } catch (const std::exception& error) {
            strike(error.what());
        }
        wait(wasBusy);
    }
    try {
        finish();
    } catch (const std::exception& error) {
        strike(error.what());
    }
    withoutThrowing([this] { countUnwritten(); });
    m_session.reset();
    m_earlier.reset();
    m_context.stop();
    const std::lock_guard lock(m_stopMutex);
    m_hasEnded = true;
    m_ended.notify_all();
}

bool Sender::waitEnded(Clock::time_point deadline)
{
    std::unique_lock lock(m_stopMutex);
    return m_ended.wait_until(lock, deadline, [this] { return m_hasEnded; });
}

bool Sender::iterate()
{
    m_home.check();
    m_now = Clock::now();
    if (m_handover.isDisabled.load(std::memory_order_relaxed))
        return false;
    m_stream.held.takeAnswers();
    // Before all else: what was made before a flush was asked for is there when it is looked for.
    const std::uint64_t wanted = m_flushWanted.load(std::memory_order_acquire);
    if (std::exchange(m_flushNoted, wanted) != wanted)
        m_flushRing = m_handover.ring.publishedBytes();
    const bool wasBusy = drainRing();
    noteRingDrops();
    const bool hasRoom = mayTake(kSideQueueBytes);
    if (hasRoom)
        drainSideQueue();
    flushDrops();
    const bool isFlush = wanted != m_flushSeen;
    const bool isUrgent = m_stepsTaken > 0 && m_handover.steering.takeUrgency(m_step);
    if (!m_encoder.isEmpty() && (isFlush || isUrgent || m_now - m_encoder.openSince() >= m_options.batch))
        m_encoder.finish();
    if (isFlush && m_handover.ring.consumedBytes() >= m_flushRing && hasRoom) { // else there is no room to take it yet
        m_flushSeen = wanted;
        m_flushSeq = m_stream.rules.nextSeq() - 1;
    }
    if (m_earlier)
        m_earlier->tick(m_now);
    if (m_session && (!m_earlier || m_earlier->isIntroduced(m_now)))
        m_session->tick(m_now);
    maintain();
    answerFlush();
    return wasBusy;
}

/// What a busy disk will take in a moment waits where it is; from one that takes nothing there is no use to wait. At
/// the end there is until the time is up: the server takes some, too, and nothing more comes.
bool Sender::mayTake(std::size_t bytes) const
{
    const bool isEnding = m_isStopping.load(std::memory_order_relaxed);
    return m_stream.held.hasRoom(bytes) || (isEnding ? m_isTimeUp : m_isDiskAway);
}

bool Sender::drainRing()
{
    bool isKept = false;
    const auto onStep = [this](std::int64_t step, std::int64_t wallNs) {
        m_step = step;
        ++m_stepsTaken;
        m_encoder.beginStep(step, wallNs, m_now);
    };
    const auto onBlock = [this](const SlabRing::Block& block) {
        const Layout* layout = m_handover.layouts.find(block.layout);
        if (!layout)
            return;
        if (thinning::keeps(layout->dropClass, m_stepsTaken, m_fill)) {
            for (const Layout::Part& part : layout->parts)
                m_stream.layouts.add(part.wire);
            m_encoder.addBlock(*layout, block);
            return;
        }
        const std::uint64_t present = presentCount(*layout, block.data);
        m_counters.dropped += present * layout->samplesPerSeries;
        m_counters.scalarsDropped += present * layout->scalarsPerSeries;
        m_drops.add(layout->dropClass, "the spool is nearly full", m_step, m_step,
            present * (layout->samplesPerSeries + layout->scalarsPerSeries));
    };
    for (int i = 0; i < kStepsPerTurn; ++i) {
        if (!mayTake())
            return isKept;
        if (!m_handover.ring.consume(onStep, onBlock))
            return isKept;
        isKept = true;
    }
    return true;
}

void Sender::noteRingDrops()
{
    while (const auto drop = m_handover.ringDrops.pop()) {
        m_drops.add(dropclass::kTensors, drop->why, drop->step, drop->step, drop->samples);
        m_drops.add(dropclass::kScalars, drop->why, drop->step, drop->step, drop->scalars);
    }
}

void Sender::drainSideQueue()
{
    for (SideItem& item : m_handover.side.drain()) {
        if (const auto* event = std::get_if<Event>(&item))
            m_encoder.addEvent(*event, m_now);
        else if (thinning::keeps(dropclass::kBlobs, m_stepsTaken, m_fill))
            m_encoder.addBlob(std::get<Blob>(item), m_now);
        else
            m_drops.add(4, "the spool is nearly full", m_step, m_step, 1, std::get<Blob>(item).bytes.size());
    }
}

void Sender::flushDrops()
{
    if (m_drops.isEmpty()) {
        m_firstPendingDrop = m_now;
        return;
    }
    const bool isEnding = m_isStopping.load(std::memory_order_relaxed) || m_flushWanted != m_flushSeen;
    if (isEnding || m_now - m_firstPendingDrop >= kHousekeeping) {
        m_encoder.addDrops(m_drops.take(), m_now);
        m_firstPendingDrop = m_now;
    }
}

void Sender::take(EncodedBatch&& batch)
{
    const std::uint64_t seq = m_stream.rules.nextSeq();
    const std::size_t bytes = batch.payload.size();
    const BatchInfo info = batch.info;
    // Memory that the system has no more of is no room either.
    const bool isHeld = bytes <= protocol::limits::kMaxMessageBytes - 4096
        && withoutThrowing([&] { return m_stream.held.add(seq, batch.payload, info, m_now); });
    if (isHeld) {
        m_stream.rules.onProduced(seq, bytes);
        return;
    }
    m_counters.dropped += info.samples;
    m_counters.scalarsDropped += info.scalars;
    m_drops.putBack(batch.drops);
    m_drops.add(dropclass::kEvents, kNoRoom, m_step, m_step, batch.events);
    m_drops.add(dropclass::kBlobs, kNoRoom, m_step, m_step, batch.blobs);
    m_drops.add(2, kNoRoom, info.steps.first.value, info.steps.last.value, info.samples);
    m_drops.add(1, kNoRoom, info.steps.first.value, info.steps.last.value, info.scalars);
}

void Sender::maintain()
{
    std::chrono::milliseconds olderThan = kMemoryTime;
    if (!m_session || (!m_session->isOpen() && m_session->failures() > 0))
        olderThan = std::chrono::milliseconds(0);
    m_stream.held.spill(m_now, olderThan);
    if (const std::string trouble = m_stream.disk.takeTrouble(); !trouble.empty())
        m_handover.lastError.set(m_stream.disk.isFailing() ? Trouble::Spool : Trouble::Notice, trouble);
    if (m_now - m_lastHousekeeping >= kHousekeeping) {
        m_lastHousekeeping = m_now;
        noteClockJump();
    }
    m_isDiskAway = m_stream.disk.isFailing() || m_stream.disk.stuckFor() > kDiskPause;
    // Where the disk takes nothing, memory is all the room there is.
    const double memoryFill
        = m_isDiskAway ? static_cast<double>(m_stream.held.memoryBytes()) / HeldStore::kMaxMemoryBytes : 0.0;
    m_fill = std::max(m_stream.disk.fill(), memoryFill);
    m_counters.spoolBytes = m_stream.disk.usedBytes();
    m_counters.ringBytes = m_handover.ring.publishedBytes() - m_handover.ring.consumedBytes();
}

void Sender::noteClockJump()
{
    const protocol::Clocks now = clocksNow();
    const std::int64_t offset = now.wallNs - now.monotonicNs;
    const std::int64_t jump = offset - std::exchange(m_clockOffset, offset);
    if (jump > -kClockJumpNs && jump < kClockJumpNs)
        return;
    Event event;
    event.kind = "clock";
    event.step = Step { m_step };
    event.wallNs = now.wallNs;
    event.text = fmt::format("the wall clock jumped by {} ms", jump / 1'000'000);
    m_encoder.addEvent(event, m_now);
}

void Sender::answerFlush()
{
    if (m_flushDone.load(std::memory_order_relaxed) < m_flushSeen && m_stream.rules.ackedSeq() >= m_flushSeq)
        m_flushDone.store(m_flushSeen, std::memory_order_release);
}

void Sender::wait(bool wasBusy)
{
    if (wasBusy)
        m_idle = kShortestIdle;
    else
        m_idle = std::min(m_idle * 3 / 2, kLongestIdle);
    try {
        m_context.run_for(m_idle);
    } catch (const std::exception& error) {
        strike(error.what());
    }
}

void Sender::strike(const char* what)
{
    ++m_counters.internalErrors;
    withoutThrowing([&] { m_handover.lastError.set(Trouble::Internal, fmt::format("internal error: {}", what)); });
    if (++m_strikes < kMaxStrikes || m_handover.isDisabled.exchange(true))
        return;
    withoutThrowing([&] {
        say(fmt::format("capture is off after {} internal errors (the last: {}); training goes on", m_strikes, what));
    });
}

void Sender::stop(const std::string& reason, std::chrono::milliseconds flush)
{
    {
        std::lock_guard lock(m_stopMutex);
        m_stopReason = reason;
        m_stopFlush = flush;
    }
    m_isStopping.store(true, std::memory_order_release);
    withoutThrowing([this] { boost::asio::post(m_context, [] {}); }); // wakes the thread, which wakes by itself too
}

std::uint64_t Sender::requestFlush()
{
    const std::uint64_t ticket = m_flushWanted.fetch_add(1, std::memory_order_acq_rel) + 1;
    withoutThrowing([this] { boost::asio::post(m_context, [] {}); }); // wakes the thread, which wakes by itself too
    return ticket;
}

}
