// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/steering.h>
#include <telltale/core/threadhome.h>
#include <telltale/protocol/messages.h>
#include <telltale/server/checkedconfig.h>
#include <telltale/server/rankdesk.h>
#include <telltale/store/confighistory.h>
#include <telltale/store/storeservice.h>

namespace telltale::server {

/// Which config every rank of every run is to run, and what they have made of it: pure, without sockets and files. It
/// is told what happens and says what is to be sent and written. Thread: owned by one (capture).
///
/// Invariants: a revision is offered only once it is durable in the run's log. A rank has at most one offer without an
/// answer. The newest revision that asks for a rank is what it is offered, and nothing older.
class ConfigDesk {
public:
    using Clock = RankDesk::Clock;

    struct Offer {
        std::uint64_t connection = 0;
        protocol::ConfigOffer offer;
    };
    /// What is to be done since the last call.
    std::vector<Offer> takeOffers() { return std::exchange(m_offers, {}); }
    std::vector<store::OwnRecord> takeRecords() { return std::exchange(m_records, {}); }
    /// Whether something that steering() says has changed since the last call.
    bool takeChanged() { return std::exchange(m_isChanged, false); }

    bool knows(const store::RunLocator& run) const { return m_runs.contains(run); }
    /// Whether it has been told what the capsule says: since then it knows more than that.
    bool isLoaded(const store::RunLocator& run) const
    {
        const auto found = m_runs.find(run);
        return found != m_runs.end() && found->second.isLoaded;
    }
    /// Before anything else is said of a run. What it had for revisions follows in load().
    void open(const store::RunLocator& run, const std::string& id, const std::string& name);
    struct KnownRank {
        Rank rank;
        bool isFinished = false; ///< it ended as it should
    };
    void load(const store::RunLocator& run, const store::ConfigHistory& history, const std::vector<KnownRank>& ranks,
        Clock::time_point now);

    void attach(
        std::uint64_t connection, const store::RunLocator& run, const RankDesk::Peer& peer, Clock::time_point now);
    /// Data of a step came; `wallNs` by the rank's own clock.
    void onStep(std::uint64_t connection, Step step, std::int64_t wallNs);
    /// The agent says how far it is, also where it sends nothing of its steps.
    void onNextStep(std::uint64_t connection, std::int64_t step, Clock::time_point now);
    void onStatus(std::uint64_t connection, const protocol::ConfigStatus& status, Clock::time_point now);
    /// `isFinished`: the training has come to its end.
    void detach(std::uint64_t connection, bool isFinished, Clock::time_point now);

    /// The new revision. BadInput: ranks that the run does not have; Busy: more is asked than the store can write.
    Expected<std::uint64_t> push(const store::RunLocator& run, const CheckedConfig& config,
        const std::vector<Rank>& ranks, std::int64_t atStep, const std::string& author, Clock::time_point now);
    void onWritten(const store::RecordWritten& written, Clock::time_point now);
    /// Whether it is known what became of a revision that was pushed.
    bool isWritten(const store::RunLocator& run, std::uint64_t rev) const;
    /// What is due, every now and then.
    void tick(Clock::time_point now);

    /// With a revision: how the ranks stand with that one. Nothing of a run that it does not know.
    std::optional<RunSteering> steering(const store::RunLocator& run, std::uint64_t rev = 0) const;
    std::vector<RunSteering> steering() const;
    /// The run of that id, if all is known of it.
    std::optional<store::RunLocator> runWithId(const std::string& id) const;

private:
    struct Run {
        store::RunLocator locator;
        std::string id, name;
        bool isLoaded = false;
        std::vector<Revision> revisions; ///< oldest first
        std::map<Rank, RankDesk> ranks;
        int worldSize = 1;
        /// An edit of the job's file that waits for its turn to become a revision.
        struct Edit {
            CheckedConfig config;
            std::string author;
            std::string before; ///< what the rank ran until then, "" = not known
            bool mayBeOld = false; ///< told again after a reconnect
        };
        std::optional<Edit> edit;
        std::optional<Clock::time_point> lastEdit;
    };
    struct Place {
        Run* run = nullptr;
        RankDesk* rank = nullptr;
    };

    Place placeOf(std::uint64_t connection);
    static Revision* find(Run& run, std::uint64_t rev);
    static Revision* targetOf(Run& run, Rank rank);
    static const Revision* targetOf(const Run& run, Rank rank);
    std::uint64_t add(Run& run, const CheckedConfig& config, const std::vector<Rank>& ranks, std::int64_t atStep,
        const std::string& author, const std::string& before, Clock::time_point now);
    /// What the ranks that are asked run, or will where they have not refused it; as far as it is known.
    static std::string before(const Run& run, const std::vector<Rank>& ranks);
    static void forgetConfigs(Run& run);
    void forgetRuns();

    void takeEdit(Run& run, RankDesk& rank, const protocol::ConfigStatus& status, Clock::time_point now);
    void placeEdit(Run& run, Clock::time_point now);
    void answer(Run& run, const RankDesk& rank, std::string_view phase, std::string text);
    void settle(Run& run, Clock::time_point now);
    void settle(Run& run, RankDesk& rank, Clock::time_point now);
    void offer(Run& run, RankDesk& rank, Revision& target, Clock::time_point now);
    /// Names a later step to the ranks that are asked.
    std::int64_t putOff(const Run& run, Revision& target, Clock::time_point now);
    /// The step from which on the ranks that are asked can all run something new.
    static std::int64_t nextCommonStep(const Run& run, const Revision& target, Clock::time_point now);
    static RunSteering describe(const Run& run, const Revision* revision);

    std::map<store::RunLocator, Run> m_runs; ///< which never move
    std::unordered_map<std::uint64_t, std::pair<store::RunLocator, Rank>> m_connections;
    std::vector<Offer> m_offers;
    std::vector<store::OwnRecord> m_records;
    std::map<std::uint64_t, std::pair<store::RunLocator, std::uint64_t>> m_writing; ///< by token: run and revision
    std::uint64_t m_lastToken = 0;
    bool m_isChanged = false;
    ThreadHome m_home;
};

}
