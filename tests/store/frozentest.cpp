// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <telltale/store/archive.h>
#include <telltale/store/runreader.h>
#include <telltale/store/sqlite.h>

#include "capsulecontent.h"
#include "sourcepath.h"
#include "verbs.h"

namespace frozentest {

using namespace telltale;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

struct Outcome {
    int code = -1;
    json document;
    std::string err;
};

Outcome call(app::Verb (*verb)(), std::vector<std::string> words)
{
    words.emplace_back("--json");
    std::ostringstream out;
    std::ostringstream err;
    const int code = app::runVerb(verb(), words, out, err);
    return { code, json::parse(out.str(), nullptr, false), err.str() };
}

json readJson(const fs::path& path)
{
    std::ifstream file(path);
    return json::parse(file, nullptr, false);
}

std::vector<std::string> parts(const std::string& key)
{
    std::vector<std::string> words(1);
    for (const char c : key) {
        if (c == '|')
            words.emplace_back();
        else
            words.back() += c;
    }
    return words;
}

}

/// What programs of earlier formats wrote (tests/data/v1 to v5): it opens, verifies, answers, imports and goes on.
class FrozenTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void everyCaseSaysWhatItSaid_data();
    void everyCaseSaysWhatItSaid();
    void everyRunGoesOnWithAllThatItHas_data();
    void everyRunGoesOnWithAllThatItHas();
    void everyRunCanBeDrawn_data();
    void everyRunCanBeDrawn();

private:
    /// `tag`: "v1/cpp-finished".
    const json& known(const char* tag) const { return m_manifest[tag]; }
    /// A copy of the case's capsule in a data directory; spools are imported into it.
    std::string place(const char* tag, const QTemporaryDir& dir) const;
    void placeCapsule(const std::string& tag, const fs::path& runs) const;
    void rows(bool onlyCapsules) const;
    /// `mayHaveMore`: behind the last of them.
    static void checkValues(const std::string& path, const json& values, bool mayHaveMore = false);
    /// `rank|kind|name` -> [[step, [count, ...]], ...]; in format 2 each was 32 series of one bin.
    static void checkHistograms(const std::string& path, const json& histograms);
    /// As they were said, and as grave, in the log's columns, too.
    void checkIncidents(const std::string& path, const std::string& tag) const;

    fs::path m_data;
    json m_manifest;
};

void FrozenTest::initTestCase()
{
    m_data = telltale::test::sourcePath("tests/data");
    for (const std::string format : { "v1", "v2", "v3", "v4", "v5" }) {
        json manifest = readJson(m_data / format / "manifest.json");
        for (auto& [name, entry] : manifest.items()) {
            if (entry.contains("into") && entry["into"].is_string())
                entry["into"] = format + '/' + entry["into"].get<std::string>();
            m_manifest[format + '/' + name] = entry;
        }
    }
    QVERIFY(m_manifest.is_object() && m_manifest.size() >= 18);
}

void FrozenTest::rows(bool onlyCapsules) const
{
    QTest::addColumn<bool>("isSpool");
    for (const auto& [name, entry] : m_manifest.items()) {
        if (!onlyCapsules || entry.contains("capsule"))
            QTest::newRow(name.c_str()) << entry.contains("spool");
    }
}

void FrozenTest::placeCapsule(const std::string& tag, const fs::path& runs) const
{
    fs::create_directories(runs);
    for (const char* part : { "", "-wal" }) {
        const fs::path from = m_data / tag / (std::string("run.telltale") + part);
        if (fs::exists(from))
            fs::copy_file(from, runs / from.filename());
    }
}

std::string FrozenTest::place(const char* tag, const QTemporaryDir& dir) const
{
    const fs::path root(dir.path().toStdString());
    const json& entry = known(tag);
    if (entry.contains("capsule")) {
        placeCapsule(tag, root / "runs");
        return (root / "runs/run.telltale").string();
    }
    if (entry["into"].is_string())
        placeCapsule(entry["into"], root / "runs");
    fs::copy(m_data / tag / "spool", root / "spool", fs::copy_options::recursive);
    const auto imported = call(app::importVerb, { (root / "spool").string(), "--data-dir", root.string() });
    if (imported.code != entry["exit"].get<int>() || imported.document["streams"].empty())
        return {};
    return imported.document["streams"][0]["capsule"];
}

void FrozenTest::checkValues(const std::string& path, const json& values, bool mayHaveMore)
{
    std::map<std::string, std::set<std::string>> seriesOfKind;
    for (const auto& [key, wanted] : values.items()) {
        const auto words = parts(key);
        const std::string label = words[3].empty() ? words[2] : words[2] + ':' + words[3];
        const auto shown = call(
            app::showVerb, { path, "--series", label, "--rank", words[0], "--kind", words[1], "--stat", words[5] });
        QVERIFY2(shown.code == 0, (key + ": " + shown.err).c_str());
        const auto& rows = shown.document["series"];
        const auto row = std::find_if(rows.begin(), rows.end(),
            [&words](const json& candidate) { return candidate["micro_step"] == std::stoi(words[4]); });
        QVERIFY2(row != rows.end(), key.c_str());
        json found = json::array();
        for (const json& value : (*row)["values"]) {
            if (!mayHaveMore || found.size() < wanted.size())
                found.push_back({ value["step"], value["value"] });
        }
        QVERIFY2(found == wanted, (key + " is " + found.dump() + ", was " + wanted.dump()).c_str());
    }
}

