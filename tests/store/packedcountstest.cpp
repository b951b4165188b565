// SPDX-License-Identifier: GPL-3.0-or-later
#include <random>

#include <QtTest>

#include <telltale/store/packedcounts.h>
#include <telltale/store/tilecodec.h>

#include "testmain.h"

using namespace telltale;
using namespace telltale::store;

namespace {

using Counts = std::vector<std::uint64_t>;

std::string packed(const Counts& counts, int lanes, int columns)
{
    std::string bytes;
    PackedCounts::append(counts, lanes, columns, bytes);
    return bytes;
}

/// Every second lane has numbers up to `most`; where `isSlow`, each near the one before.
Counts someCounts(int lanes, int columns, std::uint64_t most, bool isSlow)
{
    std::mt19937_64 random(most);
    std::uniform_int_distribution<std::uint64_t> any(0, most);
    Counts counts;
    for (int lane = 0; lane < lanes; ++lane) {
        const std::uint64_t base = any(random);
        for (int column = 0; column < columns; ++column)
            counts.push_back(lane % 2 == 0 ? 0 : isSlow ? std::min(base + any(random) % 3, most) : any(random));
    }
    counts.back() = most;
    return counts;
}

}

class PackedCountsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatIsPackedIsReadAndAddsUp_data();
    void whatIsPackedIsReadAndAddsUp();
    void nothingTakesNoBytes();
    void countsNearThoseBeforeAreDifferences();
    void damageIsFound();
    void aTileOfBinsIsReadAsAnyOther();
};

void PackedCountsTest::whatIsPackedIsReadAndAddsUp_data()
{
    QTest::addColumn<int>("lanes");
    QTest::addColumn<int>("columns");
    QTest::addColumn<quint64>("most");
    QTest::addColumn<bool>("isSlow");
    const std::pair<const char*, quint64> widths[] { { "1 byte", 255 }, { "2 bytes", 256 }, { "2 bytes, full", 65535 },
        { "4 bytes", 65536 }, { "4 bytes, full", 0xFFFFFFFF }, { "8 bytes", quint64 { 1 } << 32 },
        { "8 bytes, full", ~quint64 {} } };
    for (const auto& [name, most] : widths) {
        for (const bool isSlow : { false, true }) {
            QTest::addRow("%s, %s", name, isSlow ? "slow" : "any") << 122 << 256 << most << isSlow;
            QTest::addRow("%s, %s, small", name, isSlow ? "slow" : "any") << 3 << 5 << most << isSlow;
        }
    }
    QTest::newRow("one cell") << 1 << 1 << quint64 { 7 } << false;
    QTest::newRow("all lanes") << 128 << 256 << quint64 { 255 } << false;
}

void PackedCountsTest::whatIsPackedIsReadAndAddsUp()
{
    QFETCH(const int, lanes);
    QFETCH(const int, columns);
    QFETCH(const quint64, most);
    QFETCH(const bool, isSlow);
    const Counts counts = someCounts(lanes, columns, most, isSlow);
    const auto read = PackedCounts::read(packed(counts, lanes, columns), lanes, columns);
    QVERIFY2(read, read ? "" : read.error().sentence().c_str());
    Counts found(static_cast<std::size_t>(columns));
    for (int lane = 0; lane < lanes; ++lane) {
        const auto from = counts.begin() + lane * columns;
        read->lane(lane, found.data());
        QVERIFY(std::equal(found.begin(), found.end(), from));
        QCOMPARE(read->isZero(lane), std::all_of(from, from + columns, [](std::uint64_t count) { return count == 0; }));
    }
    const auto wide = static_cast<std::size_t>(columns);
    std::mt19937 random(1);
    for (const auto& [first, end] : { std::pair { 0, lanes }, { lanes / 3, lanes - lanes / 4 } }) {
        std::vector<std::uint8_t> isMarked(static_cast<std::size_t>(end - first));
        for (std::uint8_t& one : isMarked)
            one = random() % 3 == 0;
        std::vector<double> all(wide, 5), marked(wide, 2), wantedAll(wide, 5), wantedMarked(wide, 2);
        for (int lane = first; lane < end; ++lane) {
            for (std::size_t c = 0; c < wide; ++c) {
                const auto count = static_cast<double>(counts[static_cast<std::size_t>(lane) * wide + c]);
                wantedAll[c] += count;
                wantedMarked[c] += isMarked[static_cast<std::size_t>(lane - first)] != 0 ? count : 0;
            }
        }
        read->addLanes(first, end, isMarked.data(), all.data(), marked.data());
        QVERIFY(all == wantedAll && marked == wantedMarked);
    }
}

