// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "sourcepath.h"
#include <telltale/config/field.h>
#include <telltale/config/monitorconfig.h>
#include <telltale/config/relaxedjson.h>
#include <telltale/config/revision.h>
#include <telltale/config/textedit.h>
#include <telltale/core/kinds.h>

namespace monitorconfigtest {

using namespace telltale;
using namespace telltale::config;

namespace {

/// Every field of the table, at a value that is not its default where it has another.
constexpr const char* kEveryField = R"({
    "targets": {"layers.0": {"output": "tuple[2]:0"}, "head": {}},
    "l2_targets": {"linear_hook": ["0:head"], "moe_router_logit_hook": []}, "recording_l2_features": true,
    "sa_order": "b,s,h,d", "print_struct": true, "module_ranks": [0, 3], "ur_distribution": true,
    "xy_distribution": true, "all_xy": true, "forward_only": true, "backward_only": false, "mv_distribution": true,
    "param_distribution": true, "wg_distribution": true, "mg_direction": true,
    "cc_distribution": {"enable": true, "cc_codeline": ["train.py\\[23\\]"], "cc_pre_hook": true, "cc_log_only": true},
    "alert": {"rules": [{"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.5}}, {"rule_name": "AnomalyNan"}],
        "dump": true},
    "stack_info": true, "monitor_mbs_grad": true, "format": ["csv", "stream", "csv"],
    "ops": ["norm", "nans", "norm", "shape"], "eps": 1e-6, "ndigits": 12, "step_count_per_record": 5,
    "append_output": ["Dec03_21-34-40", "Dec03_21-34-41"], "squash_name": true, "start_step": 5, "step_interval": 2,
    "collect_times": 1e8, "dynamic_on": true,
    "telltale": {"attention_hook": true, "attention_queries": 0, "stop_after_struct": true, "stop_after_cc_log": true,
        "actv_grad_input": "total", "alert_two_sided": true, "checksum": true, "threads": 4, "overhead_budget": 2.5,
        "environment": false, "system_metrics": false, "attention_maps": {"layers.0.attn": [0, 3], "layers.1": []}, "attention_maps_interval": 50,
        "attention_maps_steps": [100, 0], "attention_maps_size": 32, "flight_recorder": 48, "histogram": ["grad_reduced", "actv", "update", "ratio"]}
})";

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
        QVERIFY(config.config.allXy && !config.config.wgDistribution && !config.config.ndigits);
        QVERIFY((config.config.ops == std::vector<std::string> { "norm" }));
        QVERIFY(config.config.format.empty());
        QCOMPARE(config.config.stepInterval, std::int64_t { 1 });
        QCOMPARE(config.config.eps, 1e-8);
    }

