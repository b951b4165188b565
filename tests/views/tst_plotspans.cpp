// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <cmath>
#include <random>
#include <tuple>
#include <utility>

#include <QPainter>

#include <telltale/plot/curvelegend.h>
#include <telltale/plot/curvepainter.h>
#include <telltale/plot/curvetrace.h>
#include <telltale/series/envelope.h>

#include "plotbuckets.h"

namespace tst_plotspans {

using namespace telltale;
using namespace telltale::views;
using series::Bucket;
using series::CellState;
using test::nonFinite;
using test::single;

namespace {

/// Share of the pixel that a stroke of width `w` around the polyline covers, by sampling.
double sampledCoverage(const std::vector<QPointF>& line, double w, int x, int y)
{
    constexpr int kSamples = 8;
    int inside = 0;
    for (int i = 0; i < kSamples; ++i) {
        for (int j = 0; j < kSamples; ++j) {
            const QPointF p(x + (i + 0.5) / kSamples, y + (j + 0.5) / kSamples);
            double nearest = 1e9;
            for (std::size_t k = 1; k < line.size(); ++k) {
                const QPointF d = line[k] - line[k - 1];
                const double t
                    = std::clamp(QPointF::dotProduct(p - line[k - 1], d) / QPointF::dotProduct(d, d), 0.0, 1.0);
                const QPointF off = p - (line[k - 1] + d * t);
                nearest = std::min(nearest, std::hypot(off.x(), off.y()));
            }
            inside += nearest <= w / 2;
        }
    }
    return static_cast<double>(inside) / (kSamples * kSamples);
}

QImage paint(const std::vector<ColumnSpan>& spans, QSize size, SpanPainter::Quality quality, float width = 1.5F)
{
    QImage image(size, QImage::Format_RGB32);
    image.fill(Qt::black);
    SpanStyle style;
    style.color = 0xFFFFFFFF;
    style.width = width;
    SpanPainter(image, image.rect()).stroke(spans, style, quality);
    return image;
}

/// `share` of `color` over `ground`, in 256ths as everything here is painted.
QRgb blended(QRgb ground, QRgb color, double share)
{
    const auto part = static_cast<int>(std::lround(share * 256));
    const auto mix = [part](int below, int above) { return (below * (256 - part) + above * part) >> 8; };
    return qRgb(mix(qRed(ground), qRed(color)), mix(qGreen(ground), qGreen(color)), mix(qBlue(ground), qBlue(color)));
}

/// Share of pixel y of column x that a stroke covers, which no pixel is spared: the extent of the column's values, or
/// its line from the left to the middle to the right, as far as the columns beside it reach.
double plainCoverage(const std::vector<ColumnSpan>& spans, std::size_t x, int y, float half)
{
    const ColumnSpan& column = spans[x];
    const auto within
        = [y](double low, double high) { return std::max(0.0, std::min(y + 1.0, high) - std::max<double>(y, low)); };
    float top = column.top, bottom = column.bottom;
    for (std::size_t beside = x == 0 ? 0 : x - 1; beside < std::min(x + 2, spans.size()); ++beside) {
        if (spans[beside].present) {
            top = std::min(top, spans[beside].top);
            bottom = std::max(bottom, spans[beside].bottom);
        }
    }
    constexpr int kSlices = 512;
    double line = 0;
    for (const auto& [a, b] : { std::pair(column.left, column.middle), std::pair(column.middle, column.right) }) {
        const double reach = static_cast<double>(half) * std::hypot(1.0, 2.0 * static_cast<double>(b - a));
        for (int i = 0; i < kSlices; ++i) {
            const double at = std::lerp(static_cast<double>(a), static_cast<double>(b), (i + 0.5) / kSlices);
            line += within(std::max<double>(at - reach, top - half), std::min<double>(at + reach, bottom + half));
        }
    }
    return std::max(within(column.top - half, column.bottom + half), line / (2 * kSlices));
}

}

class PlotSpans : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void strokeCoversWhatThePolylineCovers_data()
    {
        QTest::addColumn<double>("roughness");
        QTest::newRow("flat") << 0.3;
        QTest::newRow("hilly") << 2.0;
        QTest::newRow("steep") << 9.0;
    }

