// SPDX-License-Identifier: GPL-3.0-or-later
// Links its own table of formats in place of the released one: the next format is one that only this test knows.
#include <algorithm>
#include <vector>

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <telltale/store/archive.h>
#include <telltale/store/capsulefile.h>
#include <telltale/store/formats.h>
#include <telltale/store/runfacts.h>
#include <telltale/store/runreader.h>
#include <telltale/store/sqlite.h>

#include "capsulebuilder.h"

using namespace telltale;
using namespace telltale::store;
using namespace telltale::test;

namespace telltale::store {

/// formats.cpp, under another name.
std::span<const CapsuleFormat> releasedFormats();

}

namespace {

constexpr const char* kView = "CREATE TEMP VIEW source AS SELECT *, 'none' AS color FROM main.source";
constexpr const char* kUpgrade = "ALTER TABLE source ADD COLUMN color TEXT DEFAULT 'none'";

/// What this program takes for released: so many formats beginning with the last that is.
std::size_t g_known = 1;
const char* g_upgrade = kUpgrade;

std::vector<TableText> nextTables()
{
    const auto released = releasedFormats().back().tables;
    std::vector<TableText> tables(released.begin(), released.end());
    const auto source
        = std::find_if(tables.begin(), tables.end(), [](const TableText& table) { return table.name == "source"; });
    static std::string text = source->sql;
    text.insert(text.find(", UNIQUE"), ", color TEXT DEFAULT 'none'");
    source->sql = text.c_str();
    return tables;
}

std::int64_t released()
{
    return static_cast<std::int64_t>(releasedFormats().size());
}

std::int64_t numberIn(const std::string& path, const char* sql)
{
    const auto db = CapsuleBuilder::must(openForReading(path));
    return CapsuleBuilder::must(queryInteger(db.get(), sql));
}

}

std::span<const CapsuleFormat> telltale::store::capsuleFormats()
{
    static const std::vector<TableText> tables = nextTables();
    static std::vector<CapsuleFormat> formats;
    const auto released = releasedFormats();
    formats.assign(released.begin(), released.end());
    formats.back().view = kView;
    formats.push_back({ tables, released.back().indexes, g_upgrade });
    return std::span(formats).first(released.size() - 1 + g_known);
}

class FormatTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void anOlderRunIsReadWithoutBeingWritten_data();
    void anOlderRunIsReadWithoutBeingWritten();
    void anOlderRunThatGoesOnIsOfTheNewFormatFirst_data();
    void anOlderRunThatGoesOnIsOfTheNewFormatFirst();
    void aRunOfTheNewFormatIsNewerToAnOlderProgram();
    void anUpgradeThatFailsLeavesTheRunAsItWas_data();
    void anUpgradeThatFailsLeavesTheRunAsItWas();
    void aTableOfAnotherFormatIsForeign();

private:
    std::string path() const { return m_dir->filePath(QStringLiteral("run.telltale")).toStdString(); }
    QByteArray bytes(const char* part = "") const
    {
        QFile file(QString::fromStdString(path() + part));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    void write(bool isClosed);
    /// Steps 1 to `last` are there, each with its number as its norm.
    static void checkValues(RunReader& reader, std::int64_t last);

    std::unique_ptr<QTemporaryDir> m_dir;
    std::shared_ptr<const SeriesLayout> m_layout;
};

void FormatTest::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    g_known = 1;
    g_upgrade = kUpgrade;
}

void FormatTest::write(bool isClosed)
{
    CapsuleBuilder builder(path());
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    m_layout = builder.addLayout(Kind::GradReduced, { Stat::Norm }, { "a.weight", "b.weight" });
    std::vector<StepBlock> blocks;
    for (std::int64_t step = 1; step <= 700; ++step) {
        StepBlock block;
        block.layout = m_layout;
        block.step = Step { step };
        block.columns.push_back({ Stat::Norm, std::vector<float>(2, static_cast<float>(step)) });
        blocks.push_back(std::move(block));
    }
    builder.stage(stream, std::move(blocks));
    builder.commit();
    if (isClosed) {
        builder.finish();
        return;
    }
    // As kill -9 leaves it: the log is there, and nobody took it in.
    const auto log = bytes("-wal");
    const auto file = bytes();
    builder.crash();
    for (const auto& [part, content] : { std::pair { "", file }, std::pair { "-wal", log } }) {
        QFile out(QString::fromStdString(path() + part));
        QVERIFY(!content.isEmpty() && out.open(QIODevice::WriteOnly) && out.write(content) == content.size());
    }
}

void FormatTest::checkValues(RunReader& reader, std::int64_t last)
{
    const auto catalog = CapsuleBuilder::must(reader.catalog());
    QVERIFY2(catalog->damage.empty(), catalog->damage.empty() ? "" : catalog->damage.front().c_str());
    QCOMPARE(catalog->series.size(), std::size_t { 2 });
    QCOMPARE(catalog->sources.front().host, std::string("host"));
    std::int64_t next = 1;
    QVERIFY(reader.raw({ catalog->series.back().id }, Stat::Norm, { Step { 1 }, Step { last } },
        [&next](const series::RawValue& value) {
            const bool isRight = value.step.value == next && value.value == static_cast<double>(next);
            ++next;
            return isRight;
        }));
    QCOMPARE(next, last + 1);
}

