// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <deque>
#include <map>
#include <random>
#include <set>

#include <telltale/config/revision.h>
#include <telltale/server/configdesk.h>

namespace configdesktest {

using namespace telltale;
using namespace telltale::server;
using namespace std::chrono_literals;
namespace configstatus = protocol::configstatus;
using State = RankSteering::State;
using Clock = ConfigDesk::Clock;

namespace {

const store::RunLocator kRun = store::RunLocator::ofFile("/runs/job.telltale");

CheckedConfig configOf(int interval)
{
    auto checked = checkedConfig("{\"step_interval\": " + std::to_string(interval) + "}");
    if (!checked)
        qFatal("%s", checked.error().sentence().c_str());
    return *checked;
}

/// A training's rank with its agent, as far as configs go.
struct FakeRank {
    std::uint64_t connection = 0;
    std::uint64_t incarnation = 0;
    bool isAllowed = true;
    bool refuses = false;
    std::int64_t next = 0; ///< the step that begins next
    CheckedConfig runs = configOf(1);
    std::uint64_t rev = 0;
    std::string why = "the config of the start";
    std::optional<protocol::ConfigOffer> pending;
    std::deque<protocol::ConfigOffer> toRank;
    std::deque<protocol::ConfigStatus> toServer;
    int unanswered = 0;
};

/// A server's desk and the ranks of one job, without anything between them but queues. The log is what a restarted
/// server finds.
class World {
public:
    explicit World(int count, unsigned seed = 1)
        : ranks(static_cast<std::size_t>(count))
        , m_random(seed)
    {
        restart();
    }

    ConfigDesk& desk() { return *m_desk; }
    int roll(int most) { return static_cast<int>(m_random() % static_cast<unsigned>(most)); }

    /// The server is gone, with what it had in memory; a new one reads the log.
    void restart()
    {
        for (FakeRank& rank : ranks)
            hangUp(rank);
        m_desk = std::make_unique<ConfigDesk>();
        m_desk->open(kRun, "job", "job");
        store::ConfigHistory history;
        for (const store::LogRecord& record : log)
            history.take(record);
        m_desk->load(kRun, history, {}, now);
        m_unwritten.clear();
        collect();
    }

    void connect(int index)
    {
        FakeRank& rank = ranks.at(static_cast<std::size_t>(index));
        if (rank.connection != 0)
            return;
        rank.connection = ++m_lastConnection;
        if (rank.incarnation == 0)
            rank.incarnation = m_lastConnection;
        m_desk->attach(rank.connection, kRun,
            { Rank { index }, rank.incarnation, rank.isAllowed, static_cast<int>(ranks.size()), "host" }, now);
        rank.toServer.push_back(inForce(rank));
        collect();
    }
    static void hangUp(FakeRank& rank)
    {
        rank.toRank.clear();
        rank.toServer.clear();
        rank.unanswered = 0;
        rank.connection = 0;
    }
    void disconnect(int index)
    {
        FakeRank& rank = ranks.at(static_cast<std::size_t>(index));
        const std::uint64_t connection = rank.connection;
        hangUp(rank);
        if (connection != 0)
            m_desk->detach(connection, false, now);
        collect();
    }
    /// The process is started anew, with the config of its start.
    void restartRank(int index)
    {
        disconnect(index);
        FakeRank& rank = ranks.at(static_cast<std::size_t>(index));
        const bool isAllowed = rank.isAllowed;
        rank = FakeRank {};
        rank.isAllowed = isAllowed;
    }
    void edit(int index, int interval)
    {
        FakeRank& rank = ranks.at(static_cast<std::size_t>(index));
        rank.runs = configOf(interval);
        rank.rev = 0;
        rank.why = "config.json was edited";
        rank.pending.reset();
        if (rank.connection != 0)
            rank.toServer.push_back(inForce(rank));
    }

