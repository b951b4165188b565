// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>

#include <QTemporaryDir>

#include <telltale/archive/moment.h>
#include <telltale/archive/profileindex.h>
#include <telltale/archive/runquery.h>
#include <telltale/judge/incident.h>
#include <telltale/store/stepnote.h>

#include "archivedrun.h"
#include "verbcall.h"

namespace runquerytest {

using namespace telltale;
using namespace telltale::test;

namespace {

constexpr std::int64_t kNow = 1'764'000'000'000'000'000; // 2025-11-24T16:00:00Z
constexpr std::int64_t kDay = 86'400'000'000'000;

Event incidentAt(std::int64_t step, store::Severity severity)
{
    judge::Incident incident;
    incident.key = "nonfinite/" + std::to_string(step);
    incident.opened = Step { step };
    incident.first.rule = "nonfinite";
    incident.first.severity = severity;
    incident.first.step = Step { step };
    incident.sentence = "something is not finite";
    return judge::incidentEvent(incident, 1);
}

Event noteAt(std::int64_t step, const std::string& text)
{
    store::StepNote note;
    note.steps = { Step { step }, Step { step } };
    note.text = text;
    return note.event();
}

}

/// Runs are chosen by what they say of themselves, by one language for the verb and the window.
class RunQueryTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        m_data = m_dir.path().toStdString();
        ArchivedRun first;
        first.id = "aaaa0001";
        first.name = "gpt-small";
        first.hyperparameters = R"({"optimizer": {"lr": 0.001, "name": "AdamW"}, "seed": 7})";
        first.tags = { "base", "first try" };
        first.notes = "warm-up was too short";
        first.createdNs = kNow - 10 * kDay;
        first.log = { incidentAt(7, store::Severity::Critical), incidentAt(9, store::Severity::Warning) };
        archiveRun(m_data, first);
        ArchivedRun second;
        second.id = "bbbb0002";
        second.name = "gpt-large";
        second.hyperparameters = R"({"optimizer": {"lr": 1e-4, "name": "SGD"}, "seed": 7})";
        second.tags = { "baseline" };
        second.createdNs = kNow - 2 * kDay;
        second.log = { incidentAt(3, store::Severity::Warning), noteAt(5, "looks odd from here") };
        archiveRun(m_data, second);
        ArchivedRun third;
        third.id = "cccc0003";
        third.name = "bert";
        third.createdNs = kNow - kDay / 2;
        archiveRun(m_data, third);
    }

    void aLineChoosesRuns_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("ids");
        QTest::newRow("nothing") << ""
                                 << "cccc0003 bbbb0002 aaaa0001";
        QTest::newRow("a part of the name") << "GPT"
                                            << "bbbb0002 aaaa0001";
        QTest::newRow("two words, both") << "gpt small"
                                         << "aaaa0001";
        QTest::newRow("a glob") << "name:gpt-*"
                                << "bbbb0002 aaaa0001";
        QTest::newRow("an expression") << "/^bert$/"
                                       << "cccc0003";
        QTest::newRow("a tag") << "tag:base"
                               << "bbbb0002 aaaa0001";
        QTest::newRow("a whole tag") << "tag:/^base$/"
                                     << "aaaa0001";
        QTest::newRow("a tag with a space") << "tag:\"first try\""
                                            << "aaaa0001";
        QTest::newRow("the run's note") << "note:warm-up"
                                        << "aaaa0001";
        QTest::newRow("a step's note") << "note:odd"
                                       << "bbbb0002";
        QTest::newRow("a number, however written") << "config:lr=1e-3"
                                                   << "aaaa0001";
        QTest::newRow("its whole place") << "config:optimizer.lr=0.0001"
                                         << "bbbb0002";
        QTest::newRow("no part of a field") << "config:r=0.0001"
                                            << "";
        QTest::newRow("less") << "config:lr<0.001"
                              << "bbbb0002";
        QTest::newRow("at most") << "config:lr<=0.001"
                                 << "bbbb0002 aaaa0001";
        QTest::newRow("a text by a glob") << "config:name=adam*"
                                          << "aaaa0001";
        QTest::newRow("another text") << "config:name!=SGD"
                                      << "aaaa0001";
        QTest::newRow("a field that is there") << "config:seed"
                                               << "bbbb0002 aaaa0001";
        QTest::newRow("two fields") << "config:seed=7 config:lr>0.0005"
                                    << "aaaa0001";
        QTest::newRow("any incident") << "incident:"
                                      << "bbbb0002 aaaa0001";
        QTest::newRow("critical ones") << "incident:critical"
                                       << "aaaa0001";
        QTest::newRow("a state") << "state:finished,failed"
                                 << "cccc0003 bbbb0002 aaaa0001";
        QTest::newRow("another state") << "state:failed"
                                       << "";
        QTest::newRow("an age") << "since:3d"
                                << "cccc0003 bbbb0002";
        QTest::newRow("a day") << "since:2025-11-22Z until:2025-11-22Z"
                               << "bbbb0002";
        QTest::newRow("until a moment") << "until:2025-11-22T16:00:00Z"
                                        << "bbbb0002 aaaa0001";
        QTest::newRow("all together") << "gpt tag:base incident:warning since:3d"
                                      << "bbbb0002";
    }
    void aLineChoosesRuns()
    {
        QFETCH(QString, line);
        QFETCH(QString, ids);
        const auto query = archive::RunQuery::parse(line.toStdString(), kNow);
        QVERIFY2(query.has_value(), query ? "" : query.error().what.c_str());
        const auto runs = store::listRuns(m_data);
        const auto profiles = archive::ProfileIndex(m_data).read(runs);
        QVERIFY(profiles.has_value());
        QStringList found;
        for (const store::RunSummary& run : runs) {
            if (query->matches(run, profiles->at(run.locator).get()))
                found << QString::fromStdString(run.id);
        }
        QCOMPARE(found.join(u' '), ids);
    }

    void whatIsNoConditionIsSaidSo_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("said");
        QTest::newRow("expression") << "tag:/[/"
                                    << "is not a regular expression";
        QTest::newRow("severity") << "incident:bad"
                                  << "'bad' is no severity";
        QTest::newRow("state") << "state:done"
                               << "'done' is no state of a run";
        QTest::newRow("date") << "since:2025-02-30"
                              << "'2025-02-30' is no date";
        QTest::newRow("date without end") << "since:2025-02-03x"
                                          << "is no date";
        QTest::newRow("hour") << "since:2025-02-03T25:00"
                              << "is no date";
        QTest::newRow("age") << "since:99999999999999999d"
                             << "is no date";
        QTest::newRow("nothing") << "tag:"
                                 << "tag says nothing to look for";
        QTest::newRow("no field") << "config:=3"
                                  << "names no field of a config";
        QTest::newRow("no number") << "config:lr<small"
                                   << "'small' is no number";
    }
    void whatIsNoConditionIsSaidSo()
    {
        QFETCH(QString, line);
        QFETCH(QString, said);
        const auto query = archive::RunQuery::parse(line.toStdString(), kNow);
        QVERIFY(!query);
        QVERIFY2(QString::fromStdString(query.error().what).contains(said), query.error().what.c_str());
    }

    void aDayIsOneOfThisPlace()
    {
        std::tm day {};
        day.tm_year = 2025 - 1900;
        day.tm_mon = 10;
        day.tm_mday = 22;
        day.tm_isdst = -1;
        const std::int64_t begin = static_cast<std::int64_t>(std::mktime(&day)) * 1'000'000'000;
        QCOMPARE(*archive::parseMoment("2025-11-22", archive::Edge::First, kNow), begin);
        QCOMPARE(*archive::parseMoment("2025-11-22", archive::Edge::Last, kNow), begin + kDay - 1);
        QCOMPARE(*archive::parseMoment("2025-11-22T01:30", archive::Edge::Last, kNow), begin + 5400'000'000'000);
        QCOMPARE(*archive::parseMoment("yesterday", archive::Edge::First, begin + kDay + 1), begin);
    }

    void theVerbChoosesAndSaysWhy()
    {
        const auto runs = [this](std::vector<std::string> words) {
            words.insert(words.end(), { "--data-dir", m_data, "--json" });
            return call(app::runsVerb, words);
        };
        auto found = runs({ "--incidents" }).json();
        QCOMPARE(found.size(), std::size_t { 2 });
        found = runs({ "--incidents=critical", "--tag", "base", "--config", "lr=0.001", "--config", "seed=7" }).json();
        QCOMPARE(found.size(), std::size_t { 1 });
        QCOMPARE(found[0]["id"], nlohmann::json("aaaa0001"));
        QCOMPARE(found[0]["tags"], (nlohmann::json { "base", "first try" }));
        QCOMPARE(found[0]["incidents"], (nlohmann::json { { "notice", 0 }, { "warning", 1 }, { "critical", 1 } }));
        QCOMPARE(found[0]["config"]["optimizer.lr"], nlohmann::json("0.001"));
        QCOMPARE(runs({ "--config", "seed=7", "--config", "seed=8" }).json().size(), std::size_t { 0 });
        QCOMPARE(runs({ "--name", "bert" }).json().size(), std::size_t { 1 });
        QVERIFY(!runs({}).json()[0].contains("tags"));
        QVERIFY(runs({ "--facts" }).json()[2].contains("tags"));
        const Outcome text = call(app::runsVerb, { "--incidents", "critical", "--data-dir", m_data });
        QVERIFY2(text.out.find("base, first try; 2 incidents (1 critical)") != std::string::npos, text.out.c_str());
        const Outcome wrong = call(app::runsVerb, { "--since", "soon", "--data-dir", m_data });
        QCOMPARE(wrong.code, 2);
        QVERIFY(wrong.err.find("--since: 'soon' is no date") != std::string::npos);
        QCOMPARE(call(app::runsVerb, { "--tag", "--data-dir", m_data }).code, 2);
    }

    void theIndexIsReadInsteadOfTheRuns()
    {
        QTemporaryDir other;
        const std::string data = other.path().toStdString();
        ArchivedRun run;
        run.id = "dddd0004";
        run.tags = { "before" };
        const std::string path = archiveRun(data, run);
        const auto tags = [&data] {
            const auto profiles = archive::ProfileIndex(data).read(store::listRuns(data));
            return profiles && profiles->size() == 1 ? profiles->begin()->second->tags : std::vector<std::string>();
        };
        QCOMPARE(tags(), std::vector<std::string> { "before" });
        // What only the index can say is believed while the file is the same, and no longer.
        std::fstream index(data + "/runs.profiles", std::ios::in | std::ios::out | std::ios::binary);
        std::string bytes((std::istreambuf_iterator<char>(index)), {});
        const std::size_t at = bytes.find("before");
        QVERIFY(at != std::string::npos);
        index.seekp(static_cast<std::streamoff>(at)).write("BEFORE", 6);
        index.close();
        QCOMPARE(tags(), std::vector<std::string> { "BEFORE" });
        CapsuleBuilder::must(store::renameRun(store::RunLocator::ofFile(path), "another name"));
        QCOMPARE(tags(), std::vector<std::string> { "before" });
        std::ofstream(data + "/runs.profiles", std::ios::binary | std::ios::trunc) << "no index any more, but a text";
        QCOMPARE(tags(), std::vector<std::string> { "before" });
        QCOMPARE(tags(), std::vector<std::string> { "before" });
        std::ofstream(path, std::ios::binary | std::ios::trunc) << "no run any more";
        QVERIFY(tags().empty());
        const Outcome all = call(app::runsVerb, { "--facts", "--json", "--data-dir", data });
        QCOMPARE(all.json().size(), std::size_t { 1 });
        QVERIFY(!all.json()[0].contains("tags"));
    }

private:
    QTemporaryDir m_dir;
    std::string m_data;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, RunQueryTest)

}

#include "runquerytest.moc"
