// SPDX-License-Identifier: GPL-3.0-or-later
// The verbs' usage, the list of runs and what inspect says.
#include "testmain.h"

#include <filesystem>
#include <fstream>

#include <QDir>
#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <telltale/store/archive.h>

#include "capsulebuilder.h"
#include "demorun.h"
#include "verbcall.h"

namespace verbstest {

using namespace telltale;
using namespace telltale::test;

class VerbsTest : public QObject, DemoRun {
    Q_OBJECT
private Q_SLOTS:
    void runsListsTheArchive();
    void inspectSaysWhatIsInside();
    void inspectNamesWhatShowTakes();
    void inspectVerifiesAndSaysWhatIsLost();
    void wrongUsageIsOneSentenceAndExitTwo_data();
    void wrongUsageIsOneSentenceAndExitTwo();
    void errorsAreOneDocumentWithJson();
    void whatIsNoCapsuleIsSaidSo();
    void everyListedIdIsFound();
    void configCheckSaysAllThatIsWrongWithItsLine();
    void helpIsNoError();
};

void VerbsTest::runsListsTheArchive()
{
    const Outcome json = call(app::runsVerb, { "--json", "--data-dir", m_dir.path().toStdString() });
    QCOMPARE(json.code, 0);
    const auto document = json.json();
    QVERIFY(document.is_array());
    QCOMPARE(document.size(), std::size_t { 1 });
    const auto& run = document[0];
    QCOMPARE(run["id"].get<std::string>(), std::string("abc123"));
    QCOMPARE(run["name"].get<std::string>(), std::string("a test run"));
    QCOMPARE(run["state"].get<std::string>(), std::string("finished"));
    QCOMPARE(run["ranks"].get<int>(), 2);
    QCOMPARE(run["last_step"].get<int>(), 299);
    QVERIFY(run["size"].get<std::int64_t>() > 0);
    const Outcome text = call(app::runsVerb, { "--data-dir=" + m_dir.path().toStdString() });
    QCOMPARE(text.code, 0);
    QVERIFY(text.out.find("abc123") != std::string::npos && text.out.find("299") != std::string::npos);
}

void VerbsTest::inspectSaysWhatIsInside()
{
    const auto document = call(app::inspectVerb, { m_path, "--json" }).json();
    QCOMPARE(document["series"].get<int>(), 6);
    QCOMPARE(document["ranks"].get<int>(), 2);
    QCOMPARE(document["last_step"].get<int>(), 299);
    QCOMPARE(document["sources"].size(), std::size_t { 2 });
    QCOMPARE(document["kinds"][0]["kind"].get<std::string>(), std::string("scalar"));
    QVERIFY(!document.contains("verify"));
    const Outcome text = call(app::inspectVerb, { m_path });
    QCOMPARE(text.code, 0);
    QVERIFY(text.out.find("param_origin") != std::string::npos);
}

void VerbsTest::inspectNamesWhatShowTakes()
{
    QVERIFY(!call(app::inspectVerb, { m_path, "--json" }).json()["kinds"][0].contains("names"));
    const auto document = call(app::inspectVerb, { m_path, "--names", "--json" }).json();
    std::size_t names = 0;
    for (const auto& kind : document["kinds"]) {
        for (const auto& name : kind["names"]) {
            QCOMPARE(call(app::showVerb, { m_path, "--series", name.get<std::string>() }).code, 0);
            ++names;
        }
    }
    QCOMPARE(names, std::size_t { 3 });
    const Outcome text = call(app::inspectVerb, { m_path, "--names" });
    QVERIFY2(text.out.find("\n    fc.weight\n") != std::string::npos, text.out.c_str());
}

void VerbsTest::inspectVerifiesAndSaysWhatIsLost()
{
    const Outcome whole = call(app::inspectVerb, { m_path, "--verify", "--json" });
    QCOMPARE(whole.code, 0);
    QVERIFY(whole.err.empty());
    QVERIFY(whole.json()["verify"]["whole"].get<bool>());
    QVERIFY(whole.json()["verify"]["blobs"].get<int>() > 0);

    const std::string copy = m_dir.filePath(QStringLiteral("damaged.telltale")).toStdString();
    QVERIFY(QFile::copy(QString::fromStdString(m_path), QString::fromStdString(copy)));
    {
        const auto db = CapsuleBuilder::must(store::openDatabase(copy, store::OpenMode::Write));
        QVERIFY(store::execute(db.get(), "UPDATE tile SET crc=crc+1 WHERE id=(SELECT min(id) FROM tile)"));
    }
    const Outcome damaged = call(app::inspectVerb, { copy, "--verify", "--json" });
    QCOMPARE(damaged.code, 1);
    QVERIFY(damaged.err.rfind("telltale: ", 0) == 0);
    QVERIFY(!damaged.json()["verify"]["whole"].get<bool>());
    QCOMPARE(damaged.json()["verify"]["problems"].size(), std::size_t { 1 });

    // What was found is said by every list of its data directory, until the file is another.
    const QTemporaryDir data;
    const std::string dir = data.path().toStdString();
    const std::string torn = dir + "/runs/2026-11-21_demo_abc123.telltale";
    std::filesystem::create_directories(dir + "/runs");
    std::filesystem::copy_file(copy, torn);
    const auto listed = [&dir] {
        const auto run = call(app::runsVerb, { "--data-dir", dir, "--json" }).json()[0];
        return run["state"].get<std::string>() + run["note"].get<std::string>();
    };
    QCOMPARE(listed(), std::string("finished"));
    QCOMPARE(call(app::inspectVerb, { torn, "--data-dir", dir }).code, 0);
    const Outcome found = call(app::inspectVerb, { torn, "--verify", "--data-dir", dir, "--json" });
    const std::string problem = found.json()["verify"]["problems"][0];
    QCOMPARE(listed(), "damaged" + problem);
    const Outcome later = call(app::inspectVerb, { torn, "--data-dir", dir, "--json" });
    QCOMPARE(later.code, 1);
    QVERIFY2(later.err.find(problem) != std::string::npos, later.err.c_str());
    QCOMPARE(later.json()["state"].get<std::string>(), std::string("damaged"));
    QVERIFY(store::findCopy(dir, copy)); // it is still the same run's copy
    std::filesystem::copy_file(m_path, torn, std::filesystem::copy_options::overwrite_existing);
    QCOMPARE(listed(), std::string("finished"));
}

void VerbsTest::wrongUsageIsOneSentenceAndExitTwo_data()
{
    QTest::addColumn<QStringList>("words");
    QTest::newRow("unknown flag") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--wat") };
    QTest::newRow("no series") << QStringList { QStringLiteral("CAPSULE") };
    QTest::newRow("no capsule") << QStringList { QStringLiteral("--series"), QStringLiteral("loss") };
    QTest::newRow("flag without value") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series") };
    QTest::newRow("unknown series") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series"),
        QStringLiteral("fc") };
    QTest::newRow("unknown stat") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"),
        QStringLiteral("--stat=wat") };
    QTest::newRow("stat of another kind")
        << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"), QStringLiteral("--stat=norm") };
    QTest::newRow("backward steps") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"),
        QStringLiteral("--steps=9:3") };
    QTest::newRow("words for numbers") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"),
        QStringLiteral("--rank=one") };
    QTest::newRow("negative rank") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"),
        QStringLiteral("--rank"), QStringLiteral("-1") };
    QTest::newRow("switch with a value") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("--series=loss"),
        QStringLiteral("--json=3") };
    QTest::newRow("a second capsule") << QStringList { QStringLiteral("CAPSULE"), QStringLiteral("CAPSULE"),
        QStringLiteral("--series=loss") };
    QTest::newRow("nothing at all") << QStringList {};
    QTest::newRow("missing data directory") << QStringList { QStringLiteral("abc"), QStringLiteral("--series=loss"),
        QStringLiteral("--data-dir=/nonexistent") };
    QTest::newRow("a folder") << QStringList { QStringLiteral("/"), QStringLiteral("--series=loss") };
    QTest::newRow("missing file") << QStringList { QStringLiteral("/nonexistent/x.telltale"),
        QStringLiteral("--series=loss") };
}