    void strokeCoversWhatThePolylineCovers()
    {
        QFETCH(double, roughness);
        constexpr int kWidth = 120;
        constexpr int kHeight = 80;
        std::mt19937 random(8);
        std::uniform_real_distribution<double> move(-roughness, roughness);
        std::vector<Bucket> buckets;
        std::vector<QPointF> line;
        double value = 40;
        for (int i = 0; i < 30; ++i) {
            value = std::clamp(value + 4 * move(random), 6.0, 74.0);
            buckets.push_back(single(value));
            line.emplace_back(i * 4 + 2, kHeight - value);
        }
        const ValueScale scale(ValueScale::Mode::Linear, 0, kHeight);
        const QImage image
            = paint(CurveTrace(kWidth, kHeight, scale).raw(buckets), { kWidth, kHeight }, SpanPainter::Quality::Fine);
        double total = 0;
        double worst = 0;
        int pixels = 0;
        for (int y = 0; y < kHeight; ++y) {
            for (int x = 4; x < kWidth - 4; ++x) {
                const double expected = sampledCoverage(line, 1.5, x, y);
                const double got = qRed(image.pixel(x, y)) / 255.0;
                const double error = std::abs(expected - got);
                worst = std::max(worst, error);
                if (expected > 0 || got > 0) {
                    total += error;
                    ++pixels;
                }
            }
        }
        // Corners of the stroke are mitred by the columns, so single pixels there may differ.
        QVERIFY2(total / pixels < (roughness > 5 ? 0.12 : 0.06), qPrintable(QString::number(total / pixels)));
        QVERIFY2(worst < 0.75, qPrintable(QString::number(worst)));
    }

    void everyColumnReachesFromSmallestToLargest()
    {
        constexpr int kWidth = 400;
        constexpr int kHeight = 100;
        std::mt19937 random(5);
        std::uniform_real_distribution<double> value(5, 95);
        std::vector<Bucket> buckets;
        for (int i = 0; i < kWidth; ++i) {
            Bucket b = single(value(random));
            b.first = value(random);
            b.last = value(random);
            b.min = std::min({ b.first, b.last, b.mean });
            b.max = std::max({ b.first, b.last, b.mean });
            b.samples = b.finite = 9;
            buckets.push_back(b);
        }
        const ValueScale scale(ValueScale::Mode::Linear, 0, kHeight);
        const auto spans = CurveTrace(kWidth, kHeight, scale).raw(buckets);
        for (const auto quality : { SpanPainter::Quality::Fine, SpanPainter::Quality::Fast }) {
            const QImage image = paint(spans, { kWidth, kHeight }, quality);
            for (int x = 0; x < kWidth; ++x) {
                const Bucket& b = buckets[static_cast<std::size_t>(x)];
                for (int y = static_cast<int>(std::ceil(kHeight - b.max)); y < static_cast<int>(kHeight - b.min); ++y)
                    QVERIFY2(qRed(image.pixel(x, y)) > 250, qPrintable(QStringLiteral("%1 %2").arg(x).arg(y)));
            }
        }
    }

    void theInsideOfASteepColumnIsWhatThePlainRuleGives_data()
    {
        QTest::addColumn<float>("alpha");
        QTest::newRow("opaque") << 1.0F;
        QTest::newRow("see-through") << 0.37F;
    }

    void theInsideOfASteepColumnIsWhatThePlainRuleGives()
    {
        QFETCH(float, alpha);
        constexpr QRgb kGround = 0xFF204070;
        const QRect plot(3, 5, 60, 90);
        std::mt19937 random(11);
        std::uniform_real_distribution<float> ends(-12, 102), share(0, 1);
        for (const float width : { 0.6F, 1.0F, 1.5F, 2.25F, 3.0F, 4.5F }) {
            std::vector<ColumnSpan> spans(static_cast<std::size_t>(plot.width()));
            for (ColumnSpan& column : spans) {
                column.present = share(random) > 0.1F;
                std::tie(column.top, column.bottom) = std::minmax({ ends(random), ends(random) });
                for (float* at : { &column.left, &column.middle, &column.right })
                    *at = std::lerp(column.top, column.bottom, share(random));
            }
            SpanStyle style;
            style.color = 0xFFE09020;
            style.width = width;
            style.alpha = alpha;
            QImage image(70, 100, QImage::Format_RGB32);
            image.fill(kGround);
            SpanPainter(image, plot).stroke(spans, style, SpanPainter::Quality::Fine);
            int whole = 0, parts = 0;
            for (int y = 0; y < image.height(); ++y) {
                for (int x = 0; x < image.width(); ++x) {
                    const int row = y - plot.top();
                    const auto at = static_cast<std::size_t>(x - plot.left());
                    const bool isStroked = plot.contains(x, y) && spans[at].present;
                    const double covered = isStroked ? plainCoverage(spans, at, row, width / 2) : 0;
                    const QRgb expected = blended(kGround, style.color, covered * static_cast<double>(alpha));
                    const QRgb got = image.pixel(x, y);
                    const bool isWhole = isStroked && static_cast<float>(row) >= spans[at].top - width / 2
                        && static_cast<float>(row + 1) <= spans[at].bottom + width / 2;
                    const int off = isWhole || !isStroked ? 0 : 1;
                    whole += isWhole;
                    parts += covered > 0 && covered < 1;
                    QVERIFY2(std::abs(qRed(got) - qRed(expected)) <= off
                            && std::abs(qGreen(got) - qGreen(expected)) <= off
                            && std::abs(qBlue(got) - qBlue(expected)) <= off,
                        qPrintable(QStringLiteral("%1, %2 at width %3: %4, not %5")
                                       .arg(x)
                                       .arg(y)
                                       .arg(static_cast<double>(width))
                                       .arg(got, 0, 16)
                                       .arg(expected, 0, 16)));
                }
            }
            QVERIFY(whole > 1000 && parts > 50);
        }
    }

