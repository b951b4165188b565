// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <chrono>
#include <memory>

#include <torch/torch.h>

#include <telltale/config/revision.h>
#include <telltale/torch/configfile.h>
#include <telltale/torch/trainermon.h>

#include "torchrecordingsink.h"

using namespace telltale;

namespace {

constexpr const char* kWeights = R"({"dynamic_on": true, "wg_distribution": true})";
constexpr const char* kEverything = R"({"dynamic_on": true, "wg_distribution": true, "param_distribution": true,
    "mv_distribution": true, "xy_distribution": true, "monitor_mbs_grad": true})";
constexpr const char* kOff = R"({"dynamic_on": false, "wg_distribution": true})";

struct TinyModel : torch::nn::Module {
    TinyModel()
        : first(6, 5)
        , second(5, 3)
    {
        register_module("first", first);
        register_module("second", second);
    }
    torch::nn::Linear first, second;
};

/// A training whose sink is asked for configs. Thread: the test's.
struct Training {
    explicit Training(const std::string& config, bool isWatched = true)
    {
        torch::manual_seed(7);
        model = std::make_shared<TinyModel>();
        optimizer = std::make_unique<torch::optim::AdamW>(model->parameters(), torch::optim::AdamWOptions(0.01));
        if (!isWatched)
            return;
        const auto loaded = loadMonitorConfig(config).value();
        MonitorOptions options;
        options.config = loaded.config;
        options.configText = loaded.text;
        options.configPath = pathOf(config);
        monitor = std::make_unique<TrainerMon>(sink, options);
        monitor->setMonitor(*model, *optimizer);
    }
    void run(int steps = 1)
    {
        for (int i = 0; i < steps; ++i) {
            auto hidden = model->first(torch::randn({ 4, 6 }));
            if (monitor)
                monitor->tap("first", hidden);
            model->second(torch::dropout(torch::relu(hidden), 0.3, true)).square().mean().backward();
            if (monitor)
                monitor->step();
            else
                optimizer->step();
            optimizer->zero_grad();
        }
    }
    void push(std::int64_t step, std::uint64_t rev, const std::string& json)
    {
        sink.offers.push_back({ step, rev, config::monitorConfigText(config::parseMonitorConfig(json)->config) });
    }
    /// Hooks of ours on the weights, and the places that LibTorch keeps for them.
    std::pair<std::size_t, std::size_t> hooks() const
    {
        std::size_t live = 0;
        std::size_t places = 0;
        for (const auto& tensor : model->parameters()) {
            const auto& list = torch::autograd::impl::materialize_autograd_meta(tensor)->cpp_hooks_list_;
            for (std::size_t i = 0; list && i < list->size(); ++i, ++places)
                live += (*list)[i] ? 1 : 0;
        }
        return { live, places };
    }
    std::vector<std::int64_t> steps(Kind kind, std::int64_t upTo) const
    {
        std::vector<std::int64_t> out;
        for (std::int64_t step = 0; step < upTo; ++step)
            if (sink.has(step, kind))
                out.push_back(step);
        return out;
    }

    RecordingSink sink;
    std::shared_ptr<TinyModel> model;
    std::unique_ptr<torch::optim::AdamW> optimizer;
    std::unique_ptr<TrainerMon> monitor;
};

std::vector<std::int64_t> range(std::int64_t from, std::int64_t to)
{
    std::vector<std::int64_t> out;
    for (; from < to; ++from)
        out.push_back(from);
    return out;
}

bool bitwiseEqual(const torch::nn::Module& a, const torch::nn::Module& b)
{
    const auto left = a.parameters();
    const auto right = b.parameters();
    for (std::size_t i = 0; i < left.size(); ++i)
        if (!torch::equal(left[i], right[i]))
            return false;
    return left.size() == right.size();
}

}

