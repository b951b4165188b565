// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <QObject>

#include <telltale/core/jobqueue.h>
#include <telltale/core/threadhome.h>
#include <telltale/server/captureserver.h>
#include <telltale/server/configdesk.h>
#include <telltale/server/peerlog.h>

namespace telltale::server {

/// How the runs stand with their configs. Thread: capture writes, any thread reads a copy.
class SteeringTable {
public:
    void publish(std::vector<RunSteering> runs);
    std::vector<RunSteering> snapshot() const;
    void setWake(std::function<void()> wake);

private:
    mutable std::mutex m_mutex;
    std::vector<RunSteering> m_runs;
    std::function<void()> m_wake;
};

/// The desk among the others: its offers go to the agents, its records to the store, what earlier servers wrote of a
/// run comes to it before it offers anything there. Thread: capture, and a thread of its own for the files.
class ConfigSteering final : public QObject {
    Q_OBJECT
public:
    using Clock = ConfigDesk::Clock;
    using Way = std::function<void(std::uint64_t connection, const protocol::ConfigOffer& offer)>;

    ConfigSteering(store::StoreService& store, SteeringTable& table, PeerLog::Sink log);

    void setWay(Way way) { m_way = std::move(way); }
    void attach(std::uint64_t connection, const store::RunRef& run, const RankDesk::Peer& peer);
    void onStep(std::uint64_t connection, Step step, std::int64_t wallNs);
    void onNextStep(std::uint64_t connection, std::int64_t step);
    void onStatus(std::uint64_t connection, const protocol::ConfigStatus& status);
    void detach(std::uint64_t connection, bool isFinished);
    void onWritten(const store::RecordWritten& written);
    void sweep(Clock::time_point now);
    /// Whether it is known what was offered to a run before.
    bool knowsHistory(const store::RunLocator& run) const { return m_desk.isLoaded(run); }

    /// See CaptureServer::offerConfig.
    void push(const ConfigRequest& request, SteeringAnswer answer);
    /// How a run stands with a revision, 0 = the newest.
    void ask(const std::string& run, std::uint64_t rev, const SteeringAnswer& answer);

private:
    /// A run as its capsule tells it. Thread: any (a value).
    struct Found {
        store::RunLocator locator;
        std::string id, name;
        bool isOver = false; ///< its training has come to its end: nobody comes back
        store::ConfigHistory history;
        std::vector<ConfigDesk::KnownRank> ranks;
    };
    static Expected<Found> look(const store::RunHandle& run);
    /// Which run is meant, without its history.
    static Expected<Found> resolve(const std::string& dataDir, const std::string& word);
    void take(const Found& found);
    /// Has the run's history read on the other thread, then here; again after a while where it cannot be read now.
    void read(const store::RunRef& run, bool isAgain);
    /// Finds the run on the other thread, then calls `then` here.
    void find(const std::string& word, std::function<void(const Expected<Found>&)> then);
    /// Does what the desk wants done.
    void act();

    store::StoreService& m_store;
    SteeringTable& m_table;
    const PeerLog::Sink m_log;
    Way m_way;
    ConfigDesk m_desk;
    /// Who pushed a revision, and is told once it is durable.
    struct Pushed {
        store::RunLocator run;
        std::uint64_t rev = 0;
        std::function<void(const Expected<RunSteering>&)> say;
    };
    std::vector<Pushed> m_pushed;
    struct Unread {
        store::RunRef run;
        Clock::time_point again;
    };
    std::vector<Unread> m_unread; ///< runs whose history could not be read
    std::deque<store::OwnRecord> m_unwritten; ///< that the store has no room for yet
    JobQueue m_jobs; ///< last: its work uses the rest
    ThreadHome m_home;
};

}