    void dashesAreAsLongOnASteepLineAsOnAFlatOne_data()
    {
        QTest::addColumn<double>("slope");
        QTest::newRow("flat") << 0.0;
        QTest::newRow("rising") << 1.0;
        QTest::newRow("steep") << -8.0;
        QTest::newRow("upright") << 60.0;
    }

    void dashesAreAsLongOnASteepLineAsOnAFlatOne()
    {
        QFETCH(double, slope);
        constexpr int kHeight = 240;
        const int width = slope == 0 ? 240 : std::min(240, static_cast<int>(kHeight / std::abs(slope)));
        std::vector<ColumnSpan> line(static_cast<std::size_t>(width));
        for (int x = 0; x < width; ++x) {
            const double from = (slope < 0 ? kHeight : slope == 0 ? 100 : 0) + x * slope;
            ColumnSpan& column = line[static_cast<std::size_t>(x)];
            column.left = static_cast<float>(from);
            column.middle = static_cast<float>(from + slope / 2);
            column.right = static_cast<float>(from + slope);
            column.top = std::min(column.left, column.right);
            column.bottom = std::max(column.left, column.right);
            column.present = column.single = true;
        }
        for (const auto quality : { SpanPainter::Quality::Fine, SpanPainter::Quality::Fast }) {
            SpanStyle style;
            style.color = 0xFFFFFFFF;
            style.width = 2;
            style.dashOn = 6;
            style.dashOff = 4;
            QImage image({ width, kHeight }, QImage::Format_RGB32);
            image.fill(Qt::black);
            SpanPainter(image, image.rect()).stroke(line, style, quality);
            // Along the line at half a pixel a step: how often it begins again, and how much of it is drawn.
            const double length = std::hypot(width, width * slope);
            int begun = 0, drawn = 0, steps = 0;
            bool isOn = false;
            for (double at = 4; at < length - 4; at += 0.5, ++steps) {
                const double x = at / length * width;
                const double y = line.front().left + slope * x;
                const bool is = qRed(image.pixel(std::clamp(static_cast<int>(x), 0, width - 1),
                                    std::clamp(static_cast<int>(y), 0, kHeight - 1)))
                    > 110;
                begun += is && !isOn;
                isOn = is;
                drawn += is;
            }
            QVERIFY2(
                std::abs(begun - length / 10) <= 2, qPrintable(QStringLiteral("%1 of %2").arg(begun).arg(length / 10)));
            QVERIFY2(std::abs(static_cast<double>(drawn) / steps - 0.6) < 0.12,
                qPrintable(QString::number(static_cast<double>(drawn) / steps)));
        }
    }

    void logarithmIsExactToAHundredthOfAPixel()
    {
        const ValueScale scale(ValueScale::Mode::Log, 1e-12, 1e12);
        const CurveTrace trace(10, 1000, scale);
        for (double value = 1e-12; value < 1e12; value *= 1.037)
            QVERIFY(std::abs(
                        static_cast<double>(trace.yOf(value)) - (1000 - scale.unitOf(static_cast<float>(value)) * 1000))
                < 0.01);
    }

