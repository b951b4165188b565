// SPDX-License-Identifier: GPL-3.0-or-later
// Rules that know what a value means: what grows on and on, what an optimizer no longer knows, what is dead.
#include "testmain.h"

#include <cmath>

#include <telltale/judge/forecast.h>
#include <telltale/judge/growth.h>

#include "judged.h"

namespace judgemeaningtest {

using namespace telltale;
using namespace telltale::judge;
using telltale::test::CapsuleBuilder;
using telltale::test::incidentsOf;
using telltale::test::summary;
using telltale::test::Training;

namespace {

/// Block 2's activations times `factor` of the step.
Training growing(const std::function<double(int)>& factor)
{
    Training training;
    training.steps = 300;
    training.value = [factor](int, int step, Kind kind, const std::string& name, double usual) {
        const bool isOf2 = name == "layers.2.fc:output" || name == "layers.2:output";
        return kind == Kind::Actv && isOf2 ? usual * factor(step) : usual;
    };
    return training;
}

/// What Adam makes of gradients whose second moments know them: each kind's norm times its factor.
Training adam(const std::function<double(int, Kind)>& factor)
{
    Training training;
    training.steps = 300;
    training.kinds = { Kind::ParamOrigin, Kind::GradReduced, Kind::ExpAvgSq, Kind::Update, Kind::Scalar };
    training.stats = { Stat::Norm, Stat::Nans, Stat::Mean };
    training.value = [factor](int, int step, Kind kind, const std::string&, double usual) {
        return kind == Kind::Scalar ? usual : usual / 10 * factor(step, kind);
    };
    // Of 32 elements: as many squares as make the gradient's norm.
    training.mean = [factor](int step, std::size_t i) {
        const double norm = (1 + static_cast<double>(i)) / 10;
        return norm * norm / 32 * factor(step, Kind::ExpAvgSq);
    };
    return training;
}

/// Gradients that jump for some steps.
struct Jump {
    int at; ///< step
    double weights; ///< gradients, times their usual size
    double flows; ///< what flows back into the blocks; 0: it is not collected
    int steps = 1;
    std::string blocks = "layers.1";
};

std::string found(const Jump& jump)
{
    Training training;
    training.steps = 300;
    if (jump.flows == 0)
        std::erase(training.kinds, Kind::ActvGrad);
    training.value = [&jump](int, int step, Kind kind, const std::string& name, double usual) {
        if (step < jump.at || step >= jump.at + jump.steps || !name.starts_with(jump.blocks))
            return usual;
        return usual * (kind == Kind::GradReduced ? jump.weights : kind == Kind::ActvGrad ? jump.flows : 1);
    };
    return summary(incidentsOf(training));
}

/// The first step at which it is said, or -1.
int saidAt(const std::function<double(int)>& value)
{
    Growth growth;
    for (int step = 0; step < 1000; ++step) {
        if (growth.take(value(step), std::log(5.0)))
            return step;
    }
    return -1;
}

}

class JudgeMeaningTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatOneBatchMayDoIsNoIncident()
    {
        const std::string none;
        // Where a training has just found its sizes, and where they are known; in a block, and in all of them.
        QCOMPARE(found({ .at = 91, .weights = 43, .flows = 18 }), none);
        QCOMPARE(found({ .at = 220, .weights = 6, .flows = 3 }), none);
        QCOMPARE(found({ .at = 91, .weights = 43, .flows = 0 }), none);
        QCOMPARE(found({ .at = 91, .weights = 43, .flows = 18, .blocks = "layers." }), none);
        QCOMPARE(found({ .at = 91, .weights = 43, .flows = 0, .blocks = "layers." }), none);
        // Both at once.
        QCOMPARE(found({ .at = 91, .weights = 43, .flows = 3.4 }), none);
        // The weights that it moved make those of the next steps large, too.
        QCOMPARE(found({ .at = 91, .weights = 43, .flows = 9, .steps = 9 }), none);
        // Its positions pull one way for once: nothing flowed back, and yet the sum over them is large.
        QCOMPARE(found({ .at = 220, .weights = 6, .flows = 1 }), none);
        QCOMPARE(found({ .at = 220, .weights = 5, .flows = 0, .blocks = "layers." }), none);
        // It goes on, it arose there, it is more than a batch can do, it is known what batches do.
        const auto in1 = [](int step) { return "level layers.1.fc.weight@" + std::to_string(step) + "/0"; };
        QCOMPARE(found({ .at = 91, .weights = 43, .flows = 9, .steps = 10 }), in1(91));
        QVERIFY(found({ .at = 220, .weights = 43, .flows = 9, .steps = 3 }).find("@220/0") != std::string::npos);
        QCOMPARE(found({ .at = 91, .weights = 43, .flows = 1 }), in1(91));
        QCOMPARE(found({ .at = 220, .weights = 43, .flows = 1 }), in1(220));
        QCOMPARE(found({ .at = 91, .weights = 5000, .flows = 0 }), in1(91));
        QCOMPARE(found({ .at = 220, .weights = 43, .flows = 0 }), in1(220));
        // Backward passes begin with the last block.
        const std::string first = "level layers.3.fc.weight@";
        QCOMPARE(found({ .at = 91, .weights = 5000, .flows = 0, .blocks = "layers." }), first + "91/0");
        QCOMPARE(found({ .at = 220, .weights = 20, .flows = 0, .blocks = "layers." }), first + "220/0");
    }

