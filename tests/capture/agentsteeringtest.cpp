// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QTemporaryDir>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <telltale/config/revision.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/utf8.h>

#include "agentdriver.h"
#include "agentfakeserver.h"
#include "heapbytes.h"

namespace agentsteeringtest {

using namespace telltale;
using namespace telltale::protocol;
using telltale::test::AgentDriver;
using telltale::test::FakeServer;
using telltale::test::FakeStore;

namespace {

constexpr int kWaitMs = 20000;
constexpr const char* kStart = R"({"wg_distribution": true, "alert": {"dump": false}})";

config::MonitorConfig configOf(const std::string& text)
{
    return config::parseMonitorConfig(text).value().config;
}

std::string hashOf(const std::string& text)
{
    return config::configHash(configOf(text));
}

/// A training that steps on a thread of its own and puts in force what is due. Thread: the test's, but for run().
class Training {
public:
    struct Applied {
        std::uint64_t rev = 0;
        std::int64_t step = 0;
        std::string json;
    };

    explicit Training(const AgentDriver::Setup& setup)
        : m_driver(setup)
    {
        tt_config_in_force(m_driver.agent(), 0, 0, kStart, "the config of the start");
        m_thread = std::thread([this] { run(); });
    }
    ~Training()
    {
        m_isOver = true;
        m_thread.join();
    }

    /// The step in progress.
    std::int64_t step() const { return m_step; }
    /// No step begins until it may go on.
    void setPaused(bool on)
    {
        m_wantsPause = on;
        while (m_isPaused != on)
            std::this_thread::yield();
    }
    /// Says at the next step that its own file was edited.
    void edit(const std::string& json)
    {
        std::lock_guard lock(m_mutex);
        m_edit = json;
    }
    /// Cannot put in force what is due from now on.
    void setUnable() { m_isUnable = true; }
    std::vector<Applied> applied() const
    {
        std::lock_guard lock(m_mutex);
        return m_applied;
    }
    AgentDriver& driver() { return m_driver; }

private:
    void run()
    {
        for (std::int64_t step = 1; !m_isOver; ++step) {
            while (m_wantsPause && !m_isOver) {
                m_isPaused = true;
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
            m_isPaused = false;
            begin(step);
            m_driver.step(step);
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
    }

    void begin(std::int64_t step)
    {
        std::lock_guard lock(m_mutex);
        tt_agent* const agent = m_driver.agent();
        if (const auto edit = std::exchange(m_edit, std::nullopt))
            tt_config_in_force(agent, 0, step, edit->c_str(), "config.json was edited");
        m_step = step;
        const tt_config* due = tt_config_due(agent, step);
        if (due && m_isUnable) {
            tt_config_refuse(agent, due->rev, step, "the model is compiled");
        } else if (due) {
            m_applied.push_back({ due->rev, step, due->json });
            tt_config_in_force(agent, due->rev, step, due->json, "");
        }
    }

    AgentDriver m_driver;
    std::atomic<std::int64_t> m_step { 0 };
    std::atomic<bool> m_isOver { false }, m_wantsPause { false }, m_isPaused { false }, m_isUnable { false };
    mutable std::mutex m_mutex;
    std::optional<std::string> m_edit;
    std::vector<Applied> m_applied;
    std::thread m_thread;
};

}

/// A training that is offered configs while it runs, through the C ABI.
class AgentSteeringTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_store = std::make_unique<FakeStore>();
        m_server = std::make_unique<FakeServer>(*m_store);
    }
    void cleanup()
    {
        m_server.reset();
        std::lock_guard lock(m_store->mutex);
        QCOMPARE(m_store->complaints, std::vector<std::string> {});
        QCOMPARE(m_store->undecodable, std::uint64_t { 0 });
    }

    void whatIsInForceIsSaidAfterWelcome()
    {
        Training training(setup());
        const auto said = wait(0, configstatus::kInForce);
        QVERIFY(said);
        QCOMPARE(said->json, config::canonicalConfigText(configOf(kStart)));
        QCOMPARE(said->hash, hashOf(kStart));
        QCOMPARE(said->reason, std::string("the config of the start"));
        std::lock_guard lock(m_store->mutex);
        QVERIFY(m_store->streams.begin()->second.hello.remoteConfigAllowed);
    }

