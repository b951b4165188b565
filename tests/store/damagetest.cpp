// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <tuple>

#include <QFile>
#include <QTemporaryDir>

#include <sqlite3.h>

#include <telltale/core/bytes.h>
#include <telltale/store/archive.h>
#include <telltale/store/runreader.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/tailreplay.h>

#include "capsulebuilder.h"

namespace damagetest {

using namespace telltale;
using namespace telltale::store;
using namespace telltale::test;

namespace {

using Key = std::tuple<Kind, std::string, std::int64_t, Stat>; ///< kind, name and slot, source, statistic
using Values = std::map<std::int64_t, std::pair<std::uint64_t, series::CellState>>; ///< bits and state by step

/// All that reading a capsule gives, by whatever way.
struct Picture {
    std::string error; ///< it does not open
    std::map<std::int64_t, std::string> ranks; ///< what is said of each source
    std::map<Key, Values> values;
    std::vector<std::string> reports; ///< what is said of damage
};

std::uint64_t bitsOf(double value)
{
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return std::isnan(value) ? 1 : bits;
}

void drawSome(RunReader& reader, const Catalog& catalog)
{
    series::HeatQuery heat;
    heat.range = { Step { -10 }, Step { 1200 } };
    heat.pixels = 40;
    std::vector<series::RowAttempts> rows;
    for (const SeriesInfo& series : catalog.series)
        heat.rows.push_back({ series.id });
    for (const Stat stat : { Stat::Norm, Stat::AbsMax, Stat::Value }) {
        heat.stat = stat;
        static_cast<void>(reader.heatmap(heat));
        static_cast<void>(reader.column(Step { 300 }, stat, heat.rows, true));
    }
    static_cast<void>(reader.blob("structure", {}, Step { 2000 }));
}

std::string textOf(const SourceInfo& source)
{
    std::string text = source.agentId + '|' + source.host + '|' + source.device + '|' + source.framework;
    for (const std::int64_t number :
        { std::int64_t { source.rank.value }, std::int64_t { source.attempt }, source.pid, std::int64_t { source.dp },
            std::int64_t { source.tp }, std::int64_t { source.pp }, std::int64_t { source.ep }, source.firstStep.value,
            source.lastStep.value, static_cast<std::int64_t>(source.state) })
        text += '|' + std::to_string(number);
    return text;
}

Picture readAll(const std::string& path)
{
    Picture picture;
    const RunSummary summary = describeRun(RunLocator::ofFile(path));
    if (summary.state == RunState::Damaged)
        picture.reports.push_back(summary.note);
    auto reader = openReader({ RunLocator::ofFile(path), {}, {}, nullptr });
    if (!reader) {
        picture.error = reader.error().sentence();
        return picture;
    }
    auto catalog = (*reader)->catalog();
    if (!catalog) {
        picture.error = catalog.error().sentence();
        return picture;
    }
    for (const SourceInfo& source : (*catalog)->sources)
        picture.ranks[source.id.value] = textOf(source);
    std::map<GroupId, const GroupInfo*> groups;
    for (const GroupInfo& group : (*catalog)->groups)
        groups[group.id] = &group;
    drawSome(**reader, **catalog);
    for (const SeriesInfo& series : (*catalog)->series) {
        for (const Stat stat : groups.at(series.group)->stats) {
            Values& values = picture.values[{
                series.kind, series.desc->name + ':' + series.desc->slot.text(), series.source.value, stat }];
            const auto done = (*reader)->raw({ series.id }, stat, { Step { -kFarthestStep }, Step { kFarthestStep } },
                [&](const series::RawValue& value) {
                    if (value.state == series::CellState::Damaged)
                        picture.reports.emplace_back("a damaged step");
                    else
                        values[value.step.value] = { bitsOf(value.value), value.state };
                    return true;
                });
            if (!done)
                picture.reports.push_back(done.error().sentence());
        }
    }
    if (catalog = (*reader)->catalog(); catalog)
        picture.reports.insert(picture.reports.end(), (*catalog)->damage.begin(), (*catalog)->damage.end());
    const auto verified = verifyRun(RunLocator::ofFile(path));
    if (!verified)
        picture.reports.push_back(verified.error().sentence());
    else
        picture.reports.insert(picture.reports.end(), verified->problems.begin(), verified->problems.end());
    return picture;
}

/// Why the damaged reading is a lie; empty when all is equal, or said to be damaged or absent.
std::string lieOf(const Picture& whole, const Picture& damaged)
{
    for (const std::string& report : damaged.reports) {
        if (report.empty())
            return "a report without a word";
    }
    if (!damaged.error.empty())
        return {};
    for (const auto& [key, values] : damaged.values) {
        const auto original = whole.values.find(key);
        for (const auto& [step, value] : values) {
            const auto name = std::get<std::string>(key) + ' ' + std::string(statName(std::get<Stat>(key)));
            if (original == whole.values.end())
                return "there was no " + name;
            const auto was = original->second.find(step);
            if (was == original->second.end() || was->second != value)
                return name + " has another value at step " + std::to_string(step);
        }
    }
    if (damaged.reports.empty() && damaged.ranks != whole.ranks)
        return "something else is said of a rank";
    return damaged.reports.empty() && damaged.values != whole.values ? "values are gone without a word" : std::string();
}

}

class DamageTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void aLaneOutsideItsGroupIsLeftOut();
    void aRowThatContradictsItsLayoutIsLeftOut();
    void aTailRowThatFitsNothingIsToldOnceAndNotUnpacked();
    void columnsFarApartAreNoGap();
    void damagedFilesSayTheTruthOrThatTheyCannot_data();
    void damagedFilesSayTheTruthOrThatTheyCannot();
    void hostileRowsSayTheTruthOrThatTheyCannot_data();
    void hostileRowsSayTheTruthOrThatTheyCannot();

