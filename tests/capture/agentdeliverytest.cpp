// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "agentdriver.h"
#include "agentfakeserver.h"

using telltale::test::AgentDriver;
using telltale::test::FakeServer;
using telltale::test::FakeStore;
using telltale::test::SelfSigned;

namespace {

constexpr int kWaitMs = 20000;
constexpr const char* kSpoolAndDie = "--spool-and-die";

bool isConserved(const tt_counters& counters)
{
    return counters.produced == counters.acked + counters.dropped + counters.in_flight
        && counters.acked + counters.dropped <= counters.produced
        && counters.scalars_acked + counters.scalars_dropped <= counters.scalars_produced;
}

/// Paces steps as training would, without waiting for anything in particular.
void train(AgentDriver& driver, std::int64_t from, std::int64_t to)
{
    for (std::int64_t i = from; i < to; ++i) {
        driver.step(i);
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
}

/// The other process of aKilledProcessLeavesASpoolThatIsDelivered: trains without a server until something is on disk.
[[noreturn]] void spoolAndDie(const char* folder)
{
    AgentDriver::Setup setup;
    setup.join = "telltale://127.0.0.1:1#token=x";
    setup.spoolDir = folder;
    AgentDriver driver(setup);
    train(driver, 0, 200);
    while (driver.counters().spool_bytes < 2000)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ::kill(::getpid(), SIGKILL);
    std::abort();
}

/// The agent may delete a folder while it is counted.
std::size_t filesIn(const QTemporaryDir& folder)
{
    std::size_t files = 0;
    for (QDirIterator each(folder.path(), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories); each.hasNext();
         each.next())
        ++files;
    return files;
}

}

/// The whole agent, through its C ABI, against a capture server that misbehaves.
class AgentDeliveryTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
        m_store = std::make_unique<FakeStore>();
    }
    void cleanup() { m_folder.reset(); }

    void everyStepArrivesOnceAndTheSpoolStaysAway()
    {
        FakeServer server(*m_store);
        AgentDriver driver(setup(server.join()));
        QVERIFY2(driver.agent(), driver.error().c_str());
        train(driver, 0, 300);
        QCOMPARE(tt_agent_flush(driver.agent(), kWaitMs), 1);
        const tt_counters counters = driver.counters();
        QCOMPARE(counters.produced, 300 * AgentDriver::kSamplesPerStep);
        QCOMPARE(counters.acked, counters.produced);
        QCOMPARE(counters.in_flight, std::uint64_t { 0 });
        QCOMPARE(counters.scalars_acked, std::uint64_t { 300 });
        QCOMPARE(counters.internal_errors, std::uint64_t { 0 });
        QVERIFY(driver.close());
        QCOMPARE(filesIn(*m_folder), std::size_t { 0 });
        QCOMPARE(m_store->samples(), 300 * AgentDriver::kSamplesPerStep);
        expectHealthy();
        QCOMPARE(m_store->streams.begin()->second.bye, std::string("finished"));
        const auto& batch = m_store->streams.begin()->second.batches.begin()->second;
        const auto& block = batch.blocks.front();
        QCOMPARE(block.layout->series[3].name, std::string("layers.3.weight"));
        QCOMPARE(std::get<std::vector<float>>(block.columns[0].values)[3], AgentDriver::norm(block.step.value, 3));
        QCOMPARE(std::get<std::vector<std::uint64_t>>(block.columns[5].values)[7], std::uint64_t { 7 });
    }

    void aFlushWaitsForWhatWasMadeBeforeItWhateverTheSenderIsAt()
    {
        FakeServer server(*m_store);
        AgentDriver driver(setup(server.join()));
        // The sender looks for steps and then takes this, which keeps it for a moment: most steps come in that moment.
        const std::vector<char> large(1 << 18, 'x');
        for (std::int64_t i = 0; i < 400; ++i) {
            QCOMPARE(tt_blob(driver.agent(), "stack", "large", i, large.data(), large.size()), 1);
            const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(5 * i);
            while (std::chrono::steady_clock::now() < until) { }
            driver.step(i);
            QCOMPARE(tt_agent_flush(driver.agent(), kWaitMs), 1);
            QCOMPARE(driver.counters().in_flight, std::uint64_t { 0 });
        }
        QVERIFY(driver.close());
    }

    void whatMonitoringTakesGoesWithTheHeartbeat()
    {
        FakeServer server(*m_store);
        AgentDriver driver(setup(server.join()));
        QTRY_VERIFY_WITH_TIMEOUT(m_store->hellos > 0, kWaitMs);
        QVERIFY(m_store->cost() == telltale::protocol::CostSums {}); // not known, and not zero
        tt_agent_cost(driver.agent(), 3, 1000, 1);
        tt_agent_cost(driver.agent(), 4, 2000, 5);
        const telltale::protocol::CostSums sums { 7, 3000, 6 };
        QTRY_VERIFY_WITH_TIMEOUT(m_store->cost() == sums, kWaitMs);
        tt_agent_cost(nullptr, 1, 1, 1);
        const tt_counters counters = driver.counters();
        QCOMPARE(counters.monitor_ns, sums.monitorNs);
        QCOMPARE(counters.step_ns, sums.stepNs);
        QCOMPARE(counters.steps, sums.steps);
        QVERIFY(driver.close());
    }

    void lossNacksAndDisconnectsAreHealed()
    {
        FakeServer server(*m_store);
        server.faults().losePercent = 20;
        server.faults().disconnectEvery = 9;
        AgentDriver driver(setup(server.join()));
        train(driver, 0, 600);
        QTRY_COMPARE_WITH_TIMEOUT(m_store->samples(), 600 * AgentDriver::kSamplesPerStep, 3 * kWaitMs);
        QTRY_VERIFY_WITH_TIMEOUT(driver.counters().in_flight == 0, kWaitMs);
        QVERIFY(isConserved(driver.counters()));
        QVERIFY(driver.counters().reconnects > 0);
        driver.close();
        QCOMPARE(m_store->steps().size(), std::size_t { 600 });
        expectHealthy();
    }

    void aServerThatIsAwayCostsNothing()
    {
        auto server = std::make_unique<FakeServer>(*m_store);
        const std::uint16_t port = server->port();
        AgentDriver driver(setup(server->join()));
        train(driver, 0, 100);
        server.reset();
        train(driver, 100, 400);
        QTRY_VERIFY_WITH_TIMEOUT(driver.counters().spool_bytes > 0, kWaitMs);
        QVERIFY(isConserved(driver.counters()));
        server = std::make_unique<FakeServer>(*m_store, port);
        train(driver, 400, 500);
        QTRY_COMPARE_WITH_TIMEOUT(m_store->samples(), 500 * AgentDriver::kSamplesPerStep, 3 * kWaitMs);
        QTRY_COMPARE_WITH_TIMEOUT(driver.counters().in_flight, std::uint64_t { 0 }, kWaitMs);
        QCOMPARE(driver.counters().dropped, std::uint64_t { 0 });
        QVERIFY(driver.close());
        QCOMPARE(filesIn(*m_folder), std::size_t { 0 });
        expectHealthy();
    }

    void aStoreThatWentBackGetsWhatIsHeldAndAGap()
    {
        auto server = std::make_unique<FakeServer>(*m_store);
        const std::uint16_t port = server->port();
        AgentDriver driver(setup(server->join()));
        train(driver, 0, 200);
        QCOMPARE(tt_agent_flush(driver.agent(), kWaitMs), 1);
        server.reset();
        FakeStore other;
        other.storeId = "store-2";
        server = std::make_unique<FakeServer>(other, port);
        train(driver, 200, 300);
        QTRY_VERIFY_WITH_TIMEOUT(driver.counters().in_flight == 0 && other.steps().contains(299), 3 * kWaitMs);
        driver.close();
        QCOMPARE(other.samples(), 100 * AgentDriver::kSamplesPerStep);
        const auto kinds = other.eventKinds();
        QVERIFY(std::find(kinds.begin(), kinds.end(), "gap") != kinds.end());
        QCOMPARE(other.undecodable, std::uint64_t { 0 });
    }

    void theHistogramsOfAHundredThousandParametersAreWithinTheLimits()
    {
        constexpr std::uint32_t kLayouts = 25;
        constexpr std::uint32_t kEach = 4000;
        constexpr std::uint64_t kBins = 32;
        FakeServer server(*m_store);
        server.faults().creditBytes = 256u << 20;
        server.faults().creditBatches = 4096;
        auto options = setup(server.join());
        options.ringBytes = 64u << 20;
        AgentDriver driver(options);
        std::vector<double> edges(kBins + 1);
        std::iota(edges.begin(), edges.end(), -16.0);
        std::vector<std::string> names;
        for (std::uint32_t i = 0; i < kEach; ++i)
            names.push_back(std::string("layers.").append(std::to_string(i)).append(".mlp.fc1.weight"));
        std::vector<std::uint32_t> layouts;
        for (std::uint32_t l = 0; l < kLayouts; ++l) {
            std::vector<tt_series> series(kEach);
            for (std::uint32_t i = 0; i < kEach; ++i) {
                series[i].name = names[i].c_str();
                series[i].vpp_stage = static_cast<std::int32_t>(l);
                series[i].micro_step = -1;
                series[i].shard_offset = -1;
            }
            layouts.push_back(
                tt_layout_add_histograms(driver.agent(), static_cast<std::uint32_t>(telltale::Kind::GradReduced),
                    edges.data(), static_cast<std::uint32_t>(edges.size()), series.data(), kEach));
            QVERIFY2(layouts.back() > 0, tt_agent_last_error(driver.agent()));
        }
        tt_step* step = tt_step_begin(driver.agent(), 0);
        for (const std::uint32_t layout : layouts) {
            std::uint8_t* present = nullptr;
            std::uint64_t* counts = tt_step_counts(step, layout, &present);
            QVERIFY(counts);
            for (std::uint64_t i = 0; i < kEach * kBins; ++i)
                counts[i] = i * 2654435761u % 100'000;
            std::fill(present, present + kEach, std::uint8_t { 1 });
        }
        tt_step_commit(step);
        QCOMPARE(tt_agent_flush(driver.agent(), kWaitMs), 1);
        const tt_counters counters = driver.counters();
        QCOMPARE(counters.produced, kLayouts * kEach * kBins);
        QCOMPARE(counters.acked, counters.produced);
        driver.close();
        QCOMPARE(m_store->undecodable, std::uint64_t { 0 });
        QCOMPARE(m_store->samples(), counters.produced);
    }

    void withoutCreditTheSpoolTakesOver()
    {
        FakeServer server(*m_store);
        server.faults().creditBatches = 1;
        server.faults().isMute = true;
        AgentDriver driver(setup(server.join()));
        train(driver, 0, 300);
        QTRY_VERIFY_WITH_TIMEOUT(driver.counters().spool_bytes > 0, kWaitMs);
        QVERIFY(isConserved(driver.counters()));
        QVERIFY(driver.counters().batches_sent <= 1);
        QCOMPARE(driver.counters().acked, std::uint64_t { 0 });
        QCOMPARE(driver.counters().in_flight, 300 * AgentDriver::kSamplesPerStep);
    }

    void aHungServerDoesNotReachTraining_data()
    {
        QTest::addColumn<bool>("afterWelcome");
        QTest::newRow("never answers") << false;
        QTest::newRow("stops reading") << true;
    }
    void aHungServerDoesNotReachTraining()
    {
        QFETCH(bool, afterWelcome);
        FakeServer server(*m_store);
        server.faults().isHung = !afterWelcome;
        server.faults().isDeafAfterWelcome = afterWelcome;
        auto options = setup(server.join());
        options.flushMs = 700;
        AgentDriver driver(options);
        train(driver, 0, 1000);
        QVERIFY(isConserved(driver.counters()));
        QCOMPARE(driver.counters().produced, 1000 * AgentDriver::kSamplesPerStep);
        QCOMPARE(driver.counters().dropped, std::uint64_t { 0 });
        QVERIFY2(driver.slowestNs() < 20'000'000, qPrintable(QString::number(driver.slowestNs())));
        const auto start = std::chrono::steady_clock::now();
        QVERIFY(!driver.close());
        const auto took = std::chrono::steady_clock::now() - start;
        QVERIFY(took < std::chrono::milliseconds(700 + 1500));
        QVERIFY(filesIn(*m_folder) > 0);
    }

    void whatIsLeftAtExitIsDeliveredByTheNextAgentOfTheRun()
    {
        auto options = setup({});
        options.mode = "offline";
        {
            AgentDriver driver(options);
            QVERIFY2(driver.agent(), driver.error().c_str());
            train(driver, 0, 150);
            QVERIFY(!driver.close());
        }
        QVERIFY(filesIn(*m_folder) > 0);
        const QStringList left
            = QDir(m_folder->filePath(QStringLiteral("run"))).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
        QCOMPARE(left.size(), 1);
        FakeServer server(*m_store);
        AgentDriver driver(setup(server.join()));
        train(driver, 150, 200);
        QTRY_COMPARE_WITH_TIMEOUT(m_store->samples(), 200 * AgentDriver::kSamplesPerStep, kWaitMs);
        QTRY_COMPARE_WITH_TIMEOUT(driver.counters().in_flight, std::uint64_t { 0 }, kWaitMs);
        QCOMPARE(driver.counters().produced, 50 * AgentDriver::kSamplesPerStep);
        // Its own folder, which a slow connection lets it begin, stays until it ends.
        QTRY_VERIFY_WITH_TIMEOUT(!QDir(m_folder->filePath(QStringLiteral("run/") + left.first())).exists(), kWaitMs);
        QVERIFY(driver.close());
        QCOMPARE(filesIn(*m_folder), std::size_t { 0 });
        QCOMPARE(m_store->streams.size(), std::size_t { 2 });
        expectHealthy();
    }

    void aKilledProcessLeavesASpoolThatIsDelivered()
    {
        const auto options = setup({});
        const pid_t child = ::fork();
        if (child == 0) {
            ::execl("/proc/self/exe", "agentdeliverytest", kSpoolAndDie, options.spoolDir.c_str(), nullptr);
            ::_exit(1);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFSIGNALED(status));
        FakeServer server(*m_store);
        AgentDriver driver(setup(server.join()));
        QTRY_VERIFY_WITH_TIMEOUT(m_store->steps().contains(0) && filesIn(*m_folder) == 0, kWaitMs);
        driver.close();
        expectHealthy();
    }

    void rejectedBatchesCountAsDropped()
    {
        FakeServer server(*m_store);
        server.faults().isRejecting = true;
        AgentDriver driver(setup(server.join()));
        train(driver, 0, 50);
        QTRY_COMPARE_WITH_TIMEOUT(driver.counters().dropped, 50 * AgentDriver::kSamplesPerStep, kWaitMs);
        QCOMPARE(driver.counters().acked, std::uint64_t { 0 });
        QCOMPARE(driver.counters().in_flight, std::uint64_t { 0 });
        driver.close();
    }

    void aFullRingDropsWholeStepsAndSaysSo()
    {
        FakeServer server(*m_store);
        auto options = setup(server.join());
        options.ringBytes = 64u << 10;
        AgentDriver driver(options);
        int dropped = 0;
        for (std::int64_t i = 0; i < 2000; ++i)
            dropped += driver.step(i) ? 0 : 1;
        QVERIFY(dropped > 0);
        QTRY_COMPARE_WITH_TIMEOUT(driver.counters().in_flight, std::uint64_t { 0 }, kWaitMs);
        const tt_counters counters = driver.counters();
        QCOMPARE(counters.produced, 2000 * AgentDriver::kSamplesPerStep);
        QCOMPARE(counters.dropped % AgentDriver::kSamplesPerStep, std::uint64_t { 0 });
        QVERIFY(driver.close());
        QCOMPARE(m_store->samples(), counters.acked);
        QCOMPARE(m_store->droppedItems(2), counters.dropped);
        QCOMPARE(m_store->droppedItems(1), counters.scalars_dropped);
        expectHealthy();
    }

    void aFullSpoolThinsTensorsBeforeScalars()
    {
        auto options = setup({});
        options.mode = "offline";
        options.spoolCapBytes = 256u << 10;
        options.batchMs = 5;
        std::uint64_t produced = 0;
        {
            AgentDriver driver(options);
            for (std::int64_t i = 0; i < 20000 && driver.counters().scalars_dropped == 0; ++i) {
                driver.step(i);
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
            const tt_counters counters = driver.counters();
            produced = counters.produced;
            QVERIFY(isConserved(counters));
            QVERIFY(counters.dropped > 0);
            QVERIFY(counters.spool_bytes <= 256u << 10);
            driver.close();
        }
        FakeServer server(*m_store);
        AgentDriver driver(setup(server.join()));
        QTRY_VERIFY_WITH_TIMEOUT(filesIn(*m_folder) == 0, kWaitMs);
        driver.close();
        QVERIFY(m_store->samples() < produced);
        QVERIFY(m_store->scalars() > m_store->samples() / AgentDriver::kSamplesPerStep);
        expectHealthy();
    }

    void theEncryptedConnectionWorks()
    {
        SelfSigned identity;
        FakeServer server(*m_store, 0, identity.context.get());
        AgentDriver driver(setup(server.join(identity.fingerprint)));
        train(driver, 0, 100);
        QCOMPARE(tt_agent_flush(driver.agent(), kWaitMs), 1);
        QVERIFY(driver.close());
        QCOMPARE(m_store->samples(), 100 * AgentDriver::kSamplesPerStep);
        expectHealthy();
    }

    void anotherCertificateIsRefusedBeforeAnythingIsSaid()
    {
        SelfSigned identity;
        SelfSigned other;
        FakeServer server(*m_store, 0, other.context.get());
        AgentDriver driver(setup(server.join(identity.fingerprint)));
        train(driver, 0, 20);
        QTRY_VERIFY_WITH_TIMEOUT(QByteArray(tt_agent_last_error(driver.agent())).contains("fingerprint"), kWaitMs);
        QVERIFY(server.connections() > 0);
        QVERIFY(!driver.close());
        QCOMPARE(m_store->hellos, std::uint64_t { 0 });
        QVERIFY(m_store->complaints.empty());
    }

    void aWrongTokenIsNamedAndTrainingGoesOn()
    {
        FakeServer server(*m_store);
        AgentDriver driver(setup("telltale://127.0.0.1:" + std::to_string(server.port()) + "#token=wrong"));
        train(driver, 0, 20);
        QTRY_VERIFY_WITH_TIMEOUT(
            QByteArray(tt_agent_last_error(driver.agent())).contains("refuses the token"), kWaitMs);
        QVERIFY(QByteArray(tt_agent_last_error(driver.agent())).contains("copy the join string again"));
        QElapsedTimer time;
        time.start();
        QCOMPARE(tt_agent_flush(driver.agent(), 60'000), 0);
        QVERIFY2(time.elapsed() < 30'000, "what is refused is not waited for");
        QVERIFY(!driver.close());
        QCOMPARE(m_store->hellos, std::uint64_t { 0 });
        QVERIFY(!m_store->complaints.empty());
        QCOMPARE(m_store->complaints.front(), std::string("wrong token"));
    }

    void whoSquatsOnThePortHearsNeitherTokenNorAgent_data()
    {
        QTest::addColumn<bool>("isOlder");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("one that claims to know the token") << false << "refuses the token";
        QTest::newRow("one that wants the token first") << true << "update the dashboard";
    }
    void whoSquatsOnThePortHearsNeitherTokenNorAgent()
    {
        QFETCH(bool, isOlder);
        QFETCH(QString, sentence);
        FakeServer server(*m_store);
        server.faults().isSquatting = true;
        server.faults().isOlder = isOlder;
        AgentDriver driver(setup(server.join()));
        train(driver, 0, 20);
        QTRY_VERIFY_WITH_TIMEOUT(QByteArray(tt_agent_last_error(driver.agent())).contains(sentence.toUtf8()), kWaitMs);
        QVERIFY(!driver.close());
        const std::string heard = server.heard();
        QVERIFY(heard.find("GET /capture") != std::string::npos);
        QVERIFY(heard.find(FakeServer::kToken) == std::string::npos);
        QVERIFY(heard.find("trainer") == std::string::npos); // the agent's id
        QCOMPARE(m_store->hellos, std::uint64_t { 0 });
    }

    void aJoinStringIsTriedWithoutBeginningARun()
    {
        FakeServer server(*m_store);
        char why[512];
        const auto attempt
            = [&why](const std::string& join) { return tt_join_try(join.c_str(), 5000, why, sizeof why); };
        QCOMPARE(attempt(server.join()), 1);
        QCOMPARE(why[0], '\0');
        QCOMPARE(attempt("telltale://127.0.0.1:" + std::to_string(server.port()) + "#token=wrong"), 0);
        QVERIFY2(QByteArray(why).contains("refuses the token"), why);
        QCOMPARE(attempt("telltale://127.0.0.1:1#token=x"), 0);
        QVERIFY2(QByteArray(why).contains("cannot connect"), why);
        QCOMPARE(attempt("nonsense"), 0);
        QVERIFY2(QByteArray(why).contains("join string"), why);
        server.faults().isHung = true;
        QCOMPARE(tt_join_try(server.join().c_str(), 100, why, sizeof why), 0);
        QVERIFY2(QByteArray(why).contains("did not answer"), why);
        QCOMPARE(m_store->hellos, std::uint64_t { 0 });
    }

    void clearTextNeverLeavesTheMachine()
    {
        AgentDriver driver(setup("telltale://192.0.2.1:47800#token=x"));
        QVERIFY(!driver.agent() || (train(driver, 0, 5), true));
        if (driver.agent())
            QTRY_VERIFY_WITH_TIMEOUT(QByteArray(tt_agent_last_error(driver.agent())).contains("in the clear"), kWaitMs);
        else
            QVERIFY(QByteArray(driver.error().c_str()).contains("fingerprint"));
    }

    void badInputIsExplainedInOneSentence_data()
    {
        QTest::addColumn<QString>("join");
        QTest::addColumn<QString>("mode");
        QTest::addColumn<QString>("word");
        QTest::newRow("no scheme") << "http://127.0.0.1:1#token=x"
                                   << ""
                                   << "telltale://";
        QTest::newRow("no token") << "telltale://127.0.0.1:1"
                                  << ""
                                  << "token";
        QTest::newRow("no port") << "telltale://127.0.0.1:0#token=x"
                                 << ""
                                 << "port";
        QTest::newRow("bad fingerprint") << "telltale://127.0.0.1:1#token=x&fp=12"
                                         << ""
                                         << "fingerprint";
        QTest::newRow("online to nowhere") << ""
                                           << "online"
                                           << "join string";
        QTest::newRow("unknown mode") << ""
                                      << "sometimes"
                                      << "sometimes";
    }
    void badInputIsExplainedInOneSentence()
    {
        QFETCH(QString, join);
        QFETCH(QString, mode);
        QFETCH(QString, word);
        auto options = setup(join.toStdString());
        options.mode = mode.toStdString();
        AgentDriver driver(options);
        QVERIFY(!driver.agent());
        QVERIFY2(QString::fromStdString(driver.error()).contains(word), driver.error().c_str());
    }

    void aDisabledAgentDoesNothing()
    {
        auto options = setup({});
        AgentDriver driver(options);
        QVERIFY(driver.agent());
        QVERIFY(!driver.step(0));
        QCOMPARE(driver.counters().mode, 0u);
        QCOMPARE(driver.counters().produced, std::uint64_t { 0 });
        QCOMPARE(tt_event(driver.agent(), "log", 0, "text", ""), 0);
        QVERIFY(driver.close());
        QCOMPARE(filesIn(*m_folder), std::size_t { 0 });
    }

    void eventsAndBlobsArrive()
    {
        FakeServer server(*m_store);
        AgentDriver driver(setup(server.join()));
        const std::string structure(1'200'000, 's');
        QCOMPARE(tt_event(driver.agent(), "log", 3, "hello", "{}"), 1);
        QCOMPARE(tt_blob(driver.agent(), "structure", "model", 0, structure.data(), structure.size()), 1);
        QCOMPARE(tt_blob(driver.agent(), "structure", "huge", 0, structure.data(), 64u << 20), 0);
        QCOMPARE(tt_agent_flush(driver.agent(), kWaitMs), 1);
        driver.close();
        QCOMPARE(m_store->eventKinds(), std::vector<std::string> { "log" });
        std::string joined;
        for (const auto& [seq, batch] : m_store->streams.begin()->second.batches)
            for (const auto& blob : batch.blobs)
                joined += blob.bytes;
        QCOMPARE(joined.size(), structure.size());
        expectHealthy();
    }

    void aForkedChildIsSilentAndTheParentGoesOn()
    {
        FakeServer server(*m_store);
        AgentDriver driver(setup(server.join()));
        train(driver, 0, 50);
        QCOMPARE(tt_agent_flush(driver.agent(), kWaitMs), 1);
        const pid_t child = ::fork();
        if (child == 0) {
            const bool isSilent = !driver.step(1000) && tt_event(driver.agent(), "log", 0, "", "") == 0
                && driver.counters().mode == 0 && !driver.close();
            ::_exit(isSilent ? 0 : 1);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        train(driver, 50, 100);
        QCOMPARE(tt_agent_flush(driver.agent(), kWaitMs), 1);
        QCOMPARE(driver.counters().reconnects, std::uint64_t { 0 });
        driver.close();
        QCOMPARE(m_store->samples(), 100 * AgentDriver::kSamplesPerStep);
        expectHealthy();
    }

private:
    AgentDriver::Setup setup(const std::string& join) const
    {
        AgentDriver::Setup out;
        out.join = join;
        out.spoolDir = m_folder->path().toStdString();
        return out;
    }
    void expectHealthy() const
    {
        std::lock_guard lock(m_store->mutex);
        QCOMPARE(m_store->complaints, std::vector<std::string> {});
        QCOMPARE(m_store->undecodable, std::uint64_t { 0 });
        QCOMPARE(m_store->repeated, std::uint64_t { 0 });
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<FakeStore> m_store;
};

int main(int argc, char** argv)
{
    if (argc == 3 && std::string_view(argv[1]) == kSpoolAndDie)
        spoolAndDie(argv[2]);
    QCoreApplication application(argc, argv);
    AgentDeliveryTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "agentdeliverytest.moc"