    void everyFieldIsRead()
    {
        const auto config = parsed(kEveryField);
        for (const auto& problem : config.problems)
            qWarning("%s", problem.sentence.c_str());
        QVERIFY(config.problems.empty());
        const auto& c = config.config;
        QCOMPARE(c.targets.size(), std::size_t { 2 });
        QCOMPARE(c.targets.at("layers.0"), std::string(R"({"output":"tuple[2]:0"})"));
        QCOMPARE(c.targets.at("head"), std::string());
        QVERIFY((c.l2Targets.at("linear_hook") == std::vector<std::string> { "0:head" }));
        QVERIFY(c.l2Targets.at("moe_router_logit_hook").empty());
        QCOMPARE(c.saOrder, std::string("b,s,h,d"));
        QVERIFY((c.ops == std::vector<std::string> { "norm", "nans", "shape" }));
        QCOMPARE(c.eps, 1e-6);
        QVERIFY(c.recordingL2Features && c.printStruct && c.urDistribution && c.xyDistribution && c.allXy);
        QVERIFY(c.forwardOnly && !c.backwardOnly && c.mvDistribution && c.paramDistribution && c.wgDistribution);
        QVERIFY(c.mgDirection && c.ccEnable && c.ccPreHook && c.ccLogOnly && c.alertDump && c.stackInfo);
        QVERIFY(c.monitorMbsGrad && c.squashName && c.dynamicOn && c.attentionHook && c.stopAfterStruct);
        QVERIFY(c.alertTwoSided);
        QCOMPARE(c.overheadBudget, 2.5);
        QVERIFY(!c.environment && !c.systemMetrics);
        QCOMPARE(c.flightRecorder, std::int64_t { 48 });
        QCOMPARE(c.histogram, (std::vector<std::string> { "grad_reduced", "actv", "update", "ratio" }));
        QVERIFY((c.ccCodeline == std::vector<std::string> { "train.py\\[23\\]" }));
        QCOMPARE(c.alertRules.size(), std::size_t { 2 });
        QVERIFY((c.alertRules[0] == AlertRule { "AnomalyTurbulence", 0.5 }));
        QVERIFY((c.alertRules[1] == AlertRule { "AnomalyNan", {} }));
        QVERIFY((c.format == std::vector<std::string> { "csv", "stream" }));
        QCOMPARE(c.ndigits.value(), std::int64_t { 12 });
        QCOMPARE(c.stepCountPerRecord, std::int64_t { 5 });
        QVERIFY((c.appendOutput == std::vector<std::string> { "Dec03_21-34-40", "Dec03_21-34-41" }));
        QVERIFY((c.moduleRanks == std::vector<int> { 0, 3 }));
        QCOMPARE(c.startStep, std::int64_t { 5 });
        QCOMPARE(c.stepInterval, std::int64_t { 2 });
        QCOMPARE(c.collectTimes, std::int64_t { 100'000'000 });
        QCOMPARE(c.attentionQueries, std::int64_t { 0 });
        QCOMPARE(c.attentionMaps.size(), std::size_t { 2 });
        QVERIFY((c.attentionMaps.at("layers.0.attn") == std::vector<int> { 0, 3 }));
        QVERIFY(c.attentionMaps.at("layers.1").empty());
        QCOMPARE(c.attentionMapsInterval, std::int64_t { 50 });
        QVERIFY((c.attentionMapsSteps == std::vector<std::int64_t> { 100, 0 }));
        QCOMPARE(c.attentionMapsSize, std::int64_t { 32 });
        QCOMPARE(c.actvGradInput, std::string("total"));
        QCOMPARE(c.threads, std::int64_t { 4 });
    }