    /// One message each way, and a step of the training.
    void deliver(FakeRank& rank)
    {
        if (!rank.toRank.empty()) {
            take(rank, rank.toRank.front());
            rank.toRank.pop_front();
        }
        if (!rank.toServer.empty()) {
            const protocol::ConfigStatus status = rank.toServer.front();
            rank.toServer.pop_front();
            if (status.status != configstatus::kInForce && status.status != configstatus::kApplied)
                rank.unanswered = 0;
            m_desk->onStatus(rank.connection, status, now);
            collect();
        }
    }
    void step(FakeRank& rank)
    {
        if (rank.pending && (rank.pending->applyAtStep <= 0 || rank.pending->applyAtStep == rank.next)) {
            rank.runs = *checkedConfig(rank.pending->json);
            rank.rev = rank.pending->rev;
            applied[rank.rev].insert(rank.next);
            say(rank, { rank.rev, configstatus::kApplied, {}, rank.next, rank.runs.hash, {} });
            rank.pending.reset();
        } else if (rank.pending && rank.pending->applyAtStep < rank.next) {
            say(rank, { rank.pending->rev, configstatus::kPassed, {}, rank.next, {}, {} });
            rank.pending.reset();
        }
        if (rank.connection != 0)
            m_desk->onStep(rank.connection, Step { rank.next }, rank.next * 10'000'000);
        ++rank.next;
    }
    void write()
    {
        for (const store::OwnRecord& record : std::exchange(m_unwritten, {})) {
            store::LogRecord line;
            line.kind = record.event.kind;
            line.rank = record.rank;
            line.steps = { record.event.step, record.event.step };
            line.json = record.event.json;
            line.text = record.event.text;
            line.id = static_cast<std::int64_t>(log.size()) + 1;
            line.ref = static_cast<std::int64_t>(record.event.ref);
            line.rev = static_cast<std::int64_t>(record.event.rev);
            line.phase = record.event.phase;
            line.author = record.event.author;
            log.push_back(line);
            m_desk->onWritten({ record.token, line.id, {} }, now);
            collect();
        }
    }
    void failToWrite()
    {
        for (const store::OwnRecord& record : std::exchange(m_unwritten, {}))
            m_desk->onWritten({ record.token, 0, { ErrorCode::NoSpace, "the disk is full", {} } }, now);
        collect();
    }
    void tick(Clock::duration time = 100ms)
    {
        now += time;
        m_desk->tick(now);
        collect();
    }
    void push(int interval, const std::vector<Rank>& asked = {}, std::int64_t atStep = 0)
    {
        const auto rev = m_desk->push(kRun, configOf(interval), asked, atStep, "test", now);
        // Nobody was there yet to say how many ranks there are, or the store has fallen behind.
        if (!rev && rev.error().code != ErrorCode::BadInput && rev.error().code != ErrorCode::Busy)
            qFatal("%s", rev.error().sentence().c_str());
        collect();
    }
    /// Everything that is on its way arrives, and the training goes on for a while.
    void settle(int rounds = 200)
    {
        for (int i = 0; i < rounds; ++i) {
            for (FakeRank& rank : ranks) {
                deliver(rank);
                step(rank);
            }
            write();
            tick();
        }
    }
    /// What the newest revision changes, as the log has it.
    std::string changes() const
    {
        store::ConfigHistory history;
        for (const store::LogRecord& record : log)
            history.take(record);
        return history.newest()->changes;
    }
    const RankSteering& view(int index)
    {
        m_view = m_desk->steering(kRun).value();
        return m_view.ranks.at(static_cast<std::size_t>(index));
    }

