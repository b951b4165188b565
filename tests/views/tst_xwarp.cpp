// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cstdint>

#include <telltale/plot/curvetrace.h>
#include <telltale/plot/xwarp.h>

namespace tst_xwarp {

using namespace telltale;
using namespace telltale::views;
using series::Bucket;

class XWarpTest : public QObject {
    Q_OBJECT

    static series::CurveResult quantity(const std::vector<double>& values)
    {
        series::CurveResult result;
        result.range = { Step { 100 }, Step { 100 + static_cast<std::int64_t>(values.size()) - 1 } };
        for (const double value : values) {
            Bucket bucket;
            if (value >= 0) {
                bucket.first = bucket.last = bucket.mean = bucket.min = bucket.max = value;
                bucket.samples = bucket.finite = 1;
                bucket.state = series::CellState::Value;
            }
            result.buckets.push_back(bucket);
        }
        return result;
    }

private Q_SLOTS:
    void everyStepIsFoundWhereItStands()
    {
        std::vector<double> values;
        double sum = 0;
        for (int i = 0; i < 50; ++i)
            values.push_back(sum += i < 25 ? 8 : 64);
        const auto warp = XWarp::of(XAxis::Samples, quantity(values));
        QVERIFY(warp);
        double last = -1;
        for (std::int64_t step = 100; step < 150; ++step) {
            const double unit = warp->unitOf(Step { step });
            QVERIFY(unit > last && unit >= 0 && unit <= 1);
            QCOMPARE(warp->stepAt(unit), Step { step });
            last = unit;
        }
        // Eight times as many samples a step: the second half takes most of the plot.
        QVERIFY(warp->unitOf(Step { 125 }) < 0.2);
    }

    void aHoleIsAStraightLineAndAFallIsFlat()
    {
        const auto warp = XWarp::of(XAxis::Samples, quantity({ 10, -1, 30, 25, 50 }));
        QVERIFY(warp);
        QVERIFY(warp->unitOf(Step { 101 }) > warp->unitOf(Step { 100 }));
        for (std::int64_t step = 101; step < 105; ++step)
            QVERIFY(warp->unitOf(Step { step }) >= warp->unitOf(Step { step - 1 }));
        QVERIFY(!XWarp::of(XAxis::Time, quantity({ -1, -1, 3 })));
        QVERIFY(!XWarp::of(XAxis::Time, quantity({ 3, 3, 3 })));
    }

    void noNonFiniteSampleIsLostOnTheWay()
    {
        std::vector<double> values;
        for (int i = 0; i < 400; ++i)
            values.push_back(i * i);
        const series::CurveResult plain = quantity(values);
        const auto warp = XWarp::of(XAxis::Samples, plain);
        std::vector<Bucket> buckets = plain.buckets;
        for (const std::size_t bad : { 3U, 7U, 390U }) {
            buckets[bad] = Bucket {};
            buckets[bad].samples = buckets[bad].nans = 1;
            buckets[bad].state = series::CellState::NaN;
        }
        for (const int width : { 1, 30, 400, 1000 }) {
            std::uint32_t nans = 0;
            std::uint32_t samples = 0;
            for (const Bucket& bucket : warp->warped(buckets, width)) {
                nans += bucket.nans;
                samples += bucket.samples;
                QVERIFY(bucket.nans == 0 || bucket.state == series::CellState::NaN);
            }
            QCOMPARE(nans, 3U);
            QCOMPARE(samples, 400U);
        }
    }

    void timeIsReadFromTheFirstStep()
    {
        std::vector<double> values;
        for (int i = 0; i < 120; ++i)
            values.push_back(1.7e18 + i * 60e9);
        const auto warp = XWarp::of(XAxis::Time, quantity(values));
        QVERIFY(warp);
        const auto ticks = warp->ticks(900);
        QVERIFY(ticks.size() >= 4);
        QCOMPARE(ticks.front().label, QStringLiteral("0:00 h"));
        QCOMPARE(ticks[1].label, QStringLiteral("0:15 h"));
        QCOMPARE(warp->textOf(Step { 190 }), QStringLiteral("1:30:00 h"));
    }