    void everyChangeOfARankOrATileIsTold_data();
    void everyChangeOfARankOrATileIsTold();
    void aChangedRankStaysKnownWhenItsRunGoesOn();

private:
    /// The run of a killed server with one more tail row, of blocks of zeros that each name a column and how many
    /// series they are of.
    std::string withTail(const std::vector<std::pair<std::int64_t, std::uint32_t>>& blocks);
    void build(const std::string& path, bool isClosed);
    std::string fresh(bool isClosed);
    static void change(const std::string& path, const std::string& sql)
    {
        const auto db = CapsuleBuilder::must(openDatabase(path, OpenMode::Write));
        sqlite3_db_config(db.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); // a live run keeps its log
        static_cast<void>(execute(db.get(), sql.c_str())); // what the schema's own rules forbid does not happen
    }
    int trials() const
    {
        const int wanted = qEnvironmentVariableIntValue("TELLTALE_DAMAGED_CAPSULES");
        return wanted > 0 ? wanted : 80;
    }

    QTemporaryDir m_dir;
    QByteArray m_file[2];
    QByteArray m_log;
    Picture m_whole;
};

void DamageTest::build(const std::string& path, bool isClosed)
{
    CapsuleBuilder builder(path);
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto stream = builder.addAttempt(Rank { 0 }, attempt);
        const auto weights = builder.addLayout(Kind::ParamOrigin,
            { Stat::Norm, Stat::Min, Stat::Max, Stat::Nans, Stat::PosInfs, Stat::NegInfs },
            { "a.weight", "a.bias", "b.weight" });
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss", "lr" });
        std::vector<StepBlock> blocks;
        for (int step = 0; step < 1100; ++step) {
            const auto value = [&](int series, int stat) {
                return static_cast<float>(step * 8 + series * 3 + stat + attempt * 100'000) / 3;
            };
            StepBlock block;
            block.layout = weights;
            block.step = Step { step };
            for (const Stat stat : weights->stats) {
                const auto number = static_cast<int>(stat);
                if (isNonFiniteCount(stat))
                    block.columns.push_back({ stat,
                        std::vector<std::uint64_t> { step % 97 == number ? 5u : 0u, 0u, step == 700 ? 1u : 0u } });
                else
                    block.columns.push_back(
                        { stat, std::vector<float> { value(0, number), value(1, number), value(2, number) } });
            }
            StepBlock scalar;
            scalar.layout = scalars;
            scalar.step = Step { step };
            scalar.columns.push_back({ Stat::Value, std::vector<double> { step / 7.0, step == 9 ? NAN : 0.1 } });
            blocks.push_back(std::move(block));
            blocks.push_back(std::move(scalar));
        }
        builder.stage(stream, std::move(blocks),
            { Drop { 2, Step { 2000 }, Step { 2010 }, 11, 0, "the ring was full" } },
            { Event { "log", Step { 20 }, 5, "hello", "{}" } },
            { Blob { "doc" + std::to_string(attempt), 0, 1, "structure", "model", Step { 5 }, "{\"a\":1}" } });
        builder.commit();
    }
    if (isClosed) {
        builder.finish();
    } else {
        QFile file(QString::fromStdString(path));
        QFile log(QString::fromStdString(path + "-wal"));
        QVERIFY(file.open(QIODevice::ReadOnly) && log.open(QIODevice::ReadOnly));
        m_file[0] = file.readAll();
        m_log = log.readAll();
        builder.crash();
        return;
    }
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::ReadOnly));
    m_file[1] = file.readAll();
}

