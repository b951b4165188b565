// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTemporaryDir>
#include <QtTest>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include <pthread.h>
#include <unistd.h>

#include <telltale/agent/agent.h>
#include <telltale/agent/resolver.h>
#include <telltale/agent/slabring.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/spool/heldstore.h>
#include <telltale/spool/productionpage.h>
#include <telltale/spool/spooldisk.h>
#include <telltale/spool/spoolstream.h>

#include "faultydisk.h"
#include "memoryfiles.h"

using namespace telltale;
using namespace telltale::agent;
using telltale::test::FaultyDisk;
using telltale::test::hasMemoryFiles;

namespace {

constexpr int kWaitMs = 20000;

/// The memory of the threads of one name: none after so many more pieces; negative: as much as there is.
std::atomic<int> piecesLeft { -1 };
std::atomic<const char*> ofThread { "" };

bool isMemoryGone()
{
    if (piecesLeft.load() < 0)
        return false;
    std::array<char, 16> name {};
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
    if (std::string_view(name.data()) != ofThread.load())
        return false;
    if (piecesLeft.load() == 0)
        return true;
    --piecesLeft;
    return false;
}

/// From now to its end the threads of that name get only so many pieces more.
struct NoMemory {
    explicit NoMemory(const char* thread, int pieces = 0)
    {
        ofThread = thread;
        piecesLeft = pieces;
    }
    ~NoMemory() { piecesLeft = -1; }
    NoMemory(const NoMemory&) = delete;
    NoMemory& operator=(const NoMemory&) = delete;
};

std::string nameOfThisThread()
{
    std::array<char, 16> name {};
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
    return name.data();
}

}

