// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <chrono>
#include <cmath>
#include <thread>

#include <QDir>
#include <QTemporaryDir>

#include <sqlite3.h>
#include <sys/mount.h>

#include <telltale/core/bytes.h>
#include <telltale/store/archive.h>
#include <telltale/store/capsulereader.h>
#include <telltale/store/directoryreader.h>
#include <telltale/store/runreader.h>
#include <telltale/store/sqlite.h>

#include "capsulebuilder.h"

namespace readerstatetest {

using namespace telltale;
using namespace telltale::series;
using namespace telltale::store;
using namespace telltale::test;

namespace {

/// A file system of its own. Thread: the test's.
class Medium {
public:
    Medium(const QString& folder, const char* options)
        : m_folder(folder.toStdString())
        , m_isThere(QDir().mkpath(folder) && ::mount("tmpfs", m_folder.c_str(), "tmpfs", 0, options) == 0)
    {
    }
    ~Medium()
    {
        if (m_isThere)
            ::umount2(m_folder.c_str(), MNT_DETACH);
    }
    Medium(const Medium&) = delete;
    Medium& operator=(const Medium&) = delete;

    bool isThere() const { return m_isThere; }
    /// From now on.
    bool isReadOnly() const
    {
        return ::mount("tmpfs", m_folder.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
    }
    std::string path(const char* name) const { return m_folder + '/' + name; }

private:
    const std::string m_folder;
    const bool m_isThere;
};

}

class ReaderStateTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void dropsAndLossesShowWhereNothingElseDoes_data();
    void dropsAndLossesShowWhereNothingElseDoes();
    void aValueStandsUntilItsRowIsDueAgain();
    void aDamagedTileIsABandAndASentence();
    void aDamagedOverviewTileIsAnsweredByFinerOnes();
    void aNewerFormatIsRefusedByName();
    void whatIsNoCapsuleIsRefused();
    void aFinishedCapsuleOpensInAFolderThatCannotBeWritten();
    void aCrashedCapsuleOpensOnAMediumThatCannotBeWritten();
    void aDiskWithoutRoomForARunIsSaidToBeFull();
    void theCatalogIsTheSameObjectUntilItChanges();
    void whatHappensDoesNotHaveTheSeriesReadAgain();
    void readersShareWhatWasRead();
    void aReaderThatIsOpenedLaterKnowsTheSteps();
    void aRefreshThatFailsLosesNoRow();
    void theLogIsReadInPagesByRankKindAndSteps();
    void blobsComeBackWhole();
    void aReaderFollowsALiveRun();
    void aReaderWaitsForAWriterOnASlowDisk();
    void identitiesStayExactInEveryStateOfTheFile();
    void aStatementIsPreparedOnceAndComesBackAsNew();

private:
    std::string path() const { return m_dir->filePath(QStringLiteral("run.telltale")).toStdString(); }
    /// Norm of two series at steps first..last: the value is the step.
    void write(CapsuleBuilder& builder, std::int64_t first, std::int64_t last, std::vector<Drop> drops = {});
    RowAttempts rowOf(RunReader& reader, int series = 0) const;
    void flipByte(const char* where);

    std::unique_ptr<QTemporaryDir> m_dir;
    std::int64_t m_stream = 0;
    Rank m_rank { 0 };
    std::shared_ptr<const SeriesLayout> m_layout;
};

void ReaderStateTest::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    QVERIFY(m_dir->isValid());
    m_stream = 0;
    m_rank = Rank { 0 };
    m_layout.reset();
}

void ReaderStateTest::write(CapsuleBuilder& builder, std::int64_t first, std::int64_t last, std::vector<Drop> drops)
{
    if (m_stream == 0) {
        m_stream = builder.addAttempt(m_rank, 0);
        m_layout = builder.addLayout(Kind::GradReduced, { Stat::Norm }, { "a.weight", "b.weight" });
    }
    std::vector<StepBlock> blocks;
    for (std::int64_t step = first; step <= last; ++step) {
        StepBlock block;
        block.layout = m_layout;
        block.step = Step { step };
        block.columns.push_back({ Stat::Norm, std::vector<float>(2, static_cast<float>(step)) });
        blocks.push_back(std::move(block));
    }
    builder.stage(m_stream, std::move(blocks), std::move(drops));
    builder.commit();
}

RowAttempts ReaderStateTest::rowOf(RunReader& reader, int series) const
{
    return { CapsuleBuilder::must(reader.catalog())->series.at(static_cast<std::size_t>(series)).id };
}