    std::vector<FakeRank> ranks;
    std::vector<store::LogRecord> log;
    std::map<std::uint64_t, std::set<std::int64_t>> applied; ///< by revision: the first steps under it
    std::vector<protocol::ConfigOffer> offers;
    Clock::time_point now {};

private:
    static protocol::ConfigStatus inForce(const FakeRank& rank)
    {
        return { rank.rev, configstatus::kInForce, rank.why, rank.next, rank.runs.hash, rank.runs.json };
    }
    static void say(FakeRank& rank, protocol::ConfigStatus status)
    {
        if (rank.connection != 0)
            rank.toServer.push_back(std::move(status));
    }
    static void take(FakeRank& rank, const protocol::ConfigOffer& offer)
    {
        if (!checkedConfig(offer.json) || checkedConfig(offer.json)->hash != offer.hash)
            qFatal("an offer is not whole");
        if (rank.refuses)
            return say(rank, { offer.rev, configstatus::kRefused, "only its own file may", rank.next, {}, {} });
        rank.pending = offer;
        say(rank, { offer.rev, configstatus::kAccepted, {}, rank.next, {}, {} });
    }
    void collect()
    {
        for (const ConfigDesk::Offer& offer : m_desk->takeOffers()) {
            offers.push_back(offer.offer);
            const auto rank = std::find_if(ranks.begin(), ranks.end(),
                [&](const FakeRank& other) { return other.connection == offer.connection; });
            if (rank == ranks.end())
                continue;
            // What is offered is durable, the newest that is so, and the only one on its way.
            const Rank id { static_cast<std::int32_t>(rank - ranks.begin()) };
            store::ConfigHistory history;
            for (const store::LogRecord& record : log)
                history.take(record);
            if (!rank->isAllowed || rank->unanswered++ != 0 || history.newestFor(id) == nullptr
                || history.newestFor(id)->rev != offer.offer.rev || history.newestFor(id)->hash != offer.offer.hash)
                isSound = false;
            rank->toRank.push_back(offer.offer);
        }
        for (store::OwnRecord& record : m_desk->takeRecords())
            m_unwritten.push_back(std::move(record));
    }

    std::mt19937 m_random;
    std::unique_ptr<ConfigDesk> m_desk;
    std::vector<store::OwnRecord> m_unwritten;
    std::uint64_t m_lastConnection = 0;
    RunSteering m_view;

public:
    bool isSound = true;
};

}

/// Who is offered what, and how it ends. Thread: its own.
class ConfigDeskTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void allRanksApplyAtOneStep()
    {
        World world(4);
        for (int i = 0; i < 4; ++i)
            world.connect(i);
        world.settle(50);
        world.push(7);
        QVERIFY(world.offers.empty()); // not before it is durable
        world.settle(200);
        QCOMPARE(world.applied.at(1).size(), std::size_t { 1 });
        for (int i = 0; i < 4; ++i) {
            QCOMPARE(world.view(i).state, State::Applied);
            QCOMPARE(world.view(i).step, *world.applied.at(1).begin());
            QCOMPARE(world.view(i).runsRev, std::uint64_t { 1 });
        }
        // 100 steps a second by the ranks' clocks: what they do in 500 ms.
        QCOMPARE(world.offers.front().applyAtStep, std::int64_t { 49 + 50 });
    }

    void ranksThatSendNothingAreFollowedByWhatTheySay()
    {
        World world(1);
        world.connect(0);
        const std::uint64_t connection = world.ranks[0].connection;
        world.desk().onNextStep(connection, 1001, world.now);
        world.now += std::chrono::seconds(1);
        world.desk().onNextStep(connection, 1101, world.now);
        world.now += std::chrono::seconds(2);
        world.ranks[0].next = 1301;
        world.push(7);
        world.settle(200);
        QCOMPARE(world.offers.front().applyAtStep, std::int64_t { 1300 + 50 });
        QCOMPARE(world.view(0).state, State::Applied);
        QCOMPARE(world.view(0).step, std::int64_t { 1350 });
    }