void DamageTest::initTestCase()
{
    QVERIFY(m_dir.isValid());
    build(m_dir.filePath(QStringLiteral("closed.telltale")).toStdString(), true);
    build(m_dir.filePath(QStringLiteral("open.telltale")).toStdString(), false);
    m_whole = readAll(fresh(true));
    QVERIFY2(m_whole.error.empty(), m_whole.error.c_str());
    QVERIFY2(m_whole.reports.empty(), m_whole.reports.empty() ? "" : m_whole.reports.front().c_str());
    QCOMPARE(m_whole.values.size(), std::size_t { 2 * (3 * 6 + 2) });
    QCOMPARE(m_whole.values.begin()->second.size(), std::size_t { 1100 });
    QCOMPARE(lieOf(m_whole, readAll(fresh(false))), std::string());
}

std::string DamageTest::fresh(bool isClosed)
{
    const QString path = m_dir.filePath(QStringLiteral("damaged.telltale"));
    for (const char* side : { "", "-wal", "-shm", "-journal" })
        QFile::remove(path + QLatin1String(side));
    for (const auto& [side, bytes] :
        { std::pair { "", m_file[isClosed ? 1 : 0] }, std::pair { "-wal", isClosed ? QByteArray() : m_log } }) {
        QFile file(path + QLatin1String(side));
        if (!bytes.isEmpty() && file.open(QIODevice::WriteOnly))
            file.write(bytes);
    }
    return path.toStdString();
}

void DamageTest::aLaneOutsideItsGroupIsLeftOut()
{
    for (const char* lane : { "-15", "-1", "3", "127", "4294967297", "'two'", "NULL", "1" }) {
        const std::string path = fresh(true);
        change(path, std::string("UPDATE series SET lane=") + lane + " WHERE id=1");
        const Picture picture = readAll(path);
        QVERIFY2(picture.error.empty(), picture.error.c_str());
        QVERIFY2(!picture.reports.empty() && picture.reports.front().find("list of series") != std::string::npos, lane);
        QCOMPARE(picture.values.size(), m_whole.values.size() - 6);
        QCOMPARE(lieOf(m_whole, picture), std::string());
    }
}

void DamageTest::aRowThatContradictsItsLayoutIsLeftOut()
{
    const std::string path = fresh(true);
    change(path,
        "UPDATE series SET lane = 5 - lane WHERE id IN (2, 3); UPDATE series SET lane = 3 - lane WHERE id IN (2, 3)");
    change(path, "UPDATE series SET name='b.weight' WHERE id=1; UPDATE series SET name='a.weight' WHERE id=3");
    const Picture picture = readAll(path);
    QCOMPARE(lieOf(m_whole, picture), std::string());
    QVERIFY(!picture.reports.empty());
}

std::string DamageTest::withTail(const std::vector<std::pair<std::int64_t, std::uint32_t>>& blocks)
{
    constexpr std::uint8_t kStats = 6; // of the weights
    std::string data;
    putLe(data, std::uint8_t { 1 });
    putLe(data, static_cast<std::uint32_t>(blocks.size()));
    for (const auto& [column, series] : blocks) {
        putLe(data, std::uint32_t { 1 }); // the weights' layout
        putLe(data, column);
        putLe(data, std::int64_t { 5000 }); // step
        putLe(data, std::int64_t { 0 });
        putLe(data, series);
        putLe(data, kStats);
        putLe(data, std::uint8_t { 0 }); // all are present
        for (const Stat stat : { Stat::Norm, Stat::Min, Stat::Max, Stat::Nans, Stat::PosInfs, Stat::NegInfs }) {
            putLe(data, static_cast<std::uint8_t>(stat));
            putLe(data, std::uint8_t { 0 }); // zeros
        }
    }
    std::string path = fresh(false);
    const auto db = CapsuleBuilder::must(openDatabase(path, OpenMode::Write));
    auto row = CapsuleBuilder::must(Statement::prepare(db.get(),
        "INSERT INTO tail(id, stream, crc, data) VALUES ((SELECT max(id) + 1 FROM tail), (SELECT min(stream) FROM "
        "layout), ?1, ?2)"));
    CapsuleBuilder::must(row.bind(1, static_cast<std::int64_t>(crc32c(data))).bindBlob(2, data).run());
    return path;
}

