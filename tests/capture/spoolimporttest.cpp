// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <telltale/server/captureserver.h>
#include <telltale/spool/productionpage.h>
#include <telltale/spool/spoolrecord.h>
#include <telltale/store/archive.h>
#include <telltale/store/runreader.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/storeservice.h>

#include "agentdriver.h"
#include "verbs.h"

namespace spoolimporttest {

using namespace telltale;
using telltale::test::AgentDriver;

namespace fs = std::filesystem;

namespace {

struct Outcome {
    int code = -1;
    nlohmann::json json;
    std::string err;
};

Outcome call(app::Verb (*verb)(), std::vector<std::string> words)
{
    words.emplace_back("--json");
    std::ostringstream out;
    std::ostringstream err;
    const int code = app::runVerb(verb(), words, out, err);
    return { code, nlohmann::json::parse(out.str(), nullptr, false), err.str() };
}

/// A server on a data directory, with its store. Thread: gui.
struct Serving {
    std::unique_ptr<store::StoreService> service;
    std::unique_ptr<server::CaptureServer> server;

    Serving(const std::string& dataDir, const std::string& listen)
    {
        store::StoreOptions options;
        options.dataDir = dataDir;
        auto started = store::StoreService::start(options);
        QVERIFY(started);
        service = std::move(*started);
        server::ServerOptions serverOptions;
        serverOptions.dataDir = dataDir;
        serverOptions.listen = listen;
        auto listening = server::CaptureServer::start(serverOptions, *service);
        QVERIFY(listening);
        server = std::move(*listening);
    }
    void stop()
    {
        server->stop();
        service->stop();
    }
};

std::size_t filesIn(const std::string& folder)
{
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        files += entry.is_regular_file() ? 1 : 0;
    return files;
}

}

/// `telltale import`: what agents could not deliver comes into the run, once.
class SpoolImportTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_spool = m_dir->filePath(QStringLiteral("spool")).toStdString();
        m_copy = m_dir->filePath(QStringLiteral("copy")).toStdString();
        m_data = m_dir->filePath(QStringLiteral("data")).toStdString();
        fs::create_directories(m_data);
    }
    void cleanup() { m_dir.reset(); }

    void everythingOfASpoolComesIntoTheRun()
    {
        trainOffline("run", 200);
        const Outcome imported = import(m_spool);
        QCOMPARE(imported.code, 0);
        const auto& stream = imported.json["streams"].at(0);
        QCOMPARE(stream["samples"].get<std::uint64_t>(), 200 * AgentDriver::kSamplesPerStep);
        QVERIFY(stream["batches"].get<std::uint64_t>() > 0);
        QCOMPARE(stream["duplicates"].get<int>(), 0);
        QCOMPARE(filesIn(m_spool), std::size_t { 0 });
        const auto runs = call(app::runsVerb, { "--data-dir", m_data }).json;
        QCOMPARE(runs.size(), std::size_t { 1 });
        QCOMPARE(runs[0]["state"].get<std::string>(), std::string("finished")); // as the agent said
        QCOMPARE(runs[0]["last_step"].get<int>(), 199);
        expectEveryValue(stream["capsule"].get<std::string>(), 200);
    }

    void whatADamagedSpoolHasLostIsAtLeastSoMuch_data()
    {
        QTest::addColumn<QString>("damage");
        QTest::addColumn<bool>("hasEnd");
        for (const char* damage : { "torn record", "whole records gone", "impossible number" }) {
            for (const bool hasEnd : { true, false }) {
                // Of an earlier version, whose goodbye says no number, whole records may go without a trace.
                if (hasEnd || damage != std::string("whole records gone"))
                    QTest::addRow("%s, %s", damage, hasEnd ? "end known" : "end unknown")
                        << QString::fromLatin1(damage) << hasEnd;
            }
        }
    }
    void whatADamagedSpoolHasLostIsAtLeastSoMuch()
    {
        QFETCH(QString, damage);
        QFETCH(bool, hasEnd);
        trainOffline("run", 100);
        // As on another machine, or after a restart of this one.
        for (const auto& page : agent::ProductionPage::leftByRun(fs::path(m_spool) / "run"))
            page.remove();
        const fs::path segment = fileOf(".seg");
        std::string bytes = bytesOf(segment);
        const auto scan = agent::spoolrecord::scan(bytes);
        const auto& last = scan.records.back();
        QVERIFY(last.facts.samples > 0);
        if (damage == QLatin1String("torn record"))
            bytes.resize(last.payloadOffset - 8);
        else
            bytes.resize(last.payloadOffset - agent::spoolrecord::kHeaderBytes);
        if (damage == QLatin1String("impossible number"))
            agent::spoolrecord::append(
                bytes, agent::spoolrecord::Kind::Batch, std::uint64_t { 1 } << 60, last.payload, last.facts);
        std::ofstream(segment, std::ios::binary) << bytes;
        if (!hasEnd)
            std::ofstream(fileOf("bye"), std::ios::binary) << "finished";
        const Outcome imported = import(m_spool);
        QCOMPARE(imported.code, 0);
        const Outcome inspected = call(app::inspectVerb, { imported.json["streams"][0]["capsule"].get<std::string>() });
        QCOMPARE(inspected.json["sources"][0]["state"].get<std::string>(), std::string("finished"));
        const auto samples = inspected.json["samples"];
        QVERIFY2(!samples["exact"].get<bool>(), samples.dump().c_str());
        QVERIFY2(samples["dropped"].get<std::uint64_t>() > 0, samples.dump().c_str());
    }

    void anEmptySegmentIsSaid()
    {
        trainOffline("run", 20);
        const fs::path segment = fileOf(".seg");
        fs::resize_file(segment, 0);
        const Outcome imported = import(m_spool);
        QVERIFY2(imported.err.find("is empty: whether batches were lost with it is not known") != std::string::npos,
            imported.err.c_str());
        QVERIFY(!fs::exists(segment));
    }

    void aSecondImportAddsNothing()
    {
        trainOffline("run", 100);
        fs::copy(m_spool, m_copy, fs::copy_options::recursive);
        const auto first = import(m_spool).json["streams"].at(0);
        const Outcome second = import(m_copy);
        QCOMPARE(second.code, 0);
        const auto& stream = second.json["streams"].at(0);
        QCOMPARE(stream["batches"].get<int>(), 0);
        QCOMPARE(stream["samples"].get<int>(), 0);
        QCOMPARE(stream["duplicates"], first["batches"]);
        QCOMPARE(stream["capsule"], first["capsule"]);
        QCOMPARE(store::listRuns(m_data).size(), std::size_t { 1 });
        expectEveryValue(first["capsule"].get<std::string>(), 100);
    }

    void aSpoolContinuesWhatTheServerHad()
    {
        // The server has the first half of the batches; the training is gone with the rest.
        trainOffline("run", 100);
        fs::copy(m_spool, m_copy, fs::copy_options::recursive);
        const auto whole = import(m_copy).json["streams"].at(0);
        const auto capsule = whole["capsule"].get<std::string>();
        const Outcome inspected = call(app::inspectVerb, { capsule });
        QCOMPARE(inspected.json["sources"].at(0)["state"].get<std::string>(), std::string("finished"));
        QCOMPARE(import(m_spool).code, 0);
        // The state that the agent gave its run survives a later import.
        QCOMPARE(call(app::inspectVerb, { capsule }).json["state"].get<std::string>(), std::string("finished"));
    }

    void whatNeverCameIsSaidUntilItIsImported()
    {
        trainOffline("run", 60);
        fs::copy(m_spool, m_copy, fs::copy_options::recursive);
        const auto whole = import(m_copy).json["streams"].at(0);
        const auto capsule = whole["capsule"].get<std::string>();
        const auto batches = whole["batches"].get<std::uint64_t>();
        // As a server leaves it that was told of three more batches than it got.
        tellOf(capsule, batches + 3);
        const Outcome inspected = call(app::inspectVerb, { capsule });
        QCOMPARE(inspected.json["missing"].size(), std::size_t { 1 });
        QCOMPARE(inspected.json["missing"][0]["batches"].get<int>(), 3);
        QCOMPARE(inspected.json["missing"][0]["first_seq"].get<std::uint64_t>(), batches + 1);
        const auto runs = call(app::runsVerb, { "--data-dir", m_data }).json;
        QCOMPARE(runs[0]["missing_batches"].get<int>(), 3);
    }

    void aSpoolOfALivingProcessIsLeftAlone()
    {
        AgentDriver driver(offline("run"));
        for (std::int64_t i = 0; i < 50; ++i)
            driver.step(i);
        QTRY_VERIFY(driver.counters().spool_bytes > 0);
        const Outcome imported = import(m_spool);
        QCOMPARE(imported.code, 1);
        QVERIFY2(imported.err.find("living process") != std::string::npos, imported.err.c_str());
        QVERIFY(imported.json["streams"].empty());
        driver.close();
        QCOMPARE(import(m_spool).code, 0);
    }

    void aSpoolWithoutItsBeginningWantsItsOwnRun()
    {
        trainOffline("run", 100);
        dropFirstBatch();
        const Outcome refused = import(m_spool);
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.err.find("--new-run") != std::string::npos, refused.err.c_str());
        QVERIFY(filesIn(m_spool) > 0);
        QVERIFY(store::listRuns(m_data).empty());
        std::vector<std::string> words { m_spool, "--data-dir", m_data, "--new-run" };
        QCOMPARE(call(app::importVerb, words).code, 0);
        QCOMPARE(store::listRuns(m_data).size(), std::size_t { 1 });
    }

    void aRunningServerTakesTheSpool_data()
    {
        QTest::addColumn<QString>("listen");
        QTest::newRow("plain") << QStringLiteral("127.0.0.1:0");
        QTest::newRow("with TLS") << QStringLiteral("0.0.0.0:0");
    }

    void aRunningServerTakesTheSpool()
    {
        QFETCH(QString, listen);
        trainOffline("run", 100);
        Serving serving(m_data, listen.toStdString());
        const Outcome imported = import(m_spool);
        QVERIFY2(imported.code == 0, imported.err.c_str());
        QVERIFY(imported.json["streams"][0]["delivered"].get<bool>());
        QCOMPARE(filesIn(m_spool), std::size_t { 0 });
        serving.stop();
        const auto runs = store::listRuns(m_data);
        QCOMPARE(runs.size(), std::size_t { 1 });
        QCOMPARE(runs.front().id, imported.json["streams"][0]["run"].get<std::string>());
        expectEveryValue(runs.front().locator.text(), 100);
    }

    void aTrainingIsToldThatAJoinStringIsNotForIt()
    {
        const Serving serving(m_data, "127.0.0.1:0");
        std::ifstream file(m_data + "/control");
        AgentDriver::Setup setup = offline("run");
        setup.mode.clear();
        std::getline(file, setup.join);
        AgentDriver driver(setup);
        QVERIFY(!driver.agent());
        QVERIFY2(driver.error().find("for the command line") != std::string::npos, driver.error().c_str());
    }

    void theNextAgentSaysHowTheEarlierOneEnded()
    {
        trainOffline("run", 20);
        Serving serving(m_data, "127.0.0.1:0");
        AgentDriver::Setup setup = offline("run");
        setup.mode.clear();
        setup.join = serving.server->joinString().toStdString();
        AgentDriver next(setup);
        QTRY_COMPARE(filesIn(m_spool), std::size_t { 0 });
        QVERIFY(next.close("error"));
        serving.stop();
        const auto runs = store::listRuns(m_data);
        QCOMPARE(runs.size(), std::size_t { 1 });
        const auto sources = call(app::inspectVerb, { runs.front().locator.text() }).json["sources"];
        QCOMPARE(sources.size(), std::size_t { 2 });
        QCOMPARE(sources.at(0)["state"].get<std::string>(), std::string("finished"));
        QCOMPARE(sources.at(1)["state"].get<std::string>(), std::string("failed"));
        expectEveryValue(runs.front().locator.text(), 20);
    }

    void aServerThatIsGoneLeavesTheSpoolWhole()
    {
        trainOffline("run", 20);
        Serving serving(m_data, "127.0.0.1:0");
        serving.server->stop();
        const auto before = filesIn(m_spool);
        const Outcome imported = import(m_spool);
        QCOMPARE(imported.code, 1);
        QVERIFY2(imported.err.find("stop that Telltale first") != std::string::npos, imported.err.c_str());
        QCOMPARE(filesIn(m_spool), before);
    }

    void aDataDirectoryInUseIsLeftAlone()
    {
        trainOffline("run", 20);
        store::StoreOptions options;
        options.dataDir = m_data;
        auto service = store::StoreService::start(options);
        QVERIFY(service);
        const Outcome imported = import(m_spool);
        QCOMPARE(imported.code, 1);
        QVERIFY(filesIn(m_spool) > 0);
        QVERIFY(imported.json.contains("error"));
        QVERIFY2(imported.err.find("stop that Telltale first") != std::string::npos, imported.err.c_str());
    }