    void aRefusedConfigNamesAllThatIsWrong()
    {
        const auto checked = checkedConfig(R"({"step_interval": 0, "opps": []})");
        QVERIFY(!checked);
        QVERIFY(checked.error().what.find("/step_interval") != std::string::npos);
        QVERIFY(checked.error().what.find("/opps") != std::string::npos);
        QVERIFY(!checkedConfig("{"));
        std::string targets;
        for (int i = 0; i < 8000; ++i)
            targets += (i ? ", \"" : "\"") + std::string("module.") + std::to_string(i) + "\": {}";
        QCOMPARE(checkedConfig("{\"targets\": {" + targets + "}}").error().code, ErrorCode::TooLarge);
    }

    void whoIsNotAskedIsLeftAlone()
    {
        World world(3);
        for (int i = 0; i < 3; ++i)
            world.connect(i);
        world.push(7);
        world.settle();
        world.push(9, { Rank { 2 } });
        world.settle();
        QCOMPARE(world.ranks[0].rev, std::uint64_t { 1 });
        QCOMPARE(world.ranks[2].rev, std::uint64_t { 2 });
        world.restartRank(2);
        world.restartRank(0);
        world.connect(0);
        world.connect(2);
        world.settle();
        QCOMPARE(world.ranks[0].rev, std::uint64_t { 1 });
        QCOMPARE(world.ranks[2].rev, std::uint64_t { 2 });
        const auto none = world.desk().push(kRun, configOf(3), { Rank { 5 } }, 0, "test", world.now);
        QCOMPARE(none.error().code, ErrorCode::BadInput);
        QVERIFY(none.error().sentence().find("rank 5") != std::string::npos);
    }

    void aRankThatForbidsItIsOfferedNothing()
    {
        World world(2);
        world.ranks[1].isAllowed = false;
        world.connect(0);
        world.connect(1);
        world.settle(30);
        const std::int64_t next = world.ranks[1].next;
        world.push(7);
        world.settle();
        QCOMPARE(world.view(0).state, State::Applied);
        QCOMPARE(world.view(1).state, State::Refused);
        QVERIFY(world.view(1).step >= next && world.view(1).step < world.ranks[1].next); // where it was
        QVERIFY(world.view(1).reason.find("TELLTALE_REMOTE_CONFIG") != std::string::npos);
        QVERIFY(world.isSound);
    }

    void aRankThatIsPastTheStepGetsALaterOne()
    {
        World world(2);
        world.connect(0);
        world.connect(1);
        world.settle(1);
        world.push(7);
        world.write();
        world.ranks[0].next = world.ranks[1].next = 5000; // nobody said so
        world.settle(1000);
        QCOMPARE(world.ranks[0].rev, std::uint64_t { 1 });
        QCOMPARE(world.ranks[1].rev, std::uint64_t { 1 });
        QCOMPARE(world.applied.at(1).size(), std::size_t { 1 });
        QVERIFY(std::any_of(world.log.begin(), world.log.end(),
            [](const auto& record) { return record.phase == store::configphase::kPassed && record.ref == 1; }));
    }

    void aRankThatIsAlwaysPastTheStepDoesNotGoOnForEver()
    {
        World world(1);
        world.connect(0);
        world.push(7);
        world.write();
        for (int i = 0; i < 500; ++i) {
            FakeRank& rank = world.ranks[0];
            if (!rank.toRank.empty()) {
                const protocol::ConfigOffer offer = rank.toRank.front();
                rank.toRank.pop_front();
                rank.unanswered = 0;
                rank.next += 1'000'000;
                world.desk().onStatus(
                    rank.connection, { offer.rev, configstatus::kPassed, {}, rank.next, {}, {} }, world.now);
            }
            world.tick();
            world.write();
        }
        QCOMPARE(world.view(0).state, State::Refused);
        QVERIFY(world.offers.size() < 20);
        QVERIFY(world.log.size() < 20);
    }