void DamageTest::aTailRowThatFitsNothingIsToldOnceAndNotUnpacked()
{
    // Unpacked, each block is 4 MB of zeros, all of them 200 GB.
    const Picture picture = readAll(withTail(std::vector(50'000, std::pair { std::int64_t { 1100 }, (1u << 20) / 6 })));
    QVERIFY2(picture.error.empty(), picture.error.c_str());
    QCOMPARE(lieOf(m_whole, picture), std::string());
    const auto told = std::count_if(picture.reports.begin(), picture.reports.end(),
        [](const std::string& report) { return report.find("does not fit its layout") != std::string::npos; });
    // By whoever reads, and by whoever verifies.
    QVERIFY2(told == 1 || told == 2, qPrintable(QString::number(told)));
}

void DamageTest::columnsFarApartAreNoGap()
{
    // Nobody would wonder at one of them; where all lead, no memory reaches.
    std::vector<std::pair<std::int64_t, std::uint32_t>> blocks;
    for (std::int64_t column = 60'000; column < 40'000'000; column += 60'000)
        blocks.emplace_back(column, 3);
    const std::string path = withTail(blocks);
    const auto db = CapsuleBuilder::must(openDatabase(path, OpenMode::Read));
    const TailReplay replay = CapsuleBuilder::must(replayTail(db.get()));
    QCOMPARE(replay.damage.size(), std::size_t { 1 });
    QVERIFY2(replay.openTiles().size() < 3000, qPrintable(QString::number(replay.openTiles().size())));
}

void DamageTest::damagedFilesSayTheTruthOrThatTheyCannot_data()
{
    QTest::addColumn<bool>("isClosed");
    QTest::newRow("finished") << true;
    QTest::newRow("killed") << false;
}

void DamageTest::damagedFilesSayTheTruthOrThatTheyCannot()
{
    QFETCH(bool, isClosed);
    int told = 0;
    int refused = 0;
    for (int trial = 0; trial < trials() / 2; ++trial) {
        std::mt19937 random(static_cast<unsigned>(trial));
        const std::string path = fresh(isClosed);
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QByteArray bytes = file.readAll();
        file.close();
        const auto anywhere = [&] { return static_cast<qsizetype>(random() % static_cast<unsigned>(bytes.size())); };
        switch (random() % 4) {
        case 0:
            for (unsigned n = 1 + random() % 8; n > 0; --n) {
                char& byte = bytes[anywhere()];
                byte = static_cast<char>(byte ^ (1 << (random() % 8)));
            }
            break;
        case 1:
            bytes.truncate(anywhere());
            break;
        case 2:
            for (qsizetype at = anywhere(), n = 1 + static_cast<qsizetype>(random() % 512); n > 0 && at < bytes.size();
                 --n)
                bytes[at++] = static_cast<char>(random());
            break;
        default:
            bytes.replace(anywhere() / 8192 * 8192, 8192, QByteArray(8192, random() % 2 == 0 ? '\0' : 'x'));
            break;
        }
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate) && file.write(bytes) == bytes.size());
        file.close();
        const Picture picture = readAll(path);
        const std::string lie = lieOf(m_whole, picture);
        QVERIFY2(lie.empty(), (std::to_string(trial) + ": " + lie).c_str());
        refused += picture.error.empty() ? 0 : 1;
        told += picture.reports.empty() ? 0 : 1;
    }
    qInfo("%d capsules: %d do not open, %d open and say what is damaged", trials() / 2, refused, told);
    QVERIFY(told > 0);
}

void DamageTest::hostileRowsSayTheTruthOrThatTheyCannot_data()
{
    QTest::addColumn<QStringList>("columns");
    const auto db = CapsuleBuilder::must(openDatabase(fresh(true), OpenMode::Read));
    std::vector<std::string> tables;
    CapsuleBuilder::must(forEachRow(db.get(), "SELECT name FROM sqlite_schema WHERE type='table'",
        [&tables](const Statement& row) { tables.emplace_back(row.text(0)); }));
    for (const std::string& table : tables) {
        QStringList names;
        CapsuleBuilder::must(forEachRow(db.get(), "PRAGMA table_info(" + table + ")",
            [&names](const Statement& row) { names << QString::fromStdString(std::string(row.text(1))); }));
        QTest::newRow(table.c_str()) << names;
    }
}

void DamageTest::hostileRowsSayTheTruthOrThatTheyCannot()
{
    QFETCH(QStringList, columns);
    const std::string table = QTest::currentDataTag();
    static const std::vector<std::string> kValues { "-15", "0", "2147483648", "4294967299", "9223372036854775807",
        "-9223372036854775808", "'text'", "NULL", "x'00ff80'", "1.5", "zeroblob(70000)", "COLUMN + 1", "COLUMN - 256",
        "(SELECT COLUMN FROM TABLE ORDER BY random() LIMIT 1)" };
    const auto count = static_cast<std::size_t>(std::max(1, trials() / 80));
    for (const QString& name : columns) {
        const std::string column = name.toStdString();
        for (std::size_t v = 0; v < kValues.size() * count; ++v) {
            // A few of them in the ordinary run.
            if (trials() <= 80 && (v + column.size() + table.size()) % 16 != 0)
                continue;
            std::string value = kValues[v % kValues.size()];
            for (const auto& [word, text] : { std::pair { std::string("COLUMN"), column }, { "TABLE", table } }) {
                if (const auto at = value.find(word); at != std::string::npos)
                    value.replace(at, word.size(), text);
            }
            const std::string path = fresh(v % 2 == 0);
            const std::string rows = v % 3 == 0 ? ""
                : v % 3 == 1                    ? " WHERE (abs(random()) % 3) = 0"
                                                : " WHERE rowid = (SELECT rowid FROM " + table + " LIMIT 1)";
            const std::string sql = "UPDATE OR IGNORE " + table + " SET " + column + " = " + value
                + (table == "meta" && v % 3 == 2 ? "" : rows);
            change(path, sql);
            const std::string lie = lieOf(m_whole, readAll(path));
            // A rank, an attempt or a name of the run has no second witness in this format, and no values.
            QVERIFY2(lie.empty(), (sql + ": " + lie).c_str());
        }
    }
}

/// What a row is found by, and what it says of its blob or rank: no number of them may change without a word.
void DamageTest::everyChangeOfARankOrATileIsTold_data()
{
    QTest::addColumn<QString>("table");
    QTest::addColumn<QString>("column");
    for (const char* column : { "rank", "attempt", "agent_id", "host", "pid", "device", "framework", "dp", "tp", "pp",
             "ep", "first_step", "last_step", "state" })
        QTest::addRow("source.%s", column) << QStringLiteral("source") << QString::fromLatin1(column);
    for (const char* column : { "lvl", "stat", "grp", "c0", "first_step", "last_step" })
        QTest::addRow("tile.%s", column) << QStringLiteral("tile") << QString::fromLatin1(column);
}

void DamageTest::everyChangeOfARankOrATileIsTold()
{
    QFETCH(QString, table);
    QFETCH(QString, column);
    const bool isThorough = trials() > 80;
    for (const bool isClosed : { true, false }) {
        for (const char* value : { "2147483648", "3", "0", "COLUMN + 256", "-256" }) {
            for (const int of : { 0, 1, 2 }) { // all rows, the first, the last
                // The two that once lied, and a few more, in the ordinary run.
                if (!isThorough && (of != (isClosed ? 0 : 1) || qstrcmp(value, "2147483648") != 0))
                    continue;
                const std::string order = of == 1 ? "min" : "max";
                const QString sql
                    = QStringLiteral("UPDATE OR IGNORE %1 SET %2 = %3")
                          .arg(table, column, QString::fromLatin1(value).replace(QStringLiteral("COLUMN"), column))
                    + (of == 0 ? QString()
                               : QString::fromStdString(" WHERE id = (SELECT " + order + "(id) FROM ") + table
                                + QStringLiteral(")"));
                const std::string path = fresh(isClosed);
                change(path, sql.toStdString());
                const std::string lie = lieOf(m_whole, readAll(path));
                QVERIFY2(lie.empty(), qPrintable(sql + QStringLiteral(": ") + QString::fromStdString(lie)));
            }
        }
    }
}

void DamageTest::aChangedRankStaysKnownWhenItsRunGoesOn()
{
    const std::string path = fresh(false);
    change(path, "UPDATE source SET rank = 5 WHERE id = 1");
    {
        LiveRun live;
        const auto writer = CapsuleBuilder::must(CapsuleWriter::open(path, live));
        for (const auto& [id, stream] : writer->streams()) {
            CapsuleBuilder::must(writer->book().resume(id));
            CapsuleBuilder::must(writer->book().leave(id, SourceState::Finished, 0));
        }
    }
    const auto reader = CapsuleBuilder::must(openReader({ RunLocator::ofFile(path), {}, {}, nullptr }));
    const auto catalog = CapsuleBuilder::must(reader->catalog());
    QCOMPARE(catalog->damage.size(), std::size_t { 1 }); // and the other rank is what was written
    QVERIFY2(catalog->damage.front().starts_with("rank 5, attempt 0: "), catalog->damage.front().c_str());
    QCOMPARE(describeRun(RunLocator::ofFile(path)).state, RunState::Damaged);
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, DamageTest)

}

#include "damagetest.moc"
