// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include <torch/torch.h>

#include <telltale/torch/overheadbudget.h>
#include <telltale/torch/trainermon.h>

#include "sourcepath.h"
#include "torchrecordingsink.h"

namespace overheadbudgettest {

using namespace telltale;

namespace {

OverheadBudget::Nanoseconds milliseconds(const QJsonValue& value)
{
    return OverheadBudget::Nanoseconds { std::llround(value.toDouble() * 1e6) };
}

/// A training that is watched, or not. Thread: the test's.
struct Training {
    explicit Training(const char* config)
    {
        torch::manual_seed(7);
        model->push_back(torch::nn::Linear(192, 192));
        model->push_back(torch::nn::Dropout(0.3));
        optimizer = std::make_unique<torch::optim::AdamW>(model->parameters(), torch::optim::AdamWOptions(0.01));
        if (!config)
            return;
        MonitorOptions options;
        options.config = config::parseMonitorConfig(config)->config;
        monitor = std::make_unique<TrainerMon>(sink, options);
        monitor->setMonitor(*model, *optimizer);
    }
    void run(std::int64_t steps)
    {
        for (std::int64_t i = 0; i < steps; ++i) {
            model->forward(torch::randn({ 4, 192 })).square().mean().backward();
            if (monitor)
                monitor->step();
            else
                optimizer->step();
            optimizer->zero_grad();
        }
    }
    std::vector<std::int64_t> collected(Kind kind) const
    {
        std::vector<std::int64_t> out;
        for (const auto& [step, blocks] : sink.steps)
            if (sink.has(step, kind))
                out.push_back(step);
        return out;
    }
    double shareSince(std::size_t number) const
    {
        std::chrono::nanoseconds inside { 0 }, elapsed { 0 };
        for (std::size_t i = number; i < sink.costs.size(); ++i) {
            inside += sink.costs[i].inside;
            elapsed += sink.costs[i].elapsed;
        }
        return static_cast<double>(inside.count()) / static_cast<double>((elapsed - inside).count());
    }

    RecordingSink sink;
    torch::nn::Sequential model;
    std::unique_ptr<torch::optim::AdamW> optimizer;
    std::unique_ptr<TrainerMon> monitor;
};

}

/// telltale.overhead_budget: its rules, by the cases that the Python agent is held to, too, and a training that obeys
/// it. Thread: the test's.
class OverheadBudgetTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theRulesThatBothAgentsHave_data()
    {
        QTest::addColumn<QJsonObject>("one");
        QFile file(QString::fromStdString(telltale::test::sourcePath("tests/data/overheadbudget.json")));
        QVERIFY(file.open(QFile::ReadOnly));
        const QJsonArray cases = QJsonDocument::fromJson(file.readAll()).array();
        QVERIFY(!cases.isEmpty());
        for (const QJsonValue& one : cases)
            QTest::newRow(qPrintable(one[u"name"].toString())) << one.toObject();
    }
    void theRulesThatBothAgentsHave()
    {
        QFETCH(QJsonObject, one);
        const auto interval = static_cast<std::int64_t>(one[u"interval"].toInt());
        OverheadBudget budget(one[u"percent"].toDouble(), interval);
        QJsonArray changes, told;
        std::int64_t step = 0, stride = 1;
        for (const QJsonValue& span : one[u"spans"].toArray()) {
            for (int i = 0; i < span[u"steps"].toInt(); ++i, ++step) {
                const bool isCollected = step % interval == 0 && budget.admits(step);
                QCOMPARE(isCollected, step % (interval * budget.stride()) == 0);
                const auto cost = milliseconds(isCollected ? span[u"collected"] : span[u"idle"]);
                const auto news = budget.stepEnded(isCollected, cost, cost + milliseconds(span[u"own"]));
                const auto at = static_cast<double>(step);
                if (budget.stride() != stride) {
                    stride = budget.stride();
                    changes.append(QJsonArray { at, static_cast<double>(stride) });
                }
                if (!news)
                    continue;
                told.append(QJsonArray { at, QString::fromStdString(news->sentence) });
                const auto json = QJsonDocument::fromJson(QByteArray::fromStdString(news->json)).object();
                QCOMPARE(json[u"every"].toDouble(), static_cast<double>(stride * interval));
            }
        }
        QCOMPARE(changes, one[u"changes"].toArray());
        QCOMPARE(told, one[u"told"].toArray());
    }