    void anOfferIsAcceptedAtOnceAndAppliedWholeAtItsStep()
    {
        const std::string wanted = R"({"param_distribution": true, "step_interval": 3})";
        auto options = setup();
        options.batchMs = 10'000; // what comes sooner was waited for
        Training training(options);
        QVERIFY(wait(0, configstatus::kInForce));
        training.setPaused(true);
        const std::int64_t at = training.step() + 20;
        m_server->offer({ 7, wanted, hashOf(wanted), at });
        const auto accepted = wait(7, configstatus::kAccepted);
        training.setPaused(false);
        QVERIFY(accepted);
        QVERIFY(accepted->step > 0 && accepted->step <= at);
        const auto applied = wait(7, configstatus::kApplied);
        QVERIFY(applied);
        QCOMPARE(applied->step, at);
        QCOMPARE(applied->hash, hashOf(wanted));
        QTRY_VERIFY_WITH_TIMEOUT(m_store->steps().contains(at), 2000);
        const auto all = training.applied();
        QCOMPARE(all.size(), std::size_t { 1 });
        QCOMPARE(all[0].step, at);
        QCOMPARE(all[0].json, config::monitorConfigText(configOf(wanted)));
    }

    void anOfferWithoutAStepIsAppliedAtTheNext()
    {
        Training training(setup());
        m_server->offer({ 1, R"({"eps": 0.5})", "", 0 });
        const auto applied = wait(1, configstatus::kApplied);
        QVERIFY(applied);
        QCOMPARE(applied->hash, hashOf(R"({"eps": 0.5})"));
        // Once more the same: it runs that already.
        const std::size_t known = m_store->statusCount();
        m_server->offer({ 1, R"({"eps": 0.5})", "", 0 });
        QTRY_VERIFY_WITH_TIMEOUT(m_store->statusCount() > known, kWaitMs);
        QCOMPARE(m_store->statuses.back().status, configstatus::kApplied);
        QCOMPARE(m_store->statuses.back().step, applied->step);
        QCOMPARE(training.applied().size(), std::size_t { 1 });
    }

    /// As a training that is switched off: it sends nothing, asks for nothing, and is found by an offer all the same.
    void aTrainingThatOnlyCountsStepsSaysHowFarItIs()
    {
        AgentDriver driver(setup());
        std::int64_t* step = nullptr;
        const std::uint8_t* isWaiting = nullptr;
        tt_config_words(driver.agent(), &step, &isWaiting);
        QVERIFY(step && isWaiting);
        tt_config_in_force(driver.agent(), 0, 0, kStart, "the config of the start");
        QVERIFY(wait(0, configstatus::kInForce));
        const auto told = [this] {
            std::lock_guard lock(m_store->mutex);
            return m_store->streams.begin()->second.nextStep;
        };
        for (const std::int64_t at : { 1000, 2000 }) {
            *step = at;
            QTRY_COMPARE_WITH_TIMEOUT(told(), at, kWaitMs);
        }
        QCOMPARE(*isWaiting, std::uint8_t { 0 });
        m_server->offer({ 7, "{}", hashOf("{}"), 2001 });
        tt_event(driver.agent(), "log", 2000, "something to be heard", "{}");
        QTRY_VERIFY_WITH_TIMEOUT(*isWaiting != 0, kWaitMs);
        QCOMPARE(wait(7, configstatus::kAccepted)->step, std::int64_t { 2001 });
        const tt_config* due = tt_config_due(driver.agent(), 2001);
        QVERIFY(due);
        QCOMPARE(due->rev, std::uint64_t { 7 });
        QCOMPARE(*isWaiting, std::uint8_t { 0 });
    }