private:
    AgentDriver::Setup offline(const char* run) const
    {
        AgentDriver::Setup setup;
        setup.mode = "offline";
        setup.runId = run;
        setup.spoolDir = m_spool;
        return setup;
    }
    void trainOffline(const char* run, std::int64_t steps)
    {
        AgentDriver driver(offline(run));
        QVERIFY2(driver.agent(), driver.error().c_str());
        for (std::int64_t i = 0; i < steps; ++i) {
            while (!driver.step(i))
                QTest::qWait(1);
            QTest::qWait(1);
        }
        driver.close();
        QVERIFY(filesIn(m_spool) > 0);
    }
    Outcome import(const std::string& folder) { return call(app::importVerb, { folder, "--data-dir", m_data }); }

    /// The spool's only file whose name ends so.
    fs::path fileOf(const std::string& end) const
    {
        for (const auto& entry : fs::recursive_directory_iterator(m_spool)) {
            if (entry.path().native().ends_with(end))
                return entry.path();
        }
        return {};
    }
    static std::string bytesOf(const fs::path& path)
    {
        std::ifstream in(path, std::ios::binary);
        return { std::istreambuf_iterator<char>(in), {} };
    }

    /// Makes the spool begin with its second batch.
    void dropFirstBatch();
    static void tellOf(const std::string& capsule, std::uint64_t seq);
    static void expectEveryValue(const std::string& capsule, std::int64_t steps);

    std::unique_ptr<QTemporaryDir> m_dir;
    std::string m_spool;
    std::string m_copy;
    std::string m_data;
};