void FormatTest::anOlderRunIsReadWithoutBeingWritten_data()
{
    QTest::addColumn<bool>("isClosed");
    QTest::newRow("finished") << true;
    QTest::newRow("killed") << false;
}

void FormatTest::anOlderRunIsReadWithoutBeingWritten()
{
    QFETCH(bool, isClosed);
    write(isClosed);
    const QByteArray file = bytes();
    const QByteArray log = bytes("-wal");
    g_known = 2;
    {
        auto reader = CapsuleBuilder::must(openReader({ RunLocator::ofFile(path()), "abc123", "a test run", nullptr }));
        checkValues(*reader, 700);
    }
    QCOMPARE(describeRun(RunLocator::ofFile(path())).state, isClosed ? RunState::Finished : RunState::Interrupted);
    QVERIFY(CapsuleBuilder::must(verifyRun(RunLocator::ofFile(path()))).problems.empty());
    QCOMPARE(CapsuleBuilder::must(readRunFacts(RunLocator::ofFile(path()))).runKey, std::string("key"));
    QCOMPARE(numberIn(path(), "SELECT count(*) FROM source WHERE color = 'none'"), 1);
    QCOMPARE(numberIn(path(), "PRAGMA user_version"), released());
    QVERIFY(bytes() == file);
    QVERIFY(bytes("-wal") == log);
}

void FormatTest::anOlderRunThatGoesOnIsOfTheNewFormatFirst_data()
{
    anOlderRunIsReadWithoutBeingWritten_data();
}

void FormatTest::anOlderRunThatGoesOnIsOfTheNewFormatFirst()
{
    QFETCH(bool, isClosed);
    write(isClosed);
    g_known = 2;
    LiveRun live;
    {
        auto writer = CapsuleBuilder::must(CapsuleWriter::open(path(), live));
        auto batch = std::make_shared<SampleBatch>();
        batch->seq = 2;
        StepBlock block;
        block.layout = m_layout;
        block.step = Step { 701 };
        block.columns.push_back({ Stat::Norm, std::vector<float>(2, 701) });
        batch->blocks.push_back(std::move(block));
        QCOMPARE(CapsuleBuilder::must(writer->stage(1, std::move(batch))), std::string());
        QVERIFY(writer->commit());
        QVERIFY(writer->finish(RunState::Finished));
        QVERIFY(writer->tidyUp());
    }
    QCOMPARE(numberIn(path(), "PRAGMA user_version"), released() + 1);
    QCOMPARE(numberIn(path(), "SELECT count(*) FROM main.source WHERE color = 'none'"), 1);
    auto reader = CapsuleBuilder::must(openReader({ RunLocator::ofFile(path()), "abc123", "a test run", nullptr }));
    checkValues(*reader, 701);
    QVERIFY(CapsuleBuilder::must(verifyRun(RunLocator::ofFile(path()))).problems.empty());
}

void FormatTest::aRunOfTheNewFormatIsNewerToAnOlderProgram()
{
    g_known = 2;
    write(true);
    QCOMPARE(numberIn(path(), "PRAGMA user_version"), released() + 1);
    g_known = 1;
    const auto reader = openReader({ RunLocator::ofFile(path()), "abc123", "a test run", nullptr });
    QVERIFY(!reader);
    QCOMPARE(reader.error().code, ErrorCode::Newer);
    QVERIFY(!openForWriting(path()));
    QCOMPARE(describeRun(RunLocator::ofFile(path())).state, RunState::Newer);
}

void FormatTest::anUpgradeThatFailsLeavesTheRunAsItWas_data()
{
    QTest::addColumn<QString>("upgrade");
    QTest::newRow("no SQL") << QString::fromLatin1(kUpgrade) + QStringLiteral("; nonsense");
    QTest::newRow("another table") << QStringLiteral("ALTER TABLE source ADD COLUMN color TEXT");
    QTest::newRow("nothing") << QString();
}

void FormatTest::anUpgradeThatFailsLeavesTheRunAsItWas()
{
    QFETCH(QString, upgrade);
    write(true);
    const QByteArray file = bytes();
    const std::string sql = upgrade.toStdString();
    g_known = 2;
    g_upgrade = sql.c_str();
    QVERIFY(!openForWriting(path()));
    QVERIFY(!renameRun(RunLocator::ofFile(path()), "another name"));
    QVERIFY(bytes() == file);
    auto reader = CapsuleBuilder::must(openReader({ RunLocator::ofFile(path()), "abc123", "a test run", nullptr }));
    checkValues(*reader, 700);
}

void FormatTest::aTableOfAnotherFormatIsForeign()
{
    write(true);
    {
        const auto db = CapsuleBuilder::must(openDatabase(path(), OpenMode::Write));
        QVERIFY(execute(db.get(), kUpgrade));
    }
    g_known = 2;
    const auto reader = openReader({ RunLocator::ofFile(path()), "abc123", "a test run", nullptr });
    QVERIFY(!reader);
    QVERIFY2(reader.error().what.find("foreign table \"source\"") != std::string::npos, reader.error().what.c_str());
}

QTEST_GUILESS_MAIN(FormatTest)
#include "formattest.moc"