    void whatIsWrittenIsReadBackTheSame_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("defaults") << QByteArray("{}");
        QTest::newRow("every field") << QByteArray(kEveryField);
        QTest::newRow("a later field") << QByteArray(R"({"telltale": {"later": [1, {"a": null}]}})");
    }
    void whatIsWrittenIsReadBackTheSame()
    {
        QFETCH(QByteArray, text);
        const auto written = monitorConfigText(parsed(text.toStdString()).config);
        QCOMPARE(
            QByteArray::fromStdString(monitorConfigText(parsed(written).config)), QByteArray::fromStdString(written));
        const auto document = QJsonDocument::fromJson(QByteArray::fromStdString(written)).object();
        QVERIFY(document.contains(QStringLiteral("squash_name")));
        QVERIFY(document[QStringLiteral("cc_distribution")].toObject().contains(QStringLiteral("cc_codeline")));
    }

    void everyFieldOfTheTableIsInTheTestsText()
    {
        // The text above is what holds reading, writing and the schema to each other: no field may be missing there.
        const auto text = nlohmann::json::parse(plainJson(kEveryField));
        for (const auto& field : fields()) {
            const auto& place = field.object.empty() ? text : text.at(std::string(field.object));
            QVERIFY2(place.contains(std::string(field.name)), std::string(field.name).c_str());
            QVERIFY2(field.description.size() > 10 && field.description.back() == '.', std::string(field.name).c_str());
        }
    }

    void theCommittedSchemaIsTheTables()
    {
        QFile file(QString::fromStdString(telltale::test::sourcePath("resources/schema/monitor-config.schema.json")));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY2(file.readAll() == QByteArray::fromStdString(monitorConfigSchema()),
            "resources/schema is older than the field table: cmake --build build/release --target telltale_schema");
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

    void aProblemSaysWhereWhatAndWhatIsAllowed_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("pointer");
        QTest::addColumn<QByteArray>("part");
        const auto row = [](const char* text, const char* pointer, const char* part) {
            QTest::newRow(text) << QByteArray(text) << QByteArray(pointer) << QByteArray(part);
        };
        row(R"({"cc_distribution": {"cc_codelines": []}})", "/cc_distribution/cc_codelines", "\"cc_codeline\"");
        row(R"({"cc_distribution": true})", "/cc_distribution", "an object");
        row(R"({"cc_distribution": {"enable": "yes"}})", "/cc_distribution/enable", "true or false");
        row(R"({"cc_distribution": {"cc_codeline": [1]}})", "/cc_distribution/cc_codeline/0", "a string");
        row(R"({"alert": {"rules": [{"rule_name": "AnomalyNaN"}]}})", "/alert/rules/0/rule_name", "\"AnomalyNan\"");
        row(R"({"alert": {"rules": [{"args": {}}]}})", "/alert/rules/0", "no rule_name");
        row(R"({"alert": {"rules": [{"rule_name": "AnomalyTurbulence"}]}})", "/alert/rules/0", "threshold");
        row(R"({"alert": {"rules": [{"rule_name": "AnomalyNan", "args": {"threshold": -1}}]}})",
            "/alert/rules/0/args/threshold", "a number from 0 up");
        row(R"({"alert": {"rules": {}}})", "/alert/rules", "a list of rules");
        row(R"({"alert": {"dump": 1}})", "/alert/dump", "true or false");
        row(R"({"format": "tensorbord"})", "/format", "\"tensorboard\"");
        row(R"({"format": ["csv", 3]})", "/format/1", "stream, csv");
        row(R"({"format": 3})", "/format", "a format's name");
        row(R"({"telltale": {"overhead_budget": 101}})", "/telltale/overhead_budget", "from 0 to 100");
        row(R"({"telltale": {"overhead_budget": -1}})", "/telltale/overhead_budget", "from 0 to 100");
        row(R"({"telltale": {"overhead_budget": true}})", "/telltale/overhead_budget", "true");
        row(R"({"telltale": {"flight_recorder": 1025}})", "/telltale/flight_recorder", "from 0 to 1024");
        row(R"({"telltale": {"histogram": ["actv", "loss"]}})", "/telltale/histogram/1", "loss");
        row(R"({"telltale": {"flight_recorder": "on"}})", "/telltale/flight_recorder", "on");
        row(R"({"telltale": {"attention_maps": ["layers.0"]}})", "/telltale/attention_maps", "an object such as");
        row(R"({"telltale": {"attention_maps": {"a": 1}}})", "/telltale/attention_maps/a", "at most 16 heads");
        row(R"({"telltale": {"attention_maps": {"a": [-1]}}})", "/telltale/attention_maps/a/0", "from 0 to 4095");
        row(R"({"telltale": {"attention_maps_steps": 7}})", "/telltale/attention_maps_steps", "a list of steps");
        row(R"({"telltale": {"attention_maps_steps": [3, -1]}})", "/telltale/attention_maps_steps/1", "from 0 to");
        row(R"({"telltale": {"attention_maps_size": 65}})", "/telltale/attention_maps_size", "from 8 to 64");
        row(R"({"ndigits": 0})", "/ndigits", "from 1 to 20");
        row(R"({"ndigits": 2.5})", "/ndigits", "2.5");
        row(R"({"step_count_per_record": 1000001})", "/step_count_per_record", "from 1 to 1000000");
        row(R"({"sa_order": "h,s,b,d"})", "/sa_order", "\"b,s,h,d\"");
        row(R"({"append_output": ["Dec03_21-34-40"]})", "/append_output", "two moments");
        row(R"({"append_output": ["Dec03_21-34-40", "Foo03_21-34-41"]})", "/append_output", "Foo03");
        row(R"({"l2_targets": {"linear": []}})", "/l2_targets/linear", "linear_hook");
        row(R"({"l2_targets": {"linear_hook": "head"}})", "/l2_targets/linear_hook", "a list of module names");
        row(R"({"l2_targets": []})", "/l2_targets", "an object");
        row(R"({"targets": ["a"]})", "/targets", "an object");
        row(R"({"targets": {"a/b": {"input": "dict[1]"}}})", "/targets/a~1b/input", "tuple[2]");
        row(R"({"module_ranks": "0"})", "/module_ranks", "a list of rank numbers");
        row(R"({"collect_times": -1})", "/collect_times", "from 0");
        row(R"({"collect_times": 1e30})", "/collect_times", "1e+30");
        row(R"({"eps": 2})", "/eps", "from 0 to 1");
        row(R"({"mg_direction": 1})", "/mg_direction", "true or false");
        row(R"({"threads": 2})", "/threads", "belongs into the object \"telltale\"");
        row(R"({"telltale": {"actv_grad_input": "all"}})", "/telltale/actv_grad_input", "\"share\" or \"total\"");
        row(R"({"telltale": {"threads": 0}})", "/telltale/threads", "from 1 to 16");
    }
    void aProblemSaysWhereWhatAndWhatIsAllowed()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, pointer);
        QFETCH(QByteArray, part);
        const auto config = parsed(text.toStdString());
        QCOMPARE(config.problems.size(), std::size_t { 1 });
        QCOMPARE(QByteArray::fromStdString(config.problems.front().pointer), pointer);
        QVERIFY2(config.problems.front().sentence.find(part.toStdString()) != std::string::npos,
            config.problems.front().sentence.c_str());
        QVERIFY(config.problems.front().isError);
    }

    void aLaterVersionsFieldIsKeptAndTold()
    {
        const auto config = parsed(R"({"telltale": {"later": [1], "attention_hok": true}})");
        QVERIFY(hasProblem(config, "/telltale/later", false, "not known to this version"));
        QVERIFY(hasProblem(config, "/telltale/attention_hok", false, "did you mean \"attention_hook\"?"));
        QCOMPARE(config.config.extras.at("later"), std::string("[1]"));
        QVERIFY(!config.config.attentionHook);
    }

    void msprobesOwnFormsAreTaken()
    {
        const auto config = parsed(R"({"sa_order": "b, s, h, d", "format": "tensorboard", "collect_times": 1e8,
            "eps": 1, "ndigits": null, "alert": {}, "$schema": "monitor-config.schema.json"})");
        QVERIFY(config.problems.empty());
        QCOMPARE(config.config.saOrder, std::string("b,s,h,d"));
        QVERIFY((config.config.format == std::vector<std::string> { "tensorboard" }));
        QCOMPARE(config.config.collectTimes, std::int64_t { 100'000'000 });
    }

    void theFieldsThatBringKindsAndStatisticsAreThere()
    {
        std::vector<std::string> names { "" };
        for (const Field& field : fields())
            names.push_back((field.object.empty() ? "" : std::string(field.object) + ".") + std::string(field.name));
        const auto isThere
            = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
        for (int k = 1; k < kKindCount; ++k)
            QVERIFY2(isThere(kindField(static_cast<Kind>(k))), kindName(static_cast<Kind>(k)).data());
        for (const StatFacts& facts : kStatTable)
            QVERIFY2(isThere(facts.field), facts.word.data());
    }

    void aTextThatIsNoObjectIsRefusedWithItsLine()
    {
        const auto broken = parseMonitorConfig("{\n  \"eps\": 1,\n  oops\n}");
        QVERIFY(!broken);
        QVERIFY(broken.error().what.find("line 3") != std::string::npos);
        QVERIFY(!parseMonitorConfig("[]"));
        QVERIFY(!parseMonitorConfig(""));
        QVERIFY(!parseMonitorConfig("\"unterminated \\"));
        const auto huge = parseMonitorConfig(R"({"eps": 1e999})");
        QVERIFY(!huge);
        QVERIFY(huge.error().what.find("number") != std::string::npos);
        const std::string deep(200'000, '[');
        const auto nested
            = parseMonitorConfig(R"({"telltale": {"later": )" + deep + std::string(deep.size(), ']') + "}}");
        QVERIFY(!nested);
        QVERIFY(nested.error().what.find("deep") != std::string::npos);
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
        row("blocks.0", "module.blocks.0.attn", true);
        row("module.blocks.0", "blocks.0.attn", true);
        row("module.blocks.0", "module.module.blocks.0", true);
        row("blocks.0.attn", "_orig_mod.blocks.0._checkpoint_wrapped_module.attn.qkv", true);
        row("blocks.*.attn", "_fsdp_wrapped_module.blocks.0._fsdp_wrapped_module.attn", true);
        row("blocks.0", "module.blocks.1", false);
        row("modules.0", "0", false);
        row("0:blocks.0", "blocks.0", true);
        row("0:blocks.0", "0:module.blocks.0", true);
        row("blocks.0", "1:blocks.0", true);
        row("1:blocks.0", "0:blocks.0", false);
        row("1:blocks.0", "blocks.0", false);
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
        QVERIFY(selectsSlot(one, Slot::input(), false) && selectsSlot(one, Slot::output(1), false));
        QVERIFY(!selectsSlot(one, Slot::output(), false) && !selectsSlot(one, Slot::input(1), false));
        QVERIFY(!selectsSlot(one, Slot::output(1), true));
        QVERIFY(selectsSlot(R"({"output_grad":"tuple[2]"})", Slot::output(), true));
        QVERIFY(selectsSlot("", Slot::output(7), true) && selectsSlot("{}", Slot::input(), false));
    }

    void bothOnlyFieldsAreWarnedOfAndLeaveNothing()
    {
        const auto both = parsed(R"({"forward_only": true, "backward_only": true})");
        QVERIFY(both.config.forwardOnly && both.config.backwardOnly);
        QCOMPARE(both.problems.size(), std::size_t { 1 });
        QVERIFY(!both.problems.front().isError);
        QVERIFY(both.problems.front().sentence.find("neither activations nor their gradients") != std::string::npos);
    }

    void theListsOfPrintStructAreTaken()
    {
        const auto config = parsed(R"({"targets": {"0:a": {"input": "list[2]:1"}}})");
        QVERIFY(config.problems.empty());
        QCOMPARE(config.config.targets.at("0:a"), std::string(R"({"input":"list[2]:1"})"));
    }

    void whatCannotBeReadNeverWidensASelection_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("targets of another type") << R"({"targets": ["layers.0"]})";
        QTest::newRow("the only target's only side") << R"({"targets": {"layers.0": {"outputs": "tensor"}}})";
        QTest::newRow("the only target") << R"({"targets": {"layers.0": "tensor"}})";
        QTest::newRow("ranks of another type") << R"({"module_ranks": 0})";
        QTest::newRow("no rank") << R"({"module_ranks": [-1, "0"]})";
        QTest::newRow("no step of maps") << R"({"telltale": {"attention_maps_steps": [-1]}})";
        QTest::newRow("code") << R"({"cc_distribution": {"cc_codeline": [23]}})";
        QTest::newRow("linear layers") << R"({"l2_targets": {"linear_hook": "layers.0"}})";
    }

    void whatCannotBeReadNeverWidensASelection()
    {
        QFETCH(QString, text);
        const auto read = parsed(text.toStdString());
        QVERIFY(!read.problems.empty());
        // Another selection than everything, which reads back without a problem.
        const auto said = canonicalConfigText(read.config);
        QVERIFY(said != canonicalConfigText(parsed("{}").config));
        const auto again = parsed(said);
        QVERIFY(again.problems.empty());
        QCOMPARE(canonicalConfigText(again.config), said);
        for (const auto& [target, selection] : again.config.targets)
            QVERIFY(!targetMatches(target, "layers.0"));
    }

    void aTargetKeepsTheSidesThatCouldBeRead()
    {
        const auto read = parsed(R"({"targets": {"a": {"outputs": "tensor", "input": "tensor"}, "b": 1, "c": {}}})");
        QCOMPARE(read.config.targets.size(), 2u);
        QCOMPARE(read.config.targets.at("a"), std::string(R"({"input":"tensor"})"));
        QCOMPARE(read.config.targets.at("c"), std::string());
    }

    void equalConfigsHaveEqualTextsAndHashes()
    {
        const auto one = parsed("{\"eps\": 1e-6, // small\n \"ops\": [\"norm\"], \"step_interval\": 2.0}").config;
        const auto other = parsed(R"({"step_interval": 2, "eps": 0.000001})").config;
        QCOMPARE(canonicalConfigText(one), std::string(R"({"all_xy":true,"eps":1e-06,"step_interval":2})"));
        QCOMPARE(canonicalConfigText(other), canonicalConfigText(one));
        QCOMPARE(configHash(other), configHash(one));
        QCOMPARE(configHash(one).size(), 16u);
        QVERIFY(configHash(parsed("{}").config) != configHash(one));
        const auto every = parsed(kEveryField).config;
        QCOMPARE(monitorConfigText(parsed(canonicalConfigText(every)).config), monitorConfigText(every));
    }

    void changesAreNamedWithBothValues()
    {
        const auto before = parsed(R"({"telltale": {"later": 1}, "format": "csv"})").config;
        const auto after = parsed(R"({"telltale": {"later": 2, "threads": 4}, "wg_distribution": true})").config;
        const std::vector<FieldChange> expected { { "/wg_distribution", "false", "true" },
            { "/format", "[\"csv\"]", "[]" }, { "/telltale/threads", "2", "4" }, { "/telltale/later", "1", "2" } };
        QCOMPARE(configChanges(before, after), expected);
        QCOMPARE(localChanges(before, after), std::vector<std::string> { "/format" });
    }

    void anEditedTextKeepsItsCommentsAndOrder_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("wanted");
        QTest::addColumn<QString>("edited");
        const auto row = [](const char* name, const char* text, const char* wanted, const char* edited) {
            QTest::newRow(name) << text << wanted << edited;
        };
        row("nothing to change", "{ \"eps\" : 1e-8 }", "{}", "{ \"eps\" : 1e-8 }");
        row("a value", "{\n  // why\n  \"dynamic_on\": true, // now\n  \"eps\": 0.5,\n}", R"({"eps": 0.5})",
            "{\n  // why\n  \"dynamic_on\": false, // now\n  \"eps\": 0.5,\n}");
        row("a new one behind a trailing comma", "{\n  \"eps\": 0.5, // small\n}",
            R"({"eps": 0.5, "wg_distribution": true})", "{\n  \"eps\": 0.5, // small\n  \"wg_distribution\": true\n}");
        row("a new one behind none", "{\n  \"eps\": 0.5 // small\n}", R"({"eps": 0.5, "wg_distribution": true})",
            "{\n  \"eps\": 0.5, // small\n  \"wg_distribution\": true\n}");
        row("on one line", R"({"eps": 0.5})", R"({"eps": 0.5, "telltale": {"threads": 4}})",
            R"({"eps": 0.5, "telltale": {"threads": 4}})");
        row("into an object", R"({"telltale": {}, "eps": 0.5})", R"({"eps": 0.5, "telltale": {"threads": 4}})",
            R"({"telltale": {"threads": 4}, "eps": 0.5})");
        row("into an empty document", "{\n}\n", R"({"wg_distribution": true})",
            "{\n    \"wg_distribution\": true\n}\n");
        row("the last of two", R"({"eps": 0.5, "eps": 0.25})", R"({"eps": 0.125})", R"({"eps": 0.5, "eps": 0.125})");
        row("names that look like others", "{\"$schema\": \"\\\"eps\\\": 1\", \"eps\": 1}", R"({"eps": 0.5})",
            "{\"$schema\": \"\\\"eps\\\": 1\", \"eps\": 0.5}");
        row("no config", "[1]", R"({"targets": {"a": {}}})", "{\n  \"targets\": {\n    \"a\": {}\n  }\n}\n");
    }

    void anEditedTextKeepsItsCommentsAndOrder()
    {
        QFETCH(QString, text);
        QFETCH(QString, wanted);
        QFETCH(QString, edited);
        const auto got = editedConfigText(text.toStdString(), parsed(wanted.toStdString()).config);
        QCOMPARE(QString::fromStdString(got), edited);
    }

    void aValueIsFoundByItsPointer()
    {
        const std::string text = "{ // a\n \"a/b\": [1, {\"c~\": \"x,\"}], \"d\": 12 }";
        const auto at = [&](const char* pointer) {
            const auto place = findValue(text, pointer);
            return place ? text.substr(place->begin, place->end - place->begin) : std::string("(none)");
        };
        QCOMPARE(at(""), text);
        QCOMPARE(at("/a~1b"), std::string("[1, {\"c~\": \"x,\"}]"));
        QCOMPARE(at("/a~1b/1/c~0"), std::string("\"x,\""));
        QCOMPARE(at("/d"), std::string("12"));
        QCOMPARE(at("/e"), std::string("(none)"));
        QCOMPARE(at("/d/e"), std::string("(none)"));
        // Of what is not there, what would hold it.
        QCOMPARE(findPlace(text, "/a~1b/7").begin, text.find('['));
        QVERIFY((findPlace(text, "/e/f") == TextSpan { 0, 1 }));
        QVERIFY((findPlace("", "/e") == TextSpan { 0, 0 }));
    }

    void collectionFollowsStartAndInterval()
    {
        const auto config = parsed(R"({"start_step": 4, "step_interval": 3})").config;
        QVERIFY(!config.collectsAt(3) && config.collectsAt(4) && !config.collectsAt(5) && config.collectsAt(7));
        // As in msprobe, dynamic_on is a matter of DYNAMIC_MONITOR alone.
        QVERIFY(parsed(R"({"dynamic_on": false})").config.collectsAt(0));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, MonitorConfigTest)

}

#include "monitorconfigtest.moc"