    /// A gather's own results are nothing before it ran: torch.empty may hold a NaN.
    void whatACollectiveIsToWriteIsNotJudgedBefore()
    {
        const QTemporaryDir dir;
        CapsuleBuilder builder(dir.path().toStdString() + "/run.telltale");
        auto layout = std::make_shared<SeriesLayout>();
        layout->id = LayoutId { 1 };
        layout->kind = Kind::Comm;
        layout->stats = { Stat::Norm };
        for (const char* name : { "all_gather (train.py[1])", "all_reduce (train.py[2])" }) {
            for (const Role role : { Role::Before, Role::After }) {
                for (const int number : { 0, 1 }) {
                    SeriesDesc& one = layout->series.emplace_back();
                    one.name = name;
                    one.slot = { .role = role, .number = number };
                }
            }
        }
        builder.stage(builder.addAttempt(Rank { 0 }, 0),
            { { layout, Step { 0 }, 0, {}, { { Stat::Norm, std::vector<float>(8, 1) } }, {} } });
        builder.finish();
        const auto reader = CapsuleBuilder::must(store::openReader(builder.handle()));
        const auto catalog = CapsuleBuilder::must(reader->catalog());
        const Watchlist list = watchlistsOf(*catalog).front();
        QStringList judged;
        for (const Watched& row : list.rows)
            judged.append(QString::fromStdString(catalog->rows->key(row.tensor).text()));
        QCOMPARE(judged.size(), 7);
        QVERIFY(judged.filter(QStringLiteral("all_gather")).filter(QStringLiteral("pre_0")).isEmpty());
    }

    /// As an expert of a mixture that is given no token.
    void whatIsNotUsedIsNotDead()
    {
        const QTemporaryDir dir;
        CapsuleBuilder builder(dir.path().toStdString() + "/run.telltale");
        Training().write(builder);
        builder.finish();
        const auto reader = CapsuleBuilder::must(store::openReader(builder.handle()));
        const auto catalog = CapsuleBuilder::must(reader->catalog());
        const Watchlist list = watchlistsOf(*catalog).front();
        const auto found = [&](bool isUsed) {
            RankJudge judge { Rules() };
            judge.take(list);
            std::string text;
            for (int step = 0; step < 60; ++step) {
                std::vector<float> values(list.rows.size(), 1 + 0.001F * static_cast<float>(step));
                std::vector<series::CellState> states(list.rows.size(), series::CellState::Value);
                for (std::size_t i = 0; step >= 40 && i < list.rows.size(); ++i) {
                    if (!catalog->rows->key(list.rows[i].tensor).name.starts_with("layers.1.fc"))
                        continue;
                    const Kind kind = list.rows[i].kind;
                    if (kind == Kind::GradReduced)
                        values[i] = 0;
                    else if (isParameter(kind))
                        values[i] = 1;
                    else if (!isUsed)
                        states[i] = series::CellState::NotCollected;
                }
                std::vector<Sighting> seen;
                judge.judge({ Step { step }, values, states, {} }, seen);
                for (const Sighting& one : seen)
                    text += std::string(idOf(one.rule)) + '@' + std::to_string(one.moment.step.value) + ' ';
            }
            return text;
        };
        QCOMPARE(found(true), std::string("vanished@40 frozen@41 "));
        QCOMPARE(found(false), std::string());
    }

