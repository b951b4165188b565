// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTemporaryDir>
#include <QtTest>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <telltale/agent/agent.h>
#include <telltale/core/kinds.h>
#include <telltale/spool/productionpage.h>

#include "agentfakeserver.h"
#include "faultydisk.h"
#include "memoryfiles.h"

using namespace telltale;
using namespace telltale::agent;
using telltale::test::FakeServer;
using telltale::test::FakeStore;
using telltale::test::FaultyDisk;
using telltale::test::hasMemoryFiles;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

namespace {

constexpr int kWaitMs = 20000;
constexpr std::uint32_t kSeries = 40; ///< scalars in a step
constexpr std::chrono::milliseconds kFlush { 1000 };
/// How much longer than its flush time an end may take on a machine that is busy with other tests.
constexpr std::chrono::milliseconds kSlack { 1500 };

AgentOptions optionsFor(const std::string& join, const std::string& folder, std::shared_ptr<Disk> disk)
{
    tt_options given {};
    given.size = sizeof given;
    given.join = join.c_str();
    given.mode = join.empty() ? "offline" : "online";
    given.run_id = "run";
    given.spool_dir = folder.c_str();
    given.rank = 0;
    given.world_size = 1;
    given.flush_ms = static_cast<std::uint32_t>(kFlush.count());
    given.batch_ms = 5;
    auto options = AgentOptions::resolve(&given, [](const char*) { return std::nullopt; });
    if (!options)
        qFatal("%s", options.error().what.c_str());
    options->disk = std::move(disk);
    return std::move(*options);
}

/// An agent with one layout of scalars.
struct Trainer {
    explicit Trainer(AgentOptions options)
        : agent(std::move(options))
    {
        std::vector<SeriesDesc> series(kSeries);
        for (std::uint32_t i = 0; i < kSeries; ++i)
            series[i].name = "loss" + std::to_string(i);
        layout = agent.addLayout({ telltale::Kind::Scalar, { Stat::Value }, BlockType::Doubles, std::move(series) })
                     .value();
    }
    void train(std::int64_t from, std::int64_t to)
    {
        for (std::int64_t number = from; number < to; ++number) {
            const auto start = Clock::now();
            if (agent.beginStep(number)) {
                const Layout* found = nullptr;
                if (std::byte* data = agent.reserve(layout, BlockType::Doubles, found)) {
                    for (std::uint32_t i = 0; i < kSeries; ++i)
                        reinterpret_cast<double*>(data)[i] = static_cast<double>(number);
                    std::fill_n(data + found->valueBytes(), kSeries, std::byte { 1 });
                }
                agent.commitStep();
            } else {
                agent.countUnstored(number, 0, kSeries);
            }
            slowest = std::max(slowest, Clock::now() - start);
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
    }
    std::uint64_t produced() const { return agent.counters()->scalarsProduced; }
    std::uint64_t acked() const { return agent.counters()->scalarsAcked; }
    std::uint64_t dropped() const { return agent.counters()->scalarsDropped; }

    Agent agent;
    std::uint32_t layout = 0;
    Clock::duration slowest {};
};

}

/// The whole agent with a disk that fails, fills up or never answers.
class AgentDiskTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_folder = m_dir->path().toStdString();
        m_store = std::make_unique<FakeStore>();
        m_disk = std::make_shared<FaultyDisk>();
    }
    void cleanup()
    {
        m_disk->release();
        QTRY_COMPARE_WITH_TIMEOUT(m_disk.use_count(), 1L, kWaitMs);
    }

    void aDiskThatNeverAnswersDoesNotStopStreaming()
    {
        FakeServer server(*m_store);
        server.faults().isMute = true;
        m_disk->hang();
        Trainer trainer(optionsFor(server.join(), m_folder, m_disk));
        trainer.train(0, 200);
        // Without acknowledgements the batches are for the disk, which takes the first and never gives it back.
        QTRY_COMPARE_WITH_TIMEOUT(m_disk->hungCalls(), 1, kWaitMs);
        server.faults().isMute = false;
        const auto start = Clock::now();
        trainer.train(200, 400);
        QTRY_COMPARE_WITH_TIMEOUT(trainer.acked(), 400u * kSeries, kWaitMs);
        QVERIFY(Clock::now() - start < std::chrono::seconds(5));
        QCOMPARE(m_disk->hungCalls(), 1);
        QCOMPARE(trainer.dropped(), std::uint64_t { 0 });
        const auto closing = Clock::now();
        QVERIFY(trainer.agent.close("finished"));
        QVERIFY(Clock::now() - closing < kFlush + kSlack);
        QCOMPARE(m_store->scalars(), 400u * kSeries);
    }

    void aProcessEndsInTimeThoughItsDiskHangs()
    {
        m_disk->hang();
        Trainer trainer(optionsFor({}, m_folder, m_disk));
        trainer.train(0, 300);
        QTRY_COMPARE_WITH_TIMEOUT(m_disk->hungCalls(), 1, kWaitMs);
        QVERIFY(trainer.slowest < std::chrono::milliseconds(100));
        const auto start = Clock::now();
        QVERIFY(!trainer.agent.close("finished"));
        QVERIFY(Clock::now() - start < kFlush + kSlack);
        // What the disk never took is told of as lost; the batch that it is at may still come to be.
        QCOMPARE(trainer.produced(), 300u * kSeries);
        QVERIFY(trainer.dropped() > 200u * kSeries);
        QVERIFY(QByteArray(trainer.agent.lastError().second.c_str()).contains("are lost"));
    }

    void theEndTakesMoreThanMemoryHasRoomFor_data()
    {
        QTest::addColumn<bool>("isServed");
        QTest::newRow("by the server") << true;
        QTest::newRow("by the disk alone") << false;
    }
    void theEndTakesMoreThanMemoryHasRoomFor()
    {
        QFETCH(bool, isServed);
        const auto server = isServed ? std::make_unique<FakeServer>(*m_store) : nullptr;
        auto options = optionsFor(server ? server->join() : std::string(), m_folder, m_disk);
        options.ringBytes = 32u << 20;
        options.flush = std::chrono::milliseconds(kWaitMs);
        Agent agent(std::move(options));
        constexpr std::size_t kMany = 4000;
        constexpr std::uint64_t kSteps = 800; // 25 MB, at once
        std::vector<SeriesDesc> series(kMany);
        for (std::size_t i = 0; i < kMany; ++i)
            series[i].name = std::to_string(i);
        const auto layout
            = agent.addLayout({ telltale::Kind::Scalar, { Stat::Value }, BlockType::Doubles, std::move(series) })
                  .value();
        std::uint64_t random = 1;
        for (std::uint64_t number = 0; number < kSteps; ++number) {
            QVERIFY(agent.beginStep(static_cast<std::int64_t>(number)));
            const Layout* found = nullptr;
            std::byte* data = agent.reserve(layout, BlockType::Doubles, found);
            QVERIFY(data);
            for (std::size_t i = 0; i < kMany; ++i)
                reinterpret_cast<double*>(data)[i]
                    = static_cast<double>(random = random * 6364136223846793005u + 1442695040888963407u);
            std::fill_n(data + found->valueBytes(), kMany, std::byte { 1 });
            agent.commitStep();
        }
        QCOMPARE(agent.close("finished"), isServed);
        QCOMPARE(agent.counters()->scalarsProduced, kSteps * kMany);
        QCOMPARE(agent.counters()->scalarsDropped, std::uint64_t { 0 });
        if (isServed)
            QCOMPARE(m_store->scalars(), kSteps * kMany);
    }

    void aFailedSyncLosesNothing()
    {
        {
            Trainer trainer(optionsFor({}, m_folder, m_disk));
            trainer.train(0, 100);
            m_disk->failSyncs = 1;
            const int before = m_disk->syncs;
            QTRY_VERIFY_WITH_TIMEOUT(m_disk->syncs > before, kWaitMs);
            trainer.train(100, 200);
            trainer.agent.close("finished");
            QCOMPARE(trainer.dropped(), std::uint64_t { 0 });
            QCOMPARE(m_disk->failSyncs, 0);
        }
        deliver();
        QCOMPARE(m_store->scalars(), 200u * kSeries);
    }

    void whatADiskFullOfErrorsDidNotTakeIsCounted_data()
    {
        QTest::addColumn<int>("error");
        QTest::newRow("EIO") << EIO;
        QTest::newRow("EDQUOT") << EDQUOT;
        QTest::newRow("ENOSPC") << ENOSPC;
    }
    void whatADiskFullOfErrorsDidNotTakeIsCounted()
    {
        QFETCH(int, error);
        std::uint64_t kept = 0;
        {
            Trainer trainer(optionsFor({}, m_folder, m_disk));
            trainer.train(0, 100);
            m_disk->error = error;
            m_disk->failEvery = 3;
            trainer.train(100, 300);
            // And then nothing at all works, up to the end.
            m_disk->writeError = error;
            trainer.train(300, 400);
            trainer.agent.close("finished");
            QCOMPARE(trainer.produced(), 400u * kSeries);
            QVERIFY(trainer.dropped() >= 50u * kSeries);
            kept = trainer.produced() - trainer.dropped();
        }
        deliver();
        QCOMPARE(m_store->scalars(), kept);
    }

    void whatIsOverwrittenInTheSpoolIsDroppedAtBothEnds()
    {
        auto server = std::make_unique<FakeServer>(*m_store);
        const std::uint16_t port = server->port();
        Trainer trainer(optionsFor(server->join(), m_folder, m_disk));
        trainer.train(0, 50);
        QTRY_COMPARE_WITH_TIMEOUT(trainer.acked(), 50u * kSeries, kWaitMs);
        server.reset();
        trainer.train(50, 650);
        QTRY_VERIFY_WITH_TIMEOUT(trainer.agent.counters()->spoolBytes > 4000, kWaitMs);
        // What has been synced is on disk alone. A sync is counted as it begins, and the first of these two may have
        // begun before: once the second one begins, what was there before both is covered.
        for (const int to : { 655, 660 }) {
            const int before = m_disk->syncs;
            trainer.train(to - 5, to);
            QTRY_VERIFY_WITH_TIMEOUT(m_disk->syncs > before, kWaitMs);
        }
        for (const auto& entry : fs::recursive_directory_iterator(m_folder)) {
            if (entry.path().extension() != ".seg")
                continue;
            std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
            for (const auto quarter : { 1, 2, 3 }) {
                file.seekp(static_cast<std::streamoff>(fs::file_size(entry.path()) * quarter / 4));
                file << std::string(64, '\xaa');
            }
        }
        server = std::make_unique<FakeServer>(*m_store, port);
        trainer.train(660, 700);
        QTRY_COMPARE_WITH_TIMEOUT(trainer.acked() + trainer.dropped(), 700u * kSeries, 3 * kWaitMs);
        QVERIFY(trainer.dropped() > 0);
        QVERIFY(trainer.agent.close("finished"));
        QCOMPARE(m_store->scalars(), trainer.acked());
        QCOMPARE(m_store->droppedItems(1), trainer.dropped());
    }

    void aFrozenFileSystemDelaysNeitherStepsNorTheEnd()
    {
        const std::string image = m_folder + "/image";
        const std::string mount = m_folder + "/mount";
        fs::create_directories(mount);
        if (::geteuid() != 0
            || std::system(("exec 2>/dev/null; truncate -s 32M " + image + " && mkfs.ext4 -q " + image
                   + " && mount -o loop " + image + " " + mount)
                               .c_str())
                != 0)
            QSKIP("only root with loop devices can freeze a file system");
        const auto thaw = qScopeGuard(
            [&] { (void)!std::system(("exec 2>/dev/null; fsfreeze -u " + mount + "; umount -l " + mount).c_str()); });
        Trainer trainer(optionsFor({}, mount, nullptr));
        trainer.train(0, 100);
        QTRY_VERIFY_WITH_TIMEOUT(trainer.agent.counters()->spoolBytes > 1000, kWaitMs);
        QCOMPARE(std::system(("fsfreeze -f " + mount).c_str()), 0);
        trainer.slowest = {};
        trainer.train(100, 400);
        QVERIFY(trainer.slowest < std::chrono::milliseconds(100));
        const auto start = Clock::now();
        QVERIFY(!trainer.agent.close("finished"));
        QVERIFY(Clock::now() - start < kFlush + kSlack);
        QCOMPARE(trainer.produced(), 400u * kSeries);
    }

    void whatAKilledProcessMadeIsKeptUntilTheServerHasHeardIt()
    {
        if (!hasMemoryFiles())
            QSKIP("this machine has no memory file system that can be written to");
        protocol::Hello hello = optionsFor({}, m_folder, nullptr).hello;
        {
            ProductionPage page(hello, optionsFor({}, m_folder, nullptr).runFolder());
            QVERIFY(page.isOpen());
            page.set(7, 3);
        }
        {
            FakeServer server(*m_store);
            server.faults().isDeafAfterWelcome = true;
            Trainer trainer(optionsFor(server.join(), m_folder, nullptr));
            // The second connection is the agent's own: it has said all of the other process.
            QTRY_VERIFY_WITH_TIMEOUT(server.connections() >= 2, kWaitMs);
            static_cast<void>(trainer.agent.flush(std::chrono::milliseconds(100))); // a few turns of its sender
            trainer.agent.close("finished");
        }
        QVERIFY(ProductionPage::leftBy(hello.incarnation));
        FakeServer server(*m_store);
        Trainer trainer(optionsFor(server.join(), m_folder, nullptr));
        QTRY_VERIFY_WITH_TIMEOUT(!ProductionPage::leftBy(hello.incarnation), kWaitMs);
        QVERIFY(trainer.agent.close("finished"));
    }

private:
    /// The next agent of the run brings in what is left, from a disk that works.
    void deliver()
    {
        m_disk->failEvery = 0;
        m_disk->writeError = 0;
        FakeServer server(*m_store);
        Trainer next(optionsFor(server.join(), m_folder, m_disk));
        const auto isEmpty = [this] {
            for (const auto& entry : fs::recursive_directory_iterator(m_folder))
                if (entry.path().extension() == ".seg")
                    return false;
            return true;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isEmpty(), kWaitMs);
        next.agent.close("finished");
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::string m_folder;
    std::unique_ptr<FakeStore> m_store;
    std::shared_ptr<FaultyDisk> m_disk;
};

QTEST_GUILESS_MAIN(AgentDiskTest)
#include "agentdisktest.moc"
