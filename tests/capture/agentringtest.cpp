// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <telltale/agent/slabring.h>
#include <telltale/agent/spscqueue.h>

namespace agentringtest {

using telltale::agent::SlabRing;
using telltale::agent::SpscQueue;

namespace {

std::uint64_t wordOf(std::int64_t step, std::uint32_t block, std::size_t i)
{
    return static_cast<std::uint64_t>(step) * 1'000'003u + block * 97u + i;
}

struct Reader {
    std::int64_t lastStep = -1;
    std::uint64_t steps = 0;
    std::uint64_t wrong = 0;

    bool takeOne(SlabRing& ring)
    {
        std::uint32_t block = 0;
        std::int64_t step = 0;
        return ring.consume(
            [&](std::int64_t number, std::int64_t wallNs) {
                step = number;
                wrong += number <= lastStep || wallNs != number * 2 ? 1 : 0;
                lastStep = number;
                ++steps;
            },
            [&](const SlabRing::Block& found) {
                wrong += found.layout != block + 1 ? 1 : 0;
                const auto* words = reinterpret_cast<const std::uint64_t*>(found.data);
                for (std::size_t i = 0; i < found.count; ++i)
                    wrong += words[i] != wordOf(step, block, i) ? 1 : 0;
                ++block;
            });
    }
};

/// Writes a step of random shape; false when the ring had no room for all of it.
template <typename Random> bool writeStep(SlabRing& ring, std::int64_t step, Random& random, std::uint64_t& dirty)
{
    if (!ring.begin(step, step * 2))
        return false;
    const auto blocks = static_cast<std::uint32_t>(random() % 6);
    for (std::uint32_t block = 0; block < blocks; ++block) {
        const auto count = static_cast<std::uint32_t>(random() % 300);
        std::byte* data = ring.reserve(block + 1, count, count * 8u);
        if (!data) {
            ring.abandon();
            return false;
        }
        auto* words = reinterpret_cast<std::uint64_t*>(data);
        for (std::size_t i = 0; i < count; ++i) {
            dirty += words[i] != 0 ? 1 : 0;
            words[i] = wordOf(step, block, i);
        }
    }
    if (random() % 16 == 0) {
        ring.abandon();
        return true;
    }
    ring.commit();
    return true;
}

}

class AgentRingTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void stepsComeOutWholeInOrderAndOnZeroedMemory()
    {
        SlabRing ring(1);
        std::minstd_rand random(7);
        Reader reader;
        std::uint64_t dirty = 0;
        std::uint64_t refused = 0;
        for (std::int64_t step = 0; step < 50000; ++step) {
            refused += writeStep(ring, step, random, dirty) ? 0 : 1;
            for (auto i = random() % 3; i > 0 && reader.takeOne(ring); --i) { }
        }
        while (reader.takeOne(ring)) { }
        QCOMPARE(reader.wrong, std::uint64_t { 0 });
        QCOMPARE(dirty, std::uint64_t { 0 });
        QVERIFY(refused > 0);
        QVERIFY(reader.steps > 10000);
        QCOMPARE(ring.publishedBytes(), ring.consumedBytes());
    }

    void twoThreadsNeverSeeHalfAStep()
    {
        SlabRing ring(128u << 10);
        std::atomic<bool> isDone { false };
        Reader reader;
        std::thread consumer([&] {
            while (!isDone.load(std::memory_order_acquire))
                if (!reader.takeOne(ring))
                    std::this_thread::yield();
            while (reader.takeOne(ring)) { }
        });
        std::minstd_rand random(11);
        std::uint64_t dirty = 0;
        for (std::int64_t step = 0; step < 100000; ++step) {
            if (!writeStep(ring, step, random, dirty))
                std::this_thread::yield();
        }
        isDone.store(true, std::memory_order_release);
        consumer.join();
        QCOMPARE(reader.wrong, std::uint64_t { 0 });
        QCOMPARE(dirty, std::uint64_t { 0 });
        QVERIFY(reader.steps > 1000);
    }

    void aFullRingRefusesWithoutHarm()
    {
        SlabRing ring(64u << 10);
        QVERIFY(ring.begin(1, 2));
        QVERIFY(ring.reserve(1, 1, 60u << 10));
        ring.commit();
        QVERIFY(!ring.begin(2, 4));
        QVERIFY(!ring.begin(3, 6));
        int blocks = 0;
        QVERIFY(ring.consume([](auto, auto) {}, [&](const auto&) { ++blocks; }));
        QCOMPARE(blocks, 1);
        QVERIFY(ring.begin(4, 8));
        ring.commit();
    }

    void aStepLargerThanTheRingIsRefusedAndTheRestGoesOn()
    {
        SlabRing ring(64u << 10);
        for (std::int64_t step = 0; step < 5; ++step) {
            QVERIFY(ring.begin(step, 0));
            QVERIFY(ring.startedEmpty());
            QVERIFY(ring.reserve(1, 1, 30u << 10));
            QVERIFY(!ring.reserve(2, 1, 40u << 10));
            ring.commit();
            QVERIFY(ring.consume([](auto, auto) {}, [](const auto&) {}));
        }
    }

    void theDropQueueKeepsOrderBetweenThreads()
    {
        SpscQueue<std::uint64_t, 64> queue;
        constexpr std::uint64_t kCount = 200000;
        std::thread producer([&] {
            for (std::uint64_t i = 0; i < kCount; ++i)
                while (!queue.tryPush(i))
                    std::this_thread::yield();
        });
        std::uint64_t next = 0;
        std::uint64_t wrong = 0;
        while (next < kCount) {
            if (const auto value = queue.pop())
                wrong += *value != next++ ? 1 : 0;
            else
                std::this_thread::yield();
        }
        producer.join();
        QCOMPARE(wrong, std::uint64_t { 0 });
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, AgentRingTest)

}

#include "agentringtest.moc"