void SpoolImportTest::dropFirstBatch()
{
    for (const auto& entry : fs::recursive_directory_iterator(m_spool)) {
        if (entry.path().extension() != ".seg")
            continue;
        const std::string bytes = bytesOf(entry.path());
        const auto scan = agent::spoolrecord::scan(bytes);
        std::string kept(agent::spoolrecord::kMagic);
        for (const auto& record : scan.records) {
            if (record.seq != 1)
                agent::spoolrecord::append(kept, record.kind, record.seq, record.payload, record.facts);
        }
        std::ofstream(entry.path(), std::ios::binary) << kept;
    }
}

void SpoolImportTest::tellOf(const std::string& capsule, std::uint64_t seq)
{
    const auto db = store::openDatabase(capsule, store::OpenMode::Write);
    QVERIFY(db);
    const std::string sql = "INSERT OR REPLACE INTO meta VALUES('told_seq.1', '" + std::to_string(seq) + "')";
    QVERIFY(store::execute(db->get(), sql.c_str()));
}

void SpoolImportTest::expectEveryValue(const std::string& capsule, std::int64_t steps)
{
    store::RunHandle handle;
    handle.locator = store::RunLocator::ofFile(capsule);
    auto reader = store::openReader(handle);
    QVERIFY(reader);
    const auto catalog = (*reader)->catalog();
    QVERIFY(catalog);
    for (const store::SeriesInfo& series : (*catalog)->series) {
        if (series.kind != Kind::GradReduced || series.desc->name != "layers.3.weight")
            continue;
        std::int64_t expected = 0;
        QVERIFY((*reader)->raw({ series.id }, Stat::Norm, { Step { 0 }, Step { steps } }, [&](const auto& value) {
            if (value.step.value == expected && value.value == static_cast<double>(AgentDriver::norm(expected, 3)))
                ++expected;
            return true;
        }));
        QCOMPARE(expected, steps);
    }
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, SpoolImportTest)

}

#include "spoolimporttest.moc"