    void whatMayNotBeIsRefusedWithItsReason_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QString>("word");
        QTest::newRow("bad field") << QByteArray(R"({"step_interval": 0})") << "step_interval";
        QTest::newRow("unknown field") << QByteArray(R"({"step_intervals": 2})") << "step_interval\"?";
        QTest::newRow("local field") << QByteArray(R"({"alert": {"dump": true}})") << "/alert/dump";
        QTest::newRow("budget") << QByteArray(R"({"telltale": {"overhead_budget": 50}})")
                                << "/telltale/overhead_budget";
        QTest::newRow("no config") << QByteArray("[1, 2]") << "JSON";
        QTest::newRow("garbage") << QByteArray("\x01\x02 nothing") << "JSON";
        QTest::newRow("nothing") << QByteArray() << "says nothing";
        QTest::newRow("nearly 1 MiB") << QByteArray("{}" + QByteArray(1'000'000, ' ')) << "64 KiB";
        QTest::newRow("deep") << QByteArray(R"({"telltale": {"a": )" + QByteArray(60'000, '[')) << "";
        QTest::newRow("deep and whole") << QByteArray(
            R"({"targets": )" + QByteArray(30'000, '[') + QByteArray(30'000, ']') + "}")
                                        << "";
        QTest::newRow("many bad fields") << QByteArray(
            R"({"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1})")
                                         << "and 2 more";
    }
    void whatMayNotBeIsRefusedWithItsReason()
    {
        QFETCH(QByteArray, json);
        QFETCH(QString, word);
        Training training(setup());
        m_server->offer({ 3, json.toStdString(), "h", 0 });
        const auto refused = wait(3, configstatus::kRefused);
        QVERIFY(refused);
        QVERIFY2(!refused->reason.empty() && QString::fromStdString(refused->reason).contains(word),
            refused->reason.c_str());
        QVERIFY(training.applied().empty());
    }

    void whoForbidsItIsOfferedInVain_data()
    {
        QTest::addColumn<QByteArray>("policy");
        QTest::addColumn<bool>("takesConfigs");
        QTest::addColumn<QString>("word");
        QTest::newRow("off") << QByteArray("off") << true << "TELLTALE_REMOTE_CONFIG";
        QTest::newRow("misspelled") << QByteArray("offf") << true << "TELLTALE_REMOTE_CONFIG";
        QTest::newRow("a program that cannot") << QByteArray("on") << false << "program";
    }
    void whoForbidsItIsOfferedInVain()
    {
        QFETCH(QByteArray, policy);
        QFETCH(bool, takesConfigs);
        QFETCH(QString, word);
        qputenv("TELLTALE_REMOTE_CONFIG", policy);
        const auto restore = qScopeGuard([] { qunsetenv("TELLTALE_REMOTE_CONFIG"); });
        auto options = setup();
        options.takesConfigs = takesConfigs;
        Training training(options);
        QVERIFY(wait(0, configstatus::kInForce)); // what runs is no secret
        m_server->offer({ 2, "{}", "h", 0 });
        const auto refused = wait(2, configstatus::kRefused);
        QVERIFY(refused);
        QVERIFY2(QString::fromStdString(refused->reason).contains(word), refused->reason.c_str());
        QVERIFY(training.applied().empty());
        std::lock_guard lock(m_store->mutex);
        QVERIFY(!m_store->streams.begin()->second.hello.remoteConfigAllowed);
    }

    void aStepThatHasBegunIsPassedAndNothingIsApplied()
    {
        Training training(setup());
        QTRY_VERIFY_WITH_TIMEOUT(training.step() > 50, kWaitMs);
        m_server->offer({ 5, "{}", "h", 20 });
        const auto passed = wait(5, configstatus::kPassed);
        QVERIFY(passed);
        QVERIFY(passed->step > 50);
        training.setPaused(true);
        m_server->offer({ 5, "{}", "h", training.step() + 20 });
        QVERIFY(wait(5, configstatus::kAccepted));
        training.setPaused(false);
        QVERIFY(wait(5, configstatus::kApplied));
        QCOMPARE(training.applied().size(), std::size_t { 1 });
    }

    void aWaitingOfferIsMovedAndReplaced()
    {
        Training training(setup());
        QVERIFY(wait(0, configstatus::kInForce));
        training.setPaused(true);
        const std::int64_t now = training.step();
        m_server->offer({ 8, R"({"ndigits": 1})", "h", now + 5 });
        QVERIFY(wait(8, configstatus::kAccepted));
        m_server->offer({ 8, R"({"ndigits": 1})", "h", now + 50 }); // moved
        m_server->offer({ 9, R"({"step_interval": 0})", "h", now + 5 }); // that cannot replace it
        QVERIFY(wait(9, configstatus::kRefused));
        training.setPaused(false);
        const auto moved = wait(8, configstatus::kApplied);
        QVERIFY(moved);
        QCOMPARE(moved->step, now + 50);
        training.setPaused(true);
        const std::int64_t then = training.step();
        m_server->offer({ 10, R"({"ndigits": 2})", "h", then + 5 });
        m_server->offer({ 11, R"({"ndigits": 3})", "h", then + 9 });
        QVERIFY(wait(11, configstatus::kAccepted));
        training.setPaused(false);
        QVERIFY(wait(11, configstatus::kApplied));
        const auto all = training.applied();
        QCOMPARE(all.size(), std::size_t { 2 });
        QCOMPARE(all[1].rev, std::uint64_t { 11 });
        QCOMPARE(all[1].step, then + 9);
    }

    void anOfferThatWasAcceptedIsAppliedThoughTheServerIsGone()
    {
        Training training(setup());
        QVERIFY(wait(0, configstatus::kInForce));
        training.setPaused(true);
        const std::int64_t at = training.step() + 20;
        m_server->offer({ 4, R"({"ndigits": 4})", "h", at });
        QVERIFY(wait(4, configstatus::kAccepted));
        const std::uint16_t port = m_server->port();
        m_server.reset();
        training.setPaused(false);
        QTRY_COMPARE_WITH_TIMEOUT(training.applied().size(), std::size_t { 1 }, kWaitMs);
        m_server = std::make_unique<FakeServer>(*m_store, port);
        const auto said = wait(4, configstatus::kInForce); // the new connection's only word of it
        QVERIFY(said);
        QCOMPARE(said->step, at);
        QCOMPARE(said->hash, hashOf(R"({"ndigits": 4})"));
        QCOMPARE(m_store->statusOf(4, configstatus::kApplied).rev, std::uint64_t { 0 });
    }

    void anEditOfItsOwnFileIsSaidAndWhatWaitsIsJudgedByIt()
    {
        Training training(setup());
        QVERIFY(wait(0, configstatus::kInForce));
        training.setPaused(true);
        m_server->offer({ 6, R"({"ndigits": 6})", "h", training.step() + 300 });
        m_server->offer({ 6, R"({"ndigits": 6})", "h", training.step() + 300 });
        QVERIFY(wait(6, configstatus::kAccepted));
        // What only the file may change: the offer would take it back.
        training.edit(R"({"alert": {"dump": true}})");
        training.setPaused(false);
        const auto refused = wait(6, configstatus::kRefused);
        QVERIFY(refused);
        QVERIFY2(refused->reason.find("/alert/dump") != std::string::npos, refused->reason.c_str());
        QCOMPARE(m_store->statusOf(0, configstatus::kInForce).reason, std::string("config.json was edited"));
        QVERIFY(training.applied().empty());
        // An edit that takes nothing from it leaves it waiting.
        training.setPaused(true);
        const std::int64_t at = training.step() + 1000;
        m_server->offer({ 7, R"({"ndigits": 7, "alert": {"dump": true}})", "h", at });
        QVERIFY(wait(7, configstatus::kAccepted));
        // Who finds it in the file, where a quicker rank has put it, knows whose it is.
        QVERIFY(tt_config_is_offered(training.driver().agent(), R"({"alert": {"dump": true, }, "ndigits": 7})"));
        QVERIFY(!tt_config_is_offered(training.driver().agent(), R"({"ndigits": 7})"));
        training.edit(R"({"alert": {"dump": true}, "ndigits": 1})");
        training.setPaused(false);
        const auto applied = wait(7, configstatus::kApplied);
        QVERIFY(applied);
        QCOMPARE(applied->step, at);
    }

    void whatTheTrainingCannotDoItRefuses()
    {
        Training training(setup());
        training.setUnable();
        m_server->offer({ 12, "{}", "h", 0 });
        const auto refused = wait(12, configstatus::kRefused);
        QVERIFY(refused);
        QCOMPARE(refused->reason, std::string("the model is compiled"));
        QVERIFY(refused->step > 0);
    }

    void anEnvelopeThatIsTooLargeEndsTheConnectionAlone()
    {
        Training training(setup());
        QVERIFY(wait(0, configstatus::kInForce));
        m_server->offer({ 1, std::string(limits::kMaxMessageBytes, ' '), "h", 0 });
        QTRY_VERIFY_WITH_TIMEOUT(training.driver().counters().reconnects > 0, kWaitMs);
        m_server->offer({ 2, "{}", "h", 0 });
        QVERIFY(wait(2, configstatus::kApplied));
    }

    void tenThousandHostileOffersLeaveMemoryFlatAndApplyNothingInPart()
    {
        constexpr std::uint64_t kOffers = 10'000;
        std::mt19937 random(7);
        const std::vector<std::string> parts { R"("eps": 0.25)", R"("step_interval": 2)", R"("step_interval": -1)",
            R"("targets": {"layers.*": {"output": "tuple[2]:1"}})", R"("targets": 3)", R"("ops": ["norm", "max"])",
            R"("ops": ["nrm"])", R"("alert": {"dump": true})", R"("telltale": {"threads": 1, "x": [[[[{}]]]]})",
            R"("collect_times": 1e300)", R"("a\u0000b": 1)", R"("module_ranks": [0, 99999999999999999999])" };
        const auto hostile = [&](std::uint64_t i) {
            std::string text = "{";
            for (std::size_t part = random() % 4; part-- > 0;)
                text += parts[random() % parts.size()] + (part > 0 ? "," : "");
            text += "}";
            if (i % 3 == 0)
                text[random() % text.size()] = static_cast<char>(random());
            if (i % 7 == 0)
                text += std::string(random() % 4000, ' ');
            return text;
        };
        std::map<std::uint64_t, std::string> offered;
        Training training(setup());
        QVERIFY(wait(0, configstatus::kInForce));
        std::set<std::uint64_t> answered;
        std::int64_t before = 0;
        for (std::uint64_t rev = 1; rev <= kOffers;) {
            for (int i = 0; i < 250; ++i, ++rev) {
                offered[rev] = hostile(rev);
                m_server->offer({ rev, offered[rev], "h", rev % 5 == 0 ? training.step() + 2 : 0 });
            }
            QTRY_VERIFY_WITH_TIMEOUT((takeAnswered(answered), answered.size() == rev - 1), kWaitMs);
            m_server->forgetHeard();
            if (before == 0)
                before = test::heapBytes();
        }
        // What the offers themselves hold here, and what was applied of them.
        const std::int64_t more = test::heapBytes() - before;
        QVERIFY2(more < 20 << 20, qPrintable(QString::number(more)));
        const auto all = training.applied();
        QVERIFY(all.size() > 20);
        for (const auto& applied : all) {
            const auto parsed = config::parseMonitorConfig(toUtf8(offered[applied.rev]));
            QVERIFY(parsed);
            for (const auto& problem : parsed->problems)
                QVERIFY2(!problem.isError, problem.sentence.c_str());
            QCOMPARE(applied.json, config::monitorConfigText(parsed->config));
            QVERIFY(!parsed->config.alertDump);
        }
        QCOMPARE(training.driver().counters().internal_errors, std::uint64_t { 0 });
        QCOMPARE(training.driver().counters().reconnects, std::uint64_t { 0 });
    }

    void aTrainingThatIsOfferedNothingPaysNearlyNothing()
    {
        AgentDriver driver(setup());
        const auto start = std::chrono::steady_clock::now();
        constexpr int kCalls = 100'000;
        for (int i = 0; i < kCalls; ++i)
            QVERIFY(!tt_config_due(driver.agent(), i));
        const auto took = std::chrono::steady_clock::now() - start;
        const double each = std::chrono::duration<double, std::micro>(took).count() / kCalls;
        qInfo("tt_config_due() with nothing offered: %.3f us", each);
        QVERIFY(each < 20); // the bound is for a machine that is busy; the figure is what counts
    }

private:
    AgentDriver::Setup setup() const
    {
        AgentDriver::Setup out;
        out.join = m_server->join();
        out.spoolDir = m_folder->path().toStdString();
        out.takesConfigs = true;
        return out;
    }

    /// The status once it has come; nothing, and the test has failed, when it does not.
    std::optional<ConfigStatus> wait(std::uint64_t rev, std::uint32_t status) const
    {
        ConfigStatus found;
        const bool hasCome = QTest::qWaitFor(
            [&] {
                found = m_store->statusOf(rev, status);
                return found.status == status;
            },
            kWaitMs);
        if (!hasCome)
            for (const ConfigStatus& one : m_store->statuses)
                qInfo("rev %d status %d step %d: %s", int(one.rev), int(one.status), int(one.step), one.reason.c_str());
        return hasCome ? std::optional(found) : std::nullopt;
    }

    /// Adds the revisions that something was said of, and forgets what it was.
    void takeAnswered(std::set<std::uint64_t>& revisions) const
    {
        std::lock_guard lock(m_store->mutex);
        for (const ConfigStatus& one : m_store->statuses)
            if (one.rev > 0)
                revisions.insert(one.rev);
        m_store->statuses.clear();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<FakeStore> m_store;
    std::unique_ptr<FakeServer> m_server;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, AgentSteeringTest)

}

#include "agentsteeringtest.moc"
