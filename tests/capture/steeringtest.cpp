// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>

#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <telltale/client/controlclient.h>
#include <telltale/core/bytes.h>
#include <telltale/protocol/payloadbuilder.h>
#include <telltale/server/captureserver.h>
#include <telltale/server/checkedconfig.h>
#include <telltale/server/configsteering.h>
#include <telltale/store/confighistory.h>
#include <telltale/store/runreader.h>
#include <telltale/store/storeservice.h>

#include "payloadsource.h"
#include "serverpeer.h"
#include "verbs.h"

namespace steeringtest {

using namespace telltale;
using namespace telltale::test;
namespace configstatus = protocol::configstatus;
using State = RankSteering::State;

namespace {

constexpr int kWaitMs = 20'000;

template <typename Value> Value must(Expected<Value> value)
{
    if (!value)
        qFatal("%s", value.error().sentence().c_str());
    return std::move(*value);
}

struct Serving {
    std::string dataDir;
    std::unique_ptr<store::StoreService> service;
    std::unique_ptr<server::CaptureServer> server;
    std::atomic<int> wakes { 0 };

    explicit Serving(const std::string& folder)
        : dataDir(folder)
    {
        store::StoreOptions options;
        options.dataDir = dataDir;
        service = must(store::StoreService::start(options));
        server::ServerOptions serverOptions;
        serverOptions.dataDir = dataDir;
        serverOptions.listen = "127.0.0.1:0";
        server = must(server::CaptureServer::start(serverOptions, *service));
        server->setSteeringWake([this] { ++wakes; });
    }
    ~Serving()
    {
        server->stop();
        service->stop();
    }

    Expected<RunSteering> offer(const ConfigRequest& request)
    {
        std::promise<Expected<RunSteering>> promise;
        auto answer = promise.get_future();
        server->offerConfig(request, [&promise](const Expected<RunSteering>& said) { promise.set_value(said); });
        if (!QTest::qWaitFor(
                [&] { return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }, kWaitMs))
            qFatal("an offer was not answered");
        return answer.get();
    }
    RunSteering only() const
    {
        const auto all = server->steering();
        return all.size() == 1 ? all.front() : RunSteering {};
    }
    State stateOf(int rank) const
    {
        const RunSteering steering = only();
        for (const RankSteering& other : steering.ranks) {
            if (other.rank == Rank { rank })
                return other.state;
        }
        return State::None;
    }
};

/// An agent of one rank, that says of configs what it is told to say. Thread: test.
class FakeAgent {
public:
    FakeAgent(const Serving& serving, int rank, std::uint64_t incarnation, bool isAllowed = true,
        std::vector<std::string> capabilities = {}, const std::string& run = "job")
        : m_join(*protocol::JoinString::parse(serving.server->joinString().toStdString()))
        , m_peer(m_join)
    {
        m_hello.runKey = m_hello.runName = run;
        m_hello.capabilities = std::move(capabilities);
        m_hello.host = "host";
        m_hello.agentId = "host/" + std::to_string(rank) + "/train";
        m_hello.rank = rank;
        m_hello.worldSize = 2;
        m_hello.incarnation = incarnation;
        m_hello.remoteConfigAllowed = isAllowed;
        m_peer.onMessage = [this](const protocol::Message& message) {
            if (const auto* ask = std::get_if<protocol::RecorderAsk>(&message))
                asks.push_back(ask->why);
            if (const auto* notice = std::get_if<protocol::Notice>(&message))
                notices.push_back(notice->text);
            if (const auto* offer = std::get_if<protocol::ConfigOffer>(&message)) {
                offers.push_back(*offer);
                if (!refusal.empty())
                    return answer(configstatus::kRefused, 5, refusal);
                answer(configstatus::kAccepted, 5);
                if (appliesItself)
                    answer(configstatus::kApplied, std::max<std::int64_t>(offer->applyAtStep, 6));
            }
        };
        protocol::ProofContext proof { must(protocol::makeNonce()), {}, m_join.fingerprint };
        if (!m_peer.upgrade())
            qFatal("no upgrade");
        m_peer.send(protocol::Knock { proof.knockNonce });
        if (!QTest::qWaitFor([this] { return m_peer.last<protocol::Challenge>() != nullptr; }, kWaitMs))
            qFatal("no challenge");
        proof.challengeNonce = m_peer.last<protocol::Challenge>()->nonce;
        m_hello.proof = protocol::agentProof(m_join.token, proof);
        m_peer.send(m_hello);
        if (!QTest::qWaitFor([this] { return m_peer.last<protocol::Welcome>() != nullptr; }, kWaitMs))
            qFatal("no welcome");
    }

