// SPDX-License-Identifier: GPL-3.0-or-later
// What the verbs say of runs that are copied, killed or damaged.
#include "testmain.h"

#include <QDir>
#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <telltale/store/archive.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/storeservice.h>

#include "capsulebuilder.h"
#include "demorun.h"
#include "verbcall.h"

namespace hurtrunverbstest {

using namespace telltale;
using namespace telltale::test;

class HurtRunVerbsTest : public QObject, DemoRun {
    Q_OBJECT
private Q_SLOTS:
    void sizeCountsTheLogToo();
    void damagedValuesAreSaidAndExitOne();
    void valuesThatLieElsewhereAreSaidAndExitOne();
    void aListThatCannotBeReadMakesTheRunDamaged();
    void aCopyOfARunIsTheRun_data();
    void aCopyOfARunIsTheRun();
    void aCopyReplacesNeitherARunThatIsOpenNorAFolder();
    void aRunCopiedWithoutItsLogIsNeverWhole();
    void aLossOfNoKnownStepStandsAtNone();
    void theLogSaysWhatAnIncidentHasBecome();
    void aKilledRunIsRenamedAndDeletedWithItsLog();
};

void HurtRunVerbsTest::sizeCountsTheLogToo()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("a_b.telltale")).toStdString();
    QVERIFY(QFile::copy(QString::fromStdString(m_path), QString::fromStdString(path)));
    const auto alone = store::runBytes(store::RunLocator::ofFile(path));
    QFile log(QString::fromStdString(path) + QStringLiteral("-wal"));
    QVERIFY(log.open(QIODevice::WriteOnly));
    log.write(QByteArray(1234, 'x'));
    log.close();
    QCOMPARE(store::runBytes(store::RunLocator::ofFile(path)), alone + 1234);
}

void HurtRunVerbsTest::damagedValuesAreSaidAndExitOne()
{
    QTemporaryDir dir;
    const std::string copy = dir.filePath(QStringLiteral("damaged.telltale")).toStdString();
    QVERIFY(QFile::copy(QString::fromStdString(m_path), QString::fromStdString(copy)));
    {
        const auto db = CapsuleBuilder::must(store::openDatabase(copy, store::OpenMode::Write));
        QVERIFY(store::execute(db.get(),
            "UPDATE tile SET crc=crc+1 WHERE lvl=0 AND stat=1 AND first_step=0 AND grp=(SELECT min(grp) FROM tile)"));
    }
    const Outcome shown = call(app::showVerb, { copy, "--series=fc.weight", "--rank=0" });
    QCOMPARE(shown.code, 1);
    QVERIFY2(shown.err.find("damaged") != std::string::npos, shown.err.c_str());
    QVERIFY(shown.out.find("299") != std::string::npos); // what is readable is there
    const store::RunPart part { { Kind::ParamOrigin }, { Stat::Norm }, Rank { 0 }, { Step { 0 }, Step { 299 } } };
    QCOMPARE(CapsuleBuilder::must(store::lostIn(store::RunLocator::ofFile(copy), part)).size(), std::size_t { 1 });
    QVERIFY(CapsuleBuilder::must(store::lostIn(store::RunLocator::ofFile(m_path), part)).empty());
    store::RunPart other = part;
    other.rank = Rank { 1 };
    QVERIFY(CapsuleBuilder::must(store::lostIn(store::RunLocator::ofFile(copy), other)).empty());
    other = part;
    other.steps = { Step { 280 }, Step { 299 } };
    QVERIFY(CapsuleBuilder::must(store::lostIn(store::RunLocator::ofFile(copy), other)).empty());
}

void HurtRunVerbsTest::valuesThatLieElsewhereAreSaidAndExitOne()
{
    QTemporaryDir dir;
    const std::string copy = dir.filePath(QStringLiteral("moved.telltale")).toStdString();
    QVERIFY(QFile::copy(QString::fromStdString(m_path), QString::fromStdString(copy)));
    {
        const auto db = CapsuleBuilder::must(store::openDatabase(copy, store::OpenMode::Write));
        QVERIFY(store::execute(db.get(), "UPDATE tile SET c0 = c0 + 2147483648 WHERE lvl=0"));
    }
    const Outcome shown = call(app::showVerb, { copy, "--series", "*" });
    QCOMPARE(shown.code, 1);
    QVERIFY2(shown.err.find("does not belong") != std::string::npos, shown.err.c_str());
}

