// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that do the same, held against each other.
#include "testmain.h"

#include <cmath>

#include <QRegularExpression>

#include <telltale/judge/pace.h>
#include <telltale/judge/scalarrole.h>

#include "judged.h"

namespace judgepeerstest {

using namespace telltale;
using namespace telltale::judge;
using telltale::test::CapsuleBuilder;
using telltale::test::incidentsOf;
using telltale::test::kNaN;
using telltale::test::summary;
using telltale::test::Training;

namespace {

/// Clocks of ranks that share a machine: every fifth step or so all of them take up to twice as long, and each has a
/// noise of its own.
double clockOf(int rank, int step, double ownNoise)
{
    const double machine = std::max(0.0, Training::noise(step, 501) - 0.15);
    return 100 * std::exp(3 * machine + 5 * ownNoise * Training::noise(step, 600 + rank));
}

Training ticking(int ranks, double ownNoise, const std::function<double(int, int)>& factor)
{
    Training training;
    training.ranks = ranks;
    training.steps = 300;
    training.value = [=](int rank, int step, Kind, const std::string& name, double usual) {
        return name == "forward_ms" ? clockOf(rank, step, ownNoise) * factor(rank, step) : usual;
    };
    return training;
}

/// As a training with a noise of its own on each rank, of 5 %; block 2's activations times `factor`.
Training noisy(int ranks, const std::function<double(int, int)>& factor)
{
    Training training;
    training.ranks = ranks;
    training.steps = 300;
    training.value = [=](int rank, int step, Kind kind, const std::string& name, double usual) {
        const double own = std::exp(0.25 * Training::noise(step, 700 + rank));
        const bool isOdd = name == "layers.2.fc:output" || name == "layers.2:output";
        return kind == Kind::Actv ? usual * own * (isOdd ? factor(rank, step) : 1) : usual;
    };
    return training;
}

}

class JudgePeersTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whoComputesLongerIsNamedWithin20Steps_data()
    {
        QTest::addColumn<int>("ranks");
        for (const int ranks : { 2, 3, 8 })
            QTest::addRow("%d", ranks) << ranks;
    }
    void whoComputesLongerIsNamedWithin20Steps()
    {
        QFETCH(int, ranks);
        const auto incidents
            = incidentsOf(ticking(ranks, 0.01, [](int rank, int step) { return rank == 1 && step >= 160 ? 1.15 : 1; }));
        QCOMPARE(summary(incidents), std::string("straggler forward_ms@160/1"));
        const Incident& incident = incidents.front();
        QVERIFY2(incident.opened <= Step { 180 }, qPrintable(QString::number(incident.opened.value)));
        const QString sentence = QString::fromStdString(incident.sentence);
        QVERIFY2(
            sentence.contains(QRegularExpression(QStringLiteral("computes 1[3-7] % longer than the (other|median)"))),
            incident.sentence.c_str());
        QVERIFY(incident.phase == Phase::Step && !incident.isOver);
    }

    void fivePercentAreSeenWhereClocksAreQuiet()
    {
        QCOMPARE(summary(incidentsOf(
                     ticking(4, 0.003, [](int rank, int step) { return rank == 3 && step >= 160 ? 1.06 : 1; }))),
            std::string("straggler forward_ms@160/3"));
        QCOMPARE(summary(incidentsOf(
                     ticking(4, 0.003, [](int rank, int step) { return rank == 3 && step >= 160 ? 1.04 : 1; }))),
            std::string());
    }

    void whatLastsCountsThoughClocksWander()
    {
        // Medians of 8 steps wander by 1.5 %, as they do of time on the processor of a machine that is loaded.
        const auto sayAt = [](double lag, int until) {
            Pace pace;
            for (int step = 0; step < 400; ++step) {
                const double wander = 0.015 * std::sin(step / 8 * 2.3) + 0.05 * Training::noise(step, 11);
                if (pace.take(Step { step }, wander + (step >= 104 && step < until ? lag : 0), 0.05, 8))
                    return step;
            }
            return -1;
        };
        const int said = sayAt(0.09, 400);
        QVERIFY2(said > 120 && said <= 168, qPrintable(QString::number(said)));
        QCOMPARE(sayAt(0.09, 128), -1);
        QCOMPARE(sayAt(0.04, 400), -1);
    }

    void whatAllOfAMachineSuffersIsNobodys()
    {
        QCOMPARE(summary(incidentsOf(ticking(4, 0.02, [](int, int) { return 1; }))), std::string());
        // All of them are slower from a step on.
        QCOMPARE(
            summary(incidentsOf(ticking(4, 0.01, [](int, int step) { return step >= 160 ? 1.5 : 1; }))), std::string());
        // The first steps of one allocate and compile.
        QCOMPARE(
            summary(incidentsOf(ticking(2, 0.01, [](int rank, int step) { return rank == 0 && step < 16 ? 3 : 1; }))),
            std::string());
    }