// NOLINTBEGIN(cppcoreguidelines-no-malloc, misc-new-delete-overloads)
void* operator new(std::size_t bytes)
{
    void* memory = isMemoryGone() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept
{
    return isMemoryGone() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}
// NOLINTEND(cppcoreguidelines-no-malloc, misc-new-delete-overloads)

/// The agent on a machine that has no memory or no thread left: what that costs is counted, and nothing is lost with
/// it.
class AgentScarceTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void aStepWhoseTakingFailsIsNotTakenTwice()
    {
        SlabRing ring(64u << 10);
        for (std::int64_t step = 0; step < 2; ++step) {
            QVERIFY(ring.begin(step, step));
            for (std::uint32_t block = 0; block < 3; ++block)
                QVERIFY(ring.reserve(block, 1, 100));
            ring.commit();
        }
        std::vector<std::int64_t> steps;
        int blocks = 0;
        const auto onStep = [&](std::int64_t step, std::int64_t) { steps.push_back(step); };
        const auto onBlock = [&](const SlabRing::Block&) {
            if (++blocks == 2)
                throw std::bad_alloc();
        };
        QVERIFY_EXCEPTION_THROWN(ring.consume(onStep, onBlock), std::bad_alloc);
        QVERIFY(ring.consume(onStep, onBlock));
        QVERIFY(!ring.consume(onStep, onBlock));
        QCOMPARE(steps, (std::vector<std::int64_t> { 0, 1 }));
        QCOMPARE(blocks, 2 + 3);
    }

    void aBatchThatFindsNoMemoryIsNotHalfHeld()
    {
        SpoolDisk disk(m_folder->path().toStdString(), 1u << 30);
        protocol::LayoutTable layouts;
        HeldStore held(disk, layouts);
        const std::string self = nameOfThisThread();
        for (std::uint64_t seq = 1; seq <= 100; ++seq) {
            std::string payload(1000, 'x');
            for (int pieces = 0;; ++pieces) {
                try {
                    const NoMemory none(self.c_str(), pieces);
                    QVERIFY(held.add(seq, payload, { 5, 1, nullptr, {}, true }, HeldStore::Clock::now()));
                    break;
                } catch (const std::bad_alloc&) {
                    payload.assign(1000, 'x');
                }
            }
            QCOMPARE(held.size(), seq);
            QCOMPARE(held.memoryBytes(), 1000 * seq);
        }
        QCOMPARE(held.counts().samples, std::uint64_t { 500 });
    }

    void aDiskThatRunsOutOfMemoryLosesNothing()
    {
        /// Throws so often.
        struct Exhausted : FaultyDisk {
            std::atomic<int> writesLeft { 1 };
            std::atomic<int> readsLeft { 1 };
            ssize_t write(int fd, std::string_view bytes) override
            {
                if (writesLeft.fetch_sub(1) > 0)
                    throw std::bad_alloc();
                return FaultyDisk::write(fd, bytes);
            }
            ssize_t read(int fd, char* out, std::size_t bytes, std::uint64_t at) override
            {
                if (readsLeft.fetch_sub(1) > 0)
                    throw std::bad_alloc();
                return FaultyDisk::read(fd, out, bytes, at);
            }
        };
        SpoolDisk disk(m_folder->path().toStdString(), 1u << 30, std::make_shared<Exhausted>());
        disk.useThread();
        for (std::uint64_t seq = 1; seq <= 3; ++seq)
            disk.write({ seq, std::make_shared<const std::string>("payload " + std::to_string(seq)), {}, {} });
        std::vector<Spool::Kept> kept;
        const auto areKept = [&] {
            for (const Spool::Kept& one : disk.takeAnswers().kept)
                kept.push_back(one);
            return kept.size() == 3;
        };
        QTRY_VERIFY_WITH_TIMEOUT(areKept(), kWaitMs);
        disk.read(kept);
        std::size_t read = 0;
        const auto areRead = [&] {
            for (const SpoolDisk::Read& one : disk.takeAnswers().reads)
                read += one.bytes && *one.bytes == "payload " + std::to_string(one.seq) ? 1 : 0;
            return read == 3;
        };
        QTRY_VERIFY_WITH_TIMEOUT(areRead(), kWaitMs);
        disk.forgetUpTo(3);
        disk.close(std::nullopt);
        QVERIFY(disk.waitClosed(SpoolDisk::Clock::now() + std::chrono::milliseconds(kWaitMs)));
    }

    void aNameIsUnknownWhereNoThreadCanBeHad()
    {
        Resolver resolver;
        {
            const std::string self = nameOfThisThread();
            const NoMemory none(self.c_str(), 1); // that of the answer
            resolver.start("no.such", 1);
        }
        QVERIFY(resolver.isDone());
        QVERIFY(resolver.take().empty());
    }

    void whatWasOnItsWayWhenCaptureFailedIsCounted()
    {
        tt_options given {};
        given.size = sizeof given;
        given.join = "";
        given.mode = "offline";
        given.run_id = "run";
        const std::string folder = m_folder->path().toStdString();
        given.spool_dir = folder.c_str();
        given.rank = 0;
        given.world_size = 1;
        given.flush_ms = 1000;
        auto options = AgentOptions::resolve(&given, [](const char*) { return std::nullopt; });
        QVERIFY(options);
        Agent agent(std::move(*options));
        std::vector<SeriesDesc> series(100);
        for (std::size_t i = 0; i < series.size(); ++i)
            series[i].name = "metric" + std::to_string(i);
        const auto layout
            = agent.addLayout({ telltale::Kind::Scalar, { Stat::Value }, BlockType::Doubles, std::move(series) });
        QVERIFY(layout);
        const auto train = [&](std::int64_t step) {
            if (!agent.beginStep(step))
                return;
            const Layout* found = nullptr;
            if (std::byte* data = agent.reserve(*layout, BlockType::Doubles, found))
                std::fill_n(data + found->valueBytes(), 100, std::byte { 1 });
            agent.commitStep();
        };
        for (std::int64_t step = 0; step < 50; ++step)
            train(step);
        QTRY_VERIFY_WITH_TIMEOUT(agent.counters()->spoolBytes > 0, kWaitMs);
        {
            const NoMemory none("telltale-sender");
            std::int64_t step = 50;
            QTRY_VERIFY_WITH_TIMEOUT((train(++step), !agent.isActive()), kWaitMs);
        }
        QVERIFY(!agent.close("finished"));
        const Counters& counters = *agent.counters();
        QVERIFY(counters.internalErrors >= 3);
        QVERIFY(counters.scalarsDropped > 0);
        // The rest is in the spool.
        QVERIFY(counters.scalarsDropped < counters.scalarsProduced);
        QCOMPARE(stored(folder), counters.scalarsProduced - counters.scalarsDropped);
    }

    void aPageIsLockedBeforeAnybodySeesIt()
    {
        if (!hasMemoryFiles())
            QSKIP("this machine has no memory file system that can be written to");
        constexpr int kPages = 100;
        std::atomic<std::uint64_t> wanted { 1 };
        std::thread nosy([&] {
            while (const std::uint64_t incarnation = wanted)
                (void)ProductionPage::isHeld(incarnation);
        });
        int open = 0;
        protocol::Hello hello;
        for (int i = 0; i < kPages; ++i) {
            hello.incarnation = (static_cast<std::uint64_t>(::getpid()) << 32) + static_cast<std::uint64_t>(i);
            wanted = hello.incarnation;
            ProductionPage page(hello, m_folder->path().toStdString());
            open += page.isOpen() ? 1 : 0;
            page.remove();
        }
        wanted = 0;
        nosy.join();
        QCOMPARE(open, kPages);
    }

private:
    /// Scalars of the batches in the spool.
    static std::uint64_t stored(const std::string& folder)
    {
        std::uint64_t scalars = 0;
        for (const auto& spool : findSpools(folder)) {
            const auto opened = openSpooledStream(spool, 1u << 30);
            scalars += opened && opened->stream ? opened->stream->held.counts().scalars : 0;
        }
        return scalars;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(AgentScarceTest)
#include "agentscarcetest.moc"
