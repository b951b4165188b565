// SPDX-License-Identifier: GPL-3.0-or-later
#include <random>
#include <thread>

#include <QtTest>

#include <telltale/core/boundedqueue.h>
#include <telltale/core/bytes.h>
#include <telltale/core/samplebatch.h>

using namespace telltale;

class CoreTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void crcIsCastagnoli()
    {
        // RFC 3720, appendix B.4.
        QCOMPARE(crc32c(std::string(32, '\0')), 0x8A9136AAu);
        QCOMPARE(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
        QCOMPARE(crc32c("123456789"), 0xE3069283u);
        QCOMPARE(crc32c("6789", crc32c("12345")), 0xE3069283u);
        QCOMPARE(crc32c(""), 0u);
    }

    void shuffleTransposesAndComesBack()
    {
        std::mt19937 generator(1);
        for (const std::size_t width : { 1u, 2u, 4u, 8u }) {
            for (std::size_t count = 0; count < 70; ++count) {
                std::string in(count * width, '\0');
                for (char& c : in)
                    c = static_cast<char>(generator());
                std::string shuffled;
                byteShuffle(in, width, shuffled);
                for (std::size_t i = 0; i < count; ++i) {
                    for (std::size_t byte = 0; byte < width; ++byte)
                        QCOMPARE(shuffled[byte * count + i], in[i * width + byte]);
                }
                std::string back;
                byteUnshuffle(shuffled, width, back);
                QCOMPARE(back, in);
            }
        }
    }

    void zstdRefusesDamageAndOtherSizes()
    {
        std::string packed;
        const std::string text(5000, 'x');
        zstdAppend(text, packed);
        std::string out(text.size(), '\0');
        QVERIFY(zstdInto(packed, out.data(), out.size()));
        QCOMPARE(out, text);
        QVERIFY(!zstdInto(packed, out.data(), out.size() - 1));
        std::string larger(text.size() + 1, '\0');
        QVERIFY(!zstdInto(packed, larger.data(), larger.size()));
        QVERIFY(!zstdInto(packed.substr(0, packed.size() / 2), out.data(), out.size()));
    }

    void namesRoundTripAndNumbersAreFixed()
    {
        for (int k = 1; k < kKindCount; ++k)
            QCOMPARE(kindFromName(kindName(static_cast<Kind>(k))), static_cast<Kind>(k));
        for (int s = 1; s < kStoredStatCount; ++s)
            QCOMPARE(statFromName(statName(static_cast<Stat>(s))), static_cast<Stat>(s));
        QCOMPARE(statFromName("absmax"), Stat::AbsMax);
        QVERIFY(!kindFromName("unspecified"));
        QCOMPARE(static_cast<int>(Kind::GradReduced), 5);
        QCOMPARE(static_cast<int>(Stat::Nans), 6);
    }

    void onlyTheSixOpsOfPresentSeriesCountAsSamples()
    {
        auto layout = std::make_shared<SeriesLayout>();
        layout->kind = Kind::GradReduced;
        layout->stats
            = { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max, Stat::Zeros, Stat::Nans, Stat::PosInfs, Stat::NegInfs };
        layout->series.resize(70);
        StepBlock block;
        block.layout = layout;
        QCOMPARE(sampleCount(block), 70u * 6u);
        block.present = { 0b101, 0b1 };
        QCOMPARE(sampleCount(block), 3u * 6u);
        auto scalars = std::make_shared<SeriesLayout>();
        scalars->kind = Kind::Scalar;
        scalars->stats = { Stat::Value };
        scalars->series.resize(4);
        block.layout = scalars;
        QCOMPARE(sampleCount(block), 0u);
    }

    void queueIsBoundedByCostAndTakesAtLeastOne()
    {
        BoundedQueue<int> queue(100);
        int wakes = 0;
        queue.setWake([&] { ++wakes; });
        QVERIFY(queue.tryPush(1, 1000));
        QVERIFY(!queue.tryPush(2, 1));
        QCOMPARE(queue.drain(), std::vector<int>({ 1 }));
        QVERIFY(queue.tryPush(3, 60));
        QVERIFY(queue.tryPush(4, 40));
        QVERIFY(!queue.tryPush(5, 1));
        QCOMPARE(wakes, 2);
        queue.close();
        QCOMPARE(queue.drain(), std::vector<int>({ 3, 4 }));
        QVERIFY(!queue.tryPush(6, 1));
    }

    void queueKeepsOrderBetweenThreads()
    {
        BoundedQueue<int> queue(64);
        constexpr int kItems = 20000;
        std::thread producer([&] {
            for (int i = 0; i < kItems; ++i) {
                while (!queue.tryPush(int(i), 1))
                    std::this_thread::yield();
            }
            queue.close();
        });
        int expected = 0;
        bool inOrder = true;
        while (!queue.isClosed() || queue.cost() > 0) {
            for (const int item : queue.waitDrain(std::chrono::steady_clock::now() + std::chrono::seconds(1)))
                inOrder = inOrder && item == expected++;
        }
        producer.join();
        QVERIFY(inOrder);
        QCOMPARE(expected, kItems);
    }
};

QTEST_GUILESS_MAIN(CoreTest)
#include "coretest.moc"
