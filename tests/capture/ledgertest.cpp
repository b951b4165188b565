// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <telltale/core/bytes.h>
#include <telltale/core/drops.h>
#include <telltale/ingest/ingestsession.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/payloadbuilder.h>
#include <telltale/server/captureserver.h>
#include <telltale/store/account.h>
#include <telltale/store/archive.h>
#include <telltale/store/runreader.h>
#include <telltale/store/storeservice.h>

#include "agentdriver.h"

using namespace telltale;
using telltale::test::AgentDriver;

namespace {

constexpr int kWaitMs = 15000;

bool isSample(Stat stat)
{
    return stat != Stat::PosInfs && stat != Stat::NegInfs && stat != Stat::Value;
}

/// What a capsule holds, found out by reading every value of it.
struct Account {
    std::uint64_t samples = 0, scalars = 0;
    std::uint64_t droppedSamples = 0, droppedScalars = 0, droppedEvents = 0, droppedBlobs = 0;
    std::vector<std::string> reasons;
};

Account accountOf(const std::string& dataDir)
{
    Account out;
    for (const store::RunSummary& run : store::listRuns(dataDir)) {
        store::RunHandle handle;
        handle.locator = run.locator;
        const auto reader = store::openReader(handle);
        if (!reader)
            return {};
        const auto catalog = *(*reader)->catalog();
        const auto drops = store::readWholeLog(**reader, { "drop", {}, {} });
        if (!drops)
            return {};
        for (const store::SeriesInfo& series : catalog->series) {
            for (const store::GroupInfo& group : catalog->groups) {
                for (const Stat stat : group.stats) {
                    if (group.id != series.group || (!isSample(stat) && stat != Stat::Value))
                        continue;
                    std::uint64_t& count = stat == Stat::Value ? out.scalars : out.samples;
                    (void)(*reader)->raw(
                        { series.id }, stat, { Step { -1000 }, Step { 1'000'000 } }, [&count](const auto&) {
                            ++count;
                            return true;
                        });
                }
            }
        }
        for (const store::LogRecord& drop : *drops) {
            (dropclass::isSamples(drop.dropClass)           ? out.droppedSamples
                    : drop.dropClass == dropclass::kScalars ? out.droppedScalars
                    : drop.dropClass == dropclass::kEvents  ? out.droppedEvents
                                                            : out.droppedBlobs)
                += drop.items;
            out.reasons.push_back(drop.text);
        }
    }
    return out;
}

std::uint32_t addMetric(tt_agent* agent, const std::string& name)
{
    tt_series series {};
    series.name = name.c_str();
    series.micro_step = -1;
    series.shard_offset = -1;
    return tt_layout_add(agent, static_cast<std::uint32_t>(Kind::Scalar), nullptr, 0, &series, 1);
}

void logAll(tt_agent* agent, std::int64_t number, const std::vector<std::uint32_t>& metrics)
{
    tt_step* step = tt_step_begin(agent, number);
    QVERIFY(step);
    for (const std::uint32_t metric : metrics) {
        std::uint8_t* present = nullptr;
        double* value = tt_step_doubles(step, metric, &present);
        QVERIFY(value);
        *value = 1;
        *present = 1;
    }
    tt_step_commit(step);
}

std::shared_ptr<const SeriesLayout> layoutOf(std::uint32_t id, const std::string& name)
{
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId { id };
    layout->kind = Kind::GradReduced;
    layout->stats = { Stat::Norm, Stat::Mean };
    layout->series.resize(3);
    for (std::size_t i = 0; i < 3; ++i)
        layout->series[i].name = name + std::to_string(i);
    return layout;
}

StepBlock blockOf(const std::shared_ptr<const SeriesLayout>& layout, std::int64_t step)
{
    StepBlock block;
    block.layout = layout;
    block.step = Step { step };
    block.wallNs = step + 1;
    for (const Stat stat : layout->stats)
        block.columns.push_back({ stat, std::vector<float>(layout->series.size(), 1.5f) });
    return block;
}

}

