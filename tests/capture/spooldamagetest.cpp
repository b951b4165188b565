// SPDX-License-Identifier: GPL-3.0-or-later
// Thousands of damaged spools through the reader: each gives what was written, a counted loss or a sentence.
#include "testmain.h"

#include <QTemporaryDir>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <telltale/core/bytes.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/payloadbuilder.h>
#include <telltale/spool/outgoing.h>
#include <telltale/spool/spool.h>
#include <telltale/spool/spoolstream.h>

namespace spooldamagetest {

using namespace telltale;
using namespace telltale::agent;
namespace fs = std::filesystem;

namespace {

constexpr int kSpools = 10000;
constexpr std::uint64_t kBatches = 12;
constexpr std::uint64_t kScalars = 3; ///< in a batch

std::shared_ptr<const SeriesLayout> scalarLayout()
{
    SeriesLayout layout;
    layout.id = LayoutId { 5 };
    layout.kind = Kind::Scalar;
    layout.stats = { Stat::Value };
    layout.series.resize(kScalars);
    for (std::size_t i = 0; i < kScalars; ++i)
        layout.series[i].name = "loss" + std::to_string(i);
    return std::make_shared<const SeriesLayout>(layout);
}

double valueOf(std::int64_t step, std::size_t series)
{
    return static_cast<double>(step) * 10 + static_cast<double>(series);
}

std::string payloadOf(const std::shared_ptr<const SeriesLayout>& layout, std::uint64_t seq)
{
    StepBlock block;
    block.layout = layout;
    block.step = Step { static_cast<std::int64_t>(seq) };
    std::vector<double> values;
    for (std::size_t i = 0; i < kScalars; ++i)
        values.push_back(valueOf(block.step.value, i));
    block.columns.push_back({ Stat::Value, values });
    protocol::PayloadBuilder builder;
    builder.addBlock(block);
    builder.setStepComplete(true);
    return builder.finish();
}

/// As the first released version wrote a record.
void append1(std::string& out, std::uint64_t seq, const std::string& payload)
{
    std::string number;
    putLe(number, seq);
    putLe(out, static_cast<std::uint32_t>(payload.size()));
    putLe(out, crc32c(payload, crc32c(number)));
    out += number + payload;
}

std::string segmentOf(int version)
{
    const auto layout = scalarLayout();
    protocol::PayloadBuilder builder;
    builder.addLayout(*layout);
    const std::string layouts = builder.finish();
    protocol::Hello identity;
    identity.runKey = "run";
    const std::string hello = protocol::encodeMessage(identity);
    std::string out(version == 1 ? spoolrecord::kMagic1 : spoolrecord::kMagic);
    if (version == 1) {
        append1(out, 0, hello);
        append1(out, 0, layouts);
    } else {
        spoolrecord::append(out, spoolrecord::Kind::Hello, 0, hello, {});
        spoolrecord::append(out, spoolrecord::Kind::Hello, 0, hello, {});
        spoolrecord::append(out, spoolrecord::Kind::Layouts, 0, layouts, {});
    }
    for (std::uint64_t seq = 1; seq <= kBatches; ++seq) {
        const auto step = Step { static_cast<std::int64_t>(seq) };
        if (version == 1)
            append1(out, seq, payloadOf(layout, seq));
        else
            spoolrecord::append(out, spoolrecord::Kind::Batch, seq, payloadOf(layout, seq),
                { 0, kScalars, 0, (seq - 1) * kScalars, { step, step } });
    }
    return out;
}

/// What is thrown away at once need not be safe first.
class HastyDisk : public Disk {
    int sync(int) override { return 0; }
    int syncFolder(const std::string&) override { return 0; }
};

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t bound)
{
    return bound == 0 ? 0 : random() % bound;
}

/// Bit flips, torn and overwritten ranges, moved pieces, lengths and seqs that are lies, headers with a good crc.
std::string damaged(std::string bytes, Random& random)
{
    switch (below(random, 9)) {
    case 0:
        for (std::size_t i = 0; i <= below(random, 4); ++i)
            bytes[below(random, bytes.size())] ^= static_cast<char>(1 << below(random, 8));
        break;
    case 1:
        bytes.resize(below(random, bytes.size()));
        break;
    case 2: {
        const std::size_t at = below(random, bytes.size());
        for (std::size_t i = at; i < std::min(bytes.size(), at + 64); ++i)
            bytes[i] = static_cast<char>(random());
        break;
    }
    case 3: { // a hole of zeros, as a file system leaves it
        const std::size_t at = below(random, bytes.size());
        std::fill_n(
            bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min<std::size_t>(bytes.size() - at, 300), '\0');
        break;
    }
    case 4:
        bytes.erase(below(random, bytes.size()), 1 + below(random, 400));
        break;
    case 5:
        bytes.insert(below(random, bytes.size()), bytes.substr(below(random, bytes.size()), below(random, 400)));
        break;
    case 6: { // a number anywhere becomes an extreme one
        const std::uint64_t extremes[]
            = { 0, 1, 0x7fffffff, 0xffffffff, 0x100000000, 0x7fffffffffffffff, ~std::uint64_t { 0 } };
        std::string number;
        putLe(number, extremes[below(random, std::size(extremes))]);
        const std::size_t at = below(random, bytes.size());
        bytes.replace(at, std::min<std::size_t>(bytes.size() - at, 8), number.substr(0, bytes.size() - at));
        break;
    }
    case 7: { // made up, and whole as far as crcs say
        const std::uint64_t seq = std::uint64_t { 1 } << below(random, 64);
        const std::uint64_t before = std::uint64_t { random() } << below(random, 33);
        spoolrecord::append(bytes, spoolrecord::Kind::Batch, seq, payloadOf(scalarLayout(), seq % 1000),
            { below(random, 2) * 7, kScalars, before, before, { Step { 1 }, Step { 1 } } });
        break;
    }
    default:
        append1(bytes, std::uint64_t { 1 } << below(random, 64), payloadOf(scalarLayout(), 1));
        break;
    }
    return bytes;
}

}

class SpoolDamageTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyDamageIsASentenceOrACountedLoss_data()
    {
        QTest::addColumn<int>("version");
        QTest::newRow("the format of today") << 2;
        QTest::newRow("the first format") << 1;
    }
    void everyDamageIsASentenceOrACountedLoss()
    {
        QFETCH(int, version);
        // Ten thousand small files wait for a disk, if they may.
        const QTemporaryDir dir(QFileInfo(QStringLiteral("/dev/shm")).isWritable()
                ? QStringLiteral("/dev/shm/spooldamagetest-XXXXXX")
                : QDir::tempPath() + QStringLiteral("/spooldamagetest-XXXXXX"));
        const fs::path folder = fs::path(dir.path().toStdString()) / "run" / "stream";
        fs::create_directories(folder);
        const std::string whole = segmentOf(version);
        QCOMPARE(read(folder, whole), kBatches);
        Random random(20);
        const auto start = std::chrono::steady_clock::now();
        std::uint64_t kept = 0;
        for (int i = 0; i < kSpools / 2; ++i) {
            kept += read(folder, damaged(whole, random));
            if (QTest::currentTestFailed())
                qFatal("damage %d", i);
        }
        // Damage in one place costs what stood there, not what stands behind it.
        QVERIFY2(kept > static_cast<std::uint64_t>(kSpools) / 2 * kBatches * 6 / 10, qPrintable(QString::number(kept)));
        QVERIFY(std::chrono::steady_clock::now() - start < std::chrono::seconds(120));
    }

    void bytesThatLookLikeRecordsEverywhereCostNoSquare_data()
    {
        QTest::addColumn<QByteArray>("magic");
        QTest::addColumn<QByteArray>("unit");
        const QByteArray length("\xff\xff\x0f\x00", 4);
        QTest::newRow("lengths of the first format") << QByteArray("TTSPOOL1") << length;
        QTest::newRow("marks") << QByteArray("TTSPOOL2") << QByteArray("TTR2");
        QTest::newRow("zeros") << QByteArray("TTSPOOL1") << QByteArray(1, '\0');
        QTest::newRow("no magic") << QByteArray("nonsense") << length;
    }
    void bytesThatLookLikeRecordsEverywhereCostNoSquare()
    {
        QFETCH(QByteArray, magic);
        QFETCH(QByteArray, unit);
        std::string bytes = magic.toStdString();
        while (bytes.size() < Spool::kSegmentBytes)
            bytes += unit.toStdString();
        const auto start = std::chrono::steady_clock::now();
        const auto scan = spoolrecord::scan(bytes);
        QVERIFY(scan.records.empty());
        QVERIFY(scan.isDamaged);
        QVERIFY(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
    }

private:
    /// Batches that came back as they were written; fails when one came back as another.
    static std::uint64_t read(const fs::path& folder, const std::string& bytes)
    {
        std::ofstream(folder / "00000001.seg", std::ios::binary) << bytes;
        const auto spooled = openSpooledStream(folder, 1u << 30, nullptr, std::make_shared<HastyDisk>());
        if (!spooled) {
            [&] { QVERIFY(!spooled.error().what.empty()); }();
            return 0;
        }
        if (!spooled->stream)
            return 0;
        Stream& stream = *spooled->stream;
        std::uint64_t kept = 0, drops = 0, pieces = 0;
        std::unordered_set<LayoutId> known;
        const std::uint64_t first = stream.rules.firstRetainedSeq();
        // A hole in the numbers is bounded, whatever a header says.
        [&] { QVERIFY(stream.rules.nextSeq() - first <= 2 * (1u << 18)); }();
        const std::uint64_t last = std::min(stream.rules.nextSeq(), first + 3 * kBatches);
        for (std::uint64_t seq = first; seq < last; ++seq) {
            const auto out = outgoing(stream, seq, known);
            const auto batch = protocol::decodePayload(out ? out->payload : std::string("?"), stream.layouts);
            [&] { QVERIFY2(batch, batch ? "" : batch.error().what.c_str()); }();
            if (!batch)
                return kept;
            for (const Drop& drop : batch->drops)
                drops += drop.items;
            pieces += batch->scalars;
            for (const StepBlock& block : batch->blocks) {
                const auto& values = std::get<std::vector<double>>(block.columns[0].values);
                for (std::size_t i = 0; i < values.size(); ++i)
                    [&] { QCOMPARE(values[i], valueOf(block.step.value, i)); }();
                kept += block.step.value == static_cast<std::int64_t>(seq) && seq <= kBatches ? 1 : 0;
            }
        }
        const auto gone = stream.held.forgetUpTo(last - 1);
        [&] { QCOMPARE(gone.lostSamples + gone.lostScalars, drops); }();
        return kept;
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, SpoolDamageTest)

}

#include "spooldamagetest.moc"
