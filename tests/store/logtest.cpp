// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <QTemporaryDir>

#include <telltale/store/archive.h>
#include <telltale/store/capsulefile.h>
#include <telltale/store/formats.h>
#include <telltale/store/logreader.h>
#include <telltale/store/runreader.h>

#include "capsulebuilder.h"
#include "powercut.h"
#include "sourcepath.h"

namespace logtest {

using namespace telltale;
using namespace telltale::store;
using namespace telltale::test;

namespace fs = std::filesystem;

namespace {

constexpr int kOldEvents = 400;

std::string bytesOf(const std::string& path)
{
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
}

std::int64_t numberIn(const std::string& path, const std::string& sql)
{
    const auto db = CapsuleBuilder::must(openDatabase(path, OpenMode::Read));
    return CapsuleBuilder::must(queryInteger(db.get(), sql));
}

void change(const std::string& path, const std::string& sql)
{
    const auto db = CapsuleBuilder::must(openDatabase(path, OpenMode::Write));
    CapsuleBuilder::must(execute(db.get(), sql.c_str()));
}

std::vector<LogRecord> eventsOf(RunReader& reader, const LogFilter& filter = {})
{
    return CapsuleBuilder::must(reader.log({}, filter)).records;
}

std::vector<LogRecord> eventsOf(const std::string& path, const LogFilter& filter = {})
{
    return eventsOf(*CapsuleBuilder::must(openReader({ RunLocator::ofFile(path), {}, {}, nullptr })), filter);
}

Event incident(const std::string& text, std::uint64_t ref = 0, std::int64_t step = 100)
{
    Event event { "anomaly", Step { step }, 7, text, {} };
    event.ref = ref;
    return event;
}

}

/// The log's columns: how they come to a run that had none, and what its reader makes of records that change others.
class LogTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void aRunOfTheFirstFormatIsReadAndThenContinued_data();
    void aRunOfTheFirstFormatIsReadAndThenContinued();
    void aReaderGoesOnWhileItsRunChangesItsFormat();
    void aDamagedLogHindersNoChangeOfFormat();
    void aPowerCutLeavesARunOfOneFormatOrTheOther_data();
    void aPowerCutLeavesARunOfOneFormatOrTheOther();
    void everyColumnComesBack();
    void changesAreFoldedIntoTheFirst();
    void aGapHasNothingOfTheEventBefore();
    void aChangeOfAChangeIsOneOfTheFirst();
    void aChangeInALaterPageComesWithAllThatWasSaid();
    void whatLastsIsFoundInEveryRangeThatItTouches();
    void whatNothingOfItsKindIsThereForStandsForItself_data();
    void whatNothingOfItsKindIsThereForStandsForItself();
    void aForeignLogIsReadToItsEnd_data();
    void aForeignLogIsReadToItsEnd();
    void everyFilterHasItsIndex_data();
    void everyFilterHasItsIndex();

private:
    std::string path() const { return m_dir->filePath(QStringLiteral("run.telltale")).toStdString(); }
    /// A frozen run of the first format, with a log.
    void placeOld(const std::string& name);
    void write(const std::vector<Event>& events);

    std::unique_ptr<QTemporaryDir> m_dir;
};

void LogTest::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
}

