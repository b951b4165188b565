// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <limits>
#include <random>

#include <QBuffer>
#include <QTemporaryDir>

#include <telltale/common/seriesstyle.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/connectionsmodel.h>
#include <telltale/plot/curvecsv.h>
#include <telltale/plot/curvequery.h>
#include <telltale/plot/curvetrace.h>
#include <telltale/plot/overviewheader.h>
#include <telltale/plot/rankcurves.h>
#include <telltale/plot/ranktable.h>
#include <telltale/plot/ranktimes.h>
#include <telltale/plot/scalarpanels.h>

#include "../store/capsulebuilder.h"

namespace tst_rankcurves {

using namespace telltale;
using namespace telltale::views;

namespace {

constexpr int kSteps = 20;
constexpr int kBadRank = 7;
constexpr int kBadStep = 13;

}

/// One capsule with few ranks, one with more than a plot can hold as lines. Thread: the test's.
class RankCurves : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        m_few = open(QStringLiteral("few"), 3);
        m_many = open(QStringLiteral("many"), 12);
    }

    /// And is said as among the connections.
    void aRankThatIsGoneHasNoRate()
    {
        ViewState state;
        state.setCatalog(*m_few->catalog());
        std::vector<ConnectionInfo> agents(2);
        agents[1].rank = Rank { 1 };
        agents[0].connected = true;
        agents[0].samplesPerSecond = agents[1].samplesPerSecond = 74'000;
        state.setAgents(agents);
        RankTableModel model;
        model.set(state, nullptr);
        const auto rate = [&](int rank) { return model.index(rank, RankTableModel::RateColumn).data().toString(); };
        QVERIFY2(rate(0).endsWith(QStringLiteral("/s")), qPrintable(rate(0)));
        QCOMPARE(rate(1), QStringLiteral("\u2013"));
        using Agents = items::ConnectionsModel;
        QCOMPARE(rate(1), Agents::text(agents[1], Agents::RateColumn));
        QCOMPARE(model.index(1, RankTableModel::SpoolColumn).data().toString(),
            Agents::text(agents[1], Agents::SpoolColumn));
    }

    void everyRankIsALineOfItsOwn()
    {
        const CurvePicture picture = curvesOf(*m_few, {});
        QCOMPARE(picture.series.size(), std::size_t { 6 });
        QCOMPARE(whereText(picture.series[0]), QStringLiteral("rank 1")); // the selected one comes first
        QVERIFY(!picture.series[0].isOtherRank);
        QCOMPARE(whereText(picture.series[1]), QStringLiteral("rank 0"));
        QCOMPARE(whereText(picture.series[2]), QStringLiteral("rank 2"));
        for (const std::size_t i : { 1U, 2U }) {
            QVERIFY(picture.series[i].isOtherRank && !picture.series[i].isGroup);
            QCOMPARE(picture.series[i].slot, picture.series[0].slot);
        }
        QCOMPARE(picture.series[2].result.buckets[5].last, 205.0);
        QCOMPARE(picture.series[3].row.key.name, QStringLiteral("b"));
    }

    void onlyTheRanksThatAreAskedForAreDrawn()
    {
        QCOMPARE(curvesOf(*m_few, std::vector { Rank { 1 }, Rank { 0 } }).series.size(), std::size_t { 4 });
        QCOMPARE(curvesOf(*m_few, std::vector<Rank> {}).series.size(), std::size_t { 2 });
    }

    void manyRanksAreABandThatHidesNoNaN()
    {
        const CurvePicture picture = curvesOf(*m_many, {});
        QCOMPARE(picture.series.size(), std::size_t { 4 });
        const CurveSeries& band = picture.series[1];
        QVERIFY(band.isGroup);
        QCOMPARE(whereText(band), QStringLiteral("ranks 0 2\u201311"));
        QCOMPARE(band.result.buckets[4].min, 4.0);
        QCOMPARE(band.result.buckets[4].max, 1104.0);
        QCOMPARE(picture.lane()[kBadStep], series::CellState::NaN);
        QCOMPARE(picture.lane()[kBadStep - 1], series::CellState::Value);
    }

    void scalarsKeepEveryRank()
    {
        auto picture = readScalars(*m_few, request(*m_few, {}));
        QVERIFY(picture);
        QCOMPARE(picture->series.size(), std::size_t { 3 });
        QCOMPARE(picture->series[0].row.label, QStringLiteral("loss"));
        QCOMPARE(picture->series[0].row.rank, Rank { 1 });
        QCOMPARE(picture->series[2].row.rank, Rank { 2 });
    }

    /// Whatever is visible, and in however many pixels.
    void smoothingRemembersWhatIsLeftOfTheRange()
    {
        test::CapsuleBuilder builder(m_dir.filePath(QStringLiteral("noisy.telltale")).toStdString());
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
        constexpr int kLong = 1200;
        constexpr double kWeight = 0.9;
        std::mt19937 random(4);
        std::uniform_real_distribution<double> value(0, 100);
        std::vector<StepBlock> blocks;
        std::vector<double> expected;
        double sum = 0;
        double share = 0;
        for (int step = 0; step < kLong; ++step) {
            const double own = value(random);
            blocks.push_back({ scalars, Step { step }, 0, {}, { { Stat::Value, std::vector<double> { own } } }, {} });
            sum = kWeight * sum + (1 - kWeight) * own;
            share = kWeight * share + (1 - kWeight);
            expected.push_back(sum / share);
        }
        builder.stage(builder.addAttempt(Rank { 0 }, 0), std::move(blocks));
        builder.finish();
        const auto reader = test::CapsuleBuilder::must(store::openReader(builder.handle()));
        CurveRequest asked = request(*reader, {});
        asked.rank = Rank { 0 };
        asked.smoothing = kWeight;
        for (const int first : { 0, 5, 500, 640, 1000 }) {
            for (const int pixels : { 80, 100, 200 }) {
                asked.range = { Step { first }, Step { first + 199 } };
                asked.pixels = pixels;
                const CurvePicture picture = test::CapsuleBuilder::must(readScalars(*reader, asked));
                const CurveSeries& one = picture.series[0];
                const auto line = CurveTrace(pixels, 100, ValueScale(ValueScale::Mode::Linear, 0, 100), 0, 200)
                                      .smoothed(one.result.buckets, kWeight, one.lead);
                for (int x = 0; x < pixels; ++x) {
                    // Within the steps that the column shows, and what the order inside a bucket weighs.
                    const auto [from, to] = stepsOf(one.result, x);
                    const auto begin = expected.begin() + from.value;
                    const auto [low, high] = std::minmax_element(begin - (from.value > 0 ? 1 : 0),
                        expected.begin() + std::min<std::int64_t>(to.value + 2, kLong));
                    const double tolerance = pixels == 200 ? 0.2 : 1.5;
                    const double got = 100 - static_cast<double>(line[static_cast<std::size_t>(x)].middle);
                    QVERIFY2(got > *low - tolerance && got < *high + tolerance,
                        qPrintable(
                            QStringLiteral("%1 in %2 px, column %3: %4").arg(first).arg(pixels).arg(x).arg(got)));
                }
            }
        }
    }

    void theLastFiniteStepOfAScalarIsExact()
    {
        test::CapsuleBuilder builder(m_dir.filePath(QStringLiteral("ends.telltale")).toStdString());
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss", "lr" });
        constexpr int kLong = 3000;
        constexpr int kLast = 2567;
        std::vector<StepBlock> blocks;
        for (int step = 0; step < kLong; ++step)
            blocks.push_back({ scalars, Step { step }, 0, {},
                { { Stat::Value, std::vector<double> { step <= kLast ? step * 0.5 : NAN, 1 } } }, {} });
        builder.stage(builder.addAttempt(Rank { 0 }, 0), std::move(blocks));
        builder.finish();
        const auto reader = test::CapsuleBuilder::must(store::openReader(builder.handle()));
        CurveRequest asked = request(*reader, {});
        asked.rank = Rank { 0 };
        asked.range = { Step { 0 }, Step { kLong - 1 } };
        for (const int pixels : { 7, 10, 3000 }) {
            asked.pixels = pixels;
            const CurvePicture picture = test::CapsuleBuilder::must(readScalars(*reader, asked));
            QVERIFY(picture.series[0].lastFinite);
            QCOMPARE(picture.series[0].lastFinite->first, Step { kLast });
            QCOMPARE(picture.series[0].lastFinite->second, kLast * 0.5);
            QVERIFY(!picture.series[1].lastFinite);
        }
    }

    void ranksOfALiveRunAreComparedAtOneStep()
    {
        test::CapsuleBuilder builder(m_dir.filePath(QStringLiteral("behind.telltale")).toStdString());
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
        for (const auto& [rank, steps] : { std::pair(0, 40), { 1, 38 } }) {
            std::vector<StepBlock> blocks;
            for (int step = 0; step < steps; ++step)
                blocks.push_back(
                    { scalars, Step { step }, 0, {}, { { Stat::Value, std::vector<double> { step * 0.5 } } }, {} });
            builder.stage(builder.addAttempt(Rank { rank }, 0), std::move(blocks));
        }
        builder.commit();
        const auto reader = test::CapsuleBuilder::must(store::openReader(builder.liveHandle()));
        CurveRequest asked = request(*reader, {});
        asked.range = { Step { 0 }, Step { 39 } };
        for (const int pixels : { 7, 40 }) {
            asked.pixels = pixels;
            for (const bool isLive : { false, true }) {
                asked.isLive = isLive;
                const CurvePicture picture = test::CapsuleBuilder::must(readScalars(*reader, asked));
                QCOMPARE(picture.series.size(), std::size_t { 2 });
                for (const CurveSeries& one : picture.series) {
                    const bool isBehind = one.row.rank == Rank { 1 };
                    QCOMPARE(
                        lastValueOf(one).value, isLive || isBehind ? QStringLiteral("18.50") : QStringLiteral("19.50"));
                    QVERIFY(lastValueOf(one).at.isEmpty());
                }
            }
        }
    }

    /// However many steps a bucket is of; ranks that end together need not say where.
    void theStepAtWhichARankOfAnArchivedRunEndedIsExact()
    {
        test::CapsuleBuilder builder(m_dir.filePath(QStringLiteral("ended.telltale")).toStdString());
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss", "lr" });
        for (const int rank : { 0, 1 }) {
            std::vector<StepBlock> blocks;
            for (int step = 0; step < (rank == 1 ? 396 : 400); ++step)
                blocks.push_back(
                    { scalars, Step { step }, 0, {}, { { Stat::Value, std::vector<double> { 1, 1 } } }, {} });
            builder.stage(builder.addAttempt(Rank { rank }, 0), std::move(blocks));
        }
        builder.finish();
        const auto reader = test::CapsuleBuilder::must(store::openReader(builder.handle()));
        CurveRequest asked = request(*reader, {});
        for (const int pixels : { 7, 400 }) {
            for (const int last : { 390, 399 }) {
                asked.pixels = pixels;
                asked.range = { Step { 0 }, Step { last } };
                for (const CurveSeries& one : test::CapsuleBuilder::must(readScalars(*reader, asked)).series) {
                    const Step end { one.row.rank == Rank { 1 } ? 395 : 399 };
                    QCOMPARE(one.newest, last == 390 ? std::nullopt : std::optional(end));
                }
            }
        }
    }

    void betweenTwoSamplesTheValueIsTheLastOne()
    {
        test::CapsuleBuilder builder(m_dir.filePath(QStringLiteral("sparse.telltale")).toStdString());
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
        std::vector<StepBlock> blocks;
        for (int step = 0; step < 100; step += 5)
            blocks.push_back(
                { scalars, Step { step }, 0, {}, { { Stat::Value, std::vector<double> { step * 1. } } }, {} });
        builder.stage(builder.addAttempt(Rank { 1 }, 0), std::move(blocks));
        builder.finish();
        const auto reader = test::CapsuleBuilder::must(store::openReader(builder.handle()));
        const CurvePicture picture = test::CapsuleBuilder::must(readScalars(*reader, request(*reader, {})));
        QCOMPARE(picture.series[0].join, longestJoin(picture.series[0].result.buckets)); // known with the answer
        const auto cells = test::CapsuleBuilder::must(readValues(*reader, picture, 0, { Step { 34 }, Step { 60 } }));
        QCOMPARE(cells[0][0].value, 30.0);
        QCOMPARE(cells[0][0].step, Step { 30 });
        QCOMPARE(cells[1][0].step, Step { 60 });
    }

    void manyTimesInFewPixelsAreMeans()
    {
        QCOMPARE(thinned({ 1, 3, NAN, 5, 7, 9 }, 3), (std::vector<double> { 2, 5, 8 }));
        QCOMPARE(thinned({ 1, 3 }, 3), (std::vector<double> { 1, 3 }));
        QVERIFY(std::isnan(thinned({ NAN, NAN, 1, 1 }, 2).front()));
    }

    void whatARankComputesLongerIsMarked()
    {
        test::CapsuleBuilder builder(m_dir.filePath(QStringLiteral("times.telltale")).toStdString());
        const auto scalars
            = builder.addLayout(Kind::Scalar, { Stat::Value }, { "step_ms", "forward_ms", "forward_cpu_ms" });
        constexpr int kLong = 300;
        for (int rank = 0; rank < 4; ++rank) {
            std::vector<StepBlock> blocks;
            for (int step = 0; step < kLong; ++step) {
                // 10 to 109 in steps of 1 over any 100 steps; rank 2 takes twice as long, rank 3 has a NaN.
                const double time = (10 + step % 100) * (rank == 2 ? 2.0 : 1.0);
                const bool isBad = rank == 3 && step == kLong - 1;
                blocks.push_back({ scalars, Step { step }, 0, {},
                    { { Stat::Value, std::vector<double> { 1e3, 5e3, isBad ? NAN : time } } }, {} });
            }
            builder.stage(builder.addAttempt(Rank { rank }, 0), std::move(blocks));
        }
        builder.finish();
        const auto reader = test::CapsuleBuilder::must(store::openReader(builder.handle()));
        CurveRequest asked = request(*reader, {});
        asked.range = asked.own = { Step { 0 }, Step { kLong - 1 } };
        const RankTimes times = test::CapsuleBuilder::must(readRankTimes(*reader, asked, {}));
        QCOMPARE(times.scalar, std::string("forward_cpu_ms"));
        QCOMPARE(times.steps, (StepRange { Step { kLong - RankTimes::kSteps }, Step { kLong - 1 } }));
        QCOMPARE(times.boxes.size(), std::size_t { 4 });
        // The last 128 steps by hand: 72 to 99 once more than all the others.
        std::vector<double> sorted;
        for (int step = kLong - static_cast<int>(RankTimes::kSteps); step < kLong; ++step)
            sorted.push_back(10 + step % 100);
        std::sort(sorted.begin(), sorted.end());
        const double median = (sorted[63] + sorted[64]) / 2;
        QCOMPARE(times.boxes[0].median, median);
        QCOMPARE(times.boxes[2].median, 2 * median);
        QCOMPARE(times.boxes[1].low, sorted[3] + (sorted[4] - sorted[3]) * 0.175);
        for (const RankTimes::Box& box : times.boxes)
            QCOMPARE(box.isSlow, box.rank == Rank { 2 });
        // The catalog of a live run was read when its last tensor came up.
        auto older = std::make_shared<store::Catalog>(*asked.catalog);
        older->steps.last = Step { 9 };
        asked.catalog = older;
        QCOMPARE(test::CapsuleBuilder::must(readRankTimes(*reader, asked, {})).steps, times.steps);
        asked.range.last = Step { 40 };
        const RankTimes early = test::CapsuleBuilder::must(readRankTimes(*reader, asked, {}));
        QCOMPARE(early.steps.first, Step { 0 });
        QCOMPARE(early.boxes[0].median, 30.0);
        QVERIFY(readRankTimes(*m_few, request(*m_few, {}), {})->isEmpty()); // losses are no times
    }

    void numberedPartsOfAMetricShareAPanel_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("key");
        for (const auto& [name, key] : { std::pair { "expert_load/layers.0/ep_3", "expert_load/layers.0/ep_" },
                 { "load/7", "load/" }, { "val/top5", "val/top" }, { "ep_3", "ep_3" }, { "train/loss", "train/loss" },
                 { "local_norm/layers.0.fc1", "local_norm/layers.0.fc1" }, { "/3", "/3" }, { "a/", "a/" } })
            QTest::newRow(name) << QString::fromLatin1(name) << QString::fromLatin1(key);
    }
    void numberedPartsOfAMetricShareAPanel()
    {
        QFETCH(QString, name);
        QTEST(panelKey(name), "key");
    }

    void expertsOfALayerAreLinesOfOnePlot()
    {
        std::vector<std::string> names { "z/ep_10", "z/ep_2", "grad_norm", "y/ep_0", "z/ep_0", "loss", "z/note" };
        test::CapsuleBuilder builder(m_dir.filePath(QStringLiteral("experts.telltale")).toStdString());
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, names);
        for (int rank = 0; rank < 2; ++rank)
            builder.stage(builder.addAttempt(Rank { rank }, 0),
                { { scalars, Step { 0 }, 0, {}, { { Stat::Value, std::vector<double>(names.size(), 1) } }, {} } });
        builder.finish();
        const auto reader = test::CapsuleBuilder::must(store::openReader(builder.handle()));
        const auto picture = test::CapsuleBuilder::must(readScalars(*reader, request(*reader, {})));
        QStringList found;
        for (const ScalarPanel& panel : panelsOf(picture)) {
            QCOMPARE(panel.picture.range, picture.range);
            found << panel.title + QLatin1Char(':');
            for (const CurveSeries& one : panel.picture.series) {
                found.back() += QStringLiteral(" %1 r%2").arg(partName(one.row.key.name)).arg(one.row.rank.value);
                if (panel.isShared)
                    found.back() += QStringLiteral(" c%1").arg(one.slot);
            }
        }
        QCOMPARE(found,
            QStringList(
                { QStringLiteral("loss: loss r1 loss r0"), QStringLiteral("grad_norm: grad_norm r1 grad_norm r0"),
                    QStringLiteral("z: ep_0 r1 c0 ep_0 r0 c0 ep_2 r1 c1 ep_2 r0 c1 ep_10 r1 c2 ep_10 r0 c2"),
                    QStringLiteral("y/ep_0: ep_0 r1 ep_0 r0"), QStringLiteral("z/note: note r1 note r0") }));
    }

    void aLineAloneInItsPlotIsSolid()
    {
        const std::vector<std::string> names { "a", "b", "c", "d", "e", "f", "g", "h" };
        test::CapsuleBuilder builder(m_dir.filePath(QStringLiteral("alone.telltale")).toStdString());
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, names);
        builder.stage(builder.addAttempt(Rank { 0 }, 0),
            { { scalars, Step { 0 }, 0, {}, { { Stat::Value, std::vector<double>(names.size(), 1) } }, {} } });
        builder.finish();
        const auto reader = test::CapsuleBuilder::must(store::openReader(builder.handle()));
        CurvePicture picture = test::CapsuleBuilder::must(readScalars(*reader, request(*reader, {})));
        QCOMPARE(picture.series.size(), names.size());
        for (const CurveSeries& one : picture.series)
            QVERIFY(one.slot < SeriesStyle::kColors);
        // Beside another run, as ComparedCurves gives them their colors: a color a run in all plots.
        std::vector<CurveSeries> all;
        for (std::size_t i = 0; i < names.size(); ++i) {
            for (int run = 0; run < 2; ++run) {
                all.push_back(picture.series[i]);
                all.back().slot = static_cast<int>(i) * SeriesStyle::kColors + run;
                all.back().hasRunColor = true;
            }
        }
        picture.series = std::move(all);
        for (const ScalarPanel& panel : panelsOf(picture)) {
            QCOMPARE(panel.picture.series.size(), std::size_t { 2 });
            QCOMPARE(picture.series[panel.first].row.label, panel.title);
            for (int run = 0; run < 2; ++run)
                QCOMPARE(panel.picture.series[static_cast<std::size_t>(run)].slot, run);
        }
    }

    void theTableHoldsEveryRankThatIsDrawn()
    {
        const QByteArray few = csvOf(curvesOf(*m_few, {}));
        for (const char* rank : { "a,,-1,0,", "a,,-1,1,", "a,,-1,2,", "b,,-1,2," })
            QCOMPARE(few.count(rank), kSteps);
        const QByteArray many = csvOf(curvesOf(*m_many, {}));
        QCOMPARE(many.count("a,,-1,1,"), kSteps);
        QCOMPARE(many.count("a,,-1,0 2..11,"), kSteps);
    }

    void float32ValuesHaveTheirShortestDigits()
    {
        const CurvePicture picture = curvesOf(*m_few, {});
        CurvePicture tenth = picture;
        tenth.series.resize(1);
        series::Bucket& bucket = tenth.series[0].result.buckets[0];
        bucket.min = bucket.max = bucket.mean = bucket.last = static_cast<double>(0.1F);
        QVERIFY(csvOf(tenth).contains(",value,0.1,0.1,0.1,0.1,1,0,0,0\r\n"));
        bucket.last = 0.1; // not a float32: every digit counts
        tenth.series[0].row.kind = Kind::Scalar;
        bucket.min = static_cast<double>(0.1F);
        QVERIFY(csvOf(tenth).contains(",value,0.1,0.10000000149011612,"));
    }