    void whatGrowsEvenlyIsSeen()
    {
        const auto noise = [](int step) { return std::exp(0.5 * Training::noise(step, 3)); };
        const auto from = [](int step) { return std::max(0, step - 200); };
        QCOMPARE(saidAt(noise), -1);
        const int even = saidAt([&](int step) { return noise(step) * std::pow(1.1, from(step)); });
        QVERIFY2(even > 210 && even < 232, qPrintable(QString::number(even)));
        const int faster = saidAt([&](int step) { return noise(step) * std::exp(0.004 * from(step) * from(step)); });
        QVERIFY2(faster > 215 && faster < 240, qPrintable(QString::number(faster)));
        // 5 % a step are 3.2 times in 24.
        QCOMPARE(saidAt([&](int step) { return noise(step) * std::pow(1.05, from(step)); }), -1);
    }

    void growthBeganWhereItLeftItsFirstSize()
    {
        Growth growth;
        int found = 0;
        for (int step = 0; step < 300; ++step) {
            const double noise = std::exp(0.5 * Training::noise(step, 3));
            // What a spike at 200 set off.
            const double spike = step == 200 ? 1e6 : 1;
            const auto rate = growth.take(noise * spike * std::pow(1.15, std::max(0, step - 200)), std::log(5.0));
            if (!rate)
                continue;
            if (++found == 1) {
                const int since = step + 1 - rate->steps;
                QVERIFY2(since >= 200 && since <= 210, qPrintable(QString::number(since)));
            }
        }
        QVERIFY(found > 0);
    }

    void levelsSpikesAndBeginningsAreNoGrowth()
    {
        const auto noise = [](int step) { return std::exp(0.5 * Training::noise(step, 3)); };
        QCOMPARE(saidAt([&](int step) { return noise(step) * (step < 200 ? 1 : 1000); }), -1);
        QCOMPARE(saidAt([&](int step) { return noise(step) * (step < 200 ? 1 : step < 208 ? 30 : 1000); }), -1);
        QCOMPARE(saidAt([&](int step) { return noise(step) * (step % 40 < 3 ? 1e6 : 1); }), -1);
        QCOMPARE(saidAt([&](int step) { return noise(step) * std::pow(1.1, std::min(step, 70)); }), -1);
    }

    void anExplosionIsNamedWithTheStepAtWhichItOverflows()
    {
        const auto incidents = incidentsOf(growing([](int step) { return std::pow(1.15, std::max(0, step - 200)); }));
        QVERIFY2(incidents.size() == 1 && incidents.front().first.rule == "explosion"
                && incidents.front().first.name == "layers.2.fc",
            summary(incidents).c_str());
        const Incident& incident = incidents.front();
        QVERIFY2(
            incident.first.step >= Step { 200 } && incident.first.step <= Step { 210 }, summary(incidents).c_str());
        QVERIFY(incident.opened <= Step { 235 } && incident.lastStep >= Step { 290 });
        QVERIFY2(incident.sentence.find("the total norm of layers.2 grew by 1") != std::string::npos,
            incident.sentence.c_str());
    }