    void whatIsExpensiveStaysWithinTheBudgetAndTheTrainingTheSame()
    {
        constexpr std::int64_t kSteps = 6000;
        torch::set_num_threads(1);
        Training watched(R"({"wg_distribution": true, "param_distribution": true, "mv_distribution": true,
            "telltale": {"overhead_budget": 2}})");
        watched.run(kSteps);
        QVERIFY(watched.shareSince(kSteps / 2) <= 0.02 * 1.5); // others run on this machine, too
        const auto steps = watched.collected(Kind::GradReduced);
        QVERIFY(steps.size() > 7 && steps.size() < kSteps / 2);
        for (std::int64_t step = 0; step < 5; ++step)
            QCOMPARE(steps.at(static_cast<std::size_t>(step)), step);
        const auto stride = steps.back() - steps.at(steps.size() - 2);
        QVERIFY(stride > 1 && (stride & (stride - 1)) == 0);
        QCOMPARE(steps.back() % stride, std::int64_t { 0 });
        QVERIFY(watched.sink.every > 1);
        for (const Kind kind : { Kind::GradUnreduced, Kind::ParamOrigin, Kind::ParamUpdated })
            QCOMPARE(watched.collected(kind), steps); // whole or not at all
        const auto& events = watched.sink.events;
        const auto told = std::count_if(events.begin(), events.end(),
            [](const std::string& text) { return text.find("the budget of 2 %: every ") != std::string::npos; });
        QVERIFY(told >= 1 && told <= 5);

        Training bare(nullptr);
        bare.run(kSteps);
        const auto left = watched.model->parameters();
        const auto right = bare.model->parameters();
        for (std::size_t i = 0; i < left.size(); ++i)
            QVERIFY(torch::equal(left[i], right[i]));
    }

    void collectTimesCountsWhatIsCollected()
    {
        Training training(R"({"wg_distribution": true, "param_distribution": true, "collect_times": 9,
            "telltale": {"overhead_budget": 2}})");
        training.run(5);
        while (training.collected(Kind::GradReduced).size() < 9)
            training.run(10);
        training.run(100);
        QCOMPARE(training.collected(Kind::GradReduced).size(), std::size_t { 9 });
        QVERIFY(training.collected(Kind::GradReduced).back() > 8);
    }

    void withoutABudgetEveryStepIsCollectedAndNothingIsSaid()
    {
        for (const char* config :
            { R"({"wg_distribution": true})", R"({"wg_distribution": true, "telltale": {"overhead_budget": null}})",
                R"({"wg_distribution": true, "telltale": {"overhead_budget": 0}})" }) {
            Training training(config);
            training.run(30);
            QCOMPARE(training.collected(Kind::GradReduced).size(), std::size_t { 30 });
            QVERIFY(training.sink.events.empty());
        }
    }

    void anotherConfigIsMeasuredAnew()
    {
        Training training(R"({"dynamic_on": true, "wg_distribution": true, "param_distribution": true,
            "telltale": {"overhead_budget": 0.5}})");
        training.sink.offers.push_back(
            { 50, 1, R"({"dynamic_on": true, "wg_distribution": true, "telltale": {"overhead_budget": 0.5}})" });
        training.run(54);
        const auto& events = training.sink.events;
        QVERIFY(std::any_of(events.begin(), events.end(),
            [](const std::string& text) { return text.find("is measured anew") != std::string::npos; }));
        const auto steps = training.collected(Kind::GradReduced);
        QCOMPARE(
            std::vector<std::int64_t>(steps.end() - 4, steps.end()), (std::vector<std::int64_t> { 50, 51, 52, 53 }));
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, OverheadBudgetTest)

}

#include "overheadbudgettest.moc"
