// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QTemporaryDir>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include <sys/stat.h>
#include <unistd.h>

#include "faultydisk.h"

#include <telltale/agent/backoff.h>
#include <telltale/agent/runidentity.h>
#include <telltale/agent/thinning.h>
#include <telltale/protocol/codec.h>
#include <telltale/spool/heldstore.h>
#include <telltale/spool/spool.h>
#include <telltale/spool/spoolstream.h>

namespace agentspooltest {

using namespace telltale;
using namespace telltale::agent;
using telltale::test::FaultyDisk;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kSamples = 60;
constexpr std::uint64_t kScalars = 2;
const auto kNoLayouts = std::make_shared<const std::vector<LayoutId>>();

std::string payloadOf(std::uint64_t seq)
{
    return std::string(500 + seq % 100, static_cast<char>('a' + seq % 26));
}

SpoolBatch batchOf(
    std::uint64_t seq, const std::string& payload, std::vector<std::shared_ptr<const SeriesLayout>> layouts = {})
{
    const auto step = Step { static_cast<std::int64_t>(seq) };
    return { seq, std::make_shared<const std::string>(payload), std::move(layouts),
        { kSamples, kScalars, (seq - 1) * kSamples, (seq - 1) * kScalars, { step, step } } };
}

fs::path onlySegment(const fs::path& folder)
{
    fs::path found;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".seg")
            found = entry.path();
    return found;
}

std::vector<fs::path> filesIn(const fs::path& folder)
{
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder))
        found.push_back(entry.path());
    return found;
}

