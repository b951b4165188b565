// SPDX-License-Identifier: GPL-3.0-or-later
// How a sender ends: what is still delivered, what the spool keeps, and what is lost.
#include <telltale/agent/sender.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace telltale::agent {
namespace {

constexpr std::chrono::milliseconds kByeTime { 300 };
/// Of the time to end, what is kept for the disk once the server has had its part; and what a disk that has nothing
/// more to save gets.
constexpr std::chrono::milliseconds kDiskShare { 1000 };
constexpr std::chrono::milliseconds kTidyTime { 250 };

}

void Sender::finish()
{
    m_home.check();
    std::string reason;
    Clock::time_point deadline;
    std::chrono::milliseconds flush { 0 };
    {
        std::lock_guard lock(m_stopMutex);
        reason = m_stopReason;
        flush = m_stopFlush;
        deadline = Clock::now() + flush;
    }
    // A server that could not be reached a moment ago is not worth the wait at exit: the spool keeps what there is.
    const auto serverDeadline = deadline - std::min(kDiskShare, flush / 4);
    bool isServerAway = !m_session;
    bool isTaken = false; ///< from the training
    while (!m_handover.isDisabled) {
        m_now = Clock::now();
        m_stream.held.takeAnswers();
        m_isTimeUp = m_now >= serverDeadline || (isServerAway && m_isDiskAway);
        isTaken = isTaken || takeRest();
        if (!isTaken)
            m_stream.held.spill(m_now, std::chrono::milliseconds(0));
        if ((isTaken && (isServerAway || m_stream.held.isEmpty())) || m_now >= serverDeadline)
            break;
        if (m_session)
            m_session->tick(m_now);
        maintain();
        isServerAway = !m_session || (m_session->isWaiting() && m_session->failures() > 0);
        m_context.run_for(std::chrono::milliseconds(2));
    }
    if (!m_handover.isDisabled)
        answerFlush();
    m_isAllAcknowledged = m_stream.held.isEmpty() && !m_handover.isDisabled;
    m_stream.held.spill(Clock::now(), std::chrono::milliseconds(0));
    // `telltale import` has no agent to ask how the training ended.
    m_stream.disk.close(
        m_isAllAcknowledged ? std::nullopt : std::optional(Spool::Bye { reason, m_stream.rules.nextSeq() - 1 }));
    if (m_session && m_session->isOpen()) {
        m_session->sayBye(reason, [this] { m_hasToldAll = m_isAllAcknowledged.load(); });
        m_work.reset();
        m_earlier.reset();
        m_context.run_for(kByeTime);
    }
    m_stream.disk.waitClosed(
        m_isAllAcknowledged ? Clock::now() + kTidyTime : std::max(deadline, Clock::now() + kTidyTime));
    m_counters.spoolBytes = m_stream.disk.usedBytes();
}

/// At the end: takes what the training left. False: there is no room for all of it yet.
bool Sender::takeRest()
{
    while (drainRing()) { }
    if (m_handover.ring.publishedBytes() != m_handover.ring.consumedBytes())
        return false;
    if (!mayTake(kSideQueueBytes))
        return false;
    noteRingDrops();
    drainSideQueue();
    flushDrops();
    m_encoder.finish();
    return true;
}

void Sender::countLost(Lost lost, const char* reason)
{
    m_counters.dropped += lost.samples;
    m_counters.scalarsDropped += lost.scalars;
    m_drops.tally(dropclass::kTensors, reason, lost.samples);
    m_drops.tally(dropclass::kScalars, reason, lost.scalars);
}

/// What neither the server nor the disk has ends with the process: what the disk did not take for certain (it may be at
/// one batch still), and what was on its way when something broke in here.
void Sender::countUnwritten()
{
    if (m_counters.internalErrors > 0) {
        const Lost held = m_stream.held.counts();
        const auto rest
            = [](std::uint64_t produced, std::uint64_t known) { return produced > known ? produced - known : 0; };
        countLost(
            { rest(m_counters.produced, m_counters.acked + m_counters.dropped + held.samples),
                rest(m_counters.scalarsProduced, m_counters.scalarsAcked + m_counters.scalarsDropped + held.scalars) },
            "an internal error lost them");
    }
    const Lost unwritten = m_stream.held.countsOf(m_stream.disk.unwritten());
    if (unwritten.samples + unwritten.scalars == 0)
        return;
    countLost(unwritten, "neither the server nor the spool took them");
    const std::string why = m_stream.disk.takeTrouble();
    m_handover.lastError.set(Trouble::Lost,
        fmt::format("{} samples are lost: neither the server nor the spool took them{}{}",
            unwritten.samples + unwritten.scalars, why.empty() ? "" : "; ", why));
}

}