void ReaderStateTest::flipByte(const char* where)
{
    const auto db = CapsuleBuilder::must(openDatabase(path(), OpenMode::Write));
    auto select = CapsuleBuilder::must(
        Statement::prepare(db.get(), std::string("SELECT id, data FROM tile WHERE ") + where + " LIMIT 1"));
    QVERIFY(CapsuleBuilder::must(select.step()));
    const std::int64_t id = select.integer(0);
    std::string data(select.blob(1));
    select.reset();
    data[data.size() / 2] = static_cast<char>(data[data.size() / 2] ^ 4);
    auto update = CapsuleBuilder::must(Statement::prepare(db.get(), "UPDATE tile SET data=?1 WHERE id=?2"));
    QVERIFY(update.bindBlob(1, data).bind(2, id).run());
}

void ReaderStateTest::dropsAndLossesShowWhereNothingElseDoes_data()
{
    QTest::addColumn<int>("rank");
    QTest::addColumn<bool>("opensFirst");
    QTest::newRow("rank 0") << 0 << false;
    QTest::newRow("rank 3") << 3 << false;
    QTest::newRow("rank 3, read as it is lost") << 3 << true;
}

void ReaderStateTest::dropsAndLossesShowWhereNothingElseDoes()
{
    QFETCH(int, rank);
    QFETCH(bool, opensFirst);
    m_rank = Rank { rank };
    CapsuleBuilder builder(path());
    write(builder, 1, 100);
    std::unique_ptr<RunReader> reader;
    if (opensFirst)
        reader = CapsuleBuilder::must(openReader(builder.liveHandle()));
    write(builder, 151, 200, { Drop { 2, Step { 101 }, Step { 150 }, 100, 0, "the ring was full" } });
    CapsuleBuilder::must(builder.writer().book().skipTo(m_stream, 10));
    builder.setNextSeq(m_stream, 10);
    write(builder, 261, 300);
    if (!opensFirst)
        reader = CapsuleBuilder::must(openReader(builder.liveHandle()));
    const RowAttempts row = rowOf(*reader);
    const auto curve = CapsuleBuilder::must(reader->curve({ row, Stat::Norm, { Step { 1 }, Step { 310 } }, 310 }));
    const auto heat = CapsuleBuilder::must(reader->heatmap({ { row }, Stat::Norm, { Step { 1 }, Step { 310 } }, 310 }));
    for (std::int64_t step = 1; step <= 310; ++step) {
        const bool isGap = (step > 100 && step <= 150) || (step > 200 && step <= 260);
        const CellState want = isGap ? CellState::Gap : step <= 300 ? CellState::Value : CellState::NotCollected;
        const auto pixel = static_cast<std::size_t>(step - 1);
        QVERIFY2(curve.buckets[pixel].state == want, qPrintable(QString::number(step)));
        QCOMPARE(heat.states[pixel], want);
    }
    const auto cell = CapsuleBuilder::must(reader->column(Step { 120 }, Stat::Norm, { &row, 1 }));
    QCOMPARE(cell.front().state, CellState::Gap);
    const auto nearest = CapsuleBuilder::must(reader->column(Step { 120 }, Stat::Norm, { &row, 1 }, true));
    QCOMPARE(nearest.front().state, CellState::Gap); // every step was collected: that of step 100 is none of 120
}

/// Every tenth step, of which the second series has none from step 400 on, as an expert to whom no token goes.
void ReaderStateTest::aValueStandsUntilItsRowIsDueAgain()
{
    CapsuleBuilder builder(path());
    m_stream = builder.addAttempt(m_rank, 0);
    m_layout = builder.addLayout(Kind::GradReduced, { Stat::Norm }, { "router.weight", "expert.weight" });
    std::unique_ptr<RunReader> reader;
    const auto at = [&](std::int64_t step, int series) {
        const RowAttempts row = rowOf(*reader, series);
        return CapsuleBuilder::must(reader->column(Step { step }, Stat::Norm, { &row, 1 }, true)).front();
    };
    for (std::int64_t step = 0; step <= 590; step += 10) {
        StepBlock block;
        block.layout = m_layout;
        block.step = Step { step };
        const auto value = static_cast<float>(step);
        block.columns.push_back({ Stat::Norm, std::vector<float> { value, step < 400 ? value : 0 } });
        if (step >= 400)
            block.present = { 1 };
        builder.stage(m_stream, { std::move(block) });
        builder.commit();
        if (step == 0)
            reader = CapsuleBuilder::must(openReader(builder.liveHandle()));
        QCOMPARE(at(step + 30, 0).step, Step { step }); // the rank has not come there yet
    }
    builder.finish();
    reader = CapsuleBuilder::must(openReader(builder.handle()));
    QCOMPARE(at(595, 0).state, CellState::Value);
    QCOMPARE(at(595, 0).step, Step { 590 });
    QCOMPARE(at(600, 0).state, CellState::NotCollected);
    QCOMPARE(at(399, 1).value, 390.0);
    QCOMPARE(at(400, 1).state, CellState::NotCollected);
    QCOMPARE(at(595, 1).state, CellState::NotCollected);
}