void HurtRunVerbsTest::aListThatCannotBeReadMakesTheRunDamaged()
{
    for (const char* table : { "source", "series", "grp" }) {
        QTemporaryDir dir;
        QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("runs")));
        const QString copy = dir.filePath(QStringLiteral("runs/2026-11-21_demo_abc123.telltale"));
        QVERIFY(QFile::copy(QString::fromStdString(m_path), copy));
        qint64 page = 0;
        {
            const auto db = CapsuleBuilder::must(store::openDatabase(copy.toStdString(), store::OpenMode::Read));
            const std::string sql = std::string("SELECT rootpage FROM sqlite_master WHERE name='") + table + "'";
            page = CapsuleBuilder::must(store::queryInteger(db.get(), sql));
        }
        QFile file(copy);
        QVERIFY(file.open(QIODevice::ReadWrite));
        QVERIFY(file.seek((page - 1) * 8192));
        QCOMPARE(file.write(QByteArray(8192, 'x')), qint64 { 8192 });
        file.close();
        const auto runs = call(app::runsVerb, { "--json", "--data-dir", dir.path().toStdString() }).json();
        QCOMPARE(runs.size(), std::size_t { 1 });
        QCOMPARE(runs[0]["state"].get<std::string>(), std::string("damaged"));
        QVERIFY(!runs[0]["note"].get<std::string>().empty());
        QCOMPARE(runs[0]["name"].get<std::string>(), std::string("a test run")); // what is readable is there
    }
}

void HurtRunVerbsTest::aCopyOfARunIsTheRun_data()
{
    QTest::addColumn<bool>("isLive");
    QTest::newRow("being recorded") << true;
    QTest::newRow("recorder killed") << false;
}

namespace {

/// 300 steps that are all still in the log.
void writeLogged(CapsuleBuilder& builder)
{
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    const auto layout = builder.addLayout(Kind::GradReduced, { Stat::Norm }, { "fc.weight" });
    for (std::int64_t step = 0; step < 300; ++step) {
        StepBlock block;
        block.layout = layout;
        block.step = Step { step };
        block.columns = { { Stat::Norm, std::vector<float> { static_cast<float>(step) / 3 } } };
        builder.stage(stream, { block });
        builder.commit();
    }
}

}

void HurtRunVerbsTest::aCopyOfARunIsTheRun()
{
    QFETCH(bool, isLive);
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("run.telltale")).toStdString();
    CapsuleBuilder builder(path);
    writeLogged(builder);
    if (!isLive)
        builder.crash();
    const auto shown = call(app::showVerb, { path, "--series", "fc.weight", "--json" });
    QCOMPARE(shown.json()["series"][0]["values"].size(), std::size_t { 300 });
    const std::string copy = dir.filePath(QStringLiteral("copy.telltale")).toStdString();
    CapsuleBuilder::must(store::copyRun(store::RunLocator::ofFile(path), copy));
    QCOMPARE(QFile(QString::fromStdString(copy)).permissions() & 0x77, QFile::Permissions {});
    QVERIFY(QDir(dir.path()).mkdir(QStringLiteral("archive")));
    const std::string archive = dir.filePath(QStringLiteral("archive")).toStdString();
    const Outcome imported = call(app::importVerb, { path, "--data-dir", archive, "--json" });
    QVERIFY2(imported.code == 0, imported.err.c_str());
    const std::string kept = imported.json()["capsules"][0]["capsule"];
    for (const std::string& one : { copy, kept }) {
        QVERIFY(!QFile::exists(QString::fromStdString(one) + QStringLiteral("-wal")));
        const auto again = call(app::showVerb, { one, "--series", "fc.weight", "--json" });
        QCOMPARE(again.out, shown.out);
        QCOMPARE(call(app::inspectVerb, { one, "--verify" }).code, 0);
        QCOMPARE(store::describeRun(store::RunLocator::ofFile(one)).state, store::RunState::Interrupted);
    }
    const Outcome here = call(app::importVerb, { copy, "--data-dir", archive });
    QVERIFY2(here.code == 0 && here.out.find("is here already") != std::string::npos, here.out.c_str());
    QCOMPARE(call(app::importVerb, { path, "--again", "--data-dir", archive }).code, 1); // a run of that name is there
    QCOMPARE(call(app::importVerb, { copy, "--again", "--data-dir", archive }).code, 0);
    if (isLive)
        builder.finish();
}