    void say(protocol::ConfigStatus status) { m_peer.send(status); }
    void answer(std::uint32_t status, std::int64_t step, const std::string& reason = {})
    {
        say({ offers.back().rev, status, reason, step,
            status == configstatus::kApplied ? offers.back().hash : std::string(), {} });
    }
    void inForce(std::uint64_t rev, const std::string& json, const std::string& why = "the config of the start")
    {
        const auto config = must(server::checkedConfig(json));
        say({ rev, configstatus::kInForce, why, 1, config.hash, config.json });
    }
    bool waitForOffer(std::size_t count)
    {
        return QTest::qWaitFor([&] { return offers.size() >= count; }, kWaitMs);
    }
    /// Data of `steps` steps, 50 ms each by the agent's clock.
    void sendSteps(int steps)
    {
        tests::PayloadSource source(1, { Stat::Norm }, 4, 1);
        protocol::PayloadBuilder builder;
        for (int i = 0; i < steps; ++i) {
            const StepBlock block = source.next();
            if (i == 0)
                builder.addLayout(*block.layout);
            builder.addBlock(block);
        }
        protocol::Batch out;
        out.seq = ++m_seq;
        out.epoch = m_peer.last<protocol::Welcome>()->epoch;
        out.payload = builder.finish();
        out.crc = crc32c(out.payload);
        m_peer.send(out);
    }
    void finish()
    {
        m_peer.send(protocol::Bye { "finished", 0, m_seq });
        if (!QTest::qWaitFor([this] { return m_peer.isClosed(); }, kWaitMs))
            qFatal("the server does not end it");
    }
    bool isClosed() const { return m_peer.isClosed(); }
    std::uint64_t durable() const
    {
        return m_peer.last<protocol::Ack>() ? m_peer.last<protocol::Ack>()->durableSeq : 0;
    }