    void underAnHourThereAreMinutes()
    {
        std::vector<double> values;
        for (int i = 0; i < 300; ++i)
            values.push_back(1.7e18 + i * 2e9);
        const auto warp = XWarp::of(XAxis::Time, quantity(values));
        QCOMPARE(warp->ticks(900)[1].label, QStringLiteral("1 min"));
        QCOMPARE(warp->textOf(Step { 145 }), QStringLiteral("1:30 min"));
        // What lies between two of them is of the axis too, and both read alike.
        QCOMPARE(warp->textOf(Step { 110 }), QStringLiteral("0:20 min"));
        QCOMPARE(warp->differenceText(Step { 110 }, Step { 145 }), QStringLiteral("+1:10 min"));
        QCOMPARE(warp->differenceText(Step { 145 }, Step { 110 }), QStringLiteral("\u22121:10 min"));
    }

    void timeCountsFromTheRunsFirstStepWhateverIsInSight()
    {
        const auto clockOf = [](double seconds, int count) {
            std::vector<double> values;
            for (int i = 0; i < count; ++i)
                values.push_back(1.7e18 + (70 + i * seconds) * 1e9);
            return quantity(values);
        };
        const auto near = XWarp::of(XAxis::Time, clockOf(0.25, 60), 1.7e18);
        QCOMPARE(near->textOf(Step { 100 }), QStringLiteral("1:10.0 min"));
        QCOMPARE(near->textOf(Step { 150 }), QStringLiteral("1:22.5 min"));
        QCOMPARE(near->differenceText(Step { 100 }, Step { 150 }), QStringLiteral("+0:12.5 min"));
        // The axis has the form of what stands on it.
        const auto ticks = near->ticks(900);
        QCOMPARE(ticks.front().label, QStringLiteral("1:10 min"));
        for (const auto& tick : ticks)
            QVERIFY2(tick.label.startsWith(QStringLiteral("1:")) && tick.label.endsWith(QStringLiteral(" min")),
                qPrintable(tick.label));
        const auto wide = XWarp::of(XAxis::Time, clockOf(1, 120), 1.7e18);
        QCOMPARE(wide->textOf(Step { 150 }), QStringLiteral("2:00 min"));
        const auto late = XWarp::of(XAxis::Time, clockOf(0.25, 60), 1.7e18 - 3600e9);
        QCOMPARE(late->textOf(Step { 159 }), QStringLiteral("1:01:24.8 h"));
        const auto early = XWarp::of(XAxis::Time, clockOf(0.25, 60), 1.7e18 + 60e9);
        QCOMPARE(early->placeText(Step { 150 }), QStringLiteral("at 22.5 s"));
        const auto seen = XWarp::of(XAxis::Samples, quantity({ 2048, 4096, 6144 }));
        QCOMPARE(seen->placeText(Step { 101 }), QStringLiteral("at 4\u202F096 samples"));
    }

    void slowStepsAreNoGapAndAHoleIs()
    {
        std::vector<double> seconds;
        double at = 0;
        for (int i = 0; i < 60; ++i)
            seconds.push_back(1.7e18 + (at += i == 20 || i == 41 ? 50 : 1) * 1e9); // two checkpoints
        const series::CurveResult clock = quantity(seconds);
        const auto warp = XWarp::of(XAxis::Time, clock);
        constexpr int kWidth = 800;
        const auto holes = [&](const std::vector<Bucket>& buckets) {
            const auto columns = CurveTrace(kWidth, 100, ValueScale(ValueScale::Mode::Linear, 0, 2), SIZE_MAX)
                                     .raw(warp->warped(buckets, kWidth));
            int breaks = 0;
            for (std::size_t x = 1; x + 1 < columns.size(); ++x)
                breaks += columns[x - 1].present && !columns[x].present;
            return breaks;
        };
        std::vector<Bucket> curve = quantity(std::vector<double>(60, 1.0)).buckets;
        QCOMPARE(holes(curve), 1); // behind its last sample
        for (int i = 30; i < 36; ++i)
            curve[static_cast<std::size_t>(i)] = Bucket {};
        QCOMPARE(holes(curve), 2);
    }
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, XWarpTest)

}

#include "tst_xwarp.moc"
