// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <telltale/config/costestimate.h>

namespace costestimatetest {

using namespace telltale;
using namespace telltale::config;

namespace {

/// Two blocks of a module and a parameter each, on two ranks.
RunFacts facts()
{
    RunFacts run;
    run.ranks = { 0, 1 };
    run.modules = modulesOf(R"({"name": "", "type": "Net", "children": [
        {"name": "layers.0", "type": "Block", "parameters": [{"name": "layers.0.weight", "shape": [10, 30]}]},
        {"name": "layers.1", "type": "Block", "parameters": [{"name": "layers.1.weight", "shape": [10, 10]}]}]})");
    return run;
}

MonitorConfig gradients()
{
    MonitorConfig config;
    config.dynamicOn = config.wgDistribution = true;
    return config;
}

constexpr RunRates kRates { 2, 100, 3 };

}

class CostEstimateTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aDraftIsThinnedToStayWithinTheRunningBudget()
    {
        auto running = gradients();
        running.overheadBudget = 3;
        auto more = running;
        more.paramDistribution = true; // twice of 2 in 98 ms
        const auto thinned = estimateCost(more, running, facts(), kRates);
        QCOMPARE(thinned->everyWithin, std::int64_t { 2 });
        QCOMPARE(thinned->addedMs.value(), 0.0);
        QCOMPARE(thinned->bytesPerSecond.value(), 96.0 * 10 * 3 / 2);
        QCOMPARE(estimateCost(running, running, facts(), kRates)->everyWithin, std::int64_t { 0 });
        more.stepInterval = 5;
        QCOMPARE(estimateCost(more, running, facts(), kRates)->everyWithin, std::int64_t { 0 });
        more.stepInterval = 1;
        running.overheadBudget = 0;
        QCOMPARE(estimateCost(more, running, facts(), kRates)->everyWithin, std::int64_t { 0 });
        // What is measured while one step in four is collected is a quarter of what all would take.
        running.overheadBudget = 2.5;
        const auto throttled = estimateCost(more, running, facts(), { 2, 100, 3, 4 });
        QCOMPARE(throttled->everyWithin, std::int64_t { 8 });
        QCOMPARE(throttled->addedMs.value(), 0.0);
    }

    void parametersAreCountedFromTheStructure()
    {
        const auto now = estimateCost(gradients(), gradients(), facts(), kRates);
        QVERIFY(now && now->isWhole);
        QCOMPARE(now->series, 2.0 * 2 * 2); // kinds, parameters, ranks
        QCOMPARE(now->samples, 8.0 * 6);
        QCOMPARE(now->bytesPerSecond.value(), 48.0 * 10 * 3);
        QCOMPARE(now->addedMs.value(), 0.0);

        auto more = gradients();
        more.paramDistribution = true;
        const auto twice = estimateCost(more, gradients(), facts(), kRates);
        QCOMPARE(twice->series, 16.0);
        QCOMPARE(twice->addedMs.value(), 2.0);
        QCOMPARE(twice->addedShare, 0.02);

        auto less = gradients();
        less.targets = { { "layers.1", "" } }; // a quarter of the elements
        less.stepInterval = 5;
        less.moduleRanks = { 1, 7 };
        const auto part = estimateCost(less, gradients(), facts(), kRates);
        QCOMPARE(part->series, 2.0);
        QCOMPARE(part->samples, 12.0);
        QCOMPARE(part->bytesPerSecond.value(), 12.0 / 5 * 10 * 3);
        QCOMPARE(part->addedMs.value(), 2 * (0.25 / 5 - 1));
    }

    void modulesAreCountedAsTheRunHasShownThem()
    {
        auto run = facts();
        auto both = gradients();
        both.xyDistribution = true;
        const auto unseen = estimateCost(both, gradients(), run, kRates);
        QVERIFY(!unseen->isWhole);
        QCOMPARE(unseen->series, 8.0); // what is known of it
        QVERIFY(!unseen->addedMs);

        run.seen[Kind::Actv]["layers.0"] = { 3, 18, 400 };
        run.seen[Kind::ActvGrad]["layers.0"] = { 1, 6, 400 };
        auto narrow = both;
        narrow.targets = { { "layers.0", "" } };
        const auto known = estimateCost(narrow, gradients(), run, kRates);
        QVERIFY(known->isWhole);
        QCOMPARE(known->series, (2.0 + 3 + 1) * 2);
        QCOMPARE(known->addedMs.value(), 2 * ((2.0 * 300 + 800) / 800 - 1));
        // One that nobody has looked at yet is taken to be as the others; one that is looked at and gives nothing is
        // not.
        QCOMPARE(estimateCost(both, narrow, run, kRates)->series, (4.0 + 4 + 4) * 2);
        QCOMPARE(estimateCost(both, both, run, kRates)->series, (4.0 + 4) * 2);
        both.backwardOnly = true;
        QCOMPARE(estimateCost(both, both, run, kRates)->series, (4.0 + 1) * 2);
    }

    void whatIsNotKnownIsLeftOut()
    {
        QVERIFY(!estimateCost(gradients(), gradients(), {}, kRates)); // no model
        auto twice = gradients();
        twice.paramDistribution = true;
        const auto noRates = estimateCost(twice, gradients(), facts(), {});
        QCOMPARE(noRates->series, 16.0);
        QVERIFY(!noRates->bytesPerSecond && !noRates->addedMs);
        QVERIFY(!estimateCost(twice, gradients(), facts(), { 2, 100, 0 })->bytesPerSecond);
        auto idle = gradients();
        idle.dynamicOn = false; // what it takes now says nothing
        const auto fromIdle = estimateCost(twice, idle, facts(), kRates);
        QVERIFY(!fromIdle->addedMs && fromIdle->bytesPerSecond);
        auto nothing = gradients();
        nothing.wgDistribution = false;
        QVERIFY(!estimateCost(twice, nothing, facts(), kRates)->addedMs);
        const auto off = estimateCost(idle, gradients(), facts(), kRates);
        QCOMPARE(off->series, 0.0);
        QCOMPARE(off->addedMs.value(), -2.0);
        auto comm = gradients();
        comm.ccEnable = true;
        QVERIFY(!estimateCost(comm, gradients(), facts(), kRates)->isWhole);
        // What is asked for now, and never came, there is none of: the rest is known.
        auto run = facts();
        for (const Kind kind : { Kind::GradUnreduced, Kind::GradReduced })
            run.seen[kind] = { { "layers.0.weight", { 1, 6, 300 } }, { "layers.1.weight", { 1, 6, 100 } } };
        comm.xyDistribution = true;
        auto thinner = comm;
        thinner.stepInterval = 2;
        const auto known = estimateCost(thinner, comm, run, kRates);
        QVERIFY(known->isWhole);
        QCOMPARE(known->series, 8.0);
        QCOMPARE(known->addedMs.value(), -1.0);
    }

    void aStructureOfNonsenseHasNoElements()
    {
        const auto modules = modulesOf(R"({"name": "a", "parameters": [
            {"name": "a.w", "shape": ["x", -3]}, {"name": "a.b", "shape": 7}, {"name": "a.s", "shape": []}]})");
        QCOMPARE(modules.size(), std::size_t { 4 });
        QCOMPARE(modules[1].elements, 0.0);
        QCOMPARE(modules[2].elements, 1.0);
        QCOMPARE(modules[3].elements, 1.0);
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, CostEstimateTest)

}

#include "costestimatetest.moc"
