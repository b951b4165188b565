// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <array>
#include <set>

#include <QMouseEvent>
#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/labels.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/common/theme.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/plot/legendlines.h>
#include <telltale/plot/overviewcanvas.h>
#include <telltale/plot/overviewheader.h>

#include "commonsynthetic.h"

namespace tst_curvelegends {

using namespace telltale;
using namespace telltale::views;

/// Which names and values stand beside curves, and where. Thread: gui.
class CurveLegends : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void betweenTwoSamplesTheLegendSaysOfWhichStepItsValuesAre()
    {
        ViewState state;
        state.setFullRange({ Step { 0 }, Step { 99 } });
        auto picture = std::make_shared<CurvePicture>();
        picture->range = state.fullRange();
        CurveSeries& one = picture->series.emplace_back();
        one.stat = Stat::Value;
        one.result.range = picture->range;
        one.result.buckets.resize(100);
        for (std::size_t step = 0; step < 100; step += 5) {
            series::Bucket& bucket = one.result.buckets[step];
            bucket.min = bucket.max = bucket.mean = bucket.first = bucket.last = 10.0 + static_cast<double>(step);
            bucket.samples = bucket.finite = 1;
            bucket.state = series::CellState::Value;
        }
        CurveCanvas canvas(&state);
        canvas.resize(900, 200);
        canvas.setPicture(picture);
        const auto said = [&canvas] { return canvas.legendStepText(canvas.legendValues()); };
        QCOMPARE(said(), QString());
        state.setCursor(Step { 30 });
        QCOMPARE(said(), QString());
        state.setCursor(Step { 34 });
        QCOMPARE(canvas.legendValues()[0].text(), statValueText(Stat::Value, 40));
        QCOMPARE(said(), QStringLiteral("at step 30"));
        QVERIFY(!canvas.legendCaption(canvas.legendValues(), false).contains(QStringLiteral("rank")));
        QVERIFY(canvas.legendCaption(canvas.legendValues(), true).startsWith(QStringLiteral("at step 30, rank ")));
        state.setMarks(Step { 12 }, Step { 34 });
        QCOMPARE(canvas.legendValues()[0].difference, std::optional(20.0));
        QCOMPARE(said(), QStringLiteral("at step 10 \u2192 30"));
        state.setMarks({}, {});
        state.setCursor(std::nullopt);
        // The mouse finds the line between two samples, too.
        const QRect plot = canvas.plotRect();
        const int x = plot.left() + plot.width() * 345 / 1000;
        const QImage frame = canvas.grab().toImage();
        int y = plot.top();
        while (y < plot.bottom() && frame.pixelColor(x, y) != SeriesStyle::forSlot(0, Theme::current()).color)
            ++y;
        QMouseEvent move(QEvent::MouseMove, QPointF(x, y), QPointF(x, y), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&canvas, &move);
        QCOMPARE(state.hover(), std::optional(Step { 34 }));
        const QImage hovered = canvas.grab().toImage();
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(&canvas, &leave);
        state.setHover(Step { 34 }); // as by another view
        QVERIFY(canvas.grab().toImage() != hovered);
    }

    void aNameIsNeverCutToThatOfTheFirstMicroStep()
    {
        const QFontMetricsF metrics(codeFont(11));
        for (const char* name : { "tok_emb input µ1", "layers.0.mlp.fc1 input µ1", "all-reduce µ1", "head µ1" }) {
            const QString text = QString::fromUtf8(name);
            const double least = metrics.horizontalAdvance(QStringLiteral("L0 … µ1"));
            for (double width = least; width < 200; width += 5) {
                QVERIFY(elideBehind(text, metrics, width).endsWith(QStringLiteral("µ1")));
                QVERIFY(metrics.horizontalAdvance(elideBehind(text, metrics, width)) <= width);
                for (const bool keepsBlock : { false, true }) {
                    const QString cut = fitLabels({ text, text.chopped(3) }, metrics, width, keepsBlock).front();
                    QVERIFY2(cut.endsWith(QStringLiteral("µ1")), qPrintable(cut));
                    QVERIFY(metrics.horizontalAdvance(cut) <= width);
                }
            }
        }
        QCOMPARE(elideBehind(QStringLiteral("head"), metrics, 200), QStringLiteral("head"));
    }