void ReaderStateTest::aDamagedTileIsABandAndASentence()
{
    CapsuleBuilder builder(path());
    write(builder, 1, 2000);
    builder.finish();
    flipByte("lvl=0 AND c0=256");
    auto reader = CapsuleBuilder::must(openReader(builder.handle()));
    const RowAttempts row = rowOf(*reader);
    QVERIFY(CapsuleBuilder::must(reader->catalog())->damage.empty());
    const StepRange near { Step { 200 }, Step { 600 } };
    const auto curve = CapsuleBuilder::must(reader->curve({ row, Stat::Norm, near, 401 }));
    const auto heat = CapsuleBuilder::must(reader->heatmap({ { row }, Stat::Norm, near, 401 }));
    for (std::int64_t step = 200; step <= 600; ++step) {
        const bool isLost = step > 256 && step <= 512;
        const auto pixel = static_cast<std::size_t>(step - 200);
        QCOMPARE(curve.buckets[pixel].state, isLost ? CellState::Damaged : CellState::Value);
        QCOMPARE(heat.states[pixel], isLost ? CellState::Damaged : CellState::Value);
    }
    const auto cell = CapsuleBuilder::must(reader->column(Step { 300 }, Stat::Norm, { &row, 1 }));
    QCOMPARE(cell.front().state, CellState::Damaged);
    int values = 0;
    int lost = 0;
    QVERIFY(reader->raw(row, Stat::Norm, { Step { 1 }, Step { 2000 } }, [&](const RawValue& value) {
        value.state == CellState::Damaged ? ++lost : ++values;
        return true;
    }));
    QCOMPARE(values, 2000 - 256);
    QCOMPARE(lost, 1);
    const auto catalog = CapsuleBuilder::must(reader->catalog());
    QVERIFY(!catalog->damage.empty());
    QVERIFY(catalog->damage.front().find("257") != std::string::npos);
    QVERIFY(catalog->damage.front().find("512") != std::string::npos);
    // The overview lies in other blobs and is whole.
    const auto far = CapsuleBuilder::must(reader->curve({ row, Stat::Norm, { Step { 1 }, Step { 2000 } }, 20 }));
    QVERIFY(far.level > 0);
    std::uint64_t samples = 0;
    for (const Bucket& bucket : far.buckets)
        samples += bucket.samples;
    QVERIFY(samples >= 2000 - 2 * 16);
}

void ReaderStateTest::aDamagedOverviewTileIsAnsweredByFinerOnes()
{
    CapsuleBuilder builder(path());
    write(builder, 1, 3000);
    builder.finish();
    for (const char* level : { "lvl=1 AND c0=1024", "lvl=2 AND c0=0" })
        flipByte(level);
    auto reader = CapsuleBuilder::must(openReader(builder.handle()));
    const auto curve
        = CapsuleBuilder::must(reader->curve({ rowOf(*reader), Stat::Norm, { Step { 1 }, Step { 3000 } }, 30 }));
    Bucket all;
    for (const Bucket& bucket : curve.buckets) {
        QCOMPARE(bucket.state, CellState::Value);
        all.samples += bucket.samples;
    }
    QCOMPARE(all.samples, 3000u);
}

void ReaderStateTest::aNewerFormatIsRefusedByName()
{
    CapsuleBuilder builder(path());
    write(builder, 1, 10);
    builder.finish();
    {
        const auto db = CapsuleBuilder::must(openDatabase(path(), OpenMode::Write));
        QVERIFY(execute(db.get(), "PRAGMA user_version=7"));
    }
    const auto reader = openReader(builder.handle());
    QVERIFY(!reader);
    QCOMPARE(reader.error().code, ErrorCode::Newer);
    QVERIFY(reader.error().what.find("run.telltale") != std::string::npos);
}

void ReaderStateTest::whatIsNoCapsuleIsRefused()
{
    QFile file(QString::fromStdString(path()));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("this is a text and no capsule at all, however long it may be");
    file.close();
    RunHandle handle;
    handle.locator = RunLocator::ofFile(path());
    QVERIFY(!openReader(handle));
    handle.locator = RunLocator::ofFile(path() + ".none");
    const auto missing = openReader(handle);
    QVERIFY(!missing);
    QCOMPARE(missing.error().code, ErrorCode::NotFound);
}

void ReaderStateTest::aFinishedCapsuleOpensInAFolderThatCannotBeWritten()
{
    CapsuleBuilder builder(path());
    write(builder, 1, 500);
    builder.finish();
    const QFileDevice::Permissions before = QFile::permissions(m_dir->path());
    QVERIFY(QFile::setPermissions(m_dir->path(), QFileDevice::ReadOwner | QFileDevice::ExeOwner));
    {
        auto reader = CapsuleBuilder::must(openReader(builder.handle()));
        const auto curve
            = CapsuleBuilder::must(reader->curve({ rowOf(*reader), Stat::Norm, { Step { 1 }, Step { 500 } }, 500 }));
        QCOMPARE(curve.buckets.back().last, 500.0);
        QCOMPARE(QDir(m_dir->path()).entryList(QDir::Files).size(), 1);
    }
    QVERIFY(QFile::setPermissions(m_dir->path(), before));
}