    void zeroAndLessRunAlongTheBottomOfALogScale()
    {
        const ValueScale scale(ValueScale::Mode::Log, 1, 100);
        const CurveTrace trace(100, 100, scale);
        for (const double value : { 0.0, -0.0, -1e9 })
            QCOMPARE(trace.yOf(value), 99.0F);
        QVERIFY(trace.yOf(1e-300) > 100); // what is too small to be seen, but above zero, leaves the plot
        std::vector<Bucket> buckets(100, single(10));
        buckets[50] = single(0);
        const auto spans = trace.raw(buckets);
        QCOMPARE(spans[50].middle, 99.0F);
        QVERIFY(spans[49].bottom > 70 && spans[49].bottom < 99);
    }

    void lineBreaksAtNonFiniteSamplesAndGaps()
    {
        for (const CellState state :
            { CellState::NaN, CellState::PosInf, CellState::NegInf, CellState::Gap, CellState::Damaged }) {
            std::vector<Bucket> buckets(30, single(50));
            Bucket hole = nonFinite(state);
            if (state == CellState::Gap || state == CellState::Damaged)
                hole.samples = 0;
            buckets[15] = hole;
            const ValueScale scale(ValueScale::Mode::Linear, 0, 100);
            for (const bool smooth : { false, true }) {
                const CurveTrace trace(300, 100, scale);
                const auto spans = smooth ? trace.smoothed(buckets, 0.9) : trace.raw(buckets);
                for (int x = 150; x < 160; ++x)
                    QVERIFY(!spans[static_cast<std::size_t>(x)].present);
                QVERIFY(spans[140].present && spans[165].present);
            }
        }
    }

    void smoothingStartsAnewAfterABreak()
    {
        std::vector<Bucket> buckets(20, single(10));
        buckets[10] = nonFinite(CellState::NaN);
        for (std::size_t i = 11; i < 20; ++i)
            buckets[i] = single(90);
        const ValueScale scale(ValueScale::Mode::Linear, 0, 100);
        const auto spans = CurveTrace(20, 100, scale).smoothed(buckets, 0.99);
        QVERIFY(std::abs(spans[11].middle - 10) < 1e-3F);
    }

    /// Columns have unequal numbers of steps: no tooth where there is one more.
    void aStraightSeriesIsAStraightLine_data()
    {
        QTest::addColumn<int>("steps");
        for (const int steps : { 100, 133, 150, 199, 777 })
            QTest::newRow(QByteArray::number(steps)) << steps;
    }
    void aStraightSeriesIsAStraightLine()
    {
        QFETCH(int, steps);
        constexpr int kWidth = 100;
        std::vector<Bucket> buckets(kWidth);
        for (int step = 0; step < steps; ++step) {
            Bucket& bucket = buckets[static_cast<std::size_t>(step * kWidth / steps)];
            const Bucket one = single(step);
            series::append(bucket, one);
        }
        // Three pixels a column.
        const CurveTrace trace(kWidth, 3 * kWidth, ValueScale(ValueScale::Mode::Linear, 0, steps), 0, steps);
        for (const auto& line : { trace.raw(buckets), trace.smoothed(buckets, 0.9) }) {
            // What the past weighs grows until there is enough of it.
            for (std::size_t x = 50; x + 1 < kWidth; ++x) {
                QVERIFY(line[x].single);
                QVERIFY2(std::abs(line[x].left - line[x].right - 3) < 0.1F, qPrintable(QString::number(x)));
                QVERIFY(std::abs(line[x].left - line[x].middle - 1.5F) < 0.1F);
                QCOMPARE(line[x].right, line[x + 1].left);
            }
        }
    }

    void aPeakInOneStepReachesItsValue()
    {
        std::vector<Bucket> buckets(100, single(10));
        for (Bucket& bucket : buckets)
            series::append(bucket, Bucket(single(10)));
        series::append(buckets[40] = single(10), Bucket(single(90)));
        const auto line = CurveTrace(100, 100, ValueScale(ValueScale::Mode::Linear, 0, 100), 0, 200).raw(buckets);
        QVERIFY(line[40].top <= 10 && line[40].bottom >= 90);
        QVERIFY(!line[40].single);
    }

    void stepsCollectedNowAndThenAreJoined()
    {
        std::vector<Bucket> buckets(100);
        for (std::size_t i = 0; i < 100; i += 10)
            buckets[i] = single(50);
        const ValueScale scale(ValueScale::Mode::Linear, 0, 100);
        const auto spans = CurveTrace(100, 100, scale).raw(buckets);
        for (std::size_t x = 1; x < 90; ++x)
            QVERIFY(spans[x].present);
        std::fill(buckets.begin() + 40, buckets.end(), Bucket {});
        buckets[95] = single(50);
        const auto apart = CurveTrace(100, 100, scale).raw(buckets);
        QVERIFY(!apart[60].present);
    }