void VerbsTest::wrongUsageIsOneSentenceAndExitTwo()
{
    QFETCH(QStringList, words);
    std::vector<std::string> args;
    for (const QString& word : words)
        args.push_back(word == QLatin1String("CAPSULE") ? m_path : word.toStdString());
    const Outcome outcome = call(app::showVerb, args);
    QCOMPARE(outcome.code, 2);
    QVERIFY(outcome.out.empty());
    QVERIFY(outcome.err.rfind("telltale: ", 0) == 0);
    QCOMPARE(std::count(outcome.err.begin(), outcome.err.end(), '\n'), std::ptrdiff_t { 1 });
}

void VerbsTest::errorsAreOneDocumentWithJson()
{
    const std::vector<std::pair<Verb, std::vector<std::string>>> calls {
        { app::showVerb, { m_path, "--series=nope", "--json" } },
        { app::inspectVerb, { "/nonexistent.telltale", "--json" } },
        { app::runsVerb, { "--json", "--data-dir=/nonexistent" } },
        { app::importVerb, { "/nonexistent", "--json" } },
        { app::inspectVerb, { "--json" } },
    };
    for (const auto& [verb, words] : calls) {
        const Outcome outcome = call(verb, words);
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.json().is_object() && outcome.json().contains("error"), outcome.out.c_str());
        QCOMPARE("telltale: " + outcome.json()["error"].get<std::string>() + "\n", outcome.err);
    }
}