void ReaderStateTest::aCrashedCapsuleOpensOnAMediumThatCannotBeWritten()
{
    const Medium medium(m_dir->filePath(QStringLiteral("medium")), "size=16m");
    if (!medium.isThere())
        QSKIP("only root can make a file system");
    const std::string crashed = medium.path("run.telltale");
    {
        CapsuleBuilder builder(path());
        write(builder, 1, 300);
        // As its recorder leaves it that is killed: the newest steps are in the log alone.
        for (const char* part : { "", "-wal" })
            QVERIFY(QFile::copy(QString::fromStdString(path() + part), QString::fromStdString(crashed + part)));
    }
    QVERIFY(medium.isReadOnly());
    QCOMPARE(describeRun(RunLocator::ofFile(crashed)).state, RunState::Interrupted);
    auto reader = openReader({ RunLocator::ofFile(crashed), {}, {}, nullptr });
    QVERIFY2(reader, reader ? "" : reader.error().sentence().c_str());
    int values = 0;
    QVERIFY(
        (*reader)->raw(rowOf(**reader), Stat::Norm, { Step { 0 }, Step { 1000 } }, [&values](const RawValue& value) {
            values += value.value == static_cast<double>(value.step.value) ? 1 : 0;
            return true;
        }));
    QCOMPARE(values, 300);
    const auto verified = verifyRun(RunLocator::ofFile(crashed));
    QVERIFY(verified && verified->problems.empty());
}

void ReaderStateTest::aDiskWithoutRoomForARunIsSaidToBeFull()
{
    const Medium medium(m_dir->filePath(QStringLiteral("medium")), "nr_inodes=2"); // the folder and one file: no log
    if (!medium.isThere())
        QSKIP("only root can make a file system");
    LiveRun live;
    const auto writer = CapsuleWriter::create(medium.path("run.telltale"), {}, live);
    QVERIFY(!writer);
    QCOMPARE(writer.error().code, ErrorCode::NoSpace);
    QVERIFY2(writer.error().what.find("No space left") != std::string::npos, writer.error().what.c_str());
}

void ReaderStateTest::theCatalogIsTheSameObjectUntilItChanges()
{
    CapsuleBuilder builder(path());
    write(builder, 1, 10);
    auto live = CapsuleBuilder::must(openReader(builder.liveHandle()));
    auto foreign = CapsuleBuilder::must(openReader(builder.handle()));
    const auto first = CapsuleBuilder::must(live->catalog());
    const auto foreignFirst = CapsuleBuilder::must(foreign->catalog());
    QCOMPARE(first->series.size(), std::size_t { 2 });
    QCOMPARE(first->series[1].desc->name, std::string("b.weight"));
    QCOMPARE(first->series[1].desc->shape, (std::vector<std::int64_t> { 4, 8 }));
    QCOMPARE(first->name, std::string("a test run"));
    QCOMPARE(first->sources.front().host, std::string("host"));
    QCOMPARE(first->groups.front().stats, std::vector<Stat> { Stat::Norm });
    write(builder, 11, 20);
    QCOMPARE(CapsuleBuilder::must(live->catalog()), first);
    QCOMPARE(CapsuleBuilder::must(foreign->catalog()), foreignFirst);
    builder.stage(m_stream, {}, {}, { Event { "log", Step { 20 }, 5, "hello", "" } });
    builder.stage(m_stream, {}, { Drop { 2, Step { 21 }, Step { 22 }, 4, 0, "full" } }, {},
        { Blob { "one", 0, 1, "stack", "a", Step { 9 }, "text" } });
    builder.commit();
    QCOMPARE(CapsuleBuilder::must(live->catalog()), first);
    QCOMPARE(CapsuleBuilder::must(foreign->catalog()), foreignFirst);
    builder.addAttempt(Rank { 1 }, 0);
    for (RunReader* reader : { live.get(), foreign.get() }) {
        const auto second = CapsuleBuilder::must(reader->catalog());
        QVERIFY(second != first && second->revision > first->revision);
        QCOMPARE(second->sources.size(), std::size_t { 2 });
        QCOMPARE(second->series.size(), std::size_t { 2 });
    }
}