    void whatIsCollectedByTheClockIsNotBroken()
    {
        // As a run had them that became slower: the more steps between two, the faster they were.
        std::vector<std::size_t> steps { 21, 40, 60, 80, 103, 122, 142, 164, 189, 212, 237, 260, 273 };
        while (steps.back() < 450)
            steps.push_back(steps.back() + 8);
        const auto present = [](const std::vector<std::size_t>& at) {
            std::vector<Bucket> buckets(500);
            for (const std::size_t step : at)
                buckets[step] = single(50);
            const auto spans = CurveTrace(500, 100, ValueScale(ValueScale::Mode::Linear, 0, 100)).raw(buckets);
            return std::count_if(
                spans.begin() + 21, spans.begin() + 450, [](const auto& span) { return span.present; });
        };
        QCOMPARE(present(steps), 450 - 21);
        std::erase_if(steps, [](std::size_t step) { return step > 80 && step < 189; }); // four are missing
        QCOMPARE(present(steps), 450 - 21 - (189 - 81));
    }

    void everyNonFinitePixelHasItsMark()
    {
        std::mt19937 random(3);
        for (const double share : { 0.001, 0.1, 1.0 }) {
            std::vector<CellState> states(800, CellState::Value);
            std::bernoulli_distribution broken(share);
            for (CellState& state : states) {
                if (broken(random))
                    state = static_cast<CellState>(5 + random() % 3);
            }
            states[399] = CellState::NaN;
            QImage image(800, 20, QImage::Format_RGB32);
            image.fill(Theme::dark().base);
            {
                QPainter painter(&image);
                paintNonFiniteLane(painter, QRectF(0, 0, 800, 17), states, Theme::dark());
            }
            for (int x = 0; x < 800; ++x) {
                if (states[static_cast<std::size_t>(x)] < CellState::NegInf)
                    continue;
                int marks = 0;
                for (int y = 0; y < 20; ++y)
                    marks += image.pixel(x, y) == Theme::dark().criticalMark.rgb();
                QVERIFY(marks > 0);
            }
        }
    }

    void aSignIsSeenBesideTheIncidentThatBeganThere()
    {
        std::vector<CellState> states(800, CellState::Value);
        for (const std::size_t at : { 300, 301, 302, 797, 798, 799 })
            states[at] = CellState::NaN;
        QImage image(800, 20, QImage::Format_RGB32);
        image.fill(Theme::dark().base);
        QPainter painter(&image);
        const std::vector<bool> taken = paintNonFiniteLane(painter, QRectF(0, 0, 800, 17), states, Theme::dark(),
            { { 300, EventMark::Shape::Critical }, { 797, EventMark::Shape::Critical } });
        painter.end();
        const auto isSign = [&image](int from) { // above the marks of its pixels
            for (int x = from; x < from + 7; ++x) {
                if (image.pixel(x, 9) != Theme::dark().base.rgb())
                    return true;
            }
            return false;
        };
        QVERIFY(isSign(308) && taken[311]);
        QVERIFY(isSign(782) && taken[785]); // where the lane ends
        QVERIFY(!isSign(297) && !isSign(790));
    }

    void betweenTwoSamplesALineIsWhatItComesFrom()
    {
        CurveSeries one;
        series::CurveResult& result = one.result;
        result.range = { Step { 0 }, Step { 99 } };
        result.buckets.resize(100);
        for (std::size_t i = 0; i < 50; i += 5)
            result.buckets[i] = single(7);
        result.buckets[90] = single(7);
        const auto bucketOfLine = [&](int step) { return lineBucketOf(one, Step { step }); };
        QCOMPARE(bucketOfLine(10), 10);
        QCOMPARE(bucketOfLine(14), 10);
        QCOMPARE(bucketOfLine(60), 60); // no line is drawn to the next
        QCOMPARE(bucketOfLine(94), 90); // nor is another due
        QCOMPARE(bucketOfLine(100), -1);
        result.buckets[12].state = CellState::Gap;
        QCOMPARE(bucketOfLine(11), 10);
        QCOMPARE(bucketOfLine(13), 13);
        result.buckets[20] = nonFinite(CellState::NaN);
        QCOMPARE(bucketOfLine(21), 21);
    }