    void whoWasAwayComesBackIntoTheNewestRevision()
    {
        World world(3);
        for (int i = 0; i < 3; ++i)
            world.connect(i);
        world.push(7);
        world.settle();
        world.disconnect(1);
        QCOMPARE(world.view(1).state, State::Lost);
        world.push(9);
        world.settle();
        QCOMPARE(world.view(0).state, State::Applied);
        QCOMPARE(world.view(1).state, State::Lost);
        world.connect(1);
        world.settle();
        QCOMPARE(world.view(1).state, State::Applied);
        QCOMPARE(world.ranks[1].rev, std::uint64_t { 2 });
        // One that runs it already is offered nothing.
        const std::size_t offers = world.offers.size();
        world.disconnect(0);
        QCOMPARE(world.view(0).state, State::Lost);
        world.connect(0);
        world.settle();
        QCOMPARE(world.view(0).state, State::Applied);
        QCOMPARE(world.offers.size(), offers);
    }

    void whatARankChangesByItselfStays()
    {
        World world(2);
        world.connect(0);
        world.connect(1);
        world.push(7);
        world.settle();
        const std::size_t offers = world.offers.size();
        world.edit(0, 8);
        world.ranks[0].why = "collect_times is reached";
        world.ranks[0].toServer.back().reason = world.ranks[0].why;
        world.ranks[0].rev = world.ranks[0].toServer.back().rev = 1;
        world.settle();
        QCOMPARE(world.offers.size(), offers);
        QCOMPARE(world.view(0).state, State::Applied);
        QVERIFY(world.view(0).reason.ends_with("on: collect_times is reached"));
        QVERIFY(world.view(1).reason.empty());
        QCOMPARE(world.view(0).runs, configOf(8).json);
        world.disconnect(0);
        world.connect(0);
        world.settle();
        QCOMPARE(world.offers.size(), offers);
    }

    void whoRefusesWhatItsOwnFileSaysTooRunsIt()
    {
        World world(2);
        world.connect(0);
        world.connect(1);
        world.ranks[1].refuses = true;
        world.settle();
        world.edit(0, 8);
        world.settle();
        QCOMPARE(world.view(0).state, State::Applied);
        QCOMPARE(world.view(1).state, State::Refused);
        world.edit(1, 8); // which it saw later
        world.settle();
        QCOMPARE(world.view(1).state, State::Applied);
        QVERIFY(world.view(1).reason.empty());
        QCOMPARE(world.desk().steering(kRun)->rev, std::uint64_t { 1 });
    }

    void aRevisionIsComparedWithWhatRanNotWithWhatWasRefused()
    {
        World world(2);
        world.connect(0);
        world.connect(1);
        world.ranks[0].refuses = world.ranks[1].refuses = true;
        world.settle();
        world.push(7);
        world.settle();
        QCOMPARE(world.view(0).state, State::Refused);
        world.push(9);
        world.settle();
        QCOMPARE(world.changes(), std::string(R"([{"after":9,"before":1,"pointer":"/step_interval"}])"));
        world.ranks[0].refuses = world.ranks[1].refuses = false;
        world.push(11);
        world.settle();
        QCOMPARE(world.changes(), std::string(R"([{"after":11,"before":1,"pointer":"/step_interval"}])"));
        world.push(13);
        QCOMPARE(world.view(0).runsRev, std::uint64_t { 3 });
        world.settle();
        QCOMPARE(world.changes(), std::string(R"([{"after":13,"before":11,"pointer":"/step_interval"}])"));
    }

    void aFirstEditOfTheFileIsComparedWithWhatRanUntilThen()
    {
        World world(2);
        world.connect(0);
        world.connect(1);
        world.settle();
        world.edit(0, 8);
        world.settle();
        QCOMPARE(world.changes(), std::string(R"([{"after":8,"before":1,"pointer":"/step_interval"}])"));
        // Who told of it runs that revision like the others, whatever its number was to itself.
        QCOMPARE(world.view(0).state, State::Applied);
        QCOMPARE(world.view(0).runsRev, std::uint64_t { 1 });
        QCOMPARE(world.view(1).runsRev, std::uint64_t { 1 });
        world.disconnect(0);
        QVERIFY(world.view(0).isAway && !world.view(1).isAway);
        world.connect(0);
        world.settle();
        QVERIFY(!world.view(0).isAway);
        QCOMPARE(world.view(0).runsRev, std::uint64_t { 1 });
        world.restart();
        world.connect(0);
        world.settle();
        QCOMPARE(world.view(0).runsRev, std::uint64_t { 1 });
    }