/// 65 events a step in a run of 20,000 series: neither its series nor the events of before are read again.
void ReaderStateTest::whatHappensDoesNotHaveTheSeriesReadAgain()
{
    constexpr int kSeries = 20'000, kEvents = 65;
    CapsuleBuilder builder(path());
    m_stream = builder.addAttempt(Rank { 0 }, 0);
    std::vector<std::string> names;
    for (int i = 0; i < kSeries; ++i)
        names.push_back("layers." + std::to_string(i));
    const auto layout = builder.addLayout(Kind::GradReduced, { Stat::Norm }, names);
    const auto step = [&](std::int64_t at, std::vector<Event> events) {
        StepBlock block;
        block.layout = layout;
        block.step = Step { at };
        block.columns.push_back({ Stat::Norm, std::vector<float>(kSeries, 1.0F) });
        builder.stage(m_stream, { block }, {}, std::move(events),
            { Blob { "doc" + std::to_string(at), 0, 1, "stack", "a", Step { at }, "text" } });
        builder.commit();
    };
    step(0, {});
    const auto db = CapsuleBuilder::must(openDatabase(path(), OpenMode::Read));
    StatementCache statements(db.get());
    DirectoryReader directory;
    CapsuleBuilder::must(directory.refresh(statements));
    const auto catalog = directory.catalog();
    const std::uint64_t read = directory.rowsRead();
    QVERIFY(catalog->series.size() == kSeries && read >= kSeries);
    static_cast<void>(builder.writer().takeNews());
    auto reader = CapsuleBuilder::must(openReader(builder.liveHandle()));
    const auto shown = CapsuleBuilder::must(reader->catalog());
    LogCursor cursor;
    for (std::int64_t at = 1; at <= 20; ++at) {
        std::vector<Event> events;
        for (int i = 0; i < kEvents; ++i)
            events.push_back({ "anomaly", Step { at }, at, "event " + std::to_string(i), "" });
        step(at, std::move(events));
        const Durable news = builder.writer().takeNews();
        QVERIFY(!news.events.isEmpty() && news.events.last - news.events.first + 1 == kEvents);
        QVERIFY(news.series.isEmpty() && !news.areSourcesChanged);
        CapsuleBuilder::must(directory.refresh(statements));
        QCOMPARE(directory.rowsRead(), read);
        QCOMPARE(directory.catalog(), catalog);
        QCOMPARE(directory.sources().front().lastStep, Step { at });
        const LogPage page = CapsuleBuilder::must(reader->log(cursor));
        QCOMPARE(page.records.size(), std::size_t { kEvents });
        QVERIFY(page.records.front().steps.first == Step { at } && page.isLast);
        cursor = page.next;
        QCOMPARE(CapsuleBuilder::must(reader->catalog()), shown);
    }
    // What is added is read, and nothing else.
    const auto more = builder.addLayout(Kind::Actv, { Stat::Norm }, { "late.a", "late.b" });
    StepBlock block;
    block.layout = more;
    block.step = Step { 21 };
    block.columns.push_back({ Stat::Norm, std::vector<float> { 1.0F, 2.0F } });
    builder.stage(m_stream, { block });
    builder.commit();
    QCOMPARE(builder.writer().takeNews().series, (IdRange { kSeries + 1, kSeries + 2 }));
    CapsuleBuilder::must(directory.refresh(statements));
    QCOMPARE(directory.rowsRead(), read + 4); // a layout, a group, two series
    QCOMPARE(directory.catalog()->series.size(), std::size_t { kSeries + 2 });
    QCOMPARE(directory.catalog()->series.back().desc->name, std::string("late.b"));
    QCOMPARE(directory.catalog()->series[kSeries - 1].desc->name, catalog->series.back().desc->name);
    QCOMPARE(CapsuleBuilder::must(reader->catalog())->series.size(), std::size_t { kSeries + 2 });
}

void ReaderStateTest::readersShareWhatWasRead()
{
    SharedReads shared;
    {
        CapsuleBuilder builder(path());
        const auto read = [&] { return builder.live()->directory()->reader.rowsRead(); };
        write(builder, 1, 10);
        auto first = CapsuleBuilder::must(openReader(builder.liveHandle(), shared));
        const auto catalog = CapsuleBuilder::must(first->catalog());
        const std::uint64_t once = read();
        QVERIFY(once >= 4); // a layout, a group, two series
        auto second = CapsuleBuilder::must(openReader(builder.liveHandle())); // of no pool, as the judge's
        QCOMPARE(CapsuleBuilder::must(second->catalog()), catalog);
        first.reset(); // as one that was idle
        builder.addAttempt(Rank { 1 }, 0);
        first = CapsuleBuilder::must(openReader(builder.liveHandle(), shared));
        QCOMPARE(read(), once);
        QCOMPARE(CapsuleBuilder::must(first->catalog())->sources.size(), std::size_t { 2 });
        QCOMPARE(CapsuleBuilder::must(second->catalog()), CapsuleBuilder::must(first->catalog()));
        builder.finish();
    }
    {
        const RunHandle archived { RunLocator::ofFile(path()), {}, {}, nullptr };
        const auto first = CapsuleBuilder::must(openReader(archived, shared));
        const auto second = CapsuleBuilder::must(openReader(archived, shared));
        QCOMPARE(CapsuleBuilder::must(first->catalog()), CapsuleBuilder::must(second->catalog()));
    }
    // Another run in the same file is read from its beginning.
    const std::string other = m_dir->filePath(QStringLiteral("other.telltale")).toStdString();
    {
        CapsuleBuilder builder(other, "other");
        m_stream = 0;
        write(builder, 1, 10);
        builder.finish();
    }
    QFile from(QString::fromStdString(other)), to(QString::fromStdString(path()));
    QVERIFY(from.open(QIODevice::ReadOnly) && to.open(QIODevice::WriteOnly | QIODevice::Truncate));
    const QByteArray bytes = from.readAll();
    QCOMPARE(to.write(bytes), bytes.size());
    to.close();
    RunHandle handle;
    handle.locator = RunLocator::ofFile(path());
    auto reader = CapsuleBuilder::must(openReader(handle, shared));
    const auto catalog = CapsuleBuilder::must(reader->catalog());
    QCOMPARE(catalog->storeId, "store-" + other);
    QCOMPARE(catalog->series.size(), std::size_t { 2 });
}