    void gradientsOfATrainingThatFindsItsSizesMayBeLargeOnce()
    {
        // A batch whose gradients are so many times as large, and gradients that grow tenfold at the start.
        const auto found = [](int at, double factor, int grownAt) {
            Training training;
            training.steps = 300;
            training.value = [=](int, int step, Kind kind, const std::string&, double usual) {
                const double grown = std::exp(std::log(12) * std::clamp((step - grownAt + 40) / 40.0, 0.0, 1.0));
                return kind == Kind::GradReduced ? usual * grown * (step == at ? factor : 1) : usual;
            };
            return summary(incidentsOf(training));
        };
        QCOMPARE(found(60, 6, 0), std::string());
        QCOMPARE(found(260, 6, 0), std::string());
        QCOMPARE(QString::fromStdString(found(260, 20, 0)), QStringLiteral("level layers.3.fc.weight@260/0"));
        QCOMPARE(QString::fromStdString(found(60, 100, 0)), QStringLiteral("level layers.3.fc.weight@60/0"));
        QCOMPARE(found(-1, 1, 120), std::string());
        const std::string late = found(-1, 1, 270);
        QVERIFY2(late.rfind("explosion layers.", 0) == 0, late.c_str());
    }

    void whenATypeOverflowsIsWorkedOut()
    {
        QCOMPARE(overflowForecast(64, std::log(2), DType::F16, Step { 100 }),
            std::string("; at this rate its largest magnitude, 64, overflows float16 at about step 110"));
        QCOMPARE(overflowForecast(1, std::log(2), DType::F32, Step { 0 }),
            std::string("; at this rate its largest magnitude, 1, overflows float32 at about step 128"));
        QCOMPARE(overflowForecast(1, 1e-7, DType::F32, Step { 0 }), std::string());
        QCOMPARE(overflowForecast(1, std::log(2), DType::I32, Step { 0 }), std::string());
    }

    void anOptimizerThatForgotHowLargeGradientsAreIsNamed()
    {
        // As small as 1/100 for so long that second moments know nothing else, and then as they were.
        const auto lull = [](int until) {
            return adam([until](int step, Kind kind) {
                const double part = step < until ? 0.01 : 1;
                return kind == Kind::GradReduced ? part : kind == Kind::ExpAvgSq ? 1e-4 : 1;
            });
        };
        const auto incidents = incidentsOf(lull(150));
        QCOMPARE(summary(incidents), std::string("level layers.3.fc.weight@150/0"));
        const auto& evidence = incidents.front().evidence;
        const bool isTold = std::any_of(evidence.begin(), evidence.end(), [](const Finding& finding) {
            return finding.rule == "staleness" && finding.step == Step { 150 } && finding.kind == Kind::ExpAvgSq
                && finding.sentence.find("times as large as their second moments know them") != std::string::npos;
        });
        QVERIFY2(isTold, toJson(incidents.front()).c_str());
        // Gradients that come back slowly are no jump, and the update is as much too large.
        const auto slowly = adam([](int step, Kind kind) {
            return kind == Kind::GradReduced ? std::pow(1.03, std::max(0, step - 100)) : 1;
        });
        QCOMPARE(summary(incidentsOf(slowly)).substr(0, 9), std::string("staleness"));
        QCOMPARE(summary(incidentsOf(adam([](int, Kind) { return 1; }))), std::string());
    }

    void stepsThatAreTooLargeAreNamed()
    {
        const auto jumping = [](double factor, bool isBack) {
            return adam([=](int step, Kind kind) {
                const bool isUp = step >= 150 || (isBack && step < 80);
                return kind == Kind::Update && isUp ? factor : 1;
            });
        };
        Rules rules = test::CapsuleBuilder::must(
            Rules::fromJson(R"({"rules": {"level": {"on": false}, "update_ratio": {"share": 1e-4}}})"));
        QCOMPARE(summary(incidentsOf(jumping(10, false), rules)), std::string("update_ratio layers.0.fc.weight@150/0"));
        QCOMPARE(summary(incidentsOf(jumping(2, false), rules)), std::string());
        // A schedule that begins again only goes back to what it was.
        QCOMPARE(summary(incidentsOf(jumping(10, true), rules)), std::string());
        // However far it jumps: steps of a thousandth are healthy.
        rules = test::CapsuleBuilder::must(Rules::fromJson(R"({"rules": {"level": {"on": false}}})"));
        QCOMPARE(summary(incidentsOf(jumping(5, false), rules)), std::string());
    }