void PackedCountsTest::nothingTakesNoBytes()
{
    const Counts none(40);
    QCOMPARE(packed(none, 8, 5), std::string());
    const auto read = PackedCounts::read({}, 8, 5);
    QVERIFY(read && read->isZero(7));
    std::vector<double> all(5), marked(5);
    const std::vector<std::uint8_t> isMarked(8, 1);
    read->addLanes(0, 8, isMarked.data(), all.data(), marked.data());
    QVERIFY(all == std::vector<double>(5) && marked == all);
}

/// What makes a histogram of a training small: its bins hardly change.
void PackedCountsTest::countsNearThoseBeforeAreDifferences()
{
    Counts slow;
    std::mt19937 random(3);
    for (std::uint64_t lane = 0; lane < 64; ++lane) {
        for (int column = 0; column < 256; ++column)
            slow.push_back(1000 * lane + 4 * static_cast<std::uint64_t>(column) + random() % 4);
    }
    const std::string bytes = packed(slow, 64, 256);
    QVERIFY2(bytes.size() < slow.size() / 2, std::to_string(bytes.size()).c_str());
    QCOMPARE(bytes.substr(0, 16), std::string(16, '\xff')); // all are there, all as differences
    const std::string any = packed(someCounts(64, 256, 255, false), 64, 256);
    QCOMPARE(any.substr(0, 16), std::string(8, '\xaa') + std::string(8, '\0'));
}

void PackedCountsTest::damageIsFound()
{
    const std::string bytes = packed(someCounts(20, 100, 70'000, true), 20, 100);
    for (std::size_t size = 1; size < bytes.size(); ++size)
        QVERIFY2(!PackedCounts::read(bytes.substr(0, size), 20, 100), std::to_string(size).c_str());
    QVERIFY(!PackedCounts::read(bytes + 'x', 20, 100));
    QVERIFY(!PackedCounts::read(bytes, 20, 101));
    QVERIFY(!PackedCounts::read(bytes, 28, 100));
    std::string unknown = bytes;
    unknown[6] = 8;
    const auto read = PackedCounts::read(unknown, 20, 100);
    QVERIFY(!read && read.error().code == ErrorCode::Damaged);
}

void PackedCountsTest::aTileOfBinsIsReadAsAnyOther()
{
    constexpr int kLanes = 122, kColumns = 200;
    const Counts counts = someCounts(kLanes, kColumns, 300, false);
    std::vector<Step> steps;
    for (int i = 0; i < kColumns; ++i)
        steps.push_back(Step { 10 * i });
    std::vector<std::uint8_t> present(counts.size(), 1);
    present[3] = 0;
    TilePlanes tile { kLanes, kColumns, steps, {}, present.data(), {} };
    const auto opened = [&tile, &counts](bool areBins) {
        tile.planes = { { PlaneRole::Value, series::PlaneType::U64, counts.data(), kColumns, 1, areBins } };
        return encodeTile(tile);
    };
    const std::string bins = opened(true), blocks = opened(false);
    QVERIFY(bins.size() < blocks.size());
    const auto one = openTile(bins), other = openTile(blocks);
    QVERIFY(one && other);
    QCOMPARE(one->planeType(PlaneRole::Value), series::PlaneType::U64);
    QVERIFY(!one->isPresent(3, 0) && one->isPresent(4, 0));
    for (int block = 0; block < one->subBlocks(); ++block) {
        const auto cells = static_cast<std::size_t>(one->lanesOf(block) * kColumns);
        Counts wanted(cells), found(cells);
        QVERIFY(one->decodeIntegers(PlaneRole::Value, block, found.data()));
        QVERIFY(other->decodeIntegers(PlaneRole::Value, block, wanted.data()));
        QVERIFY(found == wanted);
        std::vector<double> wide(cells);
        QVERIFY(one->decode(PlaneRole::Value, block, wide.data()));
        QVERIFY(std::equal(wide.begin(), wide.end(), wanted.begin()));
    }
    const std::vector<std::uint8_t> isMarked(100, 1);
    std::vector<double> all(kColumns), marked(kColumns), wantedAll(kColumns), wantedMarked(kColumns);
    QVERIFY(one->addLanes(PlaneRole::Value, 7, 107, isMarked.data(), all.data(), marked.data()));
    QVERIFY(other->addLanes(PlaneRole::Value, 7, 107, isMarked.data(), wantedAll.data(), wantedMarked.data()));
    QVERIFY(all == wantedAll && marked == wantedMarked && all == marked);
    QVERIFY(!one->addLanes(PlaneRole::Value, 100, 123, isMarked.data(), all.data(), marked.data()));
    const Counts none(counts.size());
    tile.planes = { { PlaneRole::Value, series::PlaneType::U64, none.data(), kColumns, 1, true } };
    const std::string empty = encodeTile(tile);
    const auto zeros = openTile(empty);
    QVERIFY(zeros && zeros->constant(PlaneRole::Value, 2) == 0.0 && !one->constant(PlaneRole::Value, 2));
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, PackedCountsTest)
#include "packedcountstest.moc"