void HurtRunVerbsTest::aCopyReplacesNeitherARunThatIsOpenNorAFolder()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("run.telltale")).toStdString();
    const QString killed = dir.filePath(QStringLiteral("killed.telltale"));
    CapsuleBuilder builder(path);
    writeLogged(builder);
    const auto busy = store::copyRun(store::RunLocator::ofFile(m_path), path);
    QVERIFY(!busy);
    QCOMPARE(busy.error().code, ErrorCode::Busy);
    for (const char* part : { "", "-wal" })
        QVERIFY(QFile::copy(QString::fromStdString(path) + QLatin1String(part), killed + QLatin1String(part)));
    builder.finish();
    QCOMPARE(
        call(app::showVerb, { path, "--series", "fc.weight", "--json" }).json()["series"][0]["values"].size(), 300u);
    // What a killed recorder left may go, with its log.
    CapsuleBuilder::must(store::copyRun(store::RunLocator::ofFile(m_path), killed.toStdString()));
    QCOMPARE(store::describeRun(store::RunLocator::ofFile(killed.toStdString())).ranks, 2);
    QCOMPARE(QDir(dir.path()).entryList({ QStringLiteral("killed*") }, QDir::Files).size(), 1);
    const QString folder = dir.filePath(QStringLiteral("folder.telltale"));
    QVERIFY(QDir().mkdir(folder));
    QVERIFY(!store::copyRun(store::RunLocator::ofFile(m_path), folder.toStdString()));
    QVERIFY(QFileInfo(folder).isDir());
}

void HurtRunVerbsTest::aRunCopiedWithoutItsLogIsNeverWhole()
{
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("run.telltale"));
    const std::string alone = dir.filePath(QStringLiteral("alone.telltale")).toStdString();
    {
        CapsuleBuilder builder(path.toStdString());
        writeLogged(builder);
        builder.crash();
    }
    // What the recorder closed in a hurry has its log, and with it all that was stored.
    QVERIFY(QFileInfo(path + QStringLiteral("-wal")).size() > 0);
    QCOMPARE(call(app::inspectVerb, { path.toStdString(), "--verify" }).err, std::string());
    QVERIFY(QFile::copy(path, QString::fromStdString(alone)));
    const auto says
        = [](const Outcome& outcome) { return outcome.code != 0 && outcome.err.find("-wal") != std::string::npos; };
    const std::string archive = dir.filePath(QStringLiteral("archive")).toStdString();
    QVERIFY(QDir().mkpath(QString::fromStdString(archive)));
    const Outcome imported = call(app::importVerb, { alone, "--data-dir", archive, "--json" });
    QVERIFY2(says(imported), imported.err.c_str());
    const std::string kept = imported.json()["capsules"][0]["capsule"];
    const std::string copy = dir.filePath(QStringLiteral("copy.telltale")).toStdString();
    CapsuleBuilder::must(store::copyRun(store::RunLocator::ofFile(kept), copy));
    for (const std::string& one : { alone, kept, copy }) {
        const Outcome verified = call(app::inspectVerb, { one, "--verify", "--json" });
        QVERIFY2(says(verified), one.c_str());
        QVERIFY(!verified.json()["verify"]["whole"].get<bool>());
        QVERIFY2(says(call(app::inspectVerb, { one })), one.c_str());
        QVERIFY2(says(call(app::showVerb, { one, "--series", "fc.weight" })), one.c_str());
    }
    // The next recorder of the archive ends the run, and the run does not forget.
    {
        const auto db = CapsuleBuilder::must(store::openDatabase(path.toStdString(), store::OpenMode::Write));
        CapsuleBuilder::must(store::execute(db.get(), "PRAGMA wal_checkpoint(PASSIVE)"));
    }
    const std::string adopted = store::runsFolder(archive) + "/adopted.telltale";
    QVERIFY(QFile::copy(path, QString::fromStdString(adopted)));
    store::StoreOptions options;
    options.dataDir = archive;
    CapsuleBuilder::must(store::StoreService::start(options))->stop(5000);
    QCOMPARE(store::describeRun(store::RunLocator::ofFile(adopted)).state, store::RunState::Interrupted);
    QVERIFY(says(call(app::inspectVerb, { adopted, "--verify" })));
}