void LogTest::placeOld(const std::string& name)
{
    for (const char* part : { "", "-wal" }) {
        const fs::path from
            = fs::path(telltale::test::sourcePath("tests/data/v1")) / name / (std::string("run.telltale") + part);
        if (fs::exists(from))
            fs::copy_file(from, path() + part);
    }
    // What stands only in the log of a killed run stays there.
    auto db = CapsuleBuilder::must(openDatabase(path(), OpenMode::Write));
    sqlite3_db_config(db.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    const std::string sql = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < "
        + std::to_string(kOldEvents)
        + ") INSERT INTO event(source, kind, rank, step, wall_ns, text, json) SELECT 1, iif(i % 2, 'anomaly', 'gap'), "
          "0, i, i, 'sentence ' || i, '{}' FROM n";
    CapsuleBuilder::must(execute(db.get(), sql.c_str()));
}

void LogTest::write(const std::vector<Event>& events)
{
    CapsuleBuilder builder(path());
    builder.stage(builder.addAttempt(Rank { 0 }, 0), {}, {}, events);
    builder.commit();
    builder.finish();
}

void LogTest::aRunOfTheFirstFormatIsReadAndThenContinued_data()
{
    QTest::addColumn<QString>("name");
    QTest::newRow("finished") << QStringLiteral("cpp-finished");
    QTest::newRow("killed") << QStringLiteral("python-killed");
}

void LogTest::aRunOfTheFirstFormatIsReadAndThenContinued()
{
    QFETCH(QString, name);
    placeOld(name.toStdString());
    const std::string file = bytesOf(path());
    const std::string log = bytesOf(path() + "-wal");
    const LogFilter gaps { "gap", Rank { 0 }, StepRange { Step { 11 }, Step { 20 } } };
    auto before = eventsOf(path());
    QCOMPARE(before.size(), std::size_t { kOldEvents });
    QCOMPARE(before.back().text, "sentence " + std::to_string(kOldEvents));
    QVERIFY(before.back().rule.empty() && before.back().ref == 0 && before.back().steps.count() == 1);
    QCOMPARE(eventsOf(path(), gaps).size(), std::size_t { 5 });
    QVERIFY(bytesOf(path()) == file && bytesOf(path() + "-wal") == log);
    QCOMPARE(numberIn(path(), "PRAGMA user_version"), 1);

    LiveRun live;
    {
        auto writer = CapsuleBuilder::must(CapsuleWriter::open(path(), live));
        const auto& [stream, row] = *writer->streams().rbegin();
        auto batch = std::make_shared<SampleBatch>();
        batch->seq = row.durableSeq + 1;
        Event ended { "anomaly", Step { 1 }, 9, {}, {} };
        ended.ref = 1;
        ended.lastStep = Step { 30 };
        ended.phase = "ended";
        batch->events.push_back(std::move(ended));
        QCOMPARE(CapsuleBuilder::must(writer->stage(stream, std::move(batch))), std::string());
        QVERIFY(writer->commit());
        QVERIFY(writer->finish(RunState::Finished));
        QVERIFY(writer->tidyUp());
    }
    QCOMPARE(numberIn(path(), "PRAGMA user_version"), std::ssize(capsuleFormats()));
    QCOMPARE(numberIn(path(), "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND name LIKE 'event_%'"), 4);
    QCOMPARE(numberIn(path(), "SELECT count(*) FROM sqlite_schema WHERE name IN ('anomaly', 'annotation')"), 0);
    const auto after = eventsOf(path());
    QCOMPARE(after.size(), before.size());
    QVERIFY(after[0].isChanged && after[0].phase == "ended" && after[0].text == "sentence 1");
    QCOMPARE(after[0].steps.last, Step { 30 });
    QCOMPARE(eventsOf(path(), gaps).size(), std::size_t { 5 });
    QVERIFY(CapsuleBuilder::must(verifyRun(RunLocator::ofFile(path()))).problems.empty());
}

void LogTest::aReaderGoesOnWhileItsRunChangesItsFormat()
{
    placeOld("cpp-finished");
    auto reader = CapsuleBuilder::must(openReader({ RunLocator::ofFile(path()), {}, {}, nullptr }));
    LogCursor cursor = CapsuleBuilder::must(reader->log({})).next;
    QVERIFY(openForWriting(path()));
    QCOMPARE(eventsOf(*reader).size(), std::size_t { kOldEvents });
    change(path(), "INSERT INTO event(source, kind, rank, step, rule) VALUES(1, 'anomaly', 0, 9, 'a rule')");
    const LogPage page = CapsuleBuilder::must(reader->log(cursor));
    QCOMPARE(page.records.size(), std::size_t { 1 });
    QCOMPARE(page.records[0].rule, std::string("a rule"));
}

void LogTest::aDamagedLogHindersNoChangeOfFormat()
{
    placeOld("cpp-finished");
    // A leaf of the table, which no new row is written to: not the last of them.
    const auto page = numberIn(path(),
        "SELECT pgno FROM (SELECT pageno AS pgno FROM dbstat WHERE name = 'event' AND pagetype = 'leaf' ORDER BY path "
        "LIMIT 1)");
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * 8192);
    file << std::string(64, '\xEE');
    file.close();
    const auto opened = openForWriting(path());
    QVERIFY2(opened, opened ? "" : opened.error().sentence().c_str());
    QCOMPARE(numberIn(path(), "PRAGMA user_version"), std::ssize(capsuleFormats()));
    change(path(), "INSERT INTO event(source, kind, rank, step, rule) VALUES(1, 'anomaly', 0, 9, 'a rule')");
    auto reader = CapsuleBuilder::must(openReader({ RunLocator::ofFile(path()), {}, {}, nullptr }));
    static_cast<void>(reader->log({}));
    const auto damage = CapsuleBuilder::must(reader->catalog())->damage;
    QCOMPARE(damage, std::vector<std::string> { "the list of events cannot be read completely" });
}