    void everyRunAndEveryQuantileIsNamedInALowStrip()
    {
        CurvePicture runs;
        for (int i = 0; i < 3; ++i) {
            CurveSeries& one = runs.series.emplace_back();
            one.row.label = QStringLiteral("loss");
            one.isOtherRun = i > 0;
            one.hasRunColor = true;
            one.runName = QStringLiteral("run-%1").arg(i);
        }
        const CurveLegend low(QRectF(0, 0, 142, 19 + 3 * 16), runs, 0);
        for (int i = 0; i < 3; ++i)
            QCOMPARE(low.seriesAt({ 20, 19 + i * 16 + 8.0 }), i);
        CurvePicture quantiles;
        for (int i = 0; i < 7; ++i)
            quantiles.series.emplace_back().row.label = QStringLiteral("p%1").arg(i);
        const CurveLegend beside(QRectF(0, 0, 142, 4 * 18 + 2), quantiles, 0);
        for (int i = 0; i < 7; ++i)
            QCOMPARE(beside.seriesAt({ i < 4 ? 20.0 : 120.0, i % 4 * 18 + 9.0 }), i);
        QVERIFY(low.hasValues() && !beside.hasValues());
        // Who has put a cursor there wants values: of those that have room, and how many have none is said.
        const CurveLegend asked(QRectF(0, 0, 142, 4 * 18 + 2), quantiles, 0, false, true);
        QVERIFY(asked.hasValues());
        QCOMPARE(asked.moreText(), QStringLiteral("4 more names below"));
    }

