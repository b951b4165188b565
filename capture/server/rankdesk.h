// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/steering.h>
#include <telltale/protocol/messages.h>
#include <telltale/server/steprate.h>
#include <telltale/store/confighistory.h>

namespace telltale::server {

/// A revision of a run's config as the desk has it.
struct Revision {
    std::uint64_t rev = 0;
    std::string hash;
    std::string author;
    std::int64_t wallNs = 0;
    std::int64_t applyAtStep = 0;
    std::vector<Rank> ranks; ///< that are asked; empty = all
    std::shared_ptr<const std::string> json; ///< null: nobody runs it next
    std::int64_t record = 0; ///< its id in the run's log; 0 = it is not durable yet
    std::string failure; ///< why it will never be
    int moves = 0; ///< how often it was put off
    bool isUnderWay = false; ///< some rank has applied it: the sooner the others do, the better

    bool asks(Rank rank) const;
};

/// One rank: where it is, what it runs, and what it has answered to the revision that it should run. Thread: any
/// (a value).
class RankDesk {
public:
    using Clock = std::chrono::steady_clock;
    using State = RankSteering::State;

    /// Who comes as the rank.
    struct Peer {
        Rank rank;
        std::uint64_t incarnation = 0;
        bool isAllowed = false; ///< to be offered anything
        int worldSize = 1;
        std::string host;
    };

    explicit RankDesk(Rank rank)
    {
        m_view.rank = rank;
        m_view.isAway = true;
    }

    /// What earlier records tell of it.
    void remember(const Revision& target, const store::ConfigRevision::Answer& answer);
    void setFinished(bool isFinished) { m_isFinished = isFinished; }
    /// False: a connection that is there already has more to say.
    bool attach(std::uint64_t connection, const Peer& peer, Clock::time_point now);
    void detach(bool isFinished);

    const RankSteering& view() const { return m_view; }
    Rank rank() const { return m_view.rank; }
    std::uint64_t connection() const { return m_connection; } ///< 0 = it is away
    std::uint64_t incarnation() const { return m_peer.incarnation; }
    const std::string& host() const { return m_view.host; }
    /// The first step under what it runs, as it said.
    std::int64_t inForceStep() const { return m_inForceStep; }
    /// The newest step that it was seen in; -1 = not known.
    std::int64_t lastStep() const { return m_lastStep; }
    /// Where it is now, by what it said last and how fast it goes.
    std::int64_t stepAt(Clock::time_point now) const;
    double stepsPerSecond() const { return m_data.perSecond() > 0 ? m_data.perSecond() : m_live.perSecond(); }

    void onStep(Step step, std::int64_t wallNs);
    void onNextStep(std::int64_t step, Clock::time_point now);

    /// What it runs, in its own words. True when those are its first on this connection.
    bool onInForce(const protocol::ConfigStatus& status, const std::string& hash);
    /// It has answered to what it was offered. False: it was not offered that.
    bool onAnswer(std::uint64_t rev);
    void runs(const Revision& revision);
    /// What it made of that is something else, of which the hash is known alone.
    void differs(std::string hash);

    State state() const { return m_state; } ///< of what it answered last, there or not
    /// From now on this revision is what counts.
    void aim(const Revision& target);
    bool isRunning(const Revision& target) const;
    /// There, and its answer still to come or to be asked for.
    bool isOpen() const;
    /// Whether it may be offered something now.
    bool isReady(const Revision& target, Clock::time_point now) const;
    bool isAllowed() const { return m_peer.isAllowed; }
    int passes() const { return m_passes; }
    std::int64_t offeredStep() const { return m_offeredStep; }

    void offered(const Revision& target, std::int64_t step, Clock::time_point now);
    void accepted(std::int64_t step);
    void passed(std::int64_t step);
    void refused(std::int64_t step, std::string reason, Clock::time_point now);
    void applied(std::int64_t step, Clock::time_point now);
    /// It runs something else after all.
    void reopen();

private:
    void set(State state);
    void settled(Clock::time_point now);

    RankSteering m_view;
    State m_state = State::None; ///< as if it were there
    Peer m_peer;
    std::uint64_t m_connection = 0;
    bool m_hasSaid = false; ///< what it runs, on this connection
    bool m_isFinished = false;
    Clock::time_point m_attached {};
    std::string m_hash; ///< of what it runs; empty = not known
    std::int64_t m_inForceStep = 0;
    std::int64_t m_lastStep = -1;
    StepRate m_data; ///< by the rank's clock: what it held back comes all at once
    StepRate m_live;
    std::uint64_t m_inFlight = 0; ///< the revision that it was offered and has not answered
    Clock::time_point m_sent {};
    std::optional<Clock::time_point> m_asked; ///< when the revision that it is to run was first offered
    std::int64_t m_offeredStep = 0;
    int m_passes = 0; ///< how often it was past the step
};

}