/// TrainerMon of LibTorch under configs that come while it trains.
class TorchSteeringTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void weightsAreBitwiseTheSameWithAConfigEverySevenSteps()
    {
        const char* const pushed[] = { kEverything, kOff, kWeights,
            R"({"dynamic_on": true, "xy_distribution": true, "targets": {"first": {}}, "step_interval": 2})",
            R"({"dynamic_on": true, "param_distribution": true, "collect_times": 3})" };
        Training steered(kWeights);
        for (std::uint64_t rev = 1; rev <= 28; ++rev)
            steered.push(static_cast<std::int64_t>(rev) * 7, rev, pushed[rev % 5]);
        steered.run(200);
        Training bare("", false);
        bare.run(200);
        QVERIFY(bitwiseEqual(*bare.model, *steered.model));
        std::size_t applied = 0;
        for (const auto& one : steered.sink.inForce)
            applied += one.rev > 0 && one.step == static_cast<std::int64_t>(one.rev) * 7 ? 1 : 0;
        QCOMPARE(applied, std::size_t { 28 });
        QCOMPARE(steered.monitor->internalErrors(), std::uint64_t { 0 });
    }

    void theSwitchTakesHooksAwayAndBringsThemBackAtItsStep()
    {
        Training t(kWeights);
        QCOMPARE(t.hooks().first, std::size_t { 4 });
        t.push(3, 1, kOff);
        t.push(6, 2, kEverything);
        for (std::uint64_t rev = 3; rev < 43; ++rev)
            t.push(static_cast<std::int64_t>(rev) + 6, rev, rev % 2 ? kOff : kWeights);
        t.run(4);
        QCOMPARE(t.hooks(), std::make_pair(std::size_t { 0 }, std::size_t { 0 }));
        t.run(5);
        QCOMPARE(t.steps(Kind::GradReduced, 9), (std::vector<std::int64_t> { 0, 1, 2, 6, 7, 8 }));
        QCOMPARE(t.steps(Kind::Actv, 9), range(6, 9));
        QCOMPARE(t.steps(Kind::ParamOrigin, 9), range(6, 9));
        t.run(40);
        QCOMPARE(t.hooks(), std::make_pair(std::size_t { 4 }, std::size_t { 4 })); // on, and none is left behind
    }

    void whatItRunsIsSaidAndAnEndOfACollectionToo()
    {
        Training t(kWeights);
        QCOMPARE(t.sink.inForce.size(), std::size_t { 1 });
        QCOMPARE(t.sink.inForce[0].why, std::string("the config of the start"));
        t.push(2, 1, R"({"dynamic_on": true, "wg_distribution": true, "collect_times": 3})");
        t.run(8);
        QCOMPARE(t.steps(Kind::GradReduced, 8), range(0, 5));
        QCOMPARE(t.sink.inForce.size(), std::size_t { 3 });
        const auto& ended = t.sink.inForce.back();
        QCOMPARE(ended.rev, std::uint64_t { 1 });
        QCOMPARE(ended.step, std::int64_t { 5 });
        QVERIFY(!config::parseMonitorConfig(ended.json)->config.dynamicOn);
        QCOMPARE(t.hooks().first, std::size_t { 0 });
    }

    void aStaticJobCollectsWhateverItsSwitchSays()
    {
        Training t(kOff);
        t.run(2);
        QCOMPARE(t.steps(Kind::GradReduced, 2), range(0, 2));
        QVERIFY(config::parseMonitorConfig(t.sink.inForce[0].json)->config.dynamicOn);
    }

    void dynamicModeStartsChangesStopsAndRestarts()
    {
        qputenv("DYNAMIC_MONITOR", "True");
        const auto restore = qScopeGuard([] { qunsetenv("DYNAMIC_MONITOR"); });
        const QTemporaryDir folder;
        const auto path = folder.filePath(QStringLiteral("config.json"));
        const auto put = [&path](const QByteArray& text) {
            QFile file(path + QStringLiteral(".new"));
            QVERIFY(file.open(QFile::WriteOnly));
            file.write(text);
            file.close();
            QCOMPARE(::rename(qPrintable(file.fileName()), qPrintable(path)), 0);
        };
        put(R"({"dynamic_on": false, "wg_distribution": true})");
        Training t(path.toStdString());
        t.run(2); // not started
        put("// later\n{\"dynamic_on\": true, \"wg_distribution\": true, \"collect_times\": 100}");
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(3); // from the step after the one in which it was seen: 3, 4
        put("{\"dynamic_on\": true, \"param_distribution\": true, \"collect_times\": 2, // why\n}");
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(4); // 5 is under the old one; 6 and 7; then it has ended
        QCOMPARE(t.steps(Kind::GradReduced, 9), range(3, 6));
        QCOMPARE(t.steps(Kind::ParamOrigin, 9), range(6, 8));
        QVERIFY(t.monitor->lookAtConfigNow() && t.monitor->lookAtConfigNow());
        QFile file(path);
        QVERIFY(file.open(QFile::ReadOnly));
        const QByteArray written = file.readAll();
        QVERIFY2(written.contains("\"dynamic_on\": false") && written.contains("// why"), written.constData());
        put("{\"dynamic_on\": tr"); // half of it
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(1);
        QVERIFY(t.sink.events.back().find("stays so") != std::string::npos);
        put(R"({"dynamic_on": true, "wg_distribution": true})"); // again
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(3); // 10 under nothing, 11, 12
        put(R"({"dynamic_on": false, "wg_distribution": true})");
        QVERIFY(t.monitor->lookAtConfigNow());
        t.run(3); // 13 is the last
        QCOMPARE(t.steps(Kind::GradReduced, 16), (std::vector<std::int64_t> { 3, 4, 5, 11, 12, 13 }));
        QCOMPARE(t.hooks().first, std::size_t { 0 });
        QCOMPARE(t.sink.inForce.back().why, std::string("config.json was edited"));
        QVERIFY(!config::parseMonitorConfig(t.sink.inForce.back().json)->config.dynamicOn);
    }

    void whatIsAppliedIsWrittenToTheJobsFile()
    {
        const QTemporaryDir folder;
        const auto path = folder.filePath(QStringLiteral("config.json"));
        QFile file(path);
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("{\n  // what we watch\n  \"wg_distribution\": true\n}\n");
        file.close();
        {
            Training t(path.toStdString());
            t.push(1, 1, R"({"dynamic_on": true, "wg_distribution": true, "step_interval": 5})");
            t.push(2, 2, R"({"dynamic_on": true, "wg_distribution": true, "step_interval": 6})");
            t.run(3);
        }
        QVERIFY(file.open(QFile::ReadOnly));
        const QByteArray written = file.readAll();
        QVERIFY2(written.contains("// what we watch") && written.contains("\"step_interval\": 6"), written.constData());
    }

    void aMonitorThatCollectsNothingCostsNearlyNothing()
    {
        Training t(kWeights);
        t.push(1, 1, kOff);
        t.run(2);
        constexpr int kSteps = 20'000;
        const auto began = std::chrono::steady_clock::now();
        for (int i = 0; i < kSteps; ++i) {
            t.monitor->beforeStep();
            t.monitor->afterStep();
        }
        const double each
            = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count() / kSteps;
        qInfo("a step that collects nothing: %.3f us", each);
        QVERIFY(each < 50); // the bound is for a machine that is busy; the figure is what counts
    }
};

QTEST_GUILESS_MAIN(TorchSteeringTest)
#include "torchsteeringtest.moc"