    void aRankThatOtherWorkHoldsUpForAWhileIsNoStraggler()
    {
        // One after the other is a third slower for 12 steps.
        QCOMPARE(
            summary(incidentsOf(ticking(2, 0.02, [](int rank, int step) { return step / 12 % 3 == rank ? 1.35 : 1; }))),
            std::string());
    }

    void aStragglerHidesNothing()
    {
        Training training = ticking(2, 0.01, [](int rank, int step) { return rank == 1 && step >= 160 ? 1.2 : 1; });
        const auto clocks = training.value;
        training.value = [clocks](int rank, int step, Kind kind, const std::string& name, double usual) {
            const bool isBad = rank == 0 && step == 280 && kind == Kind::Actv && name == "layers.3:output";
            return isBad ? kNaN : clocks(rank, step, kind, name, usual);
        };
        QCOMPARE(
            summary(incidentsOf(training)), std::string("straggler forward_ms@160/1; nonfinite layers.3:output@280/0"));
    }

    void aStragglerIsOverSomeStepsAfterItCaughtUp()
    {
        const auto incidents = incidentsOf(
            ticking(2, 0.01, [](int rank, int step) { return rank == 1 && step >= 120 && step < 200 ? 1.2 : 1; }));
        QCOMPARE(summary(incidents), std::string("straggler forward_ms@120/1"));
        QVERIFY(incidents.front().isOver);
        QVERIFY(incidents.front().lastStep >= Step { 190 } && incidents.front().lastStep < Step { 215 });
    }

    void onlyTimesOfComputingCount()
    {
        for (const char* name : { "forward_ms", "time/forward ms", "compute-time", "fwd_time", "compute_s" })
            QVERIFY2(scalarRoleOf(name) == ScalarRole::ComputeTime, name);
        for (const char* name :
            { "step_ms", "iteration time", "forward", "tokens_per_s", "backward_ms", "loss/forward" })
            QVERIFY2(scalarRoleOf(name) != ScalarRole::ComputeTime, name);
        // What agents say of their own is about functions of any name.
        for (const char* name : { "telltale.comm.seconds/all_reduce (net.py[3] forward)",
                 "telltale.comm.bytes/all_reduce (net.py[3] loss)" })
            QCOMPARE(scalarRoleOf(name), ScalarRole::Other);
    }

    void oneThatIsUnlikeItsPeersIsNamed()
    {
        for (const int ranks : { 2, 3, 8 }) {
            const auto incidents
                = incidentsOf(noisy(ranks, [](int rank, int step) { return rank == 1 && step >= 150 ? 2.2 : 1; }));
            QCOMPARE(std::to_string(ranks) + ' ' + summary(incidents),
                std::to_string(ranks) + std::string(" outlier layers.2.fc:output@150/1"));
            QVERIFY2(incidents.front().sentence.find("times that of the") != std::string::npos,
                incidents.front().sentence.c_str());
            QVERIFY(incidents.front().opened == Step { 155 });
        }
    }

    void whatHappensToAllIsNoOutlier()
    {
        QCOMPARE(summary(incidentsOf(noisy(4, [](int, int step) { return step >= 150 ? 2.2 : 1; }))), std::string());
        QCOMPARE(summary(incidentsOf(noisy(4, [](int rank, int) { return 1.0 + rank; }))), std::string());
        // What its batches do is more at one step and less at another.
        const auto turns = [](int rank, int step) { return rank != 1 || step < 150 ? 1 : step % 3 ? 2.2 : 1 / 2.2; };
        QCOMPARE(summary(incidentsOf(noisy(4, turns))), std::string());
    }

    void partsOfAModelAreNotCompared()
    {
        // What is known of two pipeline stages' ranks: they have no peer each.
        Peers peers { Rules() };
        store::Catalog catalog;
        Watchlist lists[2];
        for (int rank = 0; rank < 2; ++rank) {
            store::SourceInfo info;
            info.id = SourceId { rank };
            info.rank = Rank { rank };
            info.pp = rank;
            catalog.sources.push_back(info);
            lists[rank].source = info.id;
            lists[rank].rollups = { { Kind::Actv, "layers.0", 1, ScalarRole::Other },
                { Kind::Scalar, "forward_ms", 1, ScalarRole::ComputeTime } };
        }
        peers.take(catalog, { &lists[0], &lists[1] });
        QVERIFY(peers.isEmpty());
        for (store::SourceInfo& info : catalog.sources) {
            info.tp = info.pp;
            info.pp = 0;
        }
        peers.take(catalog, { &lists[0], &lists[1] });
        QVERIFY(!peers.isEmpty()); // of a tensor's parts the time is compared
        for (int step = 0; step < 200; ++step) {
            peers.add(SourceId { 0 }, Step { step }, { 1, 10 });
            peers.add(SourceId { 1 }, Step { step }, { step < 100 ? 1.F : 3.F, 10 });
        }
        QVERIFY(peers.judge(0, Step { 200 }).empty());
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, JudgePeersTest)

}

#include "judgepeerstest.moc"