    void aPlannedDropOfTheLearningRateChangesNoUpdate()
    {
        // The update is what the optimizer makes of gradients, before the learning rate.
        Training training = adam([](int, Kind) { return 1; });
        const auto usually = training.value;
        training.value = [usually](int rank, int step, Kind kind, const std::string& name, double usual) {
            return usually(rank, step, kind, name, usual) * (name == "lr" && step >= 150 ? 0.1 : 1);
        };
        QCOMPARE(summary(incidentsOf(training)), std::string());
    }

    void unitsThatDieAreNamed()
    {
        const auto zeros = [](const std::function<double(int)>& share) {
            Training training;
            training.steps = 300;
            training.stats = { Stat::Norm, Stat::Nans, Stat::Zeros };
            training.zeros = [share](int step, const std::string& name) {
                return name == "layers.1.fc:output" ? share(step) : 0.5;
            };
            return training;
        };
        const auto incidents = incidentsOf(zeros([](int step) { return step < 200 ? 0.6 : 0.97; }));
        QCOMPARE(summary(incidents), std::string("dead_units layers.1.fc:output@200/0"));
        QVERIFY2(incidents.front().sentence.find(
                     "97.0 % of its elements have been exactly 0 for 8 steps; it was about 60.0 %")
                != std::string::npos,
            incidents.front().sentence.c_str());
        QCOMPARE(summary(incidentsOf(zeros([](int step) { return step % 8 == 0 ? 0.6 : 0.97; }))), std::string());
        QCOMPARE(summary(incidentsOf(zeros([](int) { return 0.97; }))), std::string()); // it always was
        QCOMPARE(summary(incidentsOf(zeros([](int step) { return step < 200 ? 0.9 : 0.96; }))), std::string());
    }

    void logitsThatGrowAreNamed()
    {
        const auto growing = [](const std::function<double(int)>& logit, const Rules& rules = {}) {
            Training training;
            training.steps = 500;
            training.kinds = { Kind::Attention, Kind::Scalar };
            training.maxLogit = [logit](int step, const std::string& name) {
                const double noise = std::exp(Training::noise(step, static_cast<int>(name.size() + name.back())));
                return (name == "layers.2.attn:head_1" ? logit(step) : 20) * noise;
            };
            return incidentsOf(training, rules);
        };
        const auto from200
            = [](double rate) { return [rate](int step) { return 20 * std::pow(rate, std::max(0, step - 200)); }; };
        const auto incidents = growing(from200(1.02));
        QVERIFY2(incidents.size() == 1 && incidents.front().first.rule == "max_logit"
                && incidents.front().first.name == "layers.2.attn" && incidents.front().first.slot == "head_1"
                && incidents.front().first.stat == Stat::MaxLogit,
            summary(incidents).c_str());
        const Incident& incident = incidents.front();
        // It began to leave its past before it was large: 20 becomes 100 within 82 steps.
        QVERIFY2(incident.first.step > Step { 210 } && incident.first.step < Step { 280 }, summary(incidents).c_str());
        QVERIFY2(incident.opened > Step { 280 } && incident.opened < Step { 310 },
            qPrintable(QString::number(incident.opened.value)));
        QVERIFY2(
            incident.sentence.find("its largest logit has grown for ") != std::string::npos, incident.sentence.c_str());
        QVERIFY(incident.first.severity == store::Severity::Warning);
        QCOMPARE(growing(from200(1.05)).front().first.severity, store::Severity::Critical); // past 10,000
        // Large as it ever was; growth that stays small, or takes its time; a spike.
        QCOMPARE(summary(growing([](int) { return 5000; })), std::string());
        QCOMPARE(summary(growing([](int step) { return step < 200 ? 0.5 : 20; })), std::string());
        QCOMPARE(summary(growing([](int step) { return 90 * std::pow(1.002, step); })), std::string());
        QCOMPARE(summary(growing([](int step) { return step >= 200 && step < 206 ? 1e6 : 20; })), std::string());
        QCOMPARE(summary(growing([](int step) { return -20 * std::pow(1.02, step); })), std::string());
        Rules rules;
        rules.setOn(Rule::MaxLogit, false);
        QCOMPARE(summary(growing(from200(1.02), rules)), std::string());
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, JudgeMeaningTest)

}

#include "judgemeaningtest.moc"