void FrozenTest::checkHistograms(const std::string& path, const json& histograms)
{
    for (const auto& [key, wanted] : histograms.items()) {
        const auto words = parts(key);
        const auto shown = call(
            app::showVerb, { path, "--series", words[2], "--rank", words[0], "--kind", words[1], "--stat", "hist" });
        QVERIFY2(shown.code == 0 && shown.document["series"].size() == 1, (key + ": " + shown.err).c_str());
        const json& row = shown.document["series"][0];
        if (words[1] == "update" || words[1] == "ratio")
            QVERIFY(row["slot"] == "" && row["edges"].size() == 33 && row["edges"][1] == -1 && row["edges"][31] == 1);
        else
            QVERIFY(row["slot"] == "" && row["edges"].size() == 128 && row["edges"][63] == 0);
        json found = json::array();
        for (const json& value : row["values"])
            found.push_back({ value["step"], value["value"] });
        QVERIFY2(found == wanted, (key + " is " + found.dump() + ", was " + wanted.dump()).c_str());
    }
}

void FrozenTest::checkIncidents(const std::string& path, const std::string& tag) const
{
    if (!fs::exists(m_data / tag / "incidents.json"))
        return;
    const auto said = call(app::incidentsVerb, { path });
    QCOMPARE(said.code, 0);
    QVERIFY2(said.document == readJson(m_data / tag / "incidents.json"), said.document.dump().c_str());
    const auto reader = store::openReader({ store::RunLocator::ofFile(path), {}, {}, nullptr });
    QVERIFY(reader);
    const auto log = (*reader)->log({}, { "incident", {}, {} });
    QVERIFY(log && log->records.size() == 1);
    QCOMPARE(log->records.front().severity(), store::Severity::Critical);
    QCOMPARE(log->records.front().cause, std::string());
}

void FrozenTest::everyCaseSaysWhatItSaid_data()
{
    rows(false);
}

void FrozenTest::everyCaseSaysWhatItSaid()
{
    QFETCH(bool, isSpool);
    const char* tag = QTest::currentDataTag();
    const json& was = known(tag);
    QTemporaryDir dir;
    const std::string path = place(tag, dir);
    QVERIFY(!path.empty());
    const auto inspected = call(app::inspectVerb, { path, "--verify" });
    const json& now = inspected.document;
    // A damaged spool may be read better than it was then, never worse.
    const bool mayHaveMore = isSpool && !was["said"].get<std::string>().empty();
    for (const char* key : { "name", "run_key", "state", "first_step", "series", "ranks", "missing" })
        QVERIFY2(now[key] == was[key], (std::string(key) + " is " + now[key].dump()).c_str());
    std::map<std::string, int> kinds;
    for (const json& kind : now["kinds"])
        kinds[kind["kind"]] = kind["series"];
    QVERIFY2(json(kinds) == was["kinds"], now["kinds"].dump().c_str());
    QCOMPARE(now["sources"].size(), was["sources"].size());
    if (mayHaveMore) {
        QVERIFY(now["last_step"] >= was["last_step"]);
    } else {
        // Of a process that was killed it is said now that it may have made more; nothing that was made is gone.
        const bool hasEndedWell = std::all_of(now["sources"].begin(), now["sources"].end(),
            [](const json& source) { return source["state"] == "finished"; });
        json dropped = json::array();
        std::copy_if(now["dropped"].begin(), now["dropped"].end(), std::back_inserter(dropped),
            [hasEndedWell](const json& drop) { return hasEndedWell || drop["items"] > 0; });
        QCOMPARE(dropped, was["dropped"]);
        for (const char* key : { "last_step", "events" })
            QVERIFY2(now[key] == was[key], (std::string(key) + " is " + now[key].dump()).c_str());
        for (std::size_t i = 0; i < was["sources"].size(); ++i) {
            for (const auto& [key, value] : was["sources"][i].items())
                QVERIFY2(now["sources"][i][key] == value, (key + " is " + now["sources"][i][key].dump()).c_str());
        }
        QVERIFY2(now["verify"]["whole"] == was["verify"]["whole"], now["verify"].dump().c_str());
        QVERIFY2(now["verify"]["problems"] == was["verify"]["problems"], now["verify"].dump().c_str());
    }
    QCOMPARE(inspected.code, was["verify"]["whole"].get<bool>() ? 0 : 1);
    checkValues(path, readJson(m_data / tag / "values.json"), mayHaveMore);
    checkIncidents(path, tag);
    if (fs::exists(m_data / tag / "histograms.json"))
        checkHistograms(path, readJson(m_data / tag / "histograms.json"));
}

