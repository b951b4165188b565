// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <algorithm>

#include <telltale/config/monitorconfig.h>

using namespace telltale;
using namespace telltale::config;

namespace {

ParsedConfig parsed(std::string_view text)
{
    auto result = parseMonitorConfig(text);
    if (!result)
        qFatal("%s", result.error().sentence().c_str());
    return *std::move(result);
}

bool hasProblem(const ParsedConfig& config, std::string_view pointer, bool isError, std::string_view part)
{
    return std::any_of(config.problems.begin(), config.problems.end(), [&](const Problem& p) {
        return p.pointer == pointer && p.isError == isError && p.sentence.find(part) != std::string::npos;
    });
}

}

class MonitorConfigTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void anEmptyObjectGivesTheDefaults()
    {
        const auto config = parsed("{}");
        QVERIFY(config.problems.empty());
        QVERIFY(config.config.targets.empty());
        QVERIFY(config.config.allXy);
        QCOMPARE(config.config.ops.size(), std::size_t { 6 });
        QCOMPARE(config.config.stepInterval, std::int64_t { 1 });
        QCOMPARE(config.config.eps, 1e-8);
    }

    void everyServedFieldIsRead()
    {
        const auto config = parsed(R"({
            "targets": {"layers.0": {"output": "tuple[2]:0"}, "head": {}},
            "ops": ["norm", "nans", "norm"], "eps": 1e-6, "wg_distribution": false, "mv_distribution": true,
            "param_distribution": true, "xy_distribution": true, "forward_only": true, "print_struct": true,
            "monitor_mbs_grad": true, "module_ranks": [0, 3], "start_step": 5, "step_interval": 2,
            "collect_times": 7, "dynamic_on": false, "all_xy": true, "telltale": {"attention_hook": true, "later": 1}
        })");
        QVERIFY(config.problems.empty());
        const auto& c = config.config;
        QCOMPARE(c.targets.size(), std::size_t { 2 });
        QCOMPARE(c.targets.at("layers.0"), std::string(R"({"output":"tuple[2]:0"})"));
        QCOMPARE(c.targets.at("head"), std::string());
        QVERIFY((c.ops == std::vector<std::string> { "norm", "nans" }));
        QCOMPARE(c.eps, 1e-6);
        QVERIFY(!c.wgDistribution && c.mvDistribution && c.paramDistribution && c.xyDistribution && c.forwardOnly);
        QVERIFY(c.printStruct && c.monitorMbsGrad && c.allXy && c.attentionHook && !c.dynamicOn);
        QVERIFY((c.moduleRanks == std::vector<int> { 0, 3 }));
        QCOMPARE(c.startStep, std::int64_t { 5 });
        QCOMPARE(c.stepInterval, std::int64_t { 2 });
        QCOMPARE(c.collectTimes, std::int64_t { 7 });
    }

    void commentsAndTrailingCommasAreAccepted()
    {
        const auto config
            = parsed("{ // the run\n \"targets\": {\"a//b\": {},}, // one\n \"module_ranks\": [1,2, ],\n}");
        QVERIFY(config.problems.empty());
        QVERIFY(config.config.targets.contains("a//b"));
        QCOMPARE(config.config.moduleRanks.size(), std::size_t { 2 });
    }

    void everyProblemIsToldAtOnce()
    {
        const auto config = parsed(R"({"step_intervall": 2, "eps": "small", "ops": ["norm", "maxx"], "step_interval": 0,
            "module_ranks": [0, true, -1], "xy_distribution": 1, "targets": {"a": {"outptu": "tensor"}, "b": []}})");
        QVERIFY(hasProblem(config, "/step_intervall", true, "did you mean \"step_interval\"?"));
        QVERIFY(hasProblem(config, "/eps", true, "\"small\""));
        QVERIFY(hasProblem(config, "/ops/1", true, "did you mean \"max\"?"));
        QVERIFY(hasProblem(config, "/step_interval", true, "from 1"));
        QVERIFY(hasProblem(config, "/module_ranks/1", true, "true"));
        QVERIFY(hasProblem(config, "/module_ranks/2", true, "-1"));
        QVERIFY(hasProblem(config, "/xy_distribution", true, "true or false"));
        QVERIFY(hasProblem(config, "/targets/a/outptu", true, "did you mean \"output\"?"));
        QVERIFY(hasProblem(config, "/targets/b", true, "an object"));
        QCOMPARE(config.problems.size(), std::size_t { 9 });
        QCOMPARE(config.problems.front().pointer, std::string("/step_intervall"));
        QCOMPARE(config.config.eps, 1e-8);
        QCOMPARE(config.config.stepInterval, std::int64_t { 1 });
        QVERIFY((config.config.moduleRanks == std::vector<int> { 0 }));
        QVERIFY((config.config.ops == std::vector<std::string> { "norm" }));
    }

    void fieldsThatAreNotServedYetWarnOnlyWhenTheyAskForSomething()
    {
        const auto idle = parsed(R"({"format": "csv", "ndigits": 6, "mg_direction": false, "cc_distribution": {}})");
        QVERIFY(idle.problems.empty());
        const auto asking = parsed(R"({"ndigits": 12, "ur_distribution": true, "alert": {"rules": []}, "format": 3})");
        QVERIFY(hasProblem(asking, "/ndigits", false, "not served yet"));
        QVERIFY(hasProblem(asking, "/ur_distribution", false, "not served yet"));
        QVERIFY(hasProblem(asking, "/alert", false, "not served yet"));
        QVERIFY(hasProblem(asking, "/format", true, "same type"));
    }

    void aTextThatIsNoObjectIsRefusedWithItsLine()
    {
        const auto broken = parseMonitorConfig("{\n  \"eps\": 1,\n  oops\n}");
        QVERIFY(!broken);
        QVERIFY(broken.error().what.find("line 3") != std::string::npos);
        QVERIFY(!parseMonitorConfig("[]"));
        QVERIFY(!parseMonitorConfig(""));
        QVERIFY(!parseMonitorConfig("\"unterminated \\"));
    }

    void targetsKeepMsprobesMeaningOfAllXy()
    {
        QVERIFY(!parsed(R"({"targets": {"a": {}}})").config.allXy);
        QVERIFY(parsed(R"({"targets": {"a": {}}, "all_xy": true})").config.allXy);
        QVERIFY(parsed(R"({"targets": {}, "all_xy": false})").config.allXy);
    }

    void aTargetSelectsItselfAndEverythingBelowByComponent_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("matches");
        const auto row = [](const char* target, const char* name, bool matches) {
            QTest::addRow("%s on %s", target, name)
                << QString::fromLatin1(target) << QString::fromLatin1(name) << matches;
        };
        row("layers.1", "layers.1", true);
        row("layers.1", "layers.1.attn.qkv.weight", true);
        row("layers.1", "layers.10", false);
        row("layers.1", "layers", false);
        row("layers.*.mlp", "layers.3.mlp.fc1", true);
        row("layers.*.mlp", "layers.3.attn", false);
        row("layers.?.mlp", "layers.12.mlp", false);
        row("*emb", "tok_emb.weight", true);
        row("l*s.0", "layers.0.ln1", true);
        row("", "anything", true);
        row("a.b", "a", false);
    }
    void aTargetSelectsItselfAndEverythingBelowByComponent()
    {
        QFETCH(QString, target);
        QFETCH(QString, name);
        QFETCH(bool, matches);
        QCOMPARE(targetMatches(target.toStdString(), name.toStdString()), matches);
    }

    void aSelectionPicksTupleElementsAndSides()
    {
        const char* const one = R"({"input":"tensor","output":"tuple[2]:1"})";
        QVERIFY(selectsSlot(one, "input", false) && selectsSlot(one, "output_1", false));
        QVERIFY(!selectsSlot(one, "output", false) && !selectsSlot(one, "input_1", false));
        QVERIFY(!selectsSlot(one, "output_1", true));
        QVERIFY(selectsSlot(R"({"output_grad":"tuple[2]"})", "output", true));
        QVERIFY(selectsSlot("", "output_7", true));
    }

    void collectionFollowsStartAndInterval()
    {
        const auto config = parsed(R"({"start_step": 4, "step_interval": 3})").config;
        QVERIFY(!config.collectsAt(3) && config.collectsAt(4) && !config.collectsAt(5) && config.collectsAt(7));
        QVERIFY(!parsed(R"({"dynamic_on": false})").config.collectsAt(0));
    }
};

QTEST_GUILESS_MAIN(MonitorConfigTest)
#include "monitorconfigtest.moc"