void ReaderStateTest::aReaderThatIsOpenedLaterKnowsTheSteps()
{
    SharedReads shared;
    CapsuleBuilder builder(path());
    for (const std::int64_t last : { 10, 20 }) {
        write(builder, last - 9, last);
        const auto reader = CapsuleBuilder::must(openReader(builder.handle(), shared)); // as of another process's run
        QCOMPARE(CapsuleBuilder::must(reader->catalog())->steps.last, Step { last });
    }
}

/// However far it came before.
void ReaderStateTest::aRefreshThatFailsLosesNoRow()
{
    CapsuleBuilder builder(path());
    write(builder, 1, 10);
    const auto db = CapsuleBuilder::must(openDatabase(path(), OpenMode::Read));
    StatementCache statements(db.get());
    DirectoryReader directory;
    CapsuleBuilder::must(directory.refresh(statements));
    StepBlock block;
    block.layout = builder.addLayout(Kind::Actv, { Stat::Norm }, { "late.a", "late.b" });
    block.step = Step { 11 };
    block.columns.push_back({ Stat::Norm, std::vector<float> { 1.0F, 2.0F } });
    builder.stage(m_stream, { block });
    builder.commit();
    int failures = 0;
    for (int calls = 0;; ++calls) {
        int left = calls;
        sqlite3_progress_handler(
            db.get(), 1, [](void* count) { return (*static_cast<int*>(count))-- == 0 ? 1 : 0; }, &left);
        const auto ok = directory.refresh(statements);
        sqlite3_progress_handler(db.get(), 0, nullptr, nullptr);
        if (ok)
            break;
        ++failures;
    }
    QVERIFY(failures > 50);
    QCOMPARE(directory.catalog()->series.size(), std::size_t { 4 });
    QCOMPARE(directory.catalog()->groups.size(), std::size_t { 2 });
}

void ReaderStateTest::theLogIsReadInPagesByRankKindAndSteps()
{
    CapsuleBuilder builder(path());
    write(builder, 1, 1);
    const std::int64_t other = builder.addAttempt(Rank { 3 }, 0);
    std::vector<Event> events;
    for (std::int64_t at = 1; at <= 25; ++at)
        events.push_back({ at % 5 == 0 ? "checkpoint" : "anomaly", Step { at }, at, std::to_string(at), "" });
    builder.stage(m_stream, {},
        { Drop { 2, Step { 30 }, Step { 40 }, 7, 0, "full" }, Drop { 1, {}, Step { -1 }, 1, 0, "" } }, events);
    builder.stage(other, {}, {}, { Event { "anomaly", Step { 3 }, 100, "of rank 3", "" } });
    builder.commit();
    auto reader = CapsuleBuilder::must(openReader(builder.handle()));
    LogCursor cursor;
    std::vector<std::string> texts;
    for (int pages = 1; pages <= 4; ++pages) {
        const LogPage page = CapsuleBuilder::must(reader->log(cursor, {}, 10));
        QCOMPARE(page.isLast, pages >= 3);
        for (const LogRecord& record : page.records) {
            if (!record.isDrop)
                texts.push_back(record.text);
        }
        QVERIFY(pages < 4 || (page.records.empty() && page.next == cursor));
        cursor = page.next;
    }
    QCOMPARE(texts.size(), std::size_t { 26 });
    QVERIFY(texts.front() == "1" && texts.back() == "of rank 3");
    const auto count
        = [&](const LogFilter& filter) { return CapsuleBuilder::must(reader->log({}, filter)).records.size(); };
    QCOMPARE(count({ "checkpoint", {}, {} }), std::size_t { 5 });
    QCOMPARE(count({ "drop", {}, {} }), std::size_t { 2 });
    QCOMPARE(count({ {}, Rank { 3 }, {} }), std::size_t { 1 });
    QCOMPARE(count({ {}, Rank { 0 }, StepRange { Step { 24 }, Step { 35 } } }), std::size_t { 3 }); // 24, 25 and a drop
    const LogPage filtered = CapsuleBuilder::must(reader->log({}, { "anomaly", Rank { 3 }, {} }, 10));
    QVERIFY(filtered.isLast && filtered.next == cursor); // what does not match is not looked at again
    const LogRecord drop = CapsuleBuilder::must(reader->log({}, { "drop", {}, {} })).records.front();
    QVERIFY(drop.rank == Rank { 0 } && drop.items == 7 && drop.steps.count() == 11 && drop.text == "full");
}