void LogTest::aPowerCutLeavesARunOfOneFormatOrTheOther_data()
{
    aRunOfTheFirstFormatIsReadAndThenContinued_data();
}

void LogTest::aPowerCutLeavesARunOfOneFormatOrTheOther()
{
    QFETCH(QString, name);
    placeOld(name.toStdString());
    const std::string kept = m_dir->filePath(QStringLiteral("kept")).toStdString();
    fs::create_directory(kept);
    for (const auto& entry : fs::directory_iterator(m_dir->path().toStdString())) {
        if (entry.is_regular_file() && !entry.path().string().ends_with("-shm"))
            fs::copy_file(entry.path(), kept / entry.path().filename());
    }
    int older = 0;
    int newer = 0;
    for (int changes = 1, isOver = 0; isOver == 0; ++changes) {
        for (unsigned seed = 0; seed < 2; ++seed) {
            for (const char* part : { "", "-wal", "-shm", "-journal" })
                fs::remove(path() + part);
            for (const auto& entry : fs::directory_iterator(kept))
                fs::copy_file(entry.path(), fs::path(path()).parent_path() / entry.path().filename());
            {
                PowerCut cut(changes, seed + 10 * static_cast<unsigned>(changes));
                const bool isOpened = openForWriting(path()).has_value();
                isOver = cut.hasCome() ? 0 : 1;
                QVERIFY(isOpened || cut.hasCome());
                cut.leave();
            }
            fs::remove(path() + "-shm");
            const auto where = QStringLiteral("cut %1, %2").arg(changes).arg(seed).toLatin1();
            QVERIFY2(eventsOf(path()).size() == kOldEvents, where);
            QCOMPARE(numberIn(path(), "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
            const auto version = numberIn(path(), "PRAGMA user_version");
            ++(version == 1 ? older : newer);
            {
                const PowerCut never(std::numeric_limits<int>::max(), 0);
                QVERIFY2(openForWriting(path()), where);
            }
            QCOMPARE(numberIn(path(), "PRAGMA user_version"), std::ssize(capsuleFormats()));
            QCOMPARE(eventsOf(path(), { "gap", {}, {} }).size(), std::size_t { kOldEvents / 2 });
        }
    }
    QVERIFY2(older > 10 && newer > 0, qPrintable(QStringLiteral("%1 older, %2 newer").arg(older).arg(newer)));
}

void LogTest::everyColumnComesBack()
{
    Event event { "config", Step { 5 }, 7, "a sentence", "{}" };
    event.rule = "a rule";
    event.phase = "a phase";
    event.cause = "a cause";
    event.lastStep = Step { 8 };
    event.rev = 13;
    event.author = "ada";
    event.ref = 99;
    write({ event, { "log", Step { 6 }, 8, "plain", "" } });
    const auto records = eventsOf(path());
    const LogRecord& full = records.at(0);
    QVERIFY(full.rule == "a rule" && full.phase == "a phase" && full.cause == "a cause" && full.author == "ada");
    QVERIFY(full.rev == 13 && full.steps == (StepRange { Step { 5 }, Step { 8 } }) && full.id == 1);
    QCOMPARE(records.size(), std::size_t { 2 });
    QCOMPARE(numberIn(path(),
                 "SELECT count(*) FROM event WHERE id = 2 AND coalesce(ref, last_step, rule, phase, cause, rev, "
                 "author) IS NULL"),
        1);
}

void LogTest::changesAreFoldedIntoTheFirst()
{
    Event ended = incident("it is over", 1);
    ended.lastStep = Step { 120 };
    ended.phase = "ended";
    Event acknowledged = incident("", 1);
    acknowledged.author = "ada";
    acknowledged.rev = 3;
    write({ incident("it began"), incident("another"), ended, acknowledged });
    const auto records = eventsOf(path());
    QCOMPARE(records.size(), std::size_t { 2 });
    const LogRecord& first = records[0];
    QVERIFY(first.isChanged && first.id == 1 && first.wallNs == 7);
    QVERIFY(first.text == "it is over" && first.phase == "ended" && first.author == "ada" && first.rev == 3);
    QVERIFY(first.steps == (StepRange { Step { 100 }, Step { 120 } }));
    QVERIFY(records[1].text == "another" && !records[1].isChanged);
}

void LogTest::aGapHasNothingOfTheEventBefore()
{
    CapsuleBuilder builder(path());
    const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
    Event incident { "anomaly", Step { 3 }, 9, "it grows", {} };
    incident.lastStep = Step { 7 };
    incident.rule = "growth";
    incident.phase = "warning";
    builder.stage(stream, {}, {}, { incident });
    builder.commit();
    CapsuleBuilder::must(builder.writer().book().skipTo(stream, 10));
    const auto events = eventsOf(builder.liveHandle().locator.text());
    QCOMPARE(events.size(), std::size_t { 2 });
    QCOMPARE(events[1].kind, std::string("gap"));
    QVERIFY(events[1].rule.empty() && events[1].phase.empty() && events[1].steps.count() == 1);
}

void LogTest::aChangeOfAChangeIsOneOfTheFirst()
{
    write({ incident("1"), incident("2", 1), incident("3", 2), incident("4", 3) });
    QCOMPARE(numberIn(path(), "SELECT count(*) FROM event WHERE ref = 1"), 3);
    const auto records = eventsOf(path());
    QCOMPARE(records.size(), std::size_t { 1 });
    QCOMPARE(records[0].text, std::string("4"));
}

void LogTest::aChangeInALaterPageComesWithAllThatWasSaid()
{
    CapsuleBuilder builder(path());
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    std::vector<Event> events { incident("it began") };
    for (int i = 0; i < 20; ++i)
        events.push_back(incident("another"));
    events[0].cause = "a cause";
    builder.stage(stream, {}, {}, events);
    builder.commit();
    auto reader = CapsuleBuilder::must(openReader(builder.liveHandle()));
    LogPage page = CapsuleBuilder::must(reader->log({}, {}, 8));
    QVERIFY(!page.records[0].isChanged);
    Event ended = incident("", 1);
    ended.phase = "ended";
    builder.stage(stream, {}, {}, { incident("new"), ended, incident("newer") });
    builder.commit();
    std::vector<std::string> told;
    while (!page.isLast) {
        page = CapsuleBuilder::must(reader->log(page.next, {}, 8));
        for (const LogRecord& record : page.records)
            told.push_back(record.text + record.phase + record.cause);
    }
    QCOMPARE(told.size(), std::size_t { 21 - 8 + 3 });
    QCOMPARE(told[14], std::string("it beganendeda cause"));
    // As it is now, whatever page it stands in.
    QCOMPARE(CapsuleBuilder::must(reader->log({}, {}, 8)).records[0].phase, std::string("ended"));
    builder.finish();
}

void LogTest::whatLastsIsFoundInEveryRangeThatItTouches()
{
    Event ended = incident("", 1);
    ended.lastStep = Step { 120 };
    Event shorter = incident("", 5);
    shorter.lastStep = Step { 110 };
    Event longer = incident("", 5);
    longer.lastStep = Step { 150 };
    Event other = incident("of another step", 0, 130);
    write({ incident("it began"), other, ended, incident("acknowledged", 1), incident("second"), longer, shorter });
    const auto found = [this](std::int64_t first, std::int64_t last) {
        std::string all;
        for (const LogRecord& record : eventsOf(path(), { {}, {}, StepRange { Step { first }, Step { last } } }))
            all += record.text + ' ' + std::to_string(record.steps.last.value) + ';';
        return all;
    };
    QCOMPARE(found(0, 99), std::string());
    QCOMPARE(found(0, 100), std::string("acknowledged 120;second 110;"));
    QCOMPARE(found(105, 107), std::string("acknowledged 120;second 110;"));
    QCOMPARE(found(120, 129), std::string("acknowledged 120;"));
    QCOMPARE(found(115, 130), std::string("of another step 130;acknowledged 120;"));
    QCOMPARE(found(140, 200), std::string()); // it was taken back that it lasted so long
}

void LogTest::whatNothingOfItsKindIsThereForStandsForItself_data()
{
    QTest::addColumn<QString>("sql");
    QTest::newRow("no such record") << "UPDATE event SET ref = 999, id = 1000 WHERE id = 2";
    QTest::newRow("one that is gone")
        << "DELETE FROM event WHERE id = 1; INSERT INTO event(id, source, kind, rank, "
           "step, wall_ns, text, json) VALUES(500, 1, 'anomaly', 0, 100, 7, 'it began', '')";
    QTest::newRow("a later one") << "UPDATE event SET ref = 3 WHERE id = 2; UPDATE event SET ref = NULL WHERE id = 3; "
                                    "DELETE FROM event WHERE id = 1";
    QTest::newRow("itself") << "UPDATE event SET ref = 2 WHERE id = 2";
    QTest::newRow("a circle") << "UPDATE event SET ref = 2 WHERE id = 1; UPDATE event SET kind = 'x' WHERE id = 2";
    QTest::newRow("less than none") << "UPDATE event SET ref = -1 WHERE id = 2";
    QTest::newRow("of another kind") << "UPDATE event SET kind = 'log' WHERE id = 2";
    QTest::newRow("of another rank") << "UPDATE event SET rank = 1 WHERE id = 2";
    QTest::newRow("of another step") << "UPDATE event SET step = 101 WHERE id = 2";
}

void LogTest::whatNothingOfItsKindIsThereForStandsForItself()
{
    QFETCH(QString, sql);
    write({ incident("it began"), incident("it ended", 1), incident("another") });
    QCOMPARE(eventsOf(path()).size(), std::size_t { 2 });
    change(path(), sql.toStdString());
    const auto stored = numberIn(path(), "SELECT count(*) FROM event");
    const auto records = eventsOf(path());
    std::size_t bad = sql.contains(QStringLiteral("-1")) ? 1 : 0; // is no number of a record
    QCOMPARE(records.size() + bad, static_cast<std::size_t>(stored));
    for (const LogRecord& record : records)
        QVERIFY(!record.isChanged);
}

void LogTest::aForeignLogIsReadToItsEnd_data()
{
    QTest::addColumn<QString>("sql");
    QTest::addColumn<int>("left");
    for (const char* value : { "'x'", "1.5", "x'00ff'", "-9223372036854775808" })
        QTest::addRow("ref %s", value)
            << QStringLiteral("UPDATE event SET ref = %1 WHERE id = 3").arg(QLatin1String(value)) << 3;
    for (const char* value : { "'x'", "99", "9223372036854775807" })
        QTest::addRow("last_step %s", value)
            << QStringLiteral("UPDATE event SET last_step = %1 WHERE id = 3").arg(QLatin1String(value)) << 3;
    QTest::newRow("rev") << "UPDATE event SET rev = -1 WHERE id = 3" << 3;
    QTest::newRow("rule") << "UPDATE event SET rule = x'00ff', phase = 3, author = 1.5 WHERE id = 3" << 4;
    // As many changes of changes as there are records, each of which the one before.
    QTest::newRow("a chain") << "WITH RECURSIVE n(i) AS (VALUES(5) UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
                                "INSERT INTO event(id, source, kind, rank, step, wall_ns, ref) SELECT i, 1, 'anomaly', "
                                "0, 100, 7, i - 1 FROM n"
                             << 29999; // the first two are one
    QTest::newRow("a circle of all") << "UPDATE event SET ref = id % 4 + 1" << 3; // 2 to 1, and none to a later one
}

void LogTest::aForeignLogIsReadToItsEnd()
{
    QFETCH(QString, sql);
    QFETCH(int, left);
    write({ incident("1"), incident("2"), incident("3"), incident("4") });
    change(path(), sql.toStdString());
    auto reader = CapsuleBuilder::must(openReader({ RunLocator::ofFile(path()), {}, {}, nullptr }));
    std::size_t found = 0;
    for (LogPage page { {}, {}, false }; !page.isLast; found += page.records.size())
        page = CapsuleBuilder::must(reader->log(page.next));
    QCOMPARE(static_cast<int>(found), left);
    QCOMPARE(eventsOf(path(), { {}, {}, StepRange { Step { 0 }, Step { 50 } } }).size(), std::size_t { 0 });
}

void LogTest::everyFilterHasItsIndex_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<bool>("isOfRank");
    QTest::addColumn<bool>("isOfSteps");
    QTest::addColumn<QStringList>("plan");
    const QString steps = QStringLiteral("event_steps (last_step");
    QTest::newRow("cursor") << QString() << false << false << QStringList { QStringLiteral("PRIMARY KEY (rowid>?)") };
    QTest::newRow("kind") << QStringLiteral("gap") << false << false
                          << QStringList { QStringLiteral("event_kind (kind=? AND rowid>?)") };
    QTest::newRow("rank") << QString() << true << false
                          << QStringList { QStringLiteral("event_rank (rank=? AND rowid>?)") };
    QTest::newRow("steps") << QString() << false << true << QStringList { steps, QStringLiteral("(rowid=?)") };
    QTest::newRow("all") << QStringLiteral("gap") << true << true << QStringList { steps, QStringLiteral("rowid=?)") };
}

void LogTest::everyFilterHasItsIndex()
{
    QFETCH(QString, kind);
    QFETCH(bool, isOfRank);
    QFETCH(bool, isOfSteps);
    QFETCH(QStringList, plan);
    write({ incident("1") });
    LogFilter filter { kind.toStdString(), {}, {} };
    if (isOfRank)
        filter.rank = Rank { 0 };
    if (isOfSteps)
        filter.steps = StepRange { Step { 1 }, Step { 2 } };
    const auto db = CapsuleBuilder::must(openForReading(path()));
    QString found;
    CapsuleBuilder::must(forEachRow(db.get(), "EXPLAIN QUERY PLAN " + eventsQuery(filter),
        [&found](const Statement& row) { found += QString::fromStdString(std::string(row.text(3))) + u'\n'; }));
    for (const QString& part : plan)
        QVERIFY2(found.contains(part), qPrintable(found));
    QVERIFY2(!found.contains(QStringLiteral("SCAN")) && !found.contains(QStringLiteral("ORDER BY")), qPrintable(found));
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, LogTest)

}

#include "logtest.moc"