int modeOf(const fs::path& path)
{
    return static_cast<int>(fs::status(path).permissions());
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
        m_disk = std::make_shared<FaultyDisk>();
        m_folder = fs::path(m_temp->path().toStdString()) / "run" / "stream";
    }
    void cleanup() { m_temp.reset(); }

    void whatWasWrittenIsReadAfterReopening()
    {
        write(1, 100);
        Spool spool(m_folder, 1u << 30, m_disk);
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
        Spool spool(m_folder, 1u << 30, m_disk);
        const auto recovered = spool.recover();
        QVERIFY(recovered.has_value());
        // The header of the last one is there, so what it held is known.
        QCOMPARE(recovered->records.size(), std::size_t { 50 });
        for (const auto& record : recovered->records)
            QCOMPARE(record.isWhole, record.seq < 50);
        QCOMPARE(recovered->records.back().facts.samples, kSamples);
        QVERIFY(recovered->damages.empty());
    }

    void aFlippedByteLosesItsBatchAloneAndThatIsCounted()
    {
        write(1, 20);
        const fs::path segment = onlySegment(m_folder);
        std::ifstream file(segment, std::ios::binary);
        const std::string whole((std::istreambuf_iterator<char>(file)), {});
        int lost = 0;
        for (std::size_t at = 0; at < whole.size(); at += 17) {
            fs::remove_all(m_folder);
            fs::create_directories(m_folder);
            std::ofstream(segment, std::ios::binary) << whole;
            overwrite(segment, at, static_cast<char>(whole[at] ^ 0x10));
            const auto spooled = openSpooledStream(m_folder, 1u << 30);
            QVERIFY2(spooled.has_value(), spooled ? "" : spooled.error().what.c_str());
            QVERIFY(spooled->stream);
            QCOMPARE(spooled->damages.size(), std::size_t { 1 });
            HeldStore& held = spooled->stream->held;
            QCOMPARE(spooled->stream->rules.firstRetainedSeq(), std::uint64_t { 1 });
            QCOMPARE(spooled->stream->rules.nextSeq(), std::uint64_t { 21 });
            for (std::uint64_t seq = 1; seq <= 20; ++seq) {
                const std::string payload = held.payload(seq).value_or("?");
                if (payload == payloadOf(seq))
                    continue;
                const auto batch = protocol::decodePayload(payload, {});
                QVERIFY(batch.has_value());
                QCOMPARE(batch->drops.size(), std::size_t { 2 });
                QCOMPARE(batch->drops[0].items + batch->drops[1].items, kSamples + kScalars);
                QVERIFY(std::abs(batch->drops[0].firstStep.value - static_cast<std::int64_t>(seq)) <= 1);
                ++lost;
            }
            const auto gone = held.forgetUpTo(100);
            QVERIFY(gone.lostSamples <= kSamples);
            QCOMPARE(gone.samples + gone.lostSamples, 20 * kSamples);
        }
        QVERIFY(lost > 100);
    }

    void damagedSegmentsAreSetAsideOnceDelivered()
    {
        write(1, 20);
        const fs::path segment = onlySegment(m_folder);
        std::ofstream(segment, std::ios::binary | std::ios::app) << std::string(5000, '\xee');
        const auto size = fs::file_size(segment);
        Spool spool(m_folder, 1u << 30, m_disk);
        const auto recovered = spool.recover();
        QVERIFY(recovered.has_value());
        QCOMPARE(recovered->records.size(), std::size_t { 20 });
        QCOMPARE(recovered->damages.size(), std::size_t { 1 });
        QVERIFY(recovered->isDamagedBehind);
        QCOMPARE(fs::file_size(segment), size);
        spool.forgetUpTo(20);
        QVERIFY(!fs::exists(segment));
        QCOMPARE(fs::file_size(segment.string() + ".damaged"), size);
    }

    void aFailedSyncKeepsNothingThatItDidNotCover_data()
    {
        QTest::addColumn<bool>("withTruncate");
        QTest::newRow("cut off") << true;
        QTest::newRow("cannot be cut off") << false;
    }
    void aFailedSyncKeepsNothingThatItDidNotCover()
    {
        QFETCH(bool, withTruncate);
        m_disk->isWithoutTruncate = !withTruncate;
        {
            Spool spool(m_folder, 1u << 30, m_disk);
            spool.setHello(protocol::encodeMessage(protocol::Hello {}));
            for (std::uint64_t seq = 1; seq <= 4; ++seq)
                QVERIFY(spool.append(batchOf(seq, payloadOf(seq))));
            QVERIFY(spool.sync());
            QCOMPARE(spool.takeKept().size(), std::size_t { 4 });
            for (std::uint64_t seq = 5; seq <= 9; ++seq)
                QVERIFY(spool.append(batchOf(seq, payloadOf(seq))));
            m_disk->failSyncs = 1;
            QVERIFY(!spool.sync());
            // The next one succeeds, and says nothing of what the failed one was about.
            QVERIFY(spool.sync());
            QVERIFY(spool.takeKept().empty());
            const auto lost = spool.takeLost();
            QCOMPARE(lost.size(), std::size_t { 5 });
            for (const SpoolBatch& batch : lost)
                QVERIFY(spool.append(batch));
            QVERIFY(spool.sync());
            const auto kept = spool.takeKept();
            QCOMPARE(kept.size(), std::size_t { 5 });
            for (const Spool::Kept& one : kept)
                QCOMPARE(spool.read(one.place).value_or("?"), payloadOf(one.seq));
        }
        Spool spool(m_folder, 1u << 30, m_disk);
        const auto recovered = spool.recover();
        QVERIFY(recovered);
        QCOMPARE(recovered->records.size(), std::size_t { 9 });
        for (const auto& record : recovered->records)
            QCOMPARE(spool.read(record.place).value_or("?"), payloadOf(record.seq));
    }

    void aDiskThatFailsNowAndThenLosesNothing_data()
    {
        QTest::addColumn<int>("every");
        QTest::addColumn<int>("error");
        QTest::addColumn<bool>("isShort");
        for (const int every : { 2, 5, 11 })
            for (const int error : { EIO, ENOSPC, EDQUOT })
                QTest::addRow("every %d, %s", every, std::strerror(error)) << every << error << (every == 11);
    }
    void aDiskThatFailsNowAndThenLosesNothing()
    {
        QFETCH(int, every);
        QFETCH(int, error);
        QFETCH(bool, isShort);
        m_disk->failEvery = every;
        m_disk->error = error;
        m_disk->isShortWriting = isShort;
        constexpr std::uint64_t kBatches = 60;
        {
            SpoolDisk disk(m_folder, 1u << 30, m_disk);
            disk.spool().setHello(protocol::encodeMessage(protocol::Hello {}));
            HeldStore held(disk, m_layouts);
            const auto now = HeldStore::Clock::now();
            for (std::uint64_t seq = 1; seq <= kBatches; ++seq) {
                std::string payload = payloadOf(seq);
                QVERIFY(held.add(seq, payload, { kSamples, kScalars, kNoLayouts, {} }, now));
                held.spill(now, std::chrono::milliseconds(0));
            }
            held.takeAnswers();
            for (int i = 0; i < 1000 && held.memoryBytes() > 0; ++i) {
                disk.forgetUpTo(0);
                held.takeAnswers();
            }
            QVERIFY2(held.memoryBytes() == 0, disk.takeTrouble().c_str());
            m_disk->failEvery = 0;
            for (std::uint64_t seq = 1; seq <= kBatches; ++seq)
                QCOMPARE(held.payload(seq).value_or("?"), payloadOf(seq));
        }
        const auto spooled = openSpooledStream(m_folder, 1u << 30);
        QVERIFY(spooled && spooled->stream);
        for (std::uint64_t seq = 1; seq <= kBatches; ++seq)
            QCOMPARE(spooled->stream->held.payload(seq).value_or("?"), payloadOf(seq));
    }

    void aFullDiskIsAskedAgainWithPauses()
    {
        m_disk->writeError = ENOSPC;
        auto disk = std::make_unique<SpoolDisk>(m_folder, 1u << 30, m_disk);
        disk->spool().setHello("hello");
        disk->useThread();
        HeldStore held(*disk, m_layouts);
        const auto start = HeldStore::Clock::now();
        std::string payload = payloadOf(1);
        QVERIFY(held.add(1, payload, { kSamples, kScalars, kNoLayouts, {} }, start));
        held.spill(start, std::chrono::milliseconds(0));
        QTRY_VERIFY_WITH_TIMEOUT(m_disk->writes >= 4, 10000);
        // 100, 200, 400 ms between them.
        QVERIFY(HeldStore::Clock::now() - start >= std::chrono::milliseconds(700));
        QVERIFY(disk->isFailing());
        QVERIFY(QByteArray(disk->takeTrouble().c_str()).contains("No space left"));
        m_disk->writeError = 0;
        QTRY_VERIFY_WITH_TIMEOUT((held.takeAnswers(), held.memoryBytes() == 0), 10000);
        QVERIFY(!disk->isFailing());
        endThread(std::move(disk));
    }

    void whatWaitsForAHungDiskIsGivenUpAndCounted()
    {
        write(1, 3);
        auto spooled = openSpooledStream(m_folder, 1u << 30, nullptr, m_disk);
        QVERIFY(spooled && spooled->stream);
        auto disk = std::make_unique<SpoolDisk>(m_folder.parent_path() / "other", 1u << 30, m_disk);
        disk->spool().setHello("hello");
        disk->useThread();
        HeldStore held(*disk, m_layouts, std::chrono::milliseconds(50));
        const auto now = HeldStore::Clock::now();
        std::string payload = payloadOf(1);
        QVERIFY(held.add(1, payload, { kSamples, kScalars, kNoLayouts, {} }, now));
        held.spill(now, std::chrono::milliseconds(0));
        QTRY_VERIFY_WITH_TIMEOUT((held.takeAnswers(), held.memoryBytes() == 0), 10000);
        m_disk->hang();
        payload = payloadOf(2);
        QVERIFY(held.add(2, payload, { kSamples, kScalars, kNoLayouts, {} }, now));
        held.spill(now, std::chrono::milliseconds(0));
        // What is in memory goes out meanwhile, what is on disk alone waits for as long as the patience lasts.
        QCOMPARE(held.payload(2).value_or("?"), payloadOf(2));
        QVERIFY(!held.payload(1));
        QTRY_VERIFY_WITH_TIMEOUT(held.payload(1).has_value(), 10000);
        const auto batch = protocol::decodePayload(*held.payload(1), {});
        QVERIFY(batch);
        QCOMPARE(batch->drops.size(), std::size_t { 2 });
        QCOMPARE(batch->drops[0].items, kSamples);
        const auto gone = held.forgetUpTo(2);
        QCOMPARE(gone.lostSamples, kSamples);
        QCOMPARE(gone.samples, kSamples);
        disk->close(std::nullopt);
        const auto start = HeldStore::Clock::now();
        QVERIFY(!disk->waitClosed(start + std::chrono::milliseconds(100)));
        QVERIFY(HeldStore::Clock::now() - start < std::chrono::milliseconds(2000));
        m_disk->release();
        spooled->stream.reset();
        endThread(std::move(disk));
    }

    void aLivingOwnerKeepsItsSpool()
    {
        write(1, 5);
        Spool owner(m_folder, 1u << 30, m_disk);
        QVERIFY(owner.recover().has_value());
        Spool other(m_folder, 1u << 30, m_disk);
        const auto refused = other.recover();
        QVERIFY(!refused.has_value());
        QCOMPARE(refused.error().code, ErrorCode::Busy);
    }

    void withoutLocksAFileSaysWhoOwnsTheSpool_data()
    {
        QTest::addColumn<int>("error");
        QTest::newRow("ENOLCK") << ENOLCK;
        QTest::newRow("ENOSYS") << ENOSYS;
        QTest::newRow("EOPNOTSUPP") << EOPNOTSUPP;
    }
    void withoutLocksAFileSaysWhoOwnsTheSpool()
    {
        QFETCH(int, error);
        m_disk->lockError = error;
        write(1, 5);
        const fs::path file = m_folder / "owner";
        QVERIFY(fs::exists(file));
        {
            Spool again(m_folder, 1u << 30, m_disk);
            const auto refused = again.recover();
            QVERIFY(!refused.has_value());
            QCOMPARE(refused.error().code, ErrorCode::Busy);
        }
        std::string line;
        std::getline(std::ifstream(file) >> std::ws, line);
        const auto pid = line.find("|" + std::to_string(::getpid()) + "|");
        QVERIFY(pid != std::string::npos);
        const auto rewrite = [&](const std::string& owner) { std::ofstream(file, std::ios::trunc) << owner << '\n'; };
        // The same pid began at another time: whoever wrote this is gone.
        rewrite(line.substr(0, pid) + "|" + std::to_string(::getpid()) + "|1|here");
        {
            Spool spool(m_folder, 1u << 30, m_disk);
            const auto recovered = spool.recover();
            QVERIFY2(recovered.has_value(), recovered ? "" : recovered.error().what.c_str());
            QVERIFY(spool.isWithoutLocks());
            QCOMPARE(recovered->records.size(), std::size_t { 5 });
        }
        // Nor is there anybody with a pid that nobody has, though the line does not say when that one began.
        rewrite(line.substr(0, pid) + "|4194305||here");
        {
            Spool spool(m_folder, 1u << 30, m_disk);
            QVERIFY(spool.recover().has_value());
        }
        // Nobody can see from here whether a process of another machine lives.
        rewrite("another boot|1|1|node-7");
        Spool other(m_folder, 1u << 30, m_disk);
        const auto refused = other.recover();
        QVERIFY(!refused.has_value());
        QCOMPARE(refused.error().code, ErrorCode::Busy);
        QVERIFY(refused.error().sentence().find("node-7") != std::string::npos);
    }

    void foldersAndFilesArePrivateWhateverTheUmaskAndTheParent()
    {
        const fs::path run = m_folder.parent_path();
        const auto before = ::umask(0);
        fs::create_directories(m_folder);
        ::chmod(run.c_str(), 0777);
        ::chmod(m_folder.c_str(), 0777);
        write(1, 3);
        ::umask(before);
        QCOMPARE(modeOf(m_folder), 0700);
        QCOMPARE(modeOf(run), 0700);
        QVERIFY(!filesIn(m_folder).empty());
        for (const fs::path& path : filesIn(m_folder))
            QCOMPARE(modeOf(path), 0600);
        // And where the umask takes more than it should.
        fs::remove_all(run);
        ::umask(0777);
        write(1, 3);
        ::umask(before);
        QCOMPARE(modeOf(m_folder), 0700);
        for (const fs::path& path : filesIn(m_folder))
            QCOMPARE(modeOf(path), 0600);
    }

    void theCapHolds()
    {
        Spool spool(m_folder, 100u << 10, m_disk);
        spool.setHello("hello");
        std::uint64_t seq = 1;
        while (spool.append(batchOf(seq, payloadOf(seq))))
            ++seq;
        QVERIFY(spool.usedBytes() <= 100u << 10);
        QVERIFY(spool.fill() > 0.97);
        spool.forgetUpTo(seq);
        QCOMPARE(spool.usedBytes(), std::uint64_t { 0 });
        QVERIFY(spool.append(batchOf(seq, payloadOf(seq))).has_value());
    }

    void whatTheDiskMustSpareIsLeft_data()
    {
        QTest::addColumn<quint64>("capacity");
        QTest::addColumn<quint64>("available");
        QTest::addColumn<bool>("hasRoom");
        QTest::newRow("a tenth of a small disk") << (20ULL << 30) << (3ULL << 30) << true;
        QTest::newRow("a full small disk") << (20ULL << 30) << (1ULL << 30) << false;
        QTest::newRow("a shared disk of 99 %") << (1ULL << 50) << (10ULL << 40) << true;
        QTest::newRow("a full shared disk") << (1ULL << 50) << (8ULL << 30) << false;
    }
    void whatTheDiskMustSpareIsLeft()
    {
        QFETCH(quint64, capacity);
        QFETCH(quint64, available);
        QFETCH(bool, hasRoom);
        m_disk->capacity = capacity;
        m_disk->available = available;
        Spool spool(m_folder, 100u << 20, m_disk);
        spool.setHello("hello");
        const auto isKept = [&](std::uint64_t seq) { return spool.append(batchOf(seq, payloadOf(seq))).has_value(); };
        isKept(1); // the first one looks at the disk
        QCOMPARE(isKept(2), hasRoom);
        QCOMPARE(spool.fill() < 0.01, hasRoom);
    }

    void acknowledgedSegmentsAreDeletedWhole()
    {
        Spool spool(m_folder, std::uint64_t { 1 } << 30, m_disk);
        spool.setHello("hello");
        const std::string large(1u << 20, 'x');
        for (std::uint64_t seq = 1; seq <= 40; ++seq)
            QVERIFY(spool.append(batchOf(seq, large)).has_value());
        QVERIFY(spool.sync().has_value());
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
        SpoolDisk disk(m_folder, 1u << 30, m_disk);
        HeldStore held(disk, m_layouts);
        const auto now = HeldStore::Clock::now();
        std::uint64_t seq = 1;
        for (std::string payload(1u << 20, 'x'); held.add(seq, payload, {}, now); payload.assign(1u << 20, 'x'))
            ++seq;
        QCOMPARE(seq, std::uint64_t { 9 });
        held.spill(now, std::chrono::milliseconds(0));
        QVERIFY(disk.isFailing());
        QVERIFY(!disk.takeTrouble().empty());
        QCOMPARE(held.payload(3).value_or("").size(), std::size_t { 1u << 20 });
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
                for (std::uint64_t step = 0; step < 64; ++step)
                    kept[dropClass] += thinning::keeps(dropClass, step, fill) ? 1 : 0;
            QCOMPARE(kept[0], 64);
            QCOMPARE(kept[1], 64);
            QVERIFY(kept[2] > 0);
            QVERIFY(kept[2] >= kept[3] || kept[3] == 0);
            QVERIFY(kept[3] >= kept[4]);
        }
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
    /// Nothing of a test may run into the next.
    void endThread(std::unique_ptr<SpoolDisk> disk)
    {
        disk.reset();
        QTRY_COMPARE_WITH_TIMEOUT(m_disk.use_count(), 1L, 10000);
    }
    void write(std::uint64_t first, std::uint64_t last)
    {
        SeriesLayout layout;
        layout.id = LayoutId { 5 };
        layout.kind = Kind::Scalar;
        layout.stats = { Stat::Value };
        layout.series.resize(1);
        layout.series[0].name = "loss";
        m_layout = std::make_shared<const SeriesLayout>(layout);
        Spool spool(m_folder, 1u << 30, m_disk);
        spool.setHello(protocol::encodeMessage(protocol::Hello {}));
        for (std::uint64_t seq = first; seq <= last; ++seq)
            if (!spool.append(batchOf(seq, payloadOf(seq), { m_layout })))
                qFatal("the spool refused a batch");
    }

    std::unique_ptr<QTemporaryDir> m_temp;
    fs::path m_folder;
    protocol::LayoutTable m_layouts;
    std::shared_ptr<const SeriesLayout> m_layout;
    std::shared_ptr<FaultyDisk> m_disk;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, AgentSpoolTest)

}

#include "agentspooltest.moc"