void ReaderStateTest::blobsComeBackWhole()
{
    CapsuleBuilder builder(path());
    write(builder, 1, 10);
    const auto part = [](std::uint32_t n, std::string bytes) {
        return Blob { "doc", n, 2, "structure", "model", Step { 5 }, std::move(bytes) };
    };
    builder.stage(m_stream, {}, {}, {}, { part(0, "{\"first\":"), part(1, "1}") });
    builder.stage(m_stream, {}, {}, {}, { Blob { "late", 0, 1, "stack", "a", Step { 9 }, "late text" } });
    builder.commit();
    auto reader = CapsuleBuilder::must(openReader(builder.liveHandle()));
    QCOMPARE(CapsuleBuilder::must(reader->blob("structure", "model", Step { 7 })), std::string("{\"first\":1}"));
    QCOMPARE(CapsuleBuilder::must(reader->blob("structure", "", Step { 5 })), std::string("{\"first\":1}"));
    QVERIFY(!reader->blob("stack", "a", Step { 8 }));
    QCOMPARE(CapsuleBuilder::must(reader->blob("stack", "a", Step { 9 })), std::string("late text"));
}

/// Who writes a note, or rules, into a run that has ended holds its file until the disk has them.
void ReaderStateTest::aReaderWaitsForAWriterOnASlowDisk()
{
    CapsuleBuilder builder(path());
    write(builder, 1, 10);
    builder.finish();
    auto writer = CapsuleBuilder::must(openDatabase(path(), OpenMode::Write));
    QVERIFY(execute(writer.get(), "BEGIN EXCLUSIVE"));
    std::thread slow([&writer] {
        std::this_thread::sleep_for(std::chrono::milliseconds(3000));
        writer.reset();
    });
    const auto reader = openReader(builder.handle());
    slow.join();
    QVERIFY2(reader, reader ? "" : reader.error().sentence().c_str());
}

void ReaderStateTest::aReaderFollowsALiveRun()
{
    CapsuleBuilder builder(path());
    write(builder, 1, 1);
    auto live = CapsuleBuilder::must(openReader(builder.liveHandle()));
    auto foreign = CapsuleBuilder::must(openReader(builder.handle()));
    for (std::int64_t last = 2; last <= 1500; last += 50) {
        write(builder, last, last + 49);
        for (RunReader* reader : { live.get(), foreign.get() }) {
            const auto curve = CapsuleBuilder::must(
                reader->curve({ rowOf(*reader), Stat::Norm, { Step { 1 }, Step { last + 49 } }, 7 }));
            std::int64_t samples = 0;
            for (const Bucket& bucket : curve.buckets)
                samples += bucket.samples;
            QCOMPARE(samples, last + 49);
        }
    }
}

