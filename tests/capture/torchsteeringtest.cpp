// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <chrono>

#include "torchtraining.h"

namespace torchsteeringtest {

using namespace telltale;

namespace {

constexpr const char* kWeights = R"({"dynamic_on": true, "wg_distribution": true})";
constexpr const char* kEverything = R"({"dynamic_on": true, "wg_distribution": true, "param_distribution": true,
    "mv_distribution": true, "xy_distribution": true, "monitor_mbs_grad": true})";
constexpr const char* kOff = R"({"dynamic_on": false, "wg_distribution": true})";

/// A tensor of a kind that may not know its shape.
struct Stubborn : c10::TensorImpl {
    explicit Stubborn(const torch::Tensor& like)
        : TensorImpl(c10::Storage(like.storage()), like.key_set(), like.dtype())
    {
        set_sizes_contiguous(like.sizes());
        set_custom_sizes_strides(SizesStridesPolicy::CustomSizes);
    }
    at::IntArrayRef sizes_custom() const override
    {
        TORCH_CHECK(!isBroken, "its shape is not known");
        return sizes_default();
    }
    bool isBroken = false;
};

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
        Training bare("");
        bare.run(200);
        QVERIFY(bitwiseEqual(*bare.model, *steered.model));
        std::size_t applied = 0;
        for (const auto& one : steered.sink.inForce())
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

    void theStepsOfMapsFollowTheConfigAndTheSwitch()
    {
        const auto listed = [](const char* steps, const char* on = "true") {
            return std::string(R"({"dynamic_on": )") + on
                + R"(, "telltale": {"attention_maps": {"a": [0]}, "attention_maps_steps": )" + steps + "}}";
        };
        Training t(listed("[1, 5]"));
        t.push(4, 1, listed("[2, 6, 8, 9]")); // 2 has passed by then, and 5 is listed no longer
        t.push(7, 2, listed("[2, 6, 8, 9]", "false"));
        t.push(11, 3, listed("[2, 6, 8, 9]")); // what it missed in between
        const auto q = torch::randn({ 1, 2, 8, 4 });
        std::vector<std::int64_t> steps;
        for (std::int64_t step = 0; step < 14; ++step) {
            t.sink.blobs.erase("attention_map");
            t.monitor->attention("a", q, q, 0.5, true);
            t.run();
            if (t.sink.blobs.count("attention_map") > 0)
                steps.push_back(step);
        }
        QCOMPARE(steps, (std::vector<std::int64_t> { 1, 6, 11 }));
    }

    void whatItRunsIsSaidAndAnEndOfACollectionToo()
    {
        Training t(kWeights);
        QCOMPARE(t.sink.inForce().size(), std::size_t { 1 });
        QCOMPARE(t.sink.inForce()[0].why, std::string("the config of the start"));
        t.push(2, 1, R"({"dynamic_on": true, "wg_distribution": true, "collect_times": 3})");
        t.run(8);
        QCOMPARE(t.steps(Kind::GradReduced, 8), range(0, 5));
        QCOMPARE(t.sink.inForce().size(), std::size_t { 3 });
        const auto ended = t.sink.inForce().back();
        QCOMPARE(ended.rev, std::uint64_t { 1 });
        QCOMPARE(ended.step, std::int64_t { 5 });
        QVERIFY(!config::parseMonitorConfig(ended.json)->config.dynamicOn);
        QCOMPARE(t.hooks().first, std::size_t { 0 });
    }

    void whatFailsHalfWayIsRefusedAndWhatRanGoesOn()
    {
        Stubborn* stubborn = nullptr;
        Training t(R"({"dynamic_on": true, "wg_distribution": true, "xy_distribution": true, "targets": {"first": {}},
            "collect_times": 6})",
            0, [&](TinyModel& model) {
                auto made = c10::make_intrusive<Stubborn>(torch::ones({ 2 }));
                stubborn = made.get();
                model.register_parameter("stubborn", torch::Tensor(std::move(made)), false);
            });
        t.push(3, 1, kEverything);
        stubborn->isBroken = true;
        t.run(9);
        QCOMPARE(t.sink.refusals.size(), std::size_t { 1 });
        QCOMPARE(t.sink.refusals[0], std::string("its shape is not known"));
        // As if nothing had been asked for: hooks, series, taps, and how many steps are left.
        QCOMPARE(t.steps(Kind::GradReduced, 9), range(0, 6));
        QCOMPARE(t.steps(Kind::GradUnreduced, 9), range(0, 6));
        QCOMPARE(t.steps(Kind::Actv, 9), range(0, 6));
        QCOMPARE(t.steps(Kind::ParamOrigin, 9), range(0, 0));
        QCOMPARE(t.sink.layoutsOf(Kind::GradReduced) + t.sink.layoutsOf(Kind::Actv), std::size_t { 2 });
        QCOMPARE(t.sink.inForce().back().why, std::string("collect_times is reached"));
        QCOMPARE(t.sink.inForce().back().rev, std::uint64_t { 0 });
        stubborn->isBroken = false;
        t.push(9, 2, kEverything);
        t.run(3);
        QCOMPARE(t.steps(Kind::ParamOrigin, 12), range(10, 12));
        QCOMPARE(t.sink.inForce().back().rev, std::uint64_t { 2 });
        QCOMPARE(t.hooks(), std::make_pair(std::size_t { 4 }, std::size_t { 4 }));
        QCOMPARE(t.monitor->internalErrors(), std::uint64_t { 0 });
    }

    void aStaticJobCollectsWhateverItsSwitchSays()
    {
        Training t(kOff);
        t.run(2);
        QCOMPARE(t.steps(Kind::GradReduced, 2), range(0, 2));
        QVERIFY(config::parseMonitorConfig(t.sink.inForce()[0].json)->config.dynamicOn);
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

TELLTALE_TEST(QTEST_GUILESS_MAIN, TorchSteeringTest)

}

#include "torchsteeringtest.moc"
