// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <chrono>
#include <cmath>
#include <mutex>
#include <random>

#include <QDir>
#include <QTemporaryDir>

#include <telltale/judge/baseline.h>
#include <telltale/judge/livejudge.h>
#include <telltale/judge/runjudge.h>
#include <telltale/store/archive.h>

#include "judged.h"

namespace judgetest {

using namespace telltale;
using namespace telltale::judge;
using telltale::test::CapsuleBuilder;
using telltale::test::incidentsOf;
using telltale::test::kNaN;
using telltale::test::placeOf;
using telltale::test::summary;
using telltale::test::Training;

namespace {

IncidentBook bookOf(const store::RunLocator& run)
{
    const auto reader = CapsuleBuilder::must(store::openReader({ run, {}, {}, nullptr }));
    IncidentBook book;
    CapsuleBuilder::must(book.update(*reader));
    return book;
}

std::vector<Incident> recordedOf(const store::RunLocator& run)
{
    const IncidentBook book = bookOf(run);
    std::vector<Incident> all;
    for (const Incident* incident : book.inOrder())
        all.push_back(*incident);
    return all;
}

}

class JudgeTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aCleanRunIsSilent() { QCOMPARE(summary(incidentsOf(Training { 2, 600 })), std::string()); }

    void theFirstNaNOfAForwardPassIsNamed()
    {
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            const bool isSource
                = step == 90 && kind == Kind::Actv && (name == "layers.2.fc:output" || name >= "layers.2:output");
            return isSource || (step > 90 && kind != Kind::Scalar) ? kNaN : usual;
        };
        const auto incidents = incidentsOf(training);
        QCOMPARE(summary(incidents), std::string("nonfinite layers.2.fc:output@90/0"));
        const Incident& incident = incidents.front();
        QCOMPARE(incident.sentence,
            std::string("First abnormal: step 90, layers.2.fc:output, forward: NaN in 1 of 32 elements. Its inputs "
                        "were finite."));
        // What it began with is told once.
        for (const Finding& told : incident.evidence)
            QVERIFY2(told.rule != incident.first.rule, toJson(incident).c_str());
        QVERIFY(incident.folded >= 3 + 16 + 4 + 4);
        for (const Reach& reach : incident.reach)
            QCOMPARE(reach.steps.last, Step { 199 });
        QCOMPARE(incident.lastStep, Step { 199 });
        QVERIFY(!incident.isOver);
    }

    void aBackwardPassIsJudgedFromItsEnd()
    {
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            const bool isAfter = name == "layers.1.fc:input" || name == "layers.1:input" || name < "layers.1";
            return step == 60 && kind == Kind::ActvGrad && isAfter ? kNaN : usual;
        };
        const auto incidents = incidentsOf(training);
        QCOMPARE(summary(incidents), std::string("nonfinite layers.1.fc:input@60/0"));
        QVERIFY(incidents.front().isOver);
    }

    /// One bad batch of several whose gradients are added up.
    void theMicroStepThatWentWrongIsNamed()
    {
        Training training;
        training.kinds = { Kind::GradUnreduced };
        training.microSteps = 4;
        training.value = [](int, int step, Kind, const std::string& name, double usual) {
            return step == 90 && name == "layers.1.fc.weight µ2" ? kNaN : usual;
        };
        const auto incidents = incidentsOf(training);
        QCOMPARE(summary(incidents), std::string("nonfinite layers.1.fc.weight@90/0"));
        const Incident& incident = incidents.front();
        QVERIFY2(incident.sentence.starts_with("First abnormal: step 90, layers.1.fc.weight (micro step 2), "),
            incident.sentence.c_str());
        QCOMPARE(incidentFrom(toJson(incident))->first.microStep, 2);
    }

    void whatWasAlwaysMinusInfinityIsAMask()
    {
        RankJudge judge { Rules() };
        Watchlist list;
        list.rows
            = { { .kind = Kind::Actv, .phase = Phase::Forward }, { .kind = Kind::Actv, .phase = Phase::Forward } };
        judge.take(list);
        using series::CellState;
        std::vector<Sighting> seen;
        const std::vector<float> values { 0, 1 };
        const std::vector<CellState> masked { CellState::NegInf, CellState::Value };
        judge.judge({ Step { 0 }, values, masked, {} }, seen);
        QVERIFY(seen.empty());
        const std::vector<CellState> both { CellState::NegInf, CellState::NegInf };
        judge.judge({ Step { 1 }, values, both, {} }, seen);
        QVERIFY(seen.size() == 1 && seen.front().row == 1);
    }

    void aSpikeIsNamedByTheTensorThatHasIt()
    {
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            return step == 120 && kind == Kind::GradReduced && name == "layers.1.fc.weight" ? usual * 100 : usual;
        };
        QCOMPARE(summary(incidentsOf(training)), std::string("level layers.1.fc.weight@120/0"));
        Rules off = CapsuleBuilder::must(Rules::fromJson(R"({"rules": {"level": {"on": false}}})"));
        QCOMPARE(summary(incidentsOf(training, off)), std::string());
        Rules high = CapsuleBuilder::must(Rules::fromJson(R"({"rules": {"level": {"factor": 1000}}})"));
        QCOMPARE(summary(incidentsOf(training, high)), std::string());
    }

    void gradientsThatFallEvenlyAreNoIncident()
    {
        Training training;
        training.value = [](int, int step, Kind kind, const std::string&, double usual) {
            return kind == Kind::GradReduced ? usual * std::pow(0.97, step) : usual;
        };
        QCOMPARE(summary(incidentsOf(training)), std::string());
    }

    void replicasThatDifferAreNamed()
    {
        Training training;
        training.ranks = 3;
        training.hasChecksums = true;
        training.value = [](int rank, int step, Kind kind, const std::string& name, double usual) {
            const bool isFlipped = kind == Kind::Unspecified && rank == 2 && step >= 77 && name == "layers.3.fc.weight";
            return isFlipped ? usual + 1e9 : usual;
        };
        const auto incidents = incidentsOf(training);
        QCOMPARE(summary(incidents), std::string("replica layers.3.fc.weight@77/2"));
        QVERIFY2(incidents.front().sentence.find("differs on rank 2 from the other 2 ranks") != std::string::npos,
            incidents.front().sentence.c_str());
    }

    void whatDiffersFromTheBeginningIsNoReplica()
    {
        Training training;
        training.ranks = 2;
        training.hasChecksums = true;
        // Equal zeros that grow apart with the first step, as biases of tensor-parallel parts.
        training.value = [](int rank, int step, Kind kind, const std::string& name, double usual) {
            return kind == Kind::Unspecified && name == "layers.0.fc.weight" && step > 0 ? usual + rank : usual;
        };
        QCOMPARE(summary(incidentsOf(training)), std::string());
    }

    void whatStopsIsNamed()
    {
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            if (kind == Kind::ParamUpdated && name == "layers.2.fc.weight" && step >= 50)
                return 103.0;
            return kind == Kind::Actv && name == "layers.0.fc:output" && step >= 120 ? 0.0 : usual;
        };
        const auto incidents = incidentsOf(training);
        QCOMPARE(summary(incidents), std::string("frozen layers.2.fc.weight@51/0; vanished layers.0.fc:output@120/0"));
    }

    void aNormThatStandsStillIsNoChangeOnlyWhereTheBitsStandStill()
    {
        const auto sentence = [](bool hasChecksums, bool areBitsStill) {
            Training training;
            training.hasChecksums = hasChecksums;
            training.value = [=](int, int step, Kind kind, const std::string& name, double usual) {
                const bool isStill = name == "layers.2.fc.weight" && step >= 50;
                if (kind == Kind::Unspecified)
                    return isStill && areBitsStill ? 7.0 : 1000.0 + step;
                return kind == Kind::ParamUpdated && isStill ? 103.0 : usual;
            };
            const auto incidents = incidentsOf(training);
            return incidents.empty() ? std::string() : incidents.front().first.sentence;
        };
        QCOMPARE(sentence(false, false),
            std::string("has had exactly the same norm for 8 steps, while other weights changed"));
        QCOMPARE(sentence(true, false), std::string());
        QCOMPARE(sentence(true, true), std::string("has not changed for 8 steps, while other weights have"));
    }

    void whatStopsAtTheEndOfAScheduleIsNotNamed()
    {
        const auto at = [](double rate) {
            Training training;
            training.value = [rate](int, int step, Kind kind, const std::string& name, double usual) {
                if (kind == Kind::Scalar && name == "lr")
                    return step < 100 ? 1e-3 : std::max(rate, 1e-3 * (1 - (step - 99) / 50.0));
                return kind == Kind::ParamUpdated && name == "layers.2.fc.weight" && step >= 150 ? 103.0 : usual;
            };
            return summary(incidentsOf(training));
        };
        QCOMPARE(at(1e-6), std::string());
        QCOMPARE(at(1e-4), std::string("frozen layers.2.fc.weight@151/0"));
    }

    void aLossScalerGivesStepsUpInPeace()
    {
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            if (name == "loss-scale")
                return step < 100 ? 65536.0 : 32768.0;
            return kind == Kind::GradReduced && step == 100 ? kNaN : usual;
        };
        QCOMPARE(summary(incidentsOf(training)), std::string());
        training.value = [](int, int step, Kind, const std::string& name, double usual) {
            return name == "loss-scale" ? 65536.0 / std::pow(2.0, std::clamp(step - 100, 0, 5)) : usual;
        };
        QCOMPARE(summary(incidentsOf(training)), std::string("loss_scale loss-scale@101/0"));
    }

    void stepsThatAreGivenUpInARowAreNamed()
    {
        const auto judged = [](int times) {
            const QTemporaryDir dir;
            CapsuleBuilder builder(dir.path().toStdString() + "/run.telltale");
            const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
            Training().write(builder, stream, 0, 0, 200);
            for (int i = 0; i < times; ++i) {
                Event event { "log", Step { 150 }, 1, "tried and given up", "{}" };
                event.rule = "given_up";
                builder.stage(stream, {}, {}, { event });
            }
            builder.commit();
            builder.finish();
            const auto reader = CapsuleBuilder::must(store::openReader(builder.handle()));
            RunJudge judge;
            CapsuleBuilder::must(judge.judgeAll(*reader));
            return summary(judge.incidents());
        };
        QCOMPARE(judged(2), std::string());
        QCOMPARE(judged(20), std::string("loss_scale loss-scale@150/0"));
    }

    void aLearningRateThatJumpsIsNamedAndOneThatFallsIsNot()
    {
        Training training;
        training.value = [](int, int step, Kind, const std::string& name, double usual) {
            return name == "lr" && step >= 100 ? usual / 10 : usual;
        };
        QCOMPARE(summary(incidentsOf(training)), std::string());
        training.value = [](int, int step, Kind, const std::string& name, double usual) {
            return name == "lr" && step >= 100 ? usual * 10 : usual;
        };
        QCOMPARE(summary(incidentsOf(training)), std::string("learning_rate lr@100/0"));
    }

    void whatComesLateAndWasEarlierIsTheCause()
    {
        IncidentDesk desk;
        const auto witness = [](int rank, int step, const char* name, Phase phase) {
            Witness one;
            one.finding.rule = "nonfinite";
            one.finding.severity = store::Severity::Critical;
            one.finding.step = one.seen = Step { step };
            one.finding.rank = Rank { rank };
            one.finding.kind = Kind::Actv;
            one.finding.name = name;
            one.moment = { Step { step }, phase, 5 };
            one.block = name;
            return one;
        };
        desk.take(witness(0, 41, "b", Phase::Backward));
        QCOMPARE(desk.cases().size(), std::size_t { 1 });
        const std::string key = desk.cases().front().incident.key;
        desk.take(witness(3, 40, "a", Phase::Forward));
        QCOMPARE(desk.cases().size(), std::size_t { 1 });
        const Incident& incident = desk.cases().front().incident;
        QCOMPARE(placeOf(incident), std::string("a@40/3"));
        QCOMPARE(incident.key, key);
        desk.take(witness(1, 40, "a", Phase::Forward));
        QCOMPARE(incident.ties, std::vector<std::string> { "a on rank 1" });
        QCOMPARE(incident.folded, std::uint64_t { 2 });
        desk.passed({ 0, Step { 90 }, {}, 0 });
        QVERIFY(!incident.isOver);
        desk.passed({ 0, Step { 91 }, {}, 0 });
        QVERIFY(incident.isOver);
        desk.take(witness(0, 200, "c", Phase::Forward));
        QCOMPARE(desk.cases().size(), std::size_t { 2 });
    }

    /// As a flight recorder sends them: tensors that nobody knew, of steps that are over.
    void whatComesOfStepsThatAreJudgedIsJudgedToo()
    {
        const QTemporaryDir dir;
        CapsuleBuilder builder(dir.path().toStdString() + "/run.telltale");
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            const bool isAfter = name == "layers.2.fc:output" || name >= "layers.2:output";
            return step >= 90 && step < 150 && kind == Kind::Actv && isAfter ? kNaN : usual;
        };
        const auto layouts = training.makeLayouts();
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        const auto send = [&](bool isKept, int from, int to) {
            std::vector<StepBlock> blocks;
            for (int step = from; step < to; ++step) {
                for (const auto& layout : layouts) {
                    if ((layout->kind == Kind::Actv) == isKept)
                        blocks.push_back(training.blockOf(layout, 0, step));
                }
            }
            builder.stage(stream, std::move(blocks));
            builder.commit();
        };
        RunJudge judge;
        const auto advance = [&](int from, int to) {
            const auto reader = CapsuleBuilder::must(store::openReader(builder.liveHandle()));
            CapsuleBuilder::must(judge.advance(*reader, { Step { from }, Step { to - 1 } }));
            return summary(judge.incidents());
        };
        send(false, 0, 85);
        QCOMPARE(advance(0, 85), std::string());
        send(false, 85, 100);
        QCOMPARE(advance(85, 100), std::string());
        send(true, 68, 100);
        QCOMPARE(advance(68, 100), std::string("nonfinite layers.2.fc:output@90/0"));
        const std::uint64_t folded = judge.incidents().front().folded;
        QCOMPARE(advance(68, 100), std::string("nonfinite layers.2.fc:output@90/0"));
        QCOMPARE(judge.incidents().front().folded, folded);
        // They come again, of later steps, and are whole; what replays the run finds the same.
        send(false, 100, 200);
        advance(100, 200);
        send(true, 168, 200);
        QCOMPARE(advance(168, 200), std::string("nonfinite layers.2.fc:output@90/0"));
        builder.finish();
        const auto reader = CapsuleBuilder::must(store::openReader(builder.handle()));
        RunJudge again;
        CapsuleBuilder::must(again.judgeAll(*reader));
        QCOMPARE(summary(again.incidents()), std::string("nonfinite layers.2.fc:output@90/0"));
    }

    /// What a flight recorder sends may become durable in parts, and in any order of its kinds.
    void whatComesLateMayComeInParts()
    {
        const QTemporaryDir dir;
        CapsuleBuilder builder(dir.path().toStdString() + "/run.telltale");
        Training training;
        training.value = [](int, int step, Kind kind, const std::string&, double usual) {
            return step == 90 && (kind == Kind::Actv || kind == Kind::ActvGrad) ? kNaN : usual;
        };
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        RunJudge judge;
        const auto send = [&](std::vector<Kind> kinds, int from, int to) {
            std::vector<StepBlock> blocks;
            for (int step = from; step < to; ++step) {
                for (const auto& layout : training.makeLayouts()) {
                    if (std::find(kinds.begin(), kinds.end(), layout->kind) != kinds.end())
                        blocks.push_back(training.blockOf(layout, 0, step));
                }
            }
            builder.stage(stream, std::move(blocks));
            builder.commit();
            const auto reader = CapsuleBuilder::must(store::openReader(builder.liveHandle()));
            CapsuleBuilder::must(judge.advance(*reader, { Step { from }, Step { to - 1 } }));
            return summary(judge.incidents());
        };
        QCOMPARE(send({ Kind::GradReduced, Kind::ParamUpdated, Kind::Scalar }, 0, 100), std::string());
        QCOMPARE(send({ Kind::ActvGrad }, 80, 100), std::string("nonfinite layers.3:output@90/0"));
        QCOMPARE(send({ Kind::Actv }, 80, 90), std::string("nonfinite layers.3:output@90/0"));
        QCOMPARE(send({ Kind::Actv }, 90, 100), std::string("nonfinite layers.0:input@90/0"));
        const std::uint64_t folded = judge.incidents().front().folded;
        QCOMPARE(folded, std::uint64_t { 31 });
        QCOMPARE(send({ Kind::Actv }, 100, 110), std::string("nonfinite layers.0:input@90/0"));
    }

    void aStepThatComesInTwoPartsIsJudgedWhole()
    {
        const QTemporaryDir dir;
        CapsuleBuilder builder(dir.path().toStdString() + "/run.telltale");
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            return step == 100 && kind == Kind::ActvGrad && name == "layers.2.fc:output" ? kNaN : usual;
        };
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        training.write(builder, stream, 0, 0, 100);
        const auto send = [&](bool isBackward) {
            std::vector<StepBlock> blocks;
            for (const auto& layout : training.makeLayouts()) {
                if ((layout->kind == Kind::ActvGrad) == isBackward)
                    blocks.push_back(training.blockOf(layout, 0, 100));
            }
            builder.stage(stream, std::move(blocks));
            builder.commit();
        };
        RunJudge judge;
        const auto advance = [&](int from, int to, const RunJudge::OpenSteps& open) {
            const auto reader = CapsuleBuilder::must(store::openReader(builder.liveHandle()));
            CapsuleBuilder::must(judge.advance(*reader, { Step { from }, Step { to } }, {}, open));
            return summary(judge.incidents());
        };
        const SourceId source { 1 };
        QCOMPARE(advance(0, 99, {}), std::string());
        send(false);
        QCOMPARE(advance(100, 100, { { source, Step { 100 } } }), std::string());
        QCOMPARE(judge.extent().steps.last, Step { 99 });
        send(true);
        QCOMPARE(advance(100, 100, {}), std::string("nonfinite layers.2.fc:output@100/0"));
    }

    void whatComesLateMayBeCloseToOverflow()
    {
        const QTemporaryDir dir;
        CapsuleBuilder builder(dir.path().toStdString() + "/run.telltale");
        Training training;
        training.stats = { Stat::Norm, Stat::Nans, Stat::Min, Stat::Max };
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            if (step < 88 || kind != Kind::Actv || name != "layers.1.fc:output")
                return usual;
            return step < 90 ? 30'000 : kNaN;
        };
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        RunJudge judge;
        for (const bool isKept : { false, true }) {
            std::vector<StepBlock> blocks;
            for (const auto& layout : training.makeLayouts()) {
                auto half = std::make_shared<SeriesLayout>(*layout);
                for (SeriesDesc& series : half->series)
                    series.dtype = layout->kind == Kind::Actv ? DType::F16 : series.dtype;
                for (int step = isKept ? 68 : 0; step < 100 && (layout->kind == Kind::Actv) == isKept; ++step)
                    blocks.push_back(training.blockOf(half, 0, step));
            }
            builder.stage(stream, std::move(blocks));
            builder.commit();
            const auto reader = CapsuleBuilder::must(store::openReader(builder.liveHandle()));
            CapsuleBuilder::must(judge.advance(*reader, { Step { 0 }, Step { 99 } }));
        }
        QCOMPARE(summary(judge.incidents()), std::string("overflow layers.1.fc:output@88/0"));
    }

    void aRuleMayAskForMoreDetail()
    {
        const Rules rules = CapsuleBuilder::must(Rules::fromJson(
            R"({"rules": {"level": {"z": 7, "escalate": {"config": {"xy_distribution": true}, "steps": 20}}}})"));
        QCOMPARE(rules.escalation(Rule::Level).steps, std::int64_t { 20 });
        QCOMPARE(rules.escalation(Rule::Level).config, std::string(R"({"xy_distribution":true})"));
        QVERIFY(rules.escalation(Rule::NonFinite).config.empty());
        QVERIFY(CapsuleBuilder::must(Rules::fromJson(rules.toJson())) == rules);
        QVERIFY(!(rules == Rules()) && Rules().toJson().find("escalate") == std::string::npos);
        QCOMPARE(ruleFromId("level"), std::optional(Rule::Level));
        QVERIFY(!ruleFromId("levels"));
        const auto problemOf = [](const char* escalate) {
            const auto read = Rules::fromJson(std::string(R"({"rules": {"level": {"escalate": )") + escalate + "}}}");
            return read ? std::string() : read.error().sentence();
        };
        for (const auto& [said, words] : std::vector<std::pair<const char*, const char*>> { { "true", "must be {" },
                 { R"({"config": {}, "steps": 5})", "must be {" },
                 { R"({"config": {"xy_distribution": true}})", "must be {" },
                 { R"({"config": {"xy_distribution": true}, "steps": 0})", "from 1 to 100000" },
                 { R"({"config": {"xy_distribution": true}, "steps": 5, "times": 0})", "\"times\" from 1 to 1000" },
                 { R"({"config": {"xy_distribution": true}, "steps": 5, "often": 1})", "must be {" },
                 { R"({"config": {"xy_distributions": true}, "steps": 5})", "xy_distribution" },
                 { R"({"config": {"telltale": {"overhead_budget": 90}}, "steps": 5})", "own config.json" } }) {
            const std::string sentence = problemOf(said);
            QVERIFY2(sentence.find(words) != std::string::npos, sentence.c_str());
        }
        QVERIFY(problemOf("null").empty());
        const Rules limited = CapsuleBuilder::must(Rules::fromJson(
            R"({"rules": {"level": {"escalate": {"config": {"xy_distribution": true}, "steps": 20, "times": 3}}}})"));
        QCOMPARE(limited.escalation(Rule::Level).times, std::int64_t { 3 });
        QVERIFY(CapsuleBuilder::must(Rules::fromJson(limited.toJson())) == limited);
        QVERIFY(judge::Rules::schema().find("\"times\"") != std::string::npos);
    }

    void rulesAreAJsonDocument()
    {
        const Rules standard;
        QVERIFY(CapsuleBuilder::must(Rules::fromJson(standard.toJson())) == standard);
        const auto bad = Rules::fromJson(
            R"({"rules": {"levle": {}, "level": {"z": "six", "on": 1, "q": 2}, "frozen": {"steps": 0}}})");
        QVERIFY(!bad);
        for (const char* part :
            { "levle", "\"z\"", "\"on\"", "\"q\"", "\"steps\" of \"frozen\" must be a number from 2" })
            QVERIFY2(bad.error().what.find(part) != std::string::npos, bad.error().what.c_str());
        QVERIFY(!Rules::fromJson("[1]") && !Rules::fromJson("{"));
    }

    /// As Hampel's identifier over the sorted window, written down at length.
    void theBaselineIsMedianAndMad()
    {
        constexpr double kFar = 2; // so that some are
        Baseline baseline;
        std::mt19937 random(5);
        std::lognormal_distribution<double> values(1, 0.3);
        std::vector<double> window;
        for (int i = 0; i < 400; ++i) {
            const double x = values(random);
            const Baseline::Verdict verdict = baseline.judge(x, kFar);
            if (static_cast<int>(window.size()) >= Baseline::kArmed) {
                std::vector<double> y(
                    window.end() - std::min<std::ptrdiff_t>(std::ssize(window), Baseline::kWindow), window.end());
                std::sort(y.begin(), y.end());
                const std::size_t n = y.size();
                const double median = n % 2 == 1 ? y[n / 2] : (y[n / 2 - 1] + y[n / 2]) / 2;
                std::vector<double> far;
                for (const double one : y)
                    far.push_back(std::abs(one - median));
                std::sort(far.begin(), far.end());
                const double z = (std::log(x) - median) / (1.4826 * std::max(Baseline::kLeastMad, far[n / 2]));
                const bool isFar = std::abs(z) > kFar;
                QCOMPARE(std::abs(verdict.z) > kFar, isFar);
                QVERIFY(std::abs(verdict.z) >= std::abs(z) - 1e-3);
                if (isFar)
                    QVERIFY2(std::abs(verdict.z - z) < 1e-3, qPrintable(QString::number(verdict.z - z)));
            }
            if (std::abs(verdict.z) <= kFar)
                window.push_back(std::log(x));
        }
        // A spike does not blind it, and a new level is taken for one.
        QVERIFY(baseline.judge(1e6, 6).z > 6);
        QVERIFY(baseline.judge(1e6, 6).z > 6);
        for (int i = 0; i < 80; ++i)
            baseline.judge(1e6, 6);
        QVERIFY(std::abs(baseline.judge(1e6, 6).z) < 6);
    }

    void whatCameLastIsJudgedBeforeTheEnd()
    {
        const QTemporaryDir dir;
        store::test::Recorder recorder(dir.path().toStdString());
        auto judge = std::make_unique<LiveJudge>(recorder.service());
        const store::StreamOpened opened = recorder.open(store::test::makeRequest("job", 1));
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            return step == 99 && kind == Kind::Actv && name == "layers.2.fc:output" ? kNaN : usual;
        };
        std::uint64_t seq = 0;
        training.send(recorder, opened.stream, seq, 0, 100);
        judge->finish(std::chrono::seconds(20));
        judge.reset(); // the store waits for who reads
        recorder.service().stop(20'000);
        const IncidentBook book = bookOf(opened.run->locator);
        QCOMPARE(summary(recordedOf(opened.run->locator)), std::string("nonfinite layers.2.fc:output@99/0"));
        QCOMPARE(book.judged().size(), std::size_t { 1 });
        QCOMPARE(book.judged().front().steps, (StepRange { Step { 0 }, Step { 99 } }));
        QVERIFY(book.judged().front().rows > 10 && book.judged().front().ranks == 1);
    }

    void aRunThatEndsAtOnceIsSaidToItsEnd()
    {
        const QTemporaryDir dir;
        store::test::Recorder recorder(dir.path().toStdString());
        const LiveJudge judge(recorder.service());
        const store::StreamOpened opened = recorder.open(store::test::makeRequest("job", 1));
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            return step >= 90 && kind == Kind::Actv && name == "layers.2.fc:output" ? kNaN : usual;
        };
        std::uint64_t seq = 0;
        for (int step = 0; step < 200; step += 10)
            training.send(recorder, opened.stream, seq, step, step + 10);
        recorder.service().closeStream(opened.stream, "finished", seq);
        const auto lastStep = [&] {
            const auto incidents = recordedOf(opened.run->locator);
            return incidents.size() == 1 ? incidents.front().lastStep.value : -1;
        };
        QTRY_COMPARE_WITH_TIMEOUT(lastStep(), 199, 20'000);
        const auto lastJudged = [&] {
            const auto judged = bookOf(opened.run->locator).judged();
            return judged.empty() ? -1 : judged.back().steps.last.value;
        };
        QTRY_COMPARE_WITH_TIMEOUT(lastJudged(), 199, 20'000);
        QVERIFY(recorder.service().liveRuns().empty());
    }

    void whatCannotBeReadAtOnceIsJudgedLater()
    {
        const QTemporaryDir dir;
        QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("runs")));
        const auto service = CapsuleBuilder::must(store::StoreService::start({ dir.path().toStdString() }));
        // What the judge writes is told to it by a thread of the store, while this one tells it of the run.
        struct OneAtATime : LiveJudge {
            OneAtATime(store::StoreService& store, std::mutex& mutex)
                : LiveJudge(store)
                , turn(mutex)
            {
            }
            void onDurable(const store::Durable& durable) override
            {
                const std::lock_guard lock(turn);
                LiveJudge::onDurable(durable);
            }
            std::mutex& turn;
        };
        std::mutex turn;
        OneAtATime judge(*service, turn);
        const std::string path = (dir.path() + QStringLiteral("/runs/late.telltale")).toStdString();
        store::Durable durable;
        durable.run = std::make_shared<store::RunHandle>(
            store::RunHandle { store::RunLocator::ofFile(path), {}, "late", nullptr });
        durable.steps = { Step { 0 }, Step { 99 } };
        judge.onDurable(durable); // there is nothing to read yet
        Training training { 1, 2300 }; // more than is read again of a run's past
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            return step == 90 && kind == Kind::Actv && name == "layers.2.fc:output" ? kNaN : usual;
        };
        {
            CapsuleBuilder builder(path);
            training.write(builder);
            builder.finish();
        }
        durable.steps = { Step { 2299 }, Step { 2299 } };
        judge.onDurable(durable);
        QTRY_COMPARE_WITH_TIMEOUT(summary(recordedOf(store::RunLocator::ofFile(path))),
            std::string("nonfinite layers.2.fc:output@90/0"), 20'000);
        judge.finish(std::chrono::seconds(20)); // before its turn is gone
    }

    /// Two incidents of one rank turn out to be one when another one comes, which was away.
    void aCauseThatComesLateMakesOneOfTwo()
    {
        const QTemporaryDir dir;
        store::test::Recorder recorder(dir.path().toStdString());
        const LiveJudge judge(recorder.service());
        const store::StreamOpened opened = recorder.open(store::test::makeRequest("job", 1));
        const store::RunLocator run = opened.run->locator;
        const auto nanAt = [](int first, int second) {
            return [=](int, int step, Kind kind, const std::string& name, double usual) {
                const bool isFirst = step == first && name == "layers.1.fc:output";
                const bool isSecond = step == second && name == "layers.2.fc:output";
                return kind == Kind::Actv && (isFirst || isSecond) ? kNaN : usual;
            };
        };
        Training training;
        training.value = nanAt(100, 160);
        std::uint64_t seq = 0;
        training.send(recorder, opened.stream, seq, 0, 250);
        QTRY_COMPARE_WITH_TIMEOUT(summary(recordedOf(run)),
            std::string("nonfinite layers.1.fc:output@100/0; nonfinite layers.2.fc:output@160/0"), 20'000);
        const std::int64_t id = recordedOf(run).front().id;
        const store::StreamOpened late = recorder.open(store::test::makeRequest("job", 2, 1));
        training.value = nanAt(95, 130);
        std::uint64_t lateSeq = 0;
        training.send(recorder, late.stream, lateSeq, 0, 250);
        QTRY_COMPARE_WITH_TIMEOUT(summary(recordedOf(run)), std::string("nonfinite layers.1.fc:output@95/1"), 20'000);
        const IncidentBook book = bookOf(run);
        QCOMPARE(book.inOrder().front()->id, id);
        QCOMPARE(book.inOrder().front()->lastStep, Step { 160 });
        QCOMPARE(book.byId().size(), std::size_t { 2 });
        QCOMPARE(book.byId().rbegin()->second.into, id);
        recorder.service().closeStream(opened.stream, "finished", seq);
        recorder.service().closeStream(late.stream, "finished", lateSeq);
        // The same, judged again.
        const auto reader = CapsuleBuilder::must(store::openReader({ run, {}, {}, nullptr }));
        RunJudge again;
        CapsuleBuilder::must(again.judgeAll(*reader));
        QCOMPARE(summary(again.incidents()), std::string("nonfinite layers.1.fc:output@95/1"));
    }

    void whatLastsOnARankThatTrailsIsNotOver()
    {
        const QTemporaryDir dir;
        CapsuleBuilder builder(dir.path().toStdString() + "/run.telltale");
        Training training;
        training.ranks = 2;
        training.value = [](int rank, int step, Kind kind, const std::string& name, double usual) {
            return rank == 1 && step >= 90 && kind == Kind::Actv && name == "layers.2.fc:output" ? kNaN : usual;
        };
        const std::array streams { builder.addAttempt(Rank { 0 }, 0), builder.addAttempt(Rank { 1 }, 0) };
        RunJudge judge;
        // Rank 1 tells of a step when rank 0 has told of 80 more.
        for (int step = 0; step < 300; step += 10) {
            for (const int rank : { 0, 1 }) {
                const int first = rank == 0 ? step : step - 80;
                if (first < 0)
                    continue;
                training.write(builder, streams.at(static_cast<std::size_t>(rank)), rank, first, first + 10);
                const auto reader = CapsuleBuilder::must(store::openReader(builder.liveHandle()));
                CapsuleBuilder::must(judge.advance(*reader, { Step { first }, Step { first + 9 } }));
            }
        }
        QCOMPARE(summary(judge.incidents()), std::string("nonfinite layers.2.fc:output@90/1"));
        QVERIFY(!judge.incidents().front().isOver);
        QCOMPARE(judge.incidents().front().lastStep, Step { 219 });
    }

    void aRunThatIsRecordedIsJudged()
    {
        const QTemporaryDir dir;
        store::test::Recorder recorder(dir.path().toStdString());
        auto judge = std::make_unique<LiveJudge>(recorder.service());
        const store::StreamOpened opened = recorder.open(store::test::makeRequest("job", 1));
        const store::RunLocator run = opened.run->locator;
        Training training;
        training.value = [](int, int step, Kind kind, const std::string& name, double usual) {
            const bool isAfter = name == "layers.2.fc:output" || name >= "layers.2:output";
            return step >= 90 && kind == Kind::Actv && isAfter ? kNaN : usual;
        };
        std::uint64_t seq = 0;
        const auto send = [&](int from, int to) { training.send(recorder, opened.stream, seq, from, to); };
        const auto recorded = [&run] { return recordedOf(run); };
        send(0, 100);
        QTRY_COMPARE_WITH_TIMEOUT(summary(recorded()), std::string("nonfinite layers.2.fc:output@90/0"), 20'000);
        const std::int64_t id = recorded().front().id;
        // Another judge finds the same again, and knows it.
        judge = std::make_unique<LiveJudge>(recorder.service());
        send(100, 120);
        QTRY_VERIFY_WITH_TIMEOUT(recorded().front().lastStep >= Step { 119 }, 20'000);
        QCOMPARE(recorded().size(), std::size_t { 1 });
        QCOMPARE(recorded().front().id, id);
        judge.reset();
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, JudgeTest)

}

#include "judgetest.moc"