    void aRunsNameIsNotCutForItsValue()
    {
        const std::array names { "moe with NaN", "moe one step in 5", "moe 4 ranks #2bbaced1" };
        const auto named = [&names](int rows) {
            CurvePicture picture;
            for (int i = 0; i < rows * 3; ++i) {
                CurveSeries& one = picture.series.emplace_back();
                one.row.label = QStringLiteral("%1.weight").arg(i / 3);
                one.hasRunColor = one.isOfOneRank = true;
                one.runName = QLatin1String(names[static_cast<std::size_t>(i % 3)]);
            }
            return picture;
        };
        // Every name has a line of its own, and the wheel reaches the next row's.
        const CurvePicture rows = named(4);
        const CurveLegend legend(QRectF(0, 0, 142, 132), rows, 0);
        QVERIFY(legend.hasValues());
        QCOMPARE(legend.seriesAt({ 20, 19 + 2 * 32 + 8 }), 2);
        QCOMPARE(legend.moreText(), QStringLiteral("3 more names below"));
        // Where not all of one row have that room, the names stay and the values go.
        LegendValue one;
        one.state = series::CellState::Value;
        one.value = 7.642e-4;
        const std::vector<LegendValue> values(3, one);
        CurvePicture row = named(1);
        const auto painted = [&] {
            QImage image(142, 19 + 3 * 16, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            CurveLegend(image.rect(), row, 0).paint(painter, values, -1, Theme::current());
            return image;
        };
        const auto width = static_cast<int>(QFontMetricsF(numberFont(12, 500)).horizontalAdvance(one.text()));
        const QRect name(32, 19, 132 - width - 32, 16), value(132 - width, 19, width, 16);
        const QImage cut = painted();
        QCOMPARE(CurveLegend(cut.rect(), row, 0).hasValues(), false);
        for (int i = 0; i < 3; ++i)
            QCOMPARE(CurveLegend(cut.rect(), row, 0).seriesAt({ 20, 19 + i * 16 + 8.0 }), i);
        QVERIFY(cut.copy(name) != cut.copy(name.translated(0, 16)));
        for (CurveSeries& of : row.series)
            of.runName = QStringLiteral("a");
        QVERIFY(painted().copy(value) != cut.copy(value)); // which a short name leaves room for
    }

    void ofARunWithItsRanksEachRankIsARow()
    {
        CurvePicture picture;
        for (const auto& [run, rank] : { std::pair(0, 0), std::pair(0, 1), std::pair(1, 0) }) {
            CurveSeries& one = picture.series.emplace_back();
            one.row.label = QStringLiteral("loss");
            one.row.rank = Rank { rank };
            one.isOtherRank = rank > 0;
            one.isOtherRun = run > 0;
            one.hasRunColor = true;
            one.runName = QStringLiteral("run-%1").arg(run);
        }
        const auto swatches = [&picture] {
            QImage image(142, 200, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            CurveLegend(image.rect(), picture, 0).paint(painter, std::vector<LegendValue>(3), -1, Theme::current());
            painter.end();
            std::vector<int> lines; // of 16 px below the name
            for (int y = 19; y < 200; ++y) {
                if (image.pixelColor(15, y) == SeriesStyle::forSlot(0, Theme::current()).color
                    && (lines.empty() || lines.back() != (y - 19) / 16))
                    lines.push_back((y - 19) / 16);
            }
            return lines;
        };
        QCOMPARE(swatches(), (std::vector<int> { 1, 2, 4 })); // the names of the runs are above
        picture.series.erase(picture.series.begin() + 1);
        QCOMPARE(swatches(), (std::vector<int> { 0, 2 })); // of one rank each, beside the names
    }

    /// What then has no room below is counted, and reached by the wheel.
    void aNameThatItsValueWouldCutStandsAboveIt()
    {
        CurvePicture picture;
        for (int i = 0; i < 9; ++i)
            picture.series.emplace_back().row.label = QStringLiteral("%1.mlp.fc1.bias").arg(i);
        const QRectF area(0, 0, 142, 132);
        const CurveLegend legend(area, picture, 0);
        for (int i = 0; i < 3; ++i)
            QCOMPARE(legend.seriesAt({ 20, i * 33 + 25.0 }), i);
        QCOMPARE(CurveLegend(area, picture, legend.lastFirstLine()).seriesAt({ 20, 2 * 33 + 10 }), 8);
        for (int i = 0; i < 9; ++i)
            picture.series[static_cast<std::size_t>(i)].row.label = QStringLiteral("L%1 h0").arg(i);
        QCOMPARE(CurveLegend(area, picture, 0).seriesAt({ 20, 18 + 9 }), 1);
    }

    void aNameThatIsCutKeepsItsBlock()
    {
        const auto painted = [](const QString& name) {
            CurvePicture picture;
            for (const QString& one : { name, QStringLiteral("2.ln.bias") })
                picture.series.emplace_back().row.label = one;
            QImage image(142, 66, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            CurveLegend(image.rect(), picture, 0).paint(painter, std::vector<LegendValue>(2), -1, Theme::current());
            return image;
        };
        QCOMPARE(painted(QStringLiteral("3.attn.proj.weight")), painted(QStringLiteral("L3 \u2026proj.weight")));
    }

    /// What is finite of a tensor is said beside what is not; where one has no room, the news stays.
    void aValueThatIsAPartSaysOfWhat()
    {
        series::CellValue cell;
        cell.state = series::CellState::NaN;
        cell.value = 2.798;
        cell.nans = 3;
        LegendValue one;
        one.state = cell.state;
        one.value = cell.value;
        one.isPart = series::isPartOf(Stat::Norm, cell, 0);
        QVERIFY(one.isPart);
        QVERIFY(!series::isPartOf(Stat::Max, cell, 0)); // which is itself what is not finite
        QVERIFY(!series::isPartOf(Stat::Zeros, cell, 0)); // which leaves out none
        QVERIFY(!series::isPartOf(Stat::Norm, cell, cell.nans)); // of nothing finite
        QCOMPARE(one.text(), QStringLiteral("NaN"));
        const QFontMetricsF metrics(numberFont(12, 500));
        QCOMPARE(one.textIn(metrics, 400), QStringLiteral("2.798, NaN left out"));
        QCOMPARE(one.textIn(metrics, metrics.horizontalAdvance(QStringLiteral("2.798, NaN")) + 1),
            QStringLiteral("2.798, NaN"));
        const double figures = metrics.horizontalAdvance(QStringLiteral("2.798"));
        QVERIFY(!one.hasSignIn(metrics, 400));
        QCOMPARE(one.textIn(metrics, figures + 16), QStringLiteral("2.798"));
        QVERIFY(one.hasSignIn(metrics, figures + 16));
        QCOMPARE(one.textIn(metrics, 30), QStringLiteral("NaN"));
        QVERIFY(!one.hasSignIn(metrics, 30));
        series::Bucket bucket;
        bucket.state = cell.state;
        bucket.last = cell.value;
        bucket.samples = bucket.finite = bucket.nans = 1;
        QVERIFY(LegendValue::isPartOf(Stat::Norm, bucket));
        bucket.samples = 2; // another sample may be the finite one
        QVERIFY(!LegendValue::isPartOf(Stat::Norm, bucket));
        CurvePicture picture;
        CurveSeries& series = picture.series.emplace_back();
        series.row.label = QStringLiteral("ln_f.weight");
        series.isOfOneRank = true;
        const auto painted = [&](int width) {
            QImage image(width, 132, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            CurveLegend(image.rect(), picture, 0).paint(painter, { one }, -1, Theme::current());
            int last = 0;
            for (int x = 0; x < width; ++x) {
                for (int y = 14; y < 33; ++y)
                    last = image.pixelColor(x, y) != Theme::current().base ? x : last;
            }
            return last;
        };
        QVERIFY(painted(142) > 32 + metrics.horizontalAdvance(QStringLiteral("2.798, NaN")) - 4);
        // Beside a rank there is room for the sign alone.
        picture.series.push_back(picture.series.front());
        for (int i = 0; i < 2; ++i) {
            CurveSeries& rank = picture.series[static_cast<std::size_t>(i)];
            rank.isOfOneRank = false;
            rank.row.rank = Rank { i };
            rank.isOtherRank = i > 0;
        }
        const Theme& theme = Theme::current();
        QImage image(142, 132, QImage::Format_RGB32);
        image.fill(theme.base);
        {
            QPainter painter(&image);
            CurveLegend(image.rect(), picture, 0).paint(painter, { one, one }, -1, theme);
        }
        const QRect sign(142 - 10 - 11, 19 + 2, 11, 11);
        int filled = 0;
        for (int x = sign.left(); x <= sign.right(); ++x)
            filled += image.pixelColor(x, sign.top() + 1) == glyphs::fill(series::CellState::NaN, theme) ? 1 : 0;
        QVERIFY2(filled >= 9, qPrintable(QString::number(filled)));
        QImage nothing = image.copy(90, 19, 20, 16);
        nothing.fill(theme.base);
        QVERIFY(image.copy(90, 19, 20, 16) != nothing); // the value
    }

    /// Heads of a layer on four ranks, each of the heads in a color.
    static CurvePicture headsOnRanks(int heads, const QString& name)
    {
        CurvePicture picture;
        for (int i = 0; i < heads * 4; ++i) {
            CurveSeries& one = picture.series.emplace_back();
            one.row.label = name.arg(i / 4);
            one.row.rank = Rank { i % 4 };
            one.slot = i / 4;
            one.isOtherRank = i % 4 > 0;
        }
        return picture;
    }

    void everyColorIsNamedBeforeTheOtherRanks()
    {
        const CurvePicture picture = headsOnRanks(4, QStringLiteral("L0 h%1"));
        constexpr double kAll = 4 * (19 + 4 * 16);
        const CurveLegend whole(QRectF(0, 0, 142, kAll), picture, 0);
        QCOMPARE(whole.seriesAt({ 20, 19 + 16 + 8 }), 1);
        QCOMPARE(whole.moreText(), QString());
        const CurveLegend low(QRectF(0, 0, 142, 4 * 18 + 18), picture, 0);
        for (int head = 0; head < 4; ++head)
            QCOMPARE(low.seriesAt({ 20, head * 18 + 9.0 }), head * 4);
        QCOMPARE(low.below(), 12);
        QCOMPARE(low.moreText(), QStringLiteral("12 more lines below"));
        // Each of them is still reached, below its name.
        std::set<int> seen;
        for (int line = 0; line <= low.lastFirstLine(); ++line) {
            const CurveLegend legend(QRectF(0, 0, 142, 4 * 18 + 18), picture, line);
            for (double y = 4; y < 4 * 18; y += 4)
                seen.insert(legend.seriesAt({ 20, y }));
        }
        seen.erase(-1);
        QCOMPARE(seen.size(), picture.series.size());
        // A long name stands above its ranks, once.
        const CurvePicture modules = headsOnRanks(3, QStringLiteral("%1.mlp.fc1.weight"));
        const CurveLegend names(QRectF(0, 0, 142, 2 * (19 + 4 * 16) + 18), modules, 0);
        for (int name = 0; name < 2; ++name) {
            for (int rank = 0; rank < 4; ++rank)
                QCOMPARE(names.seriesAt({ 20, name * (19 + 4 * 16) + 19 + rank * 16 + 8.0 }), name * 4 + rank);
        }
        QCOMPARE(names.moreText(), QStringLiteral("1 more names below"));
    }

    void whatIsCountedIsNamed()
    {
        const CurvePicture ranks = headsOnRanks(1, QStringLiteral("L%1 h0"));
        const QRectF low(0, 0, 142, 19 + 16 + 18);
        QCOMPARE(CurveLegend(low, ranks, 0).moreText(), QStringLiteral("3 more ranks below"));
        const CurveLegend first(low, ranks, 0);
        QCOMPARE(CurveLegend(low, ranks, first.lastFirstLine()).moreText(), QStringLiteral("2 more ranks above"));
        CurvePicture names;
        for (int i = 0; i < 9; ++i)
            names.series.emplace_back().row.label = QStringLiteral("%1.mlp.fc1.bias").arg(i);
        QCOMPARE(CurveLegend(QRectF(0, 0, 142, 132), names, 0).moreText(), QStringLiteral("6 more names below"));
    }

    void whereNoRankIsNamedAValueStandsBesideItsName()
    {
        CurvePicture picture;
        for (const char* name : { "loss", "lr" }) {
            CurveSeries& one = picture.series.emplace_back();
            one.row.label = QLatin1String(name);
            one.isOfOneRank = true;
        }
        QCOMPARE(CurveLegend(QRectF(0, 0, 142, 132), picture, 0).seriesAt({ 20, 18 + 9 }), 1);
        // Below a longer one it begins as that does.
        picture.series.front().row.label = QStringLiteral("ln_f.weight");
        const auto painted = [&picture](const std::vector<LegendValue>& values) {
            QImage image(142, 132, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            CurveLegend(image.rect(), picture, 0).paint(painter, values, -1, Theme::current());
            return image;
        };
        LegendValue value;
        value.state = series::CellState::Value;
        value.value = 1;
        const std::vector<LegendValue> values(2, value);
        const QRect below(32, 16, 10, 14);
        QVERIFY(painted(values).copy(below) != painted({}).copy(below.translated(50, 0)));
        // Of several runs, one with a single rank has one line, the others two.
        for (CurveSeries& one : picture.series) {
            one.row.label = QStringLiteral("loss");
            one.hasRunColor = true;
            one.runName = QStringLiteral("cnn");
        }
        picture.series.back().isOfOneRank = false;
        picture.series.back().isOtherRun = true;
        picture.series.back().runName = QStringLiteral("moe-nan");
        QCOMPARE(CurveLegend(QRectF(0, 0, 142, 132), picture, 0).seriesAt({ 20, 19 + 16 + 8 }), 1);
        QCOMPARE(CurveLegend(QRectF(0, 0, 142, 132), picture, 0).seriesAt({ 20, 19 + 16 + 32 + 8 }), -1);
    }

    void aRunsNameIsCutForItsOwnValueAlone()
    {
        CurvePicture picture;
        for (const char* name : { "moe-n", "moe-a" }) {
            CurveSeries& run = picture.series.emplace_back();
            run.row.label = QStringLiteral("loss");
            run.hasRunColor = true;
            run.runName = QLatin1String(name);
        }
        const auto nameBeside = [&picture](double other) {
            std::vector<LegendValue> values(2);
            values[1].state = series::CellState::Value;
            values[1].value = other;
            QImage image(142, 19 + 2 * 16, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            CurveLegend(image.rect(), picture, 0).paint(painter, values, -1, Theme::current());
            return image.copy(32, 19, 90, 16);
        };
        QCOMPARE(nameBeside(-1.2345e-12), nameBeside(1));
    }

    /// The first letters of its number tell it from others, and are where it is chosen.
    void theNumberOfARunKeepsItsBeginning()
    {
        const QFontMetricsF metrics(wordsFont(11, 600));
        const std::vector<QString> runs { QStringLiteral("#9b6f0786"), QStringLiteral("#1b6f0786") };
        const double width = metrics.horizontalAdvance(QStringLiteral("#9b6f\u2026")) + 2;
        for (const QString& cut : fitLabels(runs, metrics, width))
            QVERIFY2(cut.startsWith(u'#') && cut.endsWith(QChar(0x2026)) && cut.size() > 4, qPrintable(cut));
        const std::vector<QString> named { QStringLiteral("a #9b6f0786"), QStringLiteral("b #1b6f0786") };
        QCOMPARE(fitLabels(named, metrics, width), fitLabels(runs, metrics, width));
        // Of one that has ended the value goes before the number does.
        CurvePicture picture;
        for (const QString& name : runs) {
            CurveSeries& run = picture.series.emplace_back();
            run.row.label = QStringLiteral("loss");
            run.hasRunColor = true;
            run.runName = name;
        }
        std::vector<LegendValue> values(2);
        for (LegendValue& value : values) {
            value.state = series::CellState::Value;
            value.value = 2.588;
        }
        const auto named0 = [&] {
            QImage image(142, 19 + 2 * 16, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            CurveLegend(image.rect(), picture, 0).paint(painter, values, -1, Theme::current());
            return image.copy(32, 19, static_cast<int>(QFontMetricsF(wordsFont(11)).horizontalAdvance(runs[0])), 16);
        };
        const QImage whole = named0();
        values[0].saysAt = true;
        values[0].at = { Step { 149 }, Step { 149 } };
        QCOMPARE(named0(), whole);
    }

    void aRunsValueStandsBesideItsNumberWhereBothFit()
    {
        CurvePicture picture;
        for (const char* name : { "#b878f8f3", "#7fb2bd89" }) {
            CurveSeries& run = picture.series.emplace_back();
            run.row.label = QStringLiteral("loss");
            run.stat = Stat::Value;
            run.hasRunColor = true;
            run.isOfOneRank = true;
            run.runName = QLatin1String(name);
            run.result.range = { Step { 0 }, Step { 0 } };
            series::Bucket& bucket = run.result.buckets.emplace_back();
            bucket.min = bucket.max = bucket.mean = bucket.first = bucket.last = 2.875;
            bucket.samples = bucket.finite = 1;
            bucket.state = series::CellState::Value;
        }
        QCOMPARE(CurveLegend(QRectF(0, 0, 142, 132), picture, 0).seriesAt({ 20, 19 + 16 + 8 }), 1);
        picture.series[0].result.buckets[0].last = -1.234e-5; // which has no room there
        QCOMPARE(CurveLegend(QRectF(0, 0, 142, 132), picture, 0).seriesAt({ 20, 19 + 16 + 8 }), 0);
        // Its line stays where the cursor has a value that does.
        const auto isBeside = [&picture](double value) {
            LegendValue one;
            one.state = series::CellState::Value;
            one.value = value;
            QImage image(142, 132, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            CurveLegend(image.rect(), picture, 0).paint(painter, { one, one }, -1, Theme::current());
            QImage below = image.copy(32, 19 + 18, 100, 10);
            QImage empty = below;
            empty.fill(Theme::current().base);
            return below == empty;
        };
        QVERIFY(isBeside(2.875));
        QVERIFY(!isBeside(-1.234e-5));
    }

    void aBandOfRanksSaysFromWhereToWhereItGoes()
    {
        ViewState state;
        state.setFullRange({ Step { 0 }, Step { 9 } });
        auto picture = std::make_shared<CurvePicture>();
        picture->range = state.fullRange();
        for (const bool isGroup : { false, true }) {
            CurveSeries& one = picture->series.emplace_back();
            one.row.label = QStringLiteral("ln.bias");
            one.isGroup = isGroup;
            one.ranks = { Rank { 1 }, Rank { 3 } };
            one.result.range = picture->range;
            one.result.buckets.resize(10);
            for (series::Bucket& bucket : one.result.buckets) {
                bucket.min = bucket.first = 1;
                bucket.max = bucket.mean = bucket.last = 3;
                bucket.samples = bucket.finite = 2;
                bucket.state = series::CellState::Value;
            }
        }
        CurveCanvas canvas(&state);
        canvas.resize(900, 200);
        canvas.setPicture(picture);
        QCOMPARE(canvas.legendValues()[1].where, QStringLiteral("1.000 to 3.000"));
        state.setCursor(Step { 4 });
        QCOMPARE(canvas.legendValues()[1].where, QStringLiteral("1.000 to 3.000"));
        const auto linesIn = [&](double height) {
            const CurveLegend legend(QRectF(0, 0, 142, height), *picture, 0);
            return legend.seriesAt({ 20, 19 + 16 + 16 + 8 }) == 1 ? 2
                : legend.seriesAt({ 20, 19 + 16 + 8 }) == 1       ? 1
                                                                  : 0;
        };
        QCOMPARE(linesIn(100), 2);
        QCOMPARE(linesIn(19 + 16 + 16), 1); // where all would no longer be named
        const auto inkOf = [&](const QString& reach) {
            QImage image(142, 100, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            std::vector<LegendValue> values(2);
            values[1].where = reach;
            CurveLegend(image.rect(), *picture, 0).paint(painter, values, -1, Theme::current());
            return image;
        };
        QVERIFY(inkOf(QStringLiteral("1.000 to 3.000")) != inkOf({}));
    }

    /// A band has the color of the first line, and its name below the last one needs no heading.
    void aBandThatSaysWhatItIsOfStandsBelowTheLines()
    {
        CurvePicture picture;
        for (int i = 0; i < 3; ++i) {
            CurveSeries& one = picture.series.emplace_back();
            one.row.label = i == 0 ? QStringLiteral("L0 h0") : QStringLiteral("L0 h1");
            one.slot = i % 2;
        }
        picture.series.back().isGroup = true;
        picture.series.back().where = QStringLiteral("L0, 4 heads");
        const CurveLegend legend(QRectF(0, 0, 142, 100), picture, 0);
        for (int i = 0; i < 3; ++i)
            QCOMPARE(legend.seriesAt({ 20, i * 18 + 9.0 }), i);
        QCOMPARE(legend.seriesAt({ 20, 3 * 18 + 9.0 }), 2); // from where to where it goes
        QCOMPARE(legend.seriesAt({ 20, 3 * 18 + 15 + 9.0 }), -1);
    }

    /// What the differences are of is said once, above them; each series has a line for both marks.
    void aNameHasItsDifferenceBesideItWhileMarksAreCompared()
    {
        CurvePicture picture;
        for (int i = 0; i < 7; ++i)
            picture.series.emplace_back().row.label = QStringLiteral("p%1").arg(i);
        const QRectF area(0, 0, 142, 16 + 7 * (18 + 15));
        const CurveLegend legend(area, picture, 0, true);
        QCOMPARE(legend.seriesAt({ 20, 8 }), -1);
        QCOMPARE(legend.seriesAt({ 20, 16 + 9 }), 0);
        QCOMPARE(legend.seriesAt({ 20, 16 + 6 * 33 + 9 }), 6);
        // In a low strip every one has its difference at least.
        const CurveLegend low(area.adjusted(0, 0, 0, -1), picture, 0, true);
        QCOMPARE(low.seriesAt({ 20, 16 + 6 * 18 + 9 }), 6);
        // A name that its value would cut stands above it.
        picture.series.front().row.label = QStringLiteral("blocks.0.mlp.fc1");
        QCOMPARE(CurveLegend(area, picture, 0, true).seriesAt({ 20, 16 + 40 }), 0);
    }

    /// Alone beside one that has other ranks, too: else its end, "µ1", would be lost.
    void aNameIsNotCutForItsValue()
    {
        CurvePicture picture;
        for (int i = 0; i < 3; ++i) {
            CurveSeries& one = picture.series.emplace_back();
            one.row.label = i == 2 ? QStringLiteral("tok_emb input µ1") : QStringLiteral("tok_emb input");
            one.row.rank = Rank { i == 1 ? 1 : 2 };
            one.isOtherRank = i == 1;
        }
        const LegendLines lines(QRectF(0, 0, 142, 200), picture, 0, 0, false, false);
        QCOMPARE(lines.names().back(), picture.series.back().row.label);
        for (const LegendLines::Line& line : lines.shown())
            QVERIFY(line.form == LegendLines::Form::Name || line.form == LegendLines::Form::Where);
        picture.series.back().row.label = QStringLiteral("head µ1");
        QCOMPARE(LegendLines(QRectF(0, 0, 142, 200), picture, 0, 0, false, false).shown().back().form,
            LegendLines::Form::Short);
    }

    void aRunIsNamedOnceAboveItsRanks()
    {
        CurvePicture picture;
        for (int i = 0; i < 5; ++i) {
            CurveSeries& one = picture.series.emplace_back();
            one.row.label = QStringLiteral("loss");
            one.row.rank = Rank { i % 4 };
            one.isOtherRank = i > 0 && i < 4;
            one.isOtherRun = i == 4;
            one.runName = i == 4 ? QStringLiteral("other") : QStringLiteral("own");
        }
        constexpr double kLines = 19 + 2 * 32 + 3 * 16; // name, two runs, three more ranks
        const QRectF area(0, 0, 142, kLines);
        QCOMPARE(CurveLegend(area, picture, 0).seriesAt({ 20, kLines - 2 }), 4);
        // Where only the next name would have room, it is left out with its rows.
        CurveSeries next = picture.series.front();
        next.row.label = QStringLiteral("lr");
        picture.series.push_back(next);
        const CurveLegend cut(area.adjusted(0, 0, 0, 19 + 17), picture, 0);
        QCOMPARE(cut.seriesAt({ 20, kLines + 10 }), -1);
    }

    void aSeriesScrollsWithItsRanksAndCountsOnce()
    {
        CurvePicture picture;
        for (int i = 0; i < 18 * 2; ++i) {
            CurveSeries& one = picture.series.emplace_back();
            one.row.label = QStringLiteral("1.mlp.%1").arg(i / 2);
            one.slot = i / 2;
            one.isGroup = i % 2 == 1;
        }
        constexpr double kSeries = 19 + 2 * 16; // a name, its rank and the band of the others
        const QRectF area(0, 0, 142, 10 * kSeries + 18 + 40);
        const CurveLegend top(area, picture, 0);
        QCOMPARE(top.above(), 0);
        QCOMPARE(top.below(), 8);
        QCOMPARE(top.seriesAt({ 20, 9 * kSeries + 19 + 16 + 8 }), 19);
        QCOMPARE(top.seriesAt({ 20, 10 * kSeries + 10 }), -1); // its name would have room, its ranks have not
        for (int line = 0; line <= top.lastFirstLine(); ++line) {
            const CurveLegend legend(area, picture, line);
            QCOMPARE(legend.above(), line / 3);
            QCOMPARE(legend.above() + 10 + legend.below(), 18);
            QCOMPARE(legend.seriesAt({ 20, 19 + 8 }), line / 3 * 2); // below its name
        }
        QCOMPARE(CurveLegend(area, picture, top.lastFirstLine()).below(), 0);
        // One that is higher than the room is scrolled by its lines.
        const CurveLegend low(QRectF(0, 0, 142, 19 + 16 + 18), picture, 0);
        QCOMPARE(low.below(), 17);
        const CurveLegend last(QRectF(0, 0, 142, 19 + 16 + 18), picture, low.lastFirstLine() - 1);
        QCOMPARE(last.above(), 17);
        QCOMPARE(last.below(), 1); // its band
        QCOMPARE(CurveLegend(QRectF(0, 0, 142, 19 + 16 + 18), picture, 2).seriesAt({ 20, 8 }), 1);
    }

    void twoRanksAreBoth()
    {
        QCOMPARE(allRanksText(2), QStringLiteral("on both ranks"));
        QCOMPARE(allRanksText(4), QStringLiteral("on all 4 ranks"));
        CurveSeries lr;
        lr.stat = Stat::Value;
        series::Bucket& bucket = lr.result.buckets.emplace_back();
        bucket.state = series::CellState::Value;
        bucket.last = 1e-4;
        QCOMPARE(lastValueOf(lr).value, statValueText(Stat::Value, 1e-4));
    }
};

TELLTALE_TEST(QTEST_MAIN, CurveLegends)

}

#include "tst_curvelegends.moc"
