// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <fstream>
#include <sstream>

#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <telltale/judge/incident.h>
#include <telltale/judge/rulesinforce.h>

#include "madeuptraining.h"
#include "verbcall.h"

namespace judgeverbstest {

using namespace telltale;
using namespace telltale::test;

/// `telltale incidents`, `judge` and `rules`. Thread: test.
class JudgeVerbsTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            return step == 90 && kind == Kind::GradReduced && name == "layers.1.fc.weight" ? kNaN : usual;
        };
        CapsuleBuilder builder(path("bad"));
        training.write(builder);
        builder.finish();
        CapsuleBuilder ruled(path("ruled"));
        training.write(ruled);
        ruled.writer().stageRecord(
            { 1, ruled.locator(), Rank { -1 }, judge::rulesEvent(judge::Rules(), Step { 199 }, "me", 1) });
        ruled.commit();
        ruled.finish();
        CapsuleBuilder clean(path("clean"), "a calm run");
        Training().write(clean);
        clean.finish();
    }

    void judgeSaysWhatIsWrong()
    {
        const Outcome json = call(app::judgeVerb, { path("bad"), "--json" });
        QCOMPARE(json.code, 0);
        QCOMPARE(json.json().size(), std::size_t { 1 });
        const auto incident = json.json()[0];
        QCOMPARE(incident["step"].get<int>(), 90);
        QCOMPARE(incident["severity"].get<std::string>(), std::string("critical"));
        QCOMPARE(incident["rule"].get<std::string>(), std::string("nonfinite"));
        QCOMPARE(incident["kind"].get<std::string>(), std::string("grad_reduced"));
        QCOMPARE(incident["name"].get<std::string>(), std::string("layers.1.fc.weight"));
        QCOMPARE(incident["phase"].get<std::string>(), std::string("gradient"));
        QVERIFY(incident["evidence"].is_array() && incident["sentence"].is_string());
        const Outcome text = call(app::judgeVerb, { path("bad") });
        QVERIFY2(
            text.out.starts_with("critical  First abnormal: step 90, layers.1.fc.weight, gradient: NaN in 1 of 32"),
            text.out.c_str());
        QCOMPARE(call(app::judgeVerb, { path("clean") }).out, std::string("a calm run: nothing abnormal\n"));
        QCOMPARE(call(app::judgeVerb, { path("clean"), "--json" }).json(), nlohmann::json::array());
    }

    void scriptsMayFailOnIt()
    {
        QCOMPARE(call(app::judgeVerb, { path("bad"), "--fail-on", "critical" }).code, 1);
        QCOMPARE(call(app::judgeVerb, { path("clean"), "--fail-on", "warning" }).code, 0);
        const Outcome wrong = call(app::judgeVerb, { path("bad"), "--fail-on", "everything" });
        QVERIFY(wrong.code == 2 && wrong.err.find("'everything' is no severity") != std::string::npos);
    }

    void rulesComeFromADocument()
    {
        std::ofstream(path("off", ".json")) << R"({"rules": {"nonfinite": {"on": false}}})";
        QCOMPARE(call(app::judgeVerb, { path("bad"), "--rules", path("off", ".json"), "--json" }).json(),
            nlohmann::json::array());
        std::ofstream(path("odd", ".json")) << R"({"rules": {"nonfinite": {"off": true}}})";
        const Outcome odd = call(app::judgeVerb, { path("bad"), "--rules", path("odd", ".json") });
        QVERIFY(odd.code == 2 && odd.err.find("has no \"off\"") != std::string::npos);
        QCOMPARE(call(app::judgeVerb, { path("bad"), "--rules", path("none", ".json") }).code, 2);
        QVERIFY(call(app::rulesVerb, { "--json" }).json()["rules"].contains("level"));
        QVERIFY(call(app::rulesVerb, { "--schema" }).json()["properties"].contains("rules"));
        QVERIFY(call(app::rulesVerb, {}).out.find("entropy_collapse") != std::string::npos);
    }

    void rulesInForceAreTheRunsThenTheFolders()
    {
        const QTemporaryDir data;
        const std::string folder = data.path().toStdString();
        const auto found = [&](const char* run) {
            return call(app::judgeVerb, { path(run), "--data-dir", folder, "--json" }).json();
        };
        const auto onOf = [&](const std::vector<std::string>& words) {
            std::vector<std::string> all = words;
            all.insert(all.end(), { "--data-dir", folder, "--json" });
            return call(app::rulesVerb, all).json()["rules"]["nonfinite"]["on"].get<bool>();
        };
        QCOMPARE(found("bad").size(), std::size_t { 1 });
        judge::Rules off;
        off.setOn(judge::Rule::NonFinite, false);
        QVERIFY(judge::DefaultRules::save(folder, off));
        QCOMPARE(found("bad").size(), std::size_t { 0 });
        QVERIFY(!onOf({}) && !onOf({ path("bad") }));
        QVERIFY(call(app::rulesVerb, { "--data-dir", folder }).out.find("OFF. The first NaN") != std::string::npos);
        // What the run says itself comes first.
        QVERIFY(onOf({ path("ruled") }));
        QCOMPARE(found("ruled").size(), std::size_t { 1 });
        std::ofstream(judge::DefaultRules::fileIn(folder)) << R"({"rules": {"none": {}}})";
        const Outcome odd = call(app::judgeVerb, { path("bad"), "--data-dir", folder });
        QVERIFY2(odd.code == 0 && odd.err.find("rules.json does not count, the standard rules") != std::string::npos
                && odd.err.find("no rule \"none\"") != std::string::npos,
            odd.err.c_str());
    }

    void incidentsAreThoseOfTheLog()
    {
        CapsuleBuilder builder(path("recorded"), "recorded");
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        Training training;
        training.steps = 3;
        training.write(builder, stream, 0, 0, 3);
        judge::Incident incident;
        incident.first.rule = "nonfinite";
        incident.first.step = incident.opened = incident.lastStep = Step { 2 };
        incident.sentence = "First abnormal: step 2";
        // Only the server's word counts, not that of a rank.
        builder.stage(stream, {}, {}, { judge::incidentEvent(incident, 1) });
        builder.commit();
        builder.finish();
        QCOMPARE(call(app::incidentsVerb, { path("recorded") }).out, std::string("recorded: nothing abnormal\n"));
        QCOMPARE(call(app::incidentsVerb, { path("nowhere") }).code, 2);
    }

private:
    std::string path(const char* name, const char* suffix = ".telltale") const
    {
        return m_dir.path().toStdString() + '/' + name + suffix;
    }
    const QTemporaryDir m_dir;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, JudgeVerbsTest)

}

#include "judgeverbstest.moc"