void FrozenTest::everyRunGoesOnWithAllThatItHas_data()
{
    rows(true);
}

void FrozenTest::everyRunGoesOnWithAllThatItHas()
{
    const char* tag = QTest::currentDataTag();
    const json& was = known(tag);
    QTemporaryDir dir;
    const std::string path = place(tag, dir);
    store::StreamRequest request;
    std::uint64_t durable = 0;
    {
        const auto db = store::openDatabase(path, store::OpenMode::Read);
        auto stream = store::Statement::prepare(
            db->get(), "SELECT agent_id, incarnation, durable_seq FROM stream ORDER BY id DESC LIMIT 1");
        QVERIFY(stream && stream->step().value_or(false));
        request.agentId = stream->text(0);
        request.incarnation = static_cast<std::uint64_t>(stream->integer(1));
        durable = static_cast<std::uint64_t>(stream->integer(2));
    }
    request.runKey = was["run_key"];
    const std::int64_t step = was["last_step"].get<std::int64_t>() + 1;
    {
        store::test::Recorder recorder(dir.path().toStdString());
        const auto opened = recorder.open(request);
        QCOMPARE(opened.run->locator.text(), path);
        QCOMPARE(opened.durableSeq, durable);
        std::vector<StepBlock> blocks;
        for (const auto& layout : opened.layouts) {
            if (layout->kind == Kind::Scalar)
                blocks.push_back(store::test::makeBlock(layout, step, [](auto, auto, auto) { return 0.5; }));
            else if (layout->stats == std::vector<Stat> { Stat::Hist })
                blocks.push_back(store::test::makeBlock(layout, step, [](auto, auto, auto) { return 3.0; }));
        }
        QVERIFY(!blocks.empty());
        recorder.send(opened.stream, durable + 1, std::move(blocks));
        QVERIFY(recorder.waitDurable(opened.stream, durable + 1));
        recorder.service().closeStream(opened.stream, "finished", durable + 1);
    }
    const auto inspected = call(app::inspectVerb, { path, "--verify" });
    // What was damaged stays so, and hinders nothing else.
    QVERIFY2(inspected.document["verify"]["problems"] == was["verify"]["problems"], inspected.err.c_str());
    QCOMPARE(inspected.document["state"].get<std::string>(), std::string("finished"));
    QCOMPARE(inspected.document["last_step"].get<std::int64_t>(), step);
    QCOMPARE(inspected.document["series"], was["series"]);
    json values = readJson(m_data / tag / "values.json");
    for (const auto& [key, list] : values.items()) {
        if (key.find("|scalar|") != std::string::npos && list.back()[0] == step - 1)
            list.push_back({ step, 0.5 });
    }
    if (was["sources"].size() == 1)
        checkValues(path, values);
    checkIncidents(path, tag);
    if (fs::exists(m_data / tag / "histograms.json")) {
        json histograms = readJson(m_data / tag / "histograms.json");
        for (json& list : histograms)
            list.push_back({ step, std::vector<int>(list[0][1].size(), 3) });
        checkHistograms(path, histograms);
    }
}

void FrozenTest::everyRunCanBeDrawn_data()
{
    rows(true);
}

void FrozenTest::everyRunCanBeDrawn()
{
    QTemporaryDir dir;
    const std::string path = place(QTest::currentDataTag(), dir);
    auto reader = store::openReader({ store::RunLocator::ofFile(path), {}, {}, nullptr });
    QVERIFY2(reader, reader ? "" : reader.error().sentence().c_str());
    const auto catalog = *(*reader)->catalog();
    series::HeatQuery norms, shares;
    norms.stat = Stat::Norm;
    shares.stat = Stat::E4M3Underflow; // added up from histograms by octaves
    for (series::HeatQuery* query : { &norms, &shares }) {
        query->range = catalog->steps;
        query->pixels = 50;
    }
    std::map<std::int64_t, std::vector<Stat>> stats;
    for (const store::GroupInfo& group : catalog->groups)
        stats[group.id.value] = group.stats;
    for (const store::SeriesInfo& series : catalog->series) {
        const bool isHistogram = stats[series.group.value] == std::vector<Stat> { Stat::Hist };
        if (series.kind == Kind::ParamOrigin || series.kind == Kind::GradReduced)
            (isHistogram ? shares : norms).rows.push_back({ series.id });
    }
    QVERIFY(!norms.rows.empty());
    for (const series::HeatQuery* query : { &norms, &shares }) {
        const auto heat = (*reader)->heatmap(*query);
        QVERIFY(heat);
        for (std::size_t row = 0; row < query->rows.size(); ++row) {
            const auto first = heat->states.begin() + static_cast<std::ptrdiff_t>(row) * query->pixels;
            QVERIFY(std::find(first, first + query->pixels, series::CellState::Value) != first + query->pixels);
        }
    }
}

TELLTALE_TEST(QTEST_GUILESS_MAIN, FrozenTest)

}

#include "frozentest.moc"