private:
    static CurveRequest request(store::RunReader& reader, std::optional<std::vector<Rank>> ranks)
    {
        CurveRequest request;
        request.catalog = *reader.catalog();
        request.kind = Kind::Actv;
        request.rank = Rank { 1 };
        request.ranks = std::move(ranks);
        request.selection = { { QStringLiteral("a"), {} }, { QStringLiteral("b"), {} } };
        request.colors = { 0, 1 };
        request.range = { Step { 0 }, Step { kSteps - 1 } };
        request.pixels = kSteps;
        return request;
    }

    static CurvePicture curvesOf(store::RunReader& reader, std::optional<std::vector<Rank>> ranks)
    {
        return test::CapsuleBuilder::must(readCurves(reader, request(reader, std::move(ranks))));
    }

    static QByteArray csvOf(const CurvePicture& picture)
    {
        QBuffer buffer;
        buffer.open(QIODevice::WriteOnly);
        return writeCurveCsv(&buffer, &picture) ? buffer.data() : QByteArray();
    }

    /// Value of series "a": 100 x rank + step; one rank has a NaN at one step.
    std::unique_ptr<store::RunReader> open(const QString& name, int ranks)
    {
        test::CapsuleBuilder builder(m_dir.filePath(name + QStringLiteral(".telltale")).toStdString());
        const auto tensors = builder.addLayout(Kind::Actv, { Stat::Norm, Stat::Nans }, { "a", "b" });
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
        for (int rank = 0; rank < ranks; ++rank) {
            const std::int64_t stream = builder.addAttempt(Rank { rank }, 0);
            std::vector<StepBlock> blocks;
            for (int step = 0; step < kSteps; ++step) {
                StepBlock block;
                block.layout = tensors;
                block.step = Step { step };
                const auto value = static_cast<float>(100 * rank + step);
                const bool bad = rank == kBadRank && step == kBadStep;
                block.columns = { { Stat::Norm, std::vector<float> { value, value / 2 } },
                    { Stat::Nans, std::vector<std::uint64_t> { bad ? 3U : 0U, 0 } } };
                blocks.push_back(block);
                block.layout = scalars;
                block.columns = { { Stat::Value, std::vector<double> { 2.0 + rank } } };
                blocks.push_back(block);
            }
            builder.stage(stream, std::move(blocks));
            builder.commit();
        }
        builder.finish();
        return test::CapsuleBuilder::must(store::openReader(builder.handle()));
    }

    QTemporaryDir m_dir;
    std::unique_ptr<store::RunReader> m_few;
    std::unique_ptr<store::RunReader> m_many;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, RankCurves)

}

#include "tst_rankcurves.moc"