    void belowARunsNameIsRoomForTheStepThatItEndedAt()
    {
        CurvePicture picture;
        for (const char* name : { "demo-cnn", "demo-gpt #b878f8f3", "demo-gpt #7fb2bd89" }) {
            CurveSeries& one = picture.series.emplace_back();
            one.stat = Stat::Value;
            one.row.key.name = one.row.label = QStringLiteral("loss");
            one.row.kind = Kind::Scalar;
            one.runName = QString::fromLatin1(name);
            one.hasRunColor = one.isOfOneRank = true;
            one.isOtherRun = picture.series.size() > 1;
        }
        const auto painted = [&picture](const LegendValue& last) {
            QImage image(142, 150, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            CurveLegend(image.rect(), picture, 0).paint(painter, { {}, {}, last }, -1, Theme::current());
            return image;
        };
        LegendValue last;
        const QImage dash = painted(last);
        last.stat = Stat::Value;
        last.state = CellState::Value;
        last.value = 2.597;
        last.at = { Step { 159 }, Step { 159 } };
        last.saysAt = true;
        QVERIFY(painted(last) != dash);
    }

    void legendSaysNothingOfARowThatEndedLongAgo()
    {
        CurvePicture picture;
        for (int which = 0; which < 3; ++which) {
            CurveSeries& one = picture.series.emplace_back();
            one.result.range = { Step { 0 }, Step { 99 } };
            one.result.buckets.resize(100);
            for (std::size_t i = 0; i < (which == 0 ? 61U : 100U); ++i) {
                if (which == 2 ? i % 10 == 0 : i % 2 == 0)
                    one.result.buckets[i] = single(7);
            }
        }
        const auto newest = [&](std::size_t at) { return LegendValue::newestOf(picture, picture.series[at]).state; };
        QVERIFY(newest(0) == series::CellState::NotCollected);
        picture.series[0].runName = QStringLiteral("ended earlier");
        const LegendValue ended = LegendValue::newestOf(picture, picture.series[0]);
        QCOMPARE(ended.text(), QStringLiteral("at 60 7.000"));
        const QFontMetricsF metrics(numberFont(12));
        QCOMPARE(ended.textIn(metrics, 200), ended.text());
        QCOMPARE(ended.textIn(metrics, metrics.horizontalAdvance(ended.text()) - 1), QStringLiteral("\u2013"));
        LegendValue broken = ended;
        broken.state = series::CellState::NaN;
        QCOMPARE(broken.textIn(metrics, 200), QStringLiteral("at 60 NaN"));
        QCOMPARE(broken.textIn(metrics, 30), QStringLiteral("NaN"));
        picture.series[0].runName.clear();
        QVERIFY(newest(1) == series::CellState::Value);
        QVERIFY(newest(2) == series::CellState::Value); // due again only later
        picture.isLive = true;
        QVERIFY(newest(0) == series::CellState::NotCollected); // its rank is further
        for (std::size_t i = 1; i < 3; ++i)
            picture.series[i].row.rank = Rank { 1 };
        QVERIFY(newest(0) == series::CellState::Value); // its rank has not come further
    }

    void whatTheSystemUsesIsOneLineHoweverFarItsSamplesAre()
    {
        CurvePicture picture;
        picture.range = { Step { 0 }, Step { 99 } };
        CurveSeries& one = picture.series.emplace_back();
        one.result.range = picture.range;
        one.result.buckets.assign(100, series::Bucket {});
        for (const std::size_t at : { 0U, 4U, 8U, 12U, 16U, 20U, 24U, 90U })
            one.result.buckets[at] = single(0.5);
        const auto hasLine = [&](const char* name) {
            one.row.key.name = QString::fromLatin1(name);
            QImage frame(100, 40, QImage::Format_ARGB32_Premultiplied);
            frame.fill(Qt::black);
            paintCurves(frame, frame.rect(), picture, ValueScale(ValueScale::Mode::Linear, 0, 1), 0, Theme::dark());
            bool isAny = false;
            for (int y = 0; y < 40; ++y)
                isAny = isAny || frame.pixel(60, y) != qRgb(0, 0, 0);
            return isAny;
        };
        QVERIFY(hasLine("system/rss_bytes"));
        QVERIFY(!hasLine("val/loss"));
    }
};

TELLTALE_TEST(QTEST_MAIN, PlotSpans)

}

#include "tst_plotspans.moc"