    void anEditOfTheFileBecomesARevisionOfAll()
    {
        World world(3);
        for (int i = 0; i < 3; ++i)
            world.connect(i);
        world.push(7);
        world.settle();
        world.edit(0, 20);
        world.edit(1, 20); // two ranks of a node see it
        world.settle();
        QCOMPARE(world.desk().steering(kRun)->rev, std::uint64_t { 2 });
        QCOMPARE(world.desk().steering(kRun)->author, std::string("config.json on host"));
        QCOMPARE(world.ranks[2].rev, std::uint64_t { 2 });
        for (int i = 0; i < 3; ++i) {
            QCOMPARE(world.ranks[static_cast<std::size_t>(i)].runs.hash, configOf(20).hash);
            QCOMPARE(world.view(i).state, State::Applied);
        }
        // Told again after something newer it is old news.
        world.disconnect(0);
        world.push(30);
        world.settle();
        world.connect(0);
        world.settle();
        QCOMPARE(world.desk().steering(kRun)->rev, std::uint64_t { 3 });
        QCOMPARE(world.ranks[0].rev, std::uint64_t { 3 });
        // One that was made while nobody was connected is not.
        world.disconnect(0);
        world.edit(0, 40);
        world.connect(0);
        world.settle();
        QCOMPARE(world.desk().steering(kRun)->rev, std::uint64_t { 4 });
        QCOMPARE(world.ranks[2].runs.hash, configOf(40).hash);
    }

    void whoWritesTheFileWithoutEndFillsNoLog()
    {
        World world(1);
        world.connect(0);
        world.settle(1);
        for (int i = 2; i < 202; ++i) {
            world.edit(0, i);
            world.deliver(world.ranks[0]);
            world.write();
            world.tick(10ms);
        }
        QVERIFY(world.desk().steering(kRun)->rev <= 4);
        world.settle();
        QCOMPARE(world.desk().steering(kRun)->config, configOf(201).json);
    }

    void aRevisionThatCannotBeWrittenIsNotOffered()
    {
        World world(1);
        world.connect(0);
        world.settle(2);
        world.push(7);
        world.failToWrite();
        world.settle();
        QVERIFY(world.offers.empty());
        QCOMPARE(world.view(0).state, State::Refused);
        QVERIFY(world.view(0).reason.find("the disk is full") != std::string::npos);
        world.push(8);
        world.settle();
        QCOMPARE(world.ranks[0].rev, std::uint64_t { 2 });
    }

    void aServerThatIsKilledLeavesNoMix()
    {
        // Killed after each number of deliveries, between push and the last answer.
        for (int after = 0; after < 12; ++after) {
            World world(3);
            for (int i = 0; i < 3; ++i)
                world.connect(i);
            world.settle(5);
            world.push(7);
            world.settle();
            world.push(9);
            for (int i = 0; i < after; ++i) {
                if (i == 1)
                    world.write();
                world.deliver(world.ranks[static_cast<std::size_t>(i % 3)]);
                world.step(world.ranks[static_cast<std::size_t>(i % 3)]);
            }
            world.restart();
            for (FakeRank& rank : world.ranks)
                world.step(rank);
            for (int i = 0; i < 3; ++i)
                world.connect(i);
            world.settle();
            const std::uint64_t rev = world.desk().steering(kRun)->rev;
            QCOMPARE(rev, std::uint64_t { after > 1 ? 2u : 1u });
            for (int i = 0; i < 3; ++i) {
                QCOMPARE(world.ranks[static_cast<std::size_t>(i)].rev, rev);
                QCOMPARE(world.view(i).state, State::Applied);
            }
            QVERIFY(world.isSound);
        }
    }