    std::vector<protocol::ConfigOffer> offers;
    std::vector<std::string> notices;
    std::vector<std::string> asks; ///< for what the flight recorder keeps
    bool appliesItself = false;
    std::string refusal;

private:
    protocol::JoinString m_join;
    ServerPeer m_peer;
    protocol::Hello m_hello;
    std::uint64_t m_seq = 0;
};

struct Outcome {
    int code = -1;
    std::string out;
    std::string err;
    nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

/// The verb in a thread of its own, since the agents answer in this one.
Outcome call(app::Verb (*verb)(), std::vector<std::string> words)
{
    auto done = std::async(std::launch::async, [&] {
        std::ostringstream out;
        std::ostringstream err;
        const int code = app::runVerb(verb(), words, out, err);
        return Outcome { code, out.str(), err.str() };
    });
    if (!QTest::qWaitFor([&] { return done.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }, 60'000))
        qFatal("a verb does not end");
    return done.get();
}

}

/// A server that steers runs: its agents are made up, everything else is real. Thread: test.
class SteeringTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void aPushReachesEveryRankAndIsRecorded()
    {
        Serving serving(dir());
        FakeAgent zero(serving, 0, 1);
        FakeAgent one(serving, 1, 2);
        zero.inForce(0, "{}");
        one.inForce(0, "{}");
        zero.sendSteps(40); // 20 a second
        QTRY_VERIFY_WITH_TIMEOUT(zero.durable() == 1, kWaitMs);
        const RunSteering pushed = must(serving.offer({ "job", R"({"step_interval": 3})", {}, 0, "somebody" }));
        QCOMPARE(pushed.rev, std::uint64_t { 1 });
        QCOMPARE(pushed.applyAtStep, std::int64_t { 39 + 10 });
        QVERIFY(zero.waitForOffer(1) && one.waitForOffer(1));
        QCOMPARE(zero.offers, one.offers);
        QCOMPARE(zero.offers.front().json, std::string(R"({"all_xy":true,"step_interval":3})"));
        QTRY_COMPARE_WITH_TIMEOUT(serving.stateOf(1), State::Accepted, kWaitMs);
        QCOMPARE(serving.only().ranks[1].tookMs, std::int64_t { -1 }); // it has promised, and done nothing yet
        zero.answer(configstatus::kApplied, 49);
        one.answer(configstatus::kRefused, 44, "no room");
        QTRY_COMPARE_WITH_TIMEOUT(serving.stateOf(0), State::Applied, kWaitMs);
        QTRY_COMPARE_WITH_TIMEOUT(serving.stateOf(1), State::Refused, kWaitMs);
        const RunSteering steering = serving.only();
        QCOMPARE(steering.ranks[0].step, std::int64_t { 49 });
        QCOMPARE(steering.ranks[0].runs, zero.offers.front().json);
        QVERIFY(steering.ranks[0].tookMs >= 0);
        QCOMPARE(steering.ranks[1].reason, std::string("no room"));
        QCOMPARE(steering.ranks[1].step, std::int64_t { 44 });
        QCOMPARE(steering.ranks[1].runs, std::string(R"({"all_xy":true})"));
        QVERIFY(serving.wakes > 0);
        store::ConfigHistory history;
        const auto readsAll = [&] {
            const auto reader = must(store::openReader(*serving.service->liveRuns().front()));
            history = {};
            return history.update(*reader) && history.newest() && history.newest()->answers.size() == 2
                && history.newest()->answers.at(Rank { 0 }).phase == store::configphase::kApplied
                && history.newest()->answers.at(Rank { 1 }).phase == store::configphase::kRefused;
        };
        QTRY_VERIFY_WITH_TIMEOUT(readsAll(), kWaitMs);
        QCOMPARE(history.newest()->author, std::string("somebody"));
        QCOMPARE(history.newest()->answers.at(Rank { 1 }).step.value, std::int64_t { 44 }); // where it refused
        const auto changes = nlohmann::json::parse(history.newest()->changes);
        QCOMPARE(changes.size(), std::size_t { 1 });
        QCOMPARE(changes[0]["pointer"].get<std::string>(), std::string("/step_interval"));
        QCOMPARE(changes[0]["after"].get<int>(), 3);
    }

    void recordersAreAskedWhereTheAgentKnowsThatAndInThatRunAlone()
    {
        Serving serving(dir());
        const std::vector<std::string> knows { protocol::limits::kFlightRecorder };
        FakeAgent older(serving, 0, 1);
        FakeAgent recorder(serving, 1, 2, true, knows);
        FakeAgent elsewhere(serving, 0, 3, true, knows, "another job");
        store::RunLocator run;
        for (const store::RunRef& live : serving.service->liveRuns())
            run = live->name == "job" ? live->locator : run;
        serving.server->askRecorders(run, "something is wrong");
        QTRY_COMPARE_WITH_TIMEOUT(recorder.asks, std::vector<std::string> { "something is wrong" }, kWaitMs);
        // What they are sent next would come behind it.
        serving.server->askRecorders(run, "again");
        QTRY_COMPARE_WITH_TIMEOUT(recorder.asks.size(), std::size_t { 2 }, kWaitMs);
        older.sendSteps(1);
        elsewhere.sendSteps(1);
        QTRY_VERIFY_WITH_TIMEOUT(older.durable() == 1 && elsewhere.durable() == 1, kWaitMs);
        QVERIFY(older.asks.empty() && elsewhere.asks.empty());
    }

    void aNoticeGoesToTheLowestRankThatKnowsIt()
    {
        Serving serving(dir());
        const std::vector<std::string> knows { protocol::limits::kNotice };
        FakeAgent older(serving, 0, 1);
        auto lowest = std::make_unique<FakeAgent>(serving, 1, 2, true, knows);
        FakeAgent higher(serving, 2, 3, true, knows);
        FakeAgent elsewhere(serving, 0, 4, true, knows, "another job");
        store::RunLocator run;
        for (const store::RunRef& live : serving.service->liveRuns())
            run = live->name == "job" ? live->locator : run;
        serving.server->notify(run, "it is NaN");
        QTRY_COMPARE_WITH_TIMEOUT(lowest->notices, std::vector<std::string> { "it is NaN" }, kWaitMs);
        lowest->finish();
        lowest.reset();
        const auto isGone = [&] {
            for (const ConnectionInfo& info : serving.server->connections()) {
                if (info.rank == Rank { 1 } && info.connected)
                    return false;
            }
            return true;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isGone(), kWaitMs);
        serving.server->notify(run, "again");
        QTRY_COMPARE_WITH_TIMEOUT(higher.notices, std::vector<std::string> { "again" }, kWaitMs);
        // What they are sent next would come behind it.
        older.sendSteps(1);
        elsewhere.sendSteps(1);
        QTRY_VERIFY_WITH_TIMEOUT(older.durable() == 1 && elsewhere.durable() == 1, kWaitMs);
        QVERIFY(older.notices.empty() && elsewhere.notices.empty());
    }

    void aRunThatCannotBeReadYetIsAskedForAgain()
    {
        Serving serving(dir());
        FakeAgent zero(serving, 0, 1);
        QTRY_VERIFY_WITH_TIMEOUT(serving.service->liveRuns().size() == 1, kWaitMs);
        const store::RunRef live = serving.service->liveRuns().front();
        const auto late = std::filesystem::path(dir()) / "late.telltale";
        const auto run = std::make_shared<store::RunHandle>(
            store::RunHandle { store::RunLocator::ofFile(late.string()), live->id, live->name, nullptr });

        server::SteeringTable table;
        QStringList said;
        server::ConfigSteering steering(
            *serving.service, table, [&said](const std::string& line) { said.append(QString::fromStdString(line)); });
        steering.attach(7, run, { Rank { 0 }, 1, true, 1, "host" });
        QTRY_COMPARE_WITH_TIMEOUT(said.size(), 1, kWaitMs);
        QVERIFY2(said.front().contains(QStringLiteral("cannot be read")), qPrintable(said.front()));
        std::filesystem::create_symlink(live->locator.text(), late);
        const auto isKnown = [&] {
            steering.sweep(server::ConfigSteering::Clock::now());
            return steering.knowsHistory(run->locator);
        };
        QTRY_VERIFY_WITH_TIMEOUT(isKnown(), kWaitMs);
        QCOMPARE(said.size(), 1);
    }

    void whatCannotBePushedIsSaidInOneSentence()
    {
        Serving serving(dir());
        FakeAgent zero(serving, 0, 1);
        FakeAgent one(serving, 1, 2);
        const auto wrong = serving.offer({ "job", R"({"step_interval": 0, "opps": 1})", {}, 0, "somebody" });
        QVERIFY(!wrong && wrong.error().what.find("/opps") != std::string::npos);
        QVERIFY(!serving.offer({ "other", "{}", {}, 0, "somebody" }));
        const auto rank = serving.offer({ "job", "{}", { Rank { 7 } }, 0, "somebody" });
        QVERIFY(!rank && rank.error().sentence().find("rank 7") != std::string::npos);
        zero.finish();
        one.finish();
        QTRY_VERIFY_WITH_TIMEOUT(serving.service->liveRuns().empty(), kWaitMs);
        const auto late = serving.offer({ "job", "{}", {}, 0, "somebody" });
        QVERIFY(!late && late.error().sentence().find("has finished") != std::string::npos);
        QCOMPARE(zero.offers.size(), std::size_t { 0 });
    }

    void aServerThatIsKilledGoesOnWithTheRevisionThatItOffered()
    {
        {
            Serving serving(dir());
            FakeAgent zero(serving, 0, 1);
            zero.inForce(0, "{}");
            must(serving.offer({ "job", R"({"step_interval": 3})", {}, 0, "somebody" }));
            QVERIFY(zero.waitForOffer(1)); // it is durable: nothing else may be lost
        }
        Serving serving(dir());
        FakeAgent zero(serving, 0, 1);
        zero.inForce(0, "{}");
        QVERIFY(zero.waitForOffer(1));
        QCOMPARE(zero.offers.front().rev, std::uint64_t { 1 });
        QCOMPARE(zero.offers.front().json, std::string(R"({"all_xy":true,"step_interval":3})"));
        zero.answer(configstatus::kApplied, 9);
        FakeAgent one(serving, 1, 2);
        one.inForce(1, R"({"step_interval": 3})"); // that one had applied it meanwhile
        QTRY_COMPARE_WITH_TIMEOUT(serving.stateOf(0), State::Applied, kWaitMs);
        QTRY_COMPARE_WITH_TIMEOUT(serving.stateOf(1), State::Applied, kWaitMs);
        QVERIFY(one.offers.empty());
        QCOMPARE(serving.only().author, std::string("somebody"));
        QCOMPARE(must(serving.offer({ "job", "{}", {}, 0, "somebody" })).rev, std::uint64_t { 2 });
    }

    void whoIsNotAllowedIsAnsweredFor()
    {
        Serving serving(dir());
        FakeAgent zero(serving, 0, 1, false);
        must(serving.offer({ "job", "{}", {}, 0, "somebody" }));
        QTRY_COMPARE_WITH_TIMEOUT(serving.stateOf(0), State::Refused, kWaitMs);
        QVERIFY(zero.offers.empty());
    }

    void aStatusThatIsTooLongEndsTheConnection()
    {
        Serving serving(dir());
        FakeAgent zero(serving, 0, 1);
        zero.say({ 0, configstatus::kInForce, "", 1, "h", std::string(70'000, ' ') });
        QTRY_VERIFY_WITH_TIMEOUT(zero.isClosed(), kWaitMs);
    }

    void theControlRoleAsksAndPushes()
    {
        Serving serving(dir());
        FakeAgent zero(serving, 0, 1);
        FakeAgent one(serving, 1, 2);
        zero.inForce(0, R"({"step_interval": 2})");
        one.inForce(0, R"({"step_interval": 5})");
        const protocol::JoinString join = must(client::controlJoin(dir()));
        std::promise<void> over;
        auto isOver = over.get_future();
        std::thread asks([&] {
            const auto client = must(client::ControlClient::connect(join));
            const auto before = must(client->askConfig("job"));
            [&] {
                QCOMPARE(before.rev, std::uint64_t { 0 });
                QCOMPARE(before.ranks.size(), std::size_t { 2 });
                QCOMPARE(must(client->askConfig("job", 0, Rank { 1 })).ranks[1].runs,
                    must(server::checkedConfig(R"({"step_interval": 5})")).json);
                QVERIFY(!client->askConfig("no such run"));
                QVERIFY(!client->pushConfig({ "job", R"({"opps": 1})", {}, 0, "cli" }));
                const RunSteering pushed
                    = must(client->pushConfig({ before.runId, R"({"step_interval": 3})", { Rank { 1 } }, 70, "cli" }));
                QCOMPARE(pushed.rev, std::uint64_t { 1 });
                QCOMPARE(pushed.applyAtStep, std::int64_t { 70 });
                QCOMPARE(pushed.asked, (std::vector<Rank> { Rank { 1 } }));
                QCOMPARE(must(client->askConfig(pushed.runId, 1)).config, pushed.config);
                QVERIFY(!client->askConfig(pushed.runId, 9));
            }();
            over.set_value();
        });
        QTRY_VERIFY_WITH_TIMEOUT(isOver.wait_for(std::chrono::seconds(0)) == std::future_status::ready, kWaitMs);
        asks.join();
        QVERIFY(one.waitForOffer(1));
        QVERIFY(zero.offers.empty());
    }

    void theVerbsSteerARun()
    {
        const std::string file = dir() + "/config.json";
        const auto write = [&file](const char* text) { std::ofstream(file) << text; };
        {
            Serving serving(dir());
            FakeAgent zero(serving, 0, 1);
            FakeAgent one(serving, 1, 2);
            zero.appliesItself = one.appliesItself = true;
            zero.inForce(0, R"({"step_interval": 2})");
            one.inForce(0, R"({"step_interval": 2})");

            Outcome outcome = call(app::configShowVerb, { "job", "--rank", "1", "--data-dir", dir() });
            QCOMPARE(outcome.err, std::string());
            QCOMPARE(outcome.json()["step_interval"], 2);

            // All apply.
            write("// what we look for\n{\"wg_distribution\": true, \"step_interval\": 3,}");
            outcome = call(app::configPushVerb, { "job", file, "--json", "--at-step", "70", "--data-dir", dir() });
            QCOMPARE(outcome.err, std::string());
            QCOMPARE(outcome.code, 0);
            const nlohmann::json rank { { "rank", 0 }, { "status", "applied" }, { "step", 70 }, { "reason", "" } };
            QCOMPARE(outcome.json()["rev"], 1);
            QCOMPARE(outcome.json()["apply_at_step"], 70);
            QCOMPARE(outcome.json()["ranks"][0], rank);
            QCOMPARE(outcome.json()["ranks"].size(), std::size_t { 2 });

            // One field, one rank; the others stay as they were.
            outcome = call(app::configSetVerb,
                { "job", "step_interval=4", "telltale.threads=3", "--ranks", "1", "--json", "--data-dir", dir() });
            QCOMPARE(outcome.err, std::string());
            QCOMPARE(outcome.code, 0);
            QCOMPARE(outcome.json()["ranks"].size(), std::size_t { 1 });
            const auto config = nlohmann::json::parse(one.offers.back().json);
            QCOMPARE(config["step_interval"], 4);
            QCOMPARE(config["telltale"]["threads"], 3);
            QCOMPARE(config["wg_distribution"], true);
            QCOMPARE(zero.offers.size(), std::size_t { 1 });

            // One refuses.
            one.refusal = "no room for that";
            outcome = call(app::configSetVerb, { "job", "step_interval=5", "--json", "--data-dir", dir() });
            QCOMPARE(outcome.code, 1);
            QCOMPARE(outcome.json()["ranks"][0]["status"], "applied");
            QCOMPARE(outcome.json()["ranks"][1]["status"], "refused");
            QCOMPARE(outcome.json()["ranks"][1]["reason"], "no room for that");

            // None answers in time: it is not said that they did.
            one.refusal.clear();
            zero.appliesItself = one.appliesItself = false;
            outcome
                = call(app::configSetVerb, { "job", "step_interval=6", "--wait", "0", "--json", "--data-dir", dir() });
            QCOMPARE(outcome.code, 1);
            QCOMPARE(outcome.json()["ranks"][0]["status"], "lost");

            // What is wrong with a config is said, all of it, and nothing is asked of anybody.
            write(R"({"step_interval": 0, "opps": 1})");
            outcome = call(app::configPushVerb, { "job", file, "--data-dir", dir() });
            QCOMPARE(outcome.code, 2);
            QVERIFY(outcome.err.find("/step_interval") != std::string::npos);
            QVERIFY(outcome.err.find("/opps") != std::string::npos);
            QCOMPARE(call(app::configSetVerb, { "job", "step_interval=x", "--data-dir", dir() }).code, 2);
            QCOMPARE(call(app::configPushVerb, { "job", file + ".no", "--data-dir", dir() }).code, 2);
            outcome = call(app::configSetVerb, { "job", "step_interval=7", "--ranks", "9", "--data-dir", dir() });
            QVERIFY(outcome.code != 0 && outcome.err.find("rank 9") != std::string::npos);

            // Who has an agent's token may not steer.
            qputenv("TELLTALE_CONTROL", serving.server->joinString().toUtf8());
            outcome = call(app::configShowVerb, { "job" });
            qunsetenv("TELLTALE_CONTROL");
            QVERIFY(outcome.code != 0 && outcome.err.find("for trainings") != std::string::npos);

            outcome = call(app::configShowVerb, { "job", "--json", "--data-dir", dir() });
            QCOMPARE(outcome.json()["rev"], 4);
            QCOMPARE(outcome.json()["config"]["step_interval"], 6);
            QCOMPARE(outcome.json()["ranks"][0]["runs_rev"], 3);
            const auto isAnswered
                = [&serving] { return serving.stateOf(0) == State::Accepted && serving.stateOf(1) == State::Accepted; };
            QTRY_VERIFY_WITH_TIMEOUT(isAnswered(), kWaitMs);
        }
        // With no server running its capsule tells it.
        Outcome outcome = call(app::configShowVerb, { "job", "--json", "--data-dir", dir() });
        QCOMPARE(outcome.err, std::string());
        QCOMPARE(outcome.json()["rev"], 4);
        QCOMPARE(outcome.json()["config"]["step_interval"], 6);
        QCOMPARE(outcome.json()["ranks"][0]["runs_rev"], 3);
        QCOMPARE(outcome.json()["ranks"][1]["runs_rev"], 2);
        outcome = call(app::configShowVerb, { "job", "--rank", "1", "--data-dir", dir() });
        QCOMPARE(outcome.json()["step_interval"], 4);
        outcome = call(app::configHistoryVerb, { "job", "--json", "--data-dir", dir() });
        QCOMPARE(outcome.json().size(), std::size_t { 4 });
        QCOMPARE(outcome.json()[1]["ranks"], nlohmann::json::array({ 1 }));
        QCOMPARE(outcome.json()[2]["answers"][1]["status"], "refused");
        QCOMPARE(outcome.json()[3]["changes"][0]["pointer"], "/step_interval");
        outcome = call(app::configHistoryVerb, { "job", "--data-dir", dir() });
        QVERIFY(outcome.out.find("\"/step_interval\": 5 -> 6") != std::string::npos);
        write("{}");
        outcome = call(app::configPushVerb, { "job", file, "--data-dir", dir() });
        QVERIFY(outcome.code != 0 && outcome.err.find("no Telltale is running") != std::string::npos);
    }

private:
    std::string dir() const { return m_dir->path().toStdString(); }

    std::unique_ptr<QTemporaryDir> m_dir;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, SteeringTest)

}

#include "steeringtest.moc"
