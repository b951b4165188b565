// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/rankdesk.h>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace telltale::server {
namespace {

/// Who is asked what it runs says so right after Welcome; who does not is offered the revision all the same.
constexpr std::chrono::seconds kSayTime { 2 };
/// An answer comes from a thread that has nothing else to do. A rank that gives none may be offered something else.
constexpr std::chrono::seconds kAnswerTime { 10 };

}

bool Revision::asks(Rank rank) const
{
    return ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

void RankDesk::remember(const Revision& target, const store::ConfigRevision::Answer& answer)
{
    aim(target);
    // Only the process that gave the answer is bound by it.
    m_peer.incarnation = m_connection == 0 ? answer.incarnation : m_peer.incarnation;
    if (m_peer.incarnation != answer.incarnation)
        return;
    if (answer.phase == store::configphase::kApplied) {
        runs(target);
        applied(answer.step.value, {});
    } else if (answer.phase == store::configphase::kRefused)
        refused(answer.step.value, answer.text, {});
}

void RankDesk::set(State state)
{
    m_state = state;
    const bool isOver = m_isFinished && (state == State::Applied || state == State::Refused);
    m_view.state = m_connection != 0 || isOver || m_view.rev == 0 ? state : State::Lost;
}

bool RankDesk::attach(std::uint64_t connection, const Peer& peer, Clock::time_point now)
{
    if (m_connection != 0 && m_peer.isAllowed && !peer.isAllowed)
        return false;
    const bool isSame = m_peer.incarnation == peer.incarnation;
    m_peer = peer;
    m_view.host = peer.host;
    m_connection = connection;
    m_view.isAway = false;
    m_attached = now;
    m_hasSaid = false;
    m_isFinished = false;
    m_inFlight = 0;
    m_live = {};
    if (!isSame) {
        m_data = {};
        m_lastStep = -1;
        m_hash.clear();
        m_view.runsRev = 0;
        m_view.runs.clear();
        m_view.reason.clear();
        m_view.step = 0;
        m_view.tookMs = -1;
        m_asked.reset();
        m_passes = 0;
        m_state = State::None;
    }
    const bool isAnswered = m_state == State::Applied || m_state == State::Refused;
    set(isAnswered ? m_state : State::None);
    return true;
}

void RankDesk::detach(bool isFinished)
{
    m_connection = 0;
    m_view.isAway = true;
    m_inFlight = 0;
    m_isFinished = isFinished;
    set(m_state);
}

void RankDesk::onStep(Step step, std::int64_t wallNs)
{
    m_lastStep = std::max(m_lastStep, step.value);
    m_data.note(step.value, wallNs);
}

void RankDesk::onNextStep(std::int64_t step, Clock::time_point now)
{
    if (step <= 0)
        return;
    m_lastStep = std::max(m_lastStep, step - 1);
    m_live.note(step - 1, std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count());
}

std::int64_t RankDesk::stepAt(Clock::time_point now) const
{
    const std::int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
    return std::max(m_lastStep, m_live.stepAt(ns));
}

bool RankDesk::onInForce(const protocol::ConfigStatus& status, const std::string& hash)
{
    // An edit of its file may be a revision by now, of which the rank has no number.
    m_view.runsRev = status.rev == 0 && !hash.empty() && hash == m_hash ? m_view.runsRev : status.rev;
    m_hash = hash;
    m_inForceStep = status.step;
    m_view.runs = status.json;
    if (m_state == State::Applied && m_view.rev == status.rev && !status.reason.empty())
        m_view.reason = fmt::format("from step {} on: {}", status.step, status.reason); // such as collect_times
    return !std::exchange(m_hasSaid, true);
}

bool RankDesk::onAnswer(std::uint64_t rev)
{
    if (m_inFlight == rev)
        m_inFlight = 0;
    return m_view.rev == rev && isOpen() && m_state != State::None;
}

void RankDesk::runs(const Revision& revision)
{
    m_hash = revision.hash;
    m_view.runsRev = revision.rev;
    m_view.runs = revision.json ? *revision.json : std::string();
}

void RankDesk::differs(std::string hash)
{
    m_hash = std::move(hash);
    m_view.runs.clear();
    m_view.reason = "what it runs is not quite the revision: it has changed some of it by itself";
}

void RankDesk::aim(const Revision& target)
{
    if (m_view.rev == target.rev)
        return;
    m_view.rev = target.rev;
    m_view.step = 0;
    m_view.tookMs = -1;
    m_asked.reset();
    m_view.reason.clear();
    m_passes = 0;
    set(State::None);
}

bool RankDesk::isRunning(const Revision& target) const
{
    return m_hasSaid && (m_view.runsRev == target.rev || m_hash == target.hash);
}

bool RankDesk::isOpen() const
{
    return m_connection != 0 && m_state != State::Applied && m_state != State::Refused;
}

bool RankDesk::isReady(const Revision& target, Clock::time_point now) const
{
    if (!m_hasSaid && now - m_attached < kSayTime)
        return false;
    if (m_inFlight != 0 && now - m_sent < kAnswerTime)
        return false;
    // What it has accepted it applies by itself, unless the step was moved since.
    return m_state == State::None || m_state == State::Offered || m_offeredStep < target.applyAtStep;
}

void RankDesk::offered(const Revision& target, std::int64_t step, Clock::time_point now)
{
    m_inFlight = target.rev;
    m_sent = now;
    m_asked = m_asked.value_or(now);
    m_offeredStep = step > 0 ? step : std::numeric_limits<std::int64_t>::max(); // there is no moving that
    set(State::Offered);
}

/// The rank has done what it was asked for, or never will.
void RankDesk::settled(Clock::time_point now)
{
    if (m_asked && m_view.tookMs < 0)
        m_view.tookMs = std::chrono::duration_cast<std::chrono::milliseconds>(now - *m_asked).count();
}

void RankDesk::accepted(std::int64_t step)
{
    m_view.step = step;
    set(State::Accepted);
}

void RankDesk::passed(std::int64_t step)
{
    m_view.step = step;
    ++m_passes;
    set(State::None);
}

void RankDesk::refused(std::int64_t step, std::string reason, Clock::time_point now)
{
    m_view.step = step;
    m_view.reason = std::move(reason);
    settled(now);
    set(State::Refused);
}

void RankDesk::applied(std::int64_t step, Clock::time_point now)
{
    m_view.step = step;
    settled(now);
    m_view.reason.clear();
    set(State::Applied);
}

void RankDesk::reopen()
{
    if (m_state == State::Applied)
        set(State::None);
}

}