    void aRunWhoseLogIsReadLateIsSaid()
    {
        ConfigDesk desk;
        const auto now = Clock::now();
        desk.open(kRun, "job", "job");
        desk.attach(1, kRun, { Rank { 0 }, 1, true, 1, "host" }, now);
        QVERIFY(desk.takeChanged());
        QVERIFY(desk.steering().empty());
        desk.load(kRun, {}, {}, now);
        QVERIFY(desk.takeChanged());
        QCOMPARE(desk.steering().size(), std::size_t { 1 });
    }

    void whoDeliversASpoolDoesNotTakeARanksPlace()
    {
        World world(1);
        world.connect(0);
        world.desk().attach(99, kRun, { Rank { 0 }, 77, false, 1, "host" }, world.now);
        world.push(7);
        world.settle();
        QCOMPARE(world.view(0).state, State::Applied);
        world.desk().detach(99, true, world.now);
        QCOMPARE(world.view(0).state, State::Applied);
    }

    void whateverHappensAllEndOnTheNewest_data()
    {
        QTest::addColumn<unsigned>("seed");
        for (unsigned seed = 1; seed <= 60; ++seed)
            QTest::addRow("seed %u", seed) << seed;
    }
    void whateverHappensAllEndOnTheNewest()
    {
        QFETCH(unsigned, seed);
        World world(4, seed);
        world.ranks[3].isAllowed = seed % 3 != 0;
        int interval = 100;
        for (int turn = 0; turn < 600; ++turn) {
            FakeRank& rank = world.ranks[static_cast<std::size_t>(world.roll(4))];
            const int index = static_cast<int>(&rank - world.ranks.data());
            switch (world.roll(60)) {
            case 0:
                world.push(++interval);
                break;
            case 1:
                world.push(++interval, { Rank { index } }, world.roll(2) * (rank.next + world.roll(20)));
                break;
            case 2:
                world.disconnect(index);
                break;
            case 3:
                world.restartRank(index);
                break;
            case 4:
                world.edit(index, ++interval);
                break;
            case 5:
                if (world.roll(5) == 0)
                    world.restart();
                break;
            case 6:
            case 7:
            case 8:
                world.connect(index);
                break;
            case 9:
                rank.next += world.roll(30);
                break;
            default:
                if (world.roll(2) == 0)
                    world.write();
                world.deliver(rank);
                world.step(rank);
                world.tick(20ms);
            }
        }
        for (int i = 0; i < 4; ++i)
            world.connect(i);
        world.settle(1500); // a step that was named may be far for who has just begun
        QVERIFY(world.isSound);
        store::ConfigHistory history;
        for (const store::LogRecord& record : world.log)
            history.take(record);
        for (int i = 0; i < 4; ++i) {
            const FakeRank& rank = world.ranks[static_cast<std::size_t>(i)];
            const store::ConfigRevision* target = history.newestFor(Rank { i });
            if (target == nullptr)
                continue;
            QCOMPARE(world.view(i).rev, target->rev);
            if (rank.isAllowed)
                QCOMPARE(rank.runs.hash, target->hash);
            QCOMPARE(world.view(i).state,
                rank.isAllowed || rank.runs.hash == target->hash ? State::Applied : State::Refused);
        }
    }

    void aThousandRevisionsAreHeadersOnly()
    {
        World world(1);
        world.connect(0);
        for (int i = 0; i < 1200; ++i) {
            world.push(i + 1);
            world.write();
        }
        QVERIFY(!world.desk().steering(kRun, 150));
        QVERIFY(world.desk().steering(kRun, 300)->config.empty());
        QCOMPARE(world.desk().steering(kRun)->config, configOf(1200).json);
    }
};

TELLTALE_TEST(QTEST_APPLESS_MAIN, ConfigDeskTest)

}

#include "configdesktest.moc"
