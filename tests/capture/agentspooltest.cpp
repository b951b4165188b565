// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <fstream>
#include <memory>

#include <telltale/agent/backoff.h>
#include <telltale/agent/heldstore.h>
#include <telltale/agent/runidentity.h>
#include <telltale/agent/spool.h>
#include <telltale/agent/thinning.h>
#include <telltale/protocol/codec.h>

using namespace telltale;
using namespace telltale::agent;
namespace fs = std::filesystem;

namespace {

std::string payloadOf(std::uint64_t seq)
{
    return std::string(500 + seq % 100, static_cast<char>('a' + seq % 26));
}

fs::path onlySegment(const fs::path& folder)
{
    fs::path found;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".seg")
            found = entry.path();
    return found;
}

void overwrite(const fs::path& path, std::uint64_t at, char byte)
{
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
}

}

class AgentSpoolTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_temp = std::make_unique<QTemporaryDir>();
        m_folder = fs::path(m_temp->path().toStdString()) / "run" / "stream";
    }
    void cleanup() { m_temp.reset(); }

    void whatWasWrittenIsReadAfterReopening()
    {
        write(1, 100);
        Spool spool(m_folder, 1u << 30);
        const auto recovered = spool.recover();
        QVERIFY(recovered.has_value());
        QVERIFY(recovered->damages.empty());
        QCOMPARE(recovered->records.size(), std::size_t { 100 });
        QVERIFY(recovered->layouts.find(LayoutId { 5 }));
        for (const auto& record : recovered->records)
            QCOMPARE(spool.read(record.place).value_or("?"), payloadOf(record.seq));
        spool.forgetUpTo(100);
        spool.removeIfEmpty();
        QVERIFY(!fs::exists(m_folder));
    }

    void aTornTailLosesOnlyTheLastRecord()
    {
        write(1, 50);
        const fs::path segment = onlySegment(m_folder);
        fs::resize_file(segment, fs::file_size(segment) - 7);
        Spool spool(m_folder, 1u << 30);
        const auto recovered = spool.recover();
        QVERIFY(recovered.has_value());
        QCOMPARE(recovered->records.size(), std::size_t { 49 });
        QVERIFY(recovered->damages.empty());
    }

    void anyFlippedByteIsNoticedAndTheRestBeforeItKept()
    {
        write(1, 20);
        const fs::path segment = onlySegment(m_folder);
        std::ifstream file(segment, std::ios::binary);
        const std::string whole((std::istreambuf_iterator<char>(file)), {});
        for (std::size_t at = 0; at < whole.size(); at += 37) {
            for (const auto& entry : fs::directory_iterator(m_folder))
                fs::remove(entry.path());
            std::ofstream(segment, std::ios::binary) << whole;
            overwrite(segment, at, static_cast<char>(whole[at] ^ 0x10));
            Spool spool(m_folder, 1u << 30);
            const auto recovered = spool.recover();
            QVERIFY(recovered.has_value());
            QVERIFY(recovered->records.size() < 20);
            for (const auto& record : recovered->records)
                QCOMPARE(spool.read(record.place).value_or("?"), payloadOf(record.seq));
        }
    }

    void garbageBehindTheLastRecordIsSetAside()
    {
        write(1, 20);
        const fs::path segment = onlySegment(m_folder);
        std::ofstream(segment, std::ios::binary | std::ios::app) << std::string(5000, '\xee');
        Spool spool(m_folder, 1u << 30);
        const auto recovered = spool.recover();
        QVERIFY(recovered.has_value());
        QCOMPARE(recovered->records.size(), std::size_t { 20 });
        QCOMPARE(recovered->damages.size(), std::size_t { 1 });
        QVERIFY(fs::exists(segment.string() + ".damaged"));
    }

    void aLivingOwnerKeepsItsSpool()
    {
        write(1, 5);
        Spool owner(m_folder, 1u << 30);
        QVERIFY(owner.recover().has_value());
        Spool other(m_folder, 1u << 30);
        const auto refused = other.recover();
        QVERIFY(!refused.has_value());
        QCOMPARE(refused.error().code, ErrorCode::Busy);
    }

    void theCapHolds()
    {
        Spool spool(m_folder, 100u << 10);
        spool.setHello("hello");
        std::uint64_t seq = 1;
        while (spool.append(seq, payloadOf(seq), {}, m_layouts))
            ++seq;
        QVERIFY(spool.usedBytes() <= 100u << 10);
        QVERIFY(spool.fill() > 0.97);
        spool.forgetUpTo(seq);
        QCOMPARE(spool.usedBytes(), std::uint64_t { 0 });
        QVERIFY(spool.append(seq, payloadOf(seq), {}, m_layouts).has_value());
    }

    void acknowledgedSegmentsAreDeletedWhole()
    {
        Spool spool(m_folder, std::uint64_t { 1 } << 30);
        spool.setHello("hello");
        const std::string large(1u << 20, 'x');
        for (std::uint64_t seq = 1; seq <= 40; ++seq)
            QVERIFY(spool.append(seq, large, {}, m_layouts).has_value());
        const std::uint64_t before = spool.usedBytes();
        spool.forgetUpTo(10);
        QCOMPARE(spool.usedBytes(), before);
        spool.forgetUpTo(20);
        QVERIFY(spool.usedBytes() < before - Spool::kSegmentBytes + 4096);
        spool.forgetUpTo(40);
        QCOMPARE(spool.usedBytes(), std::uint64_t { 0 });
        QVERIFY(onlySegment(m_folder).empty());
    }

    void anUnwritableFolderIsAnErrorNotACrash()
    {
        fs::create_directories(m_folder.parent_path());
        std::ofstream(m_folder) << "a file where the folder should be";
        Spool spool(m_folder, 1u << 30);
        HeldStore held(spool, m_layouts);
        const auto now = HeldStore::Clock::now();
        std::uint64_t seq = 1;
        for (std::string payload(1u << 19, 'x'); held.add(seq, payload, {}, now); payload.assign(1u << 19, 'x'))
            ++seq;
        QCOMPARE(seq, std::uint64_t { 9 });
        QVERIFY(!held.spill(now, std::chrono::milliseconds(0)).has_value());
        QCOMPARE(held.payload(3).value_or("").size(), std::size_t { 1u << 19 });
        QCOMPARE(held.forgetUpTo(8).batches, std::uint64_t { 8 });
        QVERIFY(held.isEmpty());
    }

    void namesBecomeFoldersThatStayInside_data()
    {
        QTest::addColumn<QByteArray>("name");
        for (const char* name : { "../../etc", "/abs", ".", "..", "a b", "", "run:1\n" })
            QTest::newRow(name) << QByteArray(name);
        QTest::newRow("long") << QByteArray(5000, 'x');
    }
    void namesBecomeFoldersThatStayInside()
    {
        QFETCH(QByteArray, name);
        const std::string folder = folderName(std::string_view(name.data(), static_cast<std::size_t>(name.size())));
        QVERIFY(!folder.empty() && folder.size() < 200 && folder[0] != '.');
        QCOMPARE(folder.find('/'), std::string::npos);
    }

    void scalarsOutliveTensorsOutliveRawData()
    {
        for (int percent = 0; percent <= 120; ++percent) {
            const double fill = percent / 100.0;
            int kept[5] {};
            for (std::uint32_t dropClass = 0; dropClass < 5; ++dropClass)
                for (std::int64_t step = 0; step < 64; ++step)
                    kept[dropClass] += thinning::keeps(dropClass, step, fill) ? 1 : 0;
            QCOMPARE(kept[0], 64);
            QCOMPARE(kept[1], 64);
            QVERIFY(kept[2] >= kept[3] || kept[3] == 0);
            QVERIFY(kept[3] >= kept[4]);
        }
        QVERIFY(!thinning::keeps(2, 0, 1.0));
    }

    void retriesSpreadAndStayUnderHalfAMinute()
    {
        Backoff backoff(3);
        QVERIFY(backoff.next() <= std::chrono::milliseconds(1000));
        auto last = std::chrono::milliseconds(0);
        for (int i = 0; i < 20; ++i) {
            last = backoff.next();
            QVERIFY(last >= std::chrono::milliseconds(800) && last <= std::chrono::milliseconds(30000));
        }
        QVERIFY(last >= std::chrono::milliseconds(24000));
        backoff.reset();
        QVERIFY(backoff.next() <= std::chrono::milliseconds(1000));
    }

    void theRunKeyComesFromTheFirstThatKnows_data()
    {
        using Map = QMap<QString, QString>;
        QTest::addColumn<Map>("environment");
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("key");
        Map map { { QStringLiteral("MASTER_ADDR"), QStringLiteral("h") },
            { QStringLiteral("MASTER_PORT"), QStringLiteral("9") },
            { QStringLiteral("WORLD_SIZE"), QStringLiteral("4") } };
        QTest::newRow("master") << map << "MASTER_ADDR"
                                << "h:9:4";
        map[QStringLiteral("SLURM_JOB_ID")] = QStringLiteral("77");
        QTest::newRow("slurm") << map << "SLURM_JOB_ID"
                               << "77";
        map[QStringLiteral("TORCHELASTIC_RUN_ID")] = QStringLiteral("none");
        QTest::newRow("elastic none") << map << "SLURM_JOB_ID"
                                      << "77";
        map[QStringLiteral("TORCHELASTIC_RUN_ID")] = QStringLiteral("e1");
        QTest::newRow("elastic") << map << "TORCHELASTIC_RUN_ID"
                                 << "e1";
        map[QStringLiteral("TELLTALE_RUN_ID")] = QStringLiteral("mine");
        QTest::newRow("ours") << map << "TELLTALE_RUN_ID"
                              << "mine";
    }
    void theRunKeyComesFromTheFirstThatKnows()
    {
        using Map = QMap<QString, QString>;
        QFETCH(Map, environment);
        QFETCH(QString, source);
        QFETCH(QString, key);
        const auto lookup = [&](const char* name) -> std::optional<std::string> {
            const auto it = environment.constFind(QString::fromLatin1(name));
            return it == environment.constEnd() ? std::nullopt : std::optional(it->toStdString());
        };
        const RunIdentity identity = RunIdentity::derive({}, lookup);
        QCOMPARE(QString::fromStdString(identity.keySource), source);
        QCOMPARE(QString::fromStdString(identity.runKey), key);
        QCOMPARE(identity.worldSize, 4);
        QVERIFY(identity.incarnation != RunIdentity::derive({}, lookup).incarnation);
    }

private:
    void write(std::uint64_t first, std::uint64_t last)
    {
        SeriesLayout layout;
        layout.id = LayoutId { 5 };
        layout.kind = Kind::Scalar;
        layout.stats = { Stat::Value };
        layout.series.resize(1);
        layout.series[0].name = "loss";
        m_layouts.add(std::make_shared<const SeriesLayout>(layout));
        Spool spool(m_folder, 1u << 30);
        spool.setHello(protocol::encodeMessage(protocol::Hello {}));
        for (std::uint64_t seq = first; seq <= last; ++seq)
            if (!spool.append(seq, payloadOf(seq), { LayoutId { 5 } }, m_layouts))
                qFatal("the spool refused a batch");
    }

    std::unique_ptr<QTemporaryDir> m_temp;
    fs::path m_folder;
    protocol::LayoutTable m_layouts;
};

QTEST_GUILESS_MAIN(AgentSpoolTest)
#include "agentspooltest.moc"