void VerbsTest::whatIsNoCapsuleIsSaidSo()
{
    QTemporaryDir dir;
    QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("runs")));
    const auto make = [&dir](const char* name, const QByteArray& bytes) {
        QFile file(dir.filePath(QStringLiteral("runs/") + QLatin1String(name)));
        if (file.open(QIODevice::WriteOnly))
            file.write(bytes);
        return file.fileName().toStdString();
    };
    const Outcome empty = call(app::inspectVerb, { make("empty.telltale", {}) });
    QCOMPARE(empty.code, 1);
    QVERIFY2(empty.err.find("is empty") != std::string::npos, empty.err.c_str());
    const Outcome junk = call(app::inspectVerb, { make("junk.telltale", QByteArray(5000, 'j')) });
    QCOMPARE(junk.code, 1);
    QVERIFY2(junk.err.find("not a Telltale run") != std::string::npos, junk.err.c_str());
    const Outcome folder = call(app::inspectVerb, { dir.path().toStdString() });
    QCOMPARE(folder.code, 2);
    QVERIFY2(folder.err.find("is a folder") != std::string::npos, folder.err.c_str());
    const Outcome listed = call(app::runsVerb, { "--data-dir", dir.path().toStdString() });
    QCOMPARE(listed.code, 0);
    QVERIFY2(listed.out.find("damaged          0          -") != std::string::npos, listed.out.c_str());
}

void VerbsTest::everyListedIdIsFound()
{
    QTemporaryDir dir;
    QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("runs")));
    for (const char* name : { "renamed.telltale", "2026-11-21_demo_abc123.telltale", "another copy.telltale" })
        QVERIFY(
            QFile::copy(QString::fromStdString(m_path), dir.filePath(QStringLiteral("runs/") + QLatin1String(name))));
    const std::string dataDir = dir.path().toStdString();
    const auto runs = call(app::runsVerb, { "--json", "--data-dir", dataDir }).json();
    QCOMPARE(runs.size(), std::size_t { 3 });
    for (const auto& run : runs) {
        const auto id = run["id"].get<std::string>();
        const auto inspected = call(app::inspectVerb, { id, "--json", "--data-dir", dataDir }).json();
        QCOMPARE(inspected["path"].get<std::string>(), run["path"].get<std::string>());
        if (id == "abc123")
            QVERIFY(run["path"].get<std::string>().ends_with("_abc123.telltale"));
    }
}

void VerbsTest::configCheckSaysAllThatIsWrongWithItsLine()
{
    QTemporaryDir folder;
    const auto write = [&](const char* name, const char* text) {
        const std::string path = folder.filePath(QString::fromLatin1(name)).toStdString();
        std::ofstream(path) << text;
        return path;
    };
    const auto bad = write("bad.json", "{ // mine\n  \"wg_distributoin\": true,\n  \"eps\": 2,\n}\n");
    const auto said = call(app::configCheckVerb, { bad });
    QCOMPARE(said.code, app::kExitFailed);
    QVERIFY2(said.out.find("bad.json:2: error: the field \"wg_distributoin\"") != std::string::npos, said.out.c_str());
    QVERIFY2(said.out.find("bad.json:3: error: /eps is 2") != std::string::npos, said.out.c_str());
    const auto document = call(app::configCheckVerb, { bad, "--json" }).json();
    QCOMPARE(document["ok"], nlohmann::json(false));
    QCOMPARE(document["problems"].size(), 2u);
    QCOMPARE(document["problems"][1]["line"], nlohmann::json(3));

    const auto good = write("good.json", R"({"module_ranks": [77], "dynamic_on": true})");
    QCOMPARE(call(app::configCheckVerb, { good }).code, app::kExitDone);
    const auto inRun = call(app::configCheckVerb, { good, "--run", m_path });
    QCOMPARE(inRun.code, app::kExitFailed);
    QVERIFY2(inRun.out.find("rank 77 does not exist") != std::string::npos, inRun.out.c_str());

    QCOMPARE(call(app::configCheckVerb, { write("none.json", "[1]") }).code, app::kExitUsage);
    QCOMPARE(call(app::configCheckVerb, { folder.filePath(QStringLiteral("away.json")).toStdString() }).code,
        app::kExitUsage);
}

void VerbsTest::helpIsNoError()
{
    for (const Verb verb : { app::runsVerb, app::importVerb, app::inspectVerb, app::logVerb, app::showVerb }) {
        const Outcome help = call(verb, { "--help" });
        QCOMPARE(help.code, 0);
        QVERIFY(help.out.rfind("usage: telltale ", 0) == 0);
        QVERIFY(help.err.empty());
    }
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, VerbsTest)

}

#include "verbstest.moc"