void HurtRunVerbsTest::aLossOfNoKnownStepStandsAtNone()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("run.telltale")).toStdString();
    CapsuleBuilder builder(path);
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    const StepRange none;
    builder.stage(stream, {},
        { { 2, none.first, none.last, 7, 0, "nobody knows" }, { 2, Step { 3 }, Step { 4 }, 1, 0, "full" } });
    builder.commit();
    builder.finish();
    const Outcome text = call(app::logVerb, { path });
    QVERIFY2(text.out.find("step -         rank 0     drop            7 items were not stored: nobody knows\n")
            != std::string::npos,
        text.out.c_str());
    QVERIFY(text.out.find("1 items of steps 3 to 4 were not stored: full\n") != std::string::npos);
    const auto json = call(app::logVerb, { path, "--json", "--kind", "drop" }).json();
    QCOMPARE(json.size(), std::size_t { 3 }); // and that nobody knows how the process ended
    QVERIFY(json[0]["step"].is_null() && json[2]["step"].is_null());
    QCOMPARE(json[1]["step"].get<int>(), 3);
    QCOMPARE(
        call(app::logVerb, { path, "--json", "--kind", "drop", "--steps", "0:9" }).json().size(), std::size_t { 1 });
}

void HurtRunVerbsTest::theLogSaysWhatAnIncidentHasBecome()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("run.telltale")).toStdString();
    CapsuleBuilder builder(path);
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    Event began { "anomaly", Step { 3 }, 7, "it began", R"({"value": 1})" };
    began.rule = "NaN";
    Event ended { "anomaly", Step { 3 }, 9, "", "" };
    ended.ref = 1;
    ended.lastStep = Step { 5 };
    ended.phase = "ended";
    ended.cause = "layers.1";
    Event config { "config", Step { 4 }, 8, "of nobody's incident", "" };
    config.ref = 1; // which is of another kind
    config.rev = 2;
    config.author = "ada";
    builder.stage(stream, {}, {}, { began, config, ended });
    builder.commit();
    builder.finish();
    const auto log = [&](std::vector<std::string> words) {
        words.insert(words.end(), { path, "--json" });
        auto json = call(app::logVerb, words).json();
        for (auto& record : json)
            record.erase("time");
        return json;
    };
    const auto incident = nlohmann::json::parse(R"({"wall_ns": 7, "step": 3, "last_step": 5, "rank": 0, "id": 1,
        "kind": "anomaly", "text": "it began", "data": {"value": 1}, "rule": "NaN", "phase": "ended",
        "cause": "layers.1"})");
    const auto other = nlohmann::json::parse(R"({"wall_ns": 8, "step": 4, "rank": 0, "id": 2, "ref": 1, "rev": 2,
        "kind": "config", "text": "of nobody's incident", "data": null, "author": "ada"})");
    QCOMPARE(log({ "--kind", "anomaly" }), nlohmann::json::array({ incident }));
    QCOMPARE(log({ "--kind", "config" }), nlohmann::json::array({ other }));
    QCOMPARE(log({ "--steps", "5:9" }), nlohmann::json::array({ incident }));
}

void HurtRunVerbsTest::aKilledRunIsRenamedAndDeletedWithItsLog()
{
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("run.telltale"));
    const QString killed = dir.filePath(QStringLiteral("killed.telltale"));
    CapsuleBuilder builder(path.toStdString());
    writeLogged(builder);
    // As kill -9 leaves it.
    for (const char* part : { "", "-wal" })
        QVERIFY(QFile::copy(path + QLatin1String(part), killed + QLatin1String(part)));
    CapsuleBuilder::must(store::renameRun(store::RunLocator::ofFile(killed.toStdString()), "another name"));
    QCOMPARE(store::describeRun(store::RunLocator::ofFile(killed.toStdString())).name, std::string("another name"));
    QCOMPARE(call(app::showVerb, { killed.toStdString(), "--series", "fc.weight", "--json" })
                 .json()["series"][0]["values"]
                 .size(),
        std::size_t { 300 });
    QFile::remove(killed);
    for (const char* part : { "", "-wal" })
        QVERIFY(QFile::copy(path + QLatin1String(part), killed + QLatin1String(part)));
    CapsuleBuilder::must(store::deleteRun(store::RunLocator::ofFile(killed.toStdString())));
    QCOMPARE(QDir(dir.path()).entryList({ QStringLiteral("killed*") }, QDir::Files).size(), 0);
    // What somebody has open stays.
    const auto busy = store::deleteRun(store::RunLocator::ofFile(path.toStdString()));
    QVERIFY(!busy);
    QCOMPARE(busy.error().code, ErrorCode::Busy);
    QVERIFY(QFile::exists(path));
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, HurtRunVerbsTest)

}

#include "hurtrunverbstest.moc"