/// In open tiles, behind a crash (the batches as they came) and in sealed tiles, beside NaN counts.
void ReaderStateTest::identitiesStayExactInEveryStateOfTheFile()
{
    constexpr std::int64_t kSteps = 2200;
    // Neighbors beyond 2^53, bit patterns that a double reads as NaN, and 0.
    const auto identity = [](std::int64_t step, std::size_t series) -> std::uint64_t {
        return series == 0 ? (std::uint64_t { 1 } << 63) + static_cast<std::uint64_t>(step)
            : series == 1  ? 0x7FF8000000000000u ^ static_cast<std::uint64_t>(step)
                           : 0;
    };
    const auto check = [&](RunReader& reader) {
        for (int series = 0; series < 3; ++series) {
            const RowAttempts row = rowOf(reader, series);
            std::int64_t next = 0;
            const auto done = reader.raw(row, Stat::Checksum, { Step { 0 }, Step { kSteps } }, [&](const RawValue& v) {
                const bool isRight = v.step.value == next && v.state == CellState::Value
                    && v.identity == identity(next, static_cast<std::size_t>(series));
                next += isRight ? 1 : 0;
                return isRight;
            });
            QVERIFY(done);
            QCOMPARE(next, kSteps);
            const auto cells = CapsuleBuilder::must(reader.column(Step { 1234 }, Stat::Checksum, { &row, 1 }));
            QCOMPARE(cells.front().identity, identity(1234, static_cast<std::size_t>(series)));
            QCOMPARE(cells.front().state, CellState::Value);
        }
        const auto curve = reader.curve({ rowOf(reader), Stat::Checksum, { Step { 0 }, Step { kSteps } }, 10 });
        QVERIFY(!curve);
        QVERIFY(curve.error().what.find("checksum says whether tensors are the same") != std::string::npos);
        QVERIFY(!reader.heatmap({ { rowOf(reader) }, Stat::Checksum, { Step { 0 }, Step { kSteps } }, 10 }));
        QVERIFY(reader.heatmap({ { rowOf(reader) }, Stat::Norm, { Step { 0 }, Step { kSteps } }, 10 }));
    };
    for (const bool isKilled : { true, false }) {
        init();
        CapsuleBuilder builder(path());
        m_stream = builder.addAttempt(m_rank, 0);
        m_layout = builder.addLayout(
            Kind::ParamOrigin, { Stat::Norm, Stat::Nans, Stat::Checksum }, { "a.weight", "b.weight", "c.bias" });
        std::vector<StepBlock> blocks;
        for (std::int64_t step = 0; step < kSteps; ++step) {
            StepBlock block;
            block.layout = m_layout;
            block.step = Step { step };
            block.columns
                = { { Stat::Norm, std::vector<float>(3, 1) }, { Stat::Nans, std::vector<std::uint64_t> { 1, 0, 0 } },
                      { Stat::Checksum,
                          std::vector<std::uint64_t> { identity(step, 0), identity(step, 1), identity(step, 2) } } };
            blocks.push_back(std::move(block));
            if (blocks.size() == 200) {
                builder.stage(m_stream, std::exchange(blocks, {}));
                builder.commit();
            }
        }
        check(*CapsuleBuilder::must(openReader(builder.liveHandle())));
        isKilled ? builder.crash() : builder.finish();
        check(*CapsuleBuilder::must(openReader(builder.handle())));
    }
    const auto db = CapsuleBuilder::must(openDatabase(path(), OpenMode::Read));
    const auto levelOf = [&](Stat stat) {
        return queryInteger(db.get(), "SELECT max(lvl) FROM tile WHERE stat=" + std::to_string(static_cast<int>(stat)));
    };
    QVERIFY(CapsuleBuilder::must(levelOf(Stat::Norm)) > 0);
    QCOMPARE(CapsuleBuilder::must(levelOf(Stat::Checksum)), 0);
}

void ReaderStateTest::aStatementIsPreparedOnceAndComesBackAsNew()
{
    const auto db = CapsuleBuilder::must(openDatabase(path(), OpenMode::Create));
    const auto count = [&] {
        int statements = 0;
        for (sqlite3_stmt* one = nullptr; (one = sqlite3_next_stmt(db.get(), one)) != nullptr;)
            ++statements;
        return statements;
    };
    StatementCache cache(db.get());
    constexpr std::string_view kSql = "SELECT ?1 UNION ALL SELECT 7";
    {
        auto first = CapsuleBuilder::must(cache.prepare(kSql));
        first.bind(1, 41);
        QVERIFY(CapsuleBuilder::must(first.step()));
        // Asked for within its own rows: one more, and neither moves the other on.
        auto inner = CapsuleBuilder::must(cache.prepare(kSql));
        inner.bind(1, 42);
        QVERIFY(CapsuleBuilder::must(inner.step()));
        QCOMPARE(inner.integer(0), 42);
        QCOMPARE(first.integer(0), 41);
        QVERIFY(CapsuleBuilder::must(first.step()));
        QCOMPARE(first.integer(0), 7);
        QCOMPARE(count(), 2);
    }
    QCOMPARE(count(), 1);
    {
        // It was left in the middle of its rows, with a parameter; neither is known any more.
        auto again = CapsuleBuilder::must(cache.prepare(kSql));
        QCOMPARE(count(), 1);
        QVERIFY(CapsuleBuilder::must(again.step()));
        QVERIFY(again.isNull(0));
    }
    QVERIFY(!cache.prepare("SELECT nothing FROM nowhere").has_value());
    QVERIFY(!cache.prepare("SELECT nothing FROM nowhere").has_value());
    QCOMPARE(count(), 1);
    CapsuleBuilder::must(cache.execute("CREATE TABLE one (value)"));
    CapsuleBuilder::must(cache.execute("INSERT INTO one VALUES (5)"));
    CapsuleBuilder::must(cache.execute("INSERT INTO one VALUES (5)"));
    QCOMPARE(CapsuleBuilder::must(queryInteger(db.get(), "SELECT sum(value) FROM one")), 10);
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, ReaderStateTest)

}

#include "readerstatetest.moc"