/// produced = stored + dropped, always: counted by the agent, and by reading the capsule.
class LedgerTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_data = m_dir->filePath(QStringLiteral("data")).toStdString();
        store::StoreOptions options;
        options.dataDir = m_data;
        auto service = store::StoreService::start(options);
        QVERIFY(service);
        m_service = std::move(*service);
        startServer();
    }
    void cleanup()
    {
        stop();
        m_dir.reset();
    }

    void aTornNameCostsNothingButItsEnd()
    {
        AgentDriver driver(setup());
        std::string name;
        while (name.size() < protocol::limits::kMaxNameBytes)
            name += "损";
        const std::vector<std::uint32_t> metrics { addMetric(driver.agent(), name.substr(0, 1024)),
            addMetric(driver.agent(), name + name), addMetric(driver.agent(), "plain") };
        for (const std::uint32_t metric : metrics)
            QVERIFY(metric > 0);
        constexpr std::uint64_t kSteps = 50;
        for (std::uint64_t i = 0; i < kSteps; ++i) {
            logAll(driver.agent(), static_cast<std::int64_t>(i), metrics);
            QVERIFY(driver.step(static_cast<std::int64_t>(1000 + i)));
        }
        QCOMPARE(tt_event(driver.agent(), std::string(3000, 'k').c_str(), 1, std::string(100'000, 't').c_str(), ""), 1);
        QCOMPARE(tt_blob(driver.agent(), (name + name).c_str(), (name + name).c_str(), 1, "bytes", 5), 1);
        QCOMPARE(tt_agent_flush(driver.agent(), kWaitMs), 1);
        const tt_counters counters = driver.counters();
        QVERIFY(driver.close());
        stop();
        const Account account = accountOf(m_data);
        QCOMPARE(account.samples, kSteps * AgentDriver::kSamplesPerStep);
        QCOMPARE(account.samples, counters.produced);
        QCOMPARE(account.scalars, kSteps * 4);
        QCOMPARE(account.scalars, counters.scalars_produced);
        QCOMPARE(counters.dropped, std::uint64_t { 0 });
        QVERIFY2(account.reasons.empty(), account.reasons.empty() ? "" : account.reasons.front().c_str());
    }

    void aThousandAndMoreMetricsOfOneStepAreStored()
    {
        AgentDriver driver(setup());
        std::vector<std::uint32_t> metrics;
        for (int i = 0; i < 2000; ++i)
            metrics.push_back(addMetric(driver.agent(), "metric_" + std::to_string(i)));
        logAll(driver.agent(), 0, metrics);
        QCOMPARE(tt_agent_flush(driver.agent(), kWaitMs), 1);
        const tt_counters counters = driver.counters();
        driver.close();
        stop();
        QCOMPARE(counters.scalars_dropped, std::uint64_t { 0 });
        QCOMPARE(accountOf(m_data).scalars, std::uint64_t { 2000 });
    }

    void anEventOrDocumentThatFindsNoRoomIsCounted()
    {
        AgentDriver driver(setup());
        QVERIFY(driver.step(0));
        const std::string large(5u << 20, 'x');
        QCOMPARE(tt_blob(driver.agent(), "structure", "huge", 0, large.data(), large.size()), 0);
        QCOMPARE(tt_event(driver.agent(), "log", 0, "text", large.substr(0, 600'000).c_str()), 0);
        driver.close();
        stop();
        const Account account = accountOf(m_data);
        QCOMPARE(account.droppedBlobs, std::uint64_t { 1 });
        QCOMPARE(account.droppedEvents, std::uint64_t { 1 });
        QCOMPARE(account.droppedSamples, std::uint64_t { 0 });
    }

    void aLayoutThatBreaksARuleCostsItsOwnSamplesAndNoOthers()
    {
        const auto good = layoutOf(1, "good");
        const auto bad = layoutOf(2, std::string("b\0d", 3));
        stopServer(); // it would take the store's answers
        Direct direct(*m_service);
        for (std::uint64_t seq = 1; seq <= 3; ++seq) {
            protocol::PayloadBuilder builder;
            if (seq == 1) {
                builder.addLayout(*bad);
                builder.addLayout(*good);
            }
            builder.addBlock(blockOf(bad, static_cast<std::int64_t>(seq)));
            builder.addBlock(blockOf(good, static_cast<std::int64_t>(seq)));
            QCOMPARE(direct.give(seq, builder), ingest::IngestSession::Verdict::Accept);
        }
        const auto rejected = direct.settle(3);
        QCOMPARE(rejected.size(), std::size_t { 3 });
        for (const protocol::Rejected& one : rejected) {
            QVERIFY(one.isInPart);
            QCOMPARE(one.samples, std::uint64_t { 6 });
        }
        direct.close();
        stop();
        const Account account = accountOf(m_data);
        QCOMPARE(account.samples, std::uint64_t { 18 });
        QCOMPARE(account.droppedSamples, std::uint64_t { 18 });
        QVERIFY(account.reasons.front().find("name") != std::string::npos);
    }

    void aLayoutWithoutSeriesCostsNothing()
    {
        const auto good = layoutOf(1, "good");
        auto empty = std::make_shared<SeriesLayout>(*layoutOf(2, "empty"));
        empty->series.clear();
        stopServer(); // it would take the store's answers
        Direct direct(*m_service);
        protocol::PayloadBuilder builder;
        builder.addLayout(*empty);
        builder.addLayout(*good);
        builder.addBlock(blockOf(good, 1));
        QCOMPARE(direct.give(1, builder), ingest::IngestSession::Verdict::Accept);
        const auto rejected = direct.settle(1);
        QCOMPARE(rejected.size(), std::size_t { 1 });
        QVERIFY(rejected[0].isInPart);
        direct.close();
        stop();
        QCOMPARE(accountOf(m_data).samples, std::uint64_t { 6 });
        QCOMPARE(accountOf(m_data).droppedSamples, std::uint64_t { 0 });
    }

    void whatUsesTheLayoutsOfALostBatchIsAskedForAgain()
    {
        const auto layout = layoutOf(1, "late");
        stopServer(); // it would take the store's answers
        Direct direct(*m_service);
        QCOMPARE(direct.give(1, "no payload at all", { 12, 3 }), ingest::IngestSession::Verdict::Accept);
        protocol::PayloadBuilder builder;
        builder.addBlock(blockOf(layout, 1));
        QCOMPARE(direct.give(2, builder), ingest::IngestSession::Verdict::AheadNack);
        QCOMPARE(direct.session->rules().nextSeq(), std::uint64_t { 2 });
        builder.addLayout(*layout);
        builder.addBlock(blockOf(layout, 1));
        QCOMPARE(direct.give(2, builder), ingest::IngestSession::Verdict::Accept);
        // Asked for once: what comes without its layouts again is dropped, and the stream goes on.
        builder.addBlock(blockOf(layoutOf(7, "never"), 2));
        const std::string bare = builder.finish();
        QCOMPARE(direct.give(3, bare, { 6, 0 }), ingest::IngestSession::Verdict::AheadNack);
        QCOMPARE(direct.give(3, bare, { 6, 0 }), ingest::IngestSession::Verdict::Accept);
        const auto rejected = direct.settle(3);
        QCOMPARE(rejected.size(), std::size_t { 2 });
        QVERIFY(!rejected[0].isInPart);
        direct.close();
        stop();
        const Account account = accountOf(m_data);
        QCOMPARE(account.samples, std::uint64_t { 6 });
        QCOMPARE(account.droppedSamples, std::uint64_t { 12 + 6 });
        QCOMPARE(account.droppedScalars, std::uint64_t { 3 });
    }

    void whatAKilledProcessTookWithItIsCounted_data()
    {
        QTest::addColumn<bool>("lockLasts");
        QTest::newRow("its lock goes with it") << false;
        QTest::newRow("its socket goes before its lock") << true;
    }
    void whatAKilledProcessTookWithItIsCounted()
    {
        QFETCH(bool, lockLasts);
        const std::uint64_t produced = trainAndDie(
            10, 20, [] {}, lockLasts);
        QTRY_VERIFY_WITH_TIMEOUT(knows(produced), kWaitMs);
        stop();
        const auto [account, said] = accounts();
        QVERIFY(said.isExact);
        QCOMPARE(said.samples.produced, produced);
        QCOMPARE(said.samples.stored, account.samples);
        QVERIFY(said.samples.missing > 0);
        QCOMPARE(account.samples + account.droppedSamples, produced);
        QCOMPARE(account.scalars + account.droppedScalars, produced / AgentDriver::kSamplesPerStep);
    }

    void theNextAgentTellsWhatAKilledOneTook()
    {
        // The server does not see the process die.
        const std::uint64_t produced = trainAndDie(10, 20, [this] { stopServer(); });
        startServer();
        auto options = setup();
        options.restartCount = 1;
        AgentDriver next(options);
        QVERIFY(next.step(100));
        QTRY_VERIFY_WITH_TIMEOUT(knows(produced), kWaitMs);
        QCOMPARE(tt_agent_flush(next.agent(), kWaitMs), 1);
        QVERIFY(next.close());
        stop();
        const auto [account, said] = accounts();
        QVERIFY(said.isExact);
        QCOMPARE(said.samples.produced, produced);
        QVERIFY(said.samples.missing > 0);
        QCOMPARE(account.samples + account.droppedSamples, produced + AgentDriver::kSamplesPerStep);
    }

    void whatNobodyKnowsIsNotSaidToBeNothing()
    {
        protocol::Heartbeat heartbeat;
        heartbeat.producedSamples = 10;
        giveSixSamples(heartbeat, {});
        const auto [account, said] = accounts();
        QVERIFY(!said.isExact);
        QCOMPARE(said.samples.stored, std::uint64_t { 6 });
        QCOMPARE(said.samples.missing, std::uint64_t { 4 });
        QCOMPARE(account.droppedSamples, std::uint64_t { 4 });
        QVERIFY2(account.reasons.front().find("not known") != std::string::npos, account.reasons.front().c_str());
    }

    void moreThanAProcessSaysItMadeIsSaid()
    {
        protocol::Heartbeat heartbeat;
        heartbeat.producedSamples = 4;
        heartbeat.isFinal = true;
        giveSixSamples(heartbeat, "finished");
        const store::SourceAccount said = accounts().second;
        QCOMPARE(said.samples.stored, std::uint64_t { 6 });
        QCOMPARE(said.samples.beyond, std::uint64_t { 2 });
    }

    void aRunThatEndedWellOwesNothing()
    {
        AgentDriver driver(setup());
        for (int i = 0; i < 20; ++i)
            QVERIFY(driver.step(i));
        QVERIFY(driver.close());
        stop();
        const auto [account, said] = accounts();
        QVERIFY(said.isExact);
        QCOMPARE(said.samples.produced, 20 * AgentDriver::kSamplesPerStep);
        QCOMPARE(said.samples.missing, std::uint64_t { 0 });
        QCOMPARE(account.samples, said.samples.stored);
        QCOMPARE(said.scalars.stored, std::uint64_t { 20 });
    }

private:
    /// One stream given to the store without a socket.
    struct Direct {
        explicit Direct(store::StoreService& service)
            : sink(service)
        {
            store::StreamRequest request;
            request.token = 1;
            request.runKey = "direct";
            request.agentId = "host/0/test";
            request.incarnation = 7;
            service.openStream(request);
            store::StreamOpened opened;
            const bool isOpen = QTest::qWaitFor(
                [&] {
                    for (store::StoreEvent& event : service.takeEvents())
                        if (auto* found = std::get_if<store::StreamOpened>(&event))
                            opened = *found;
                    return opened.stream.value != 0;
                },
                kWaitMs);
            QVERIFY(isOpen);
            session
                = std::make_unique<ingest::IngestSession>(sink, opened, ingest::IngestSession::Credit { 1u << 20, 64 });
            epoch = opened.epoch;
        }
        ingest::IngestSession::Verdict give(std::uint64_t seq, protocol::PayloadBuilder& builder)
        {
            const Lost held { builder.samples(), builder.scalars() };
            return give(seq, builder.finish(), held);
        }
        ingest::IngestSession::Verdict give(std::uint64_t seq, std::string payload, Lost held)
        {
            protocol::Batch batch;
            batch.seq = seq;
            batch.epoch = epoch;
            batch.crc = crc32c(payload);
            batch.payload = std::move(payload);
            batch.samples = held.samples;
            batch.scalars = held.scalars;
            return session->onBatch(std::move(batch));
        }
        /// What was rejected once everything up to `seq` is durable.
        std::vector<protocol::Rejected> settle(std::uint64_t seq)
        {
            const bool isDurable = QTest::qWaitFor(
                [&] {
                    for (store::StoreEvent& event : sink.takeEvents()) {
                        if (auto* durable = std::get_if<store::StreamDurable>(&event))
                            session->onDurable(durable->seq, 1);
                        if (auto* bad = std::get_if<store::BatchQuarantined>(&event))
                            session->onQuarantined(bad->seq, bad->reason, 1);
                    }
                    return session->rules().durableSeq() >= seq;
                },
                kWaitMs);
            auto rejected = isDurable ? session->takeAck().rejected : std::vector<protocol::Rejected> {};
            std::sort(rejected.begin(), rejected.end(), [](const auto& a, const auto& b) { return a.seq < b.seq; });
            return rejected;
        }
        void close() { sink.closeStream(session->stream(), "finished", 3, {}); }

        ingest::StoreSink sink;
        std::unique_ptr<ingest::IngestSession> session;
        std::uint32_t epoch = 0;
    };

    /// A stream that gives one batch, says how much there was, and ends for this reason; then everything stops.
    void giveSixSamples(const protocol::Heartbeat& heartbeat, const std::string& reason)
    {
        stopServer();
        Direct direct(*m_service);
        const auto layout = layoutOf(1, "w");
        protocol::PayloadBuilder builder;
        builder.addLayout(*layout);
        builder.addBlock(blockOf(layout, 1));
        QCOMPARE(direct.give(1, builder), ingest::IngestSession::Verdict::Accept);
        QVERIFY(direct.settle(1).empty());
        direct.session->onHeartbeat(heartbeat, 1);
        direct.sink.closeStream(direct.session->stream(), reason, 1, direct.session->produced());
        stop();
    }

    /// A training process that ends by SIGKILL right after its last step. Returns how many samples it produced.
    std::uint64_t trainAndDie(int stored, int lost, const std::function<void()>& between, bool lockLasts = false)
    {
        const auto options = setup();
        QProcess training;
        training.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        training.start(QCoreApplication::applicationFilePath(),
            { QStringLiteral("--train"), QString::fromStdString(options.join), QString::fromStdString(options.spoolDir),
                QString::number(stored), QString::number(lost), QString::number(lockLasts) });
        if (!training.waitForReadyRead(kWaitMs))
            return 0;
        between();
        training.write("go on\n");
        training.waitForFinished(kWaitMs);
        return training.exitStatus() == QProcess::CrashExit
            ? static_cast<std::uint64_t>(stored + lost) * AgentDriver::kSamplesPerStep
            : 0;
    }

    /// Whether the capsule says that a process produced so much.
    bool knows(std::uint64_t produced) const
    {
        for (const store::RunSummary& run : store::listRuns(m_data)) {
            const auto accounts = store::readAccounts(run.locator, true);
            for (std::size_t i = 0; accounts && i < accounts->size(); ++i)
                if ((*accounts)[i].samples.produced == produced)
                    return true;
        }
        return false;
    }

    /// What reading finds, and what the capsule says of its first process.
    std::pair<Account, store::SourceAccount> accounts() const
    {
        const auto runs = store::listRuns(m_data);
        const auto said = runs.size() == 1 ? store::readAccounts(runs.front().locator, false)
                                           : Expected<std::vector<store::SourceAccount>> {};
        return { accountOf(m_data), said && !said->empty() ? said->front() : store::SourceAccount {} };
    }

    void startServer()
    {
        server::ServerOptions serverOptions;
        serverOptions.dataDir = m_data;
        serverOptions.listen = "127.0.0.1:0";
        auto server = server::CaptureServer::start(serverOptions, *m_service);
        QVERIFY(server);
        m_server = std::move(*server);
    }

    AgentDriver::Setup setup() const
    {
        AgentDriver::Setup setup;
        setup.join = m_server->joinString().toStdString();
        setup.spoolDir = m_dir->filePath(QStringLiteral("spool")).toStdString();
        return setup;
    }
    void stopServer()
    {
        if (m_server)
            m_server->stop();
        m_server.reset();
    }
    void stop()
    {
        stopServer();
        if (m_service)
            m_service->stop();
        m_service.reset();
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::string m_data;
    std::unique_ptr<store::StoreService> m_service;
    std::unique_ptr<server::CaptureServer> m_server;
};

namespace {

/// A copy of this process that keeps all its locks, and no socket, for a moment longer than the process lives: the
/// kernel ends a process in pieces, in an order of its own. By the bare system call, so that nothing hears of the fork.
void keepLocks()
{
    const pid_t dying = ::getpid();
    if (::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr) != 0)
        return;
    for (int fd = 0; fd < 1024; ++fd) {
        struct stat info { };
        if (::fstat(fd, &info) == 0 && (S_ISSOCK(info.st_mode) || S_ISFIFO(info.st_mode)))
            ::close(fd);
    }
    while (::getppid() == dying)
        ::usleep(1000);
    ::usleep(150'000);
    ::_exit(0);
}

/// The process that is killed: says when the first steps are stored, goes on when it is told to.
int train(char** words)
{
    AgentDriver::Setup setup;
    setup.join = words[0];
    setup.spoolDir = words[1];
    setup.batchMs = 10'000;
    const int stored = std::atoi(words[2]);
    const int lost = std::atoi(words[3]);
    AgentDriver driver(setup);
    int step = 0;
    while (step < stored)
        driver.step(step++);
    tt_agent_flush(driver.agent(), kWaitMs);
    std::puts("ready");
    std::fflush(stdout);
    (void)std::getchar();
    while (step < stored + lost)
        driver.step(step++);
    if (std::atoi(words[4]) != 0)
        keepLocks();
    ::kill(::getpid(), SIGKILL);
    return 0;
}

}

int main(int argc, char* argv[])
{
    if (argc == 7 && std::string_view(argv[1]) == "--train")
        return train(argv + 2);
    const QCoreApplication application(argc, argv);
    LedgerTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "ledgertest.moc"
