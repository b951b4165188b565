// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <set>

#include <QApplication>
#include <QBuffer>
#include <QDir>
#include <QFileDialog>
#include <QHeaderView>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <telltale/common/axispainter.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatmapview.h>
#include <telltale/items/numbertext.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/plot/curvepainter.h>
#include <telltale/plot/curvesview.h>
#include <telltale/plot/overviewcanvas.h>
#include <telltale/plot/overviewheader.h>
#include <telltale/plot/ranksside.h>
#include <telltale/plot/ranktable.h>
#include <telltale/runs/rankbars.h>
#include <telltale/runs/stateglyph.h>

#include "commonsynthetic.h"

namespace tst_plotpictures {

using namespace telltale;
using namespace telltale::views;

/// Paints every view with a realistic run, in both themes, into the folder `pictures` of the build.
class PlotPictures : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QVERIFY(QDir().mkpath(QStringLiteral("pictures"))); }

    void aRunThatEndedIsNotTickedOff()
    {
        QImage glyph(32, 32, QImage::Format_ARGB32_Premultiplied);
        glyph.fill(Qt::transparent);
        QPainter painter(&glyph);
        paintRunState(&painter, QRectF(0, 0, 32, 32), store::RunState::Finished);
        painter.end();
        QCOMPARE(glyph, glyph.mirrored(true, false)); // a tick is lopsided
    }

    void everyPictureShowsTheRose_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::newRow("dark") << true;
        QTest::newRow("light") << false;
    }

    void everyPictureShowsTheRose()
    {
        QFETCH(bool, dark);
        Theme::apply(
            *qobject_cast<QApplication*>(QCoreApplication::instance()), dark ? Theme::Mode::Dark : Theme::Mode::Light);
        const QString suffix = dark ? QStringLiteral("dark") : QStringLiteral("light");
        ViewState state;
        state.setCatalog(synthetic::catalog());
        state.appendLog(synthetic::log());
        state.setFullRange({ Step { synthetic::kFirst }, Step { synthetic::kLast } });
        state.setRank(Rank { 5 });
        state.setSelection({ key("layers.7.attn.qkv"), key("layers.7.attn.proj"), key("layers.6.attn.qkv") });
        state.setCursor(Step { synthetic::kBroken });

        HeatCanvas heat(&state);
        heat.setPicture(heatPicture(state, dark ? HeatScale::Log : HeatScale::Deviation));
        save(heat.renderTo({ 1038, 440 }), QStringLiteral("heatmap-") + suffix);

        CurveCanvas curves(&state);
        curves.setPicture(curvePicture(state));
        curves.setSmoothing(dark ? 0.6 : 0);
        state.setHover(Step { 31120 });
        save(curves.renderTo({ 1038, 190 }), QStringLiteral("curves-") + suffix);
        state.setHover({});

        ViewState whole;
        whole.setFullRange({ Step { 0 }, Step { 31215 } });
        OverviewCanvas stacked(&whole);
        stacked.setPicture(scalars());
        save(stacked.renderTo({ 905, 640 }), QStringLiteral("overview-") + suffix);
    }

    /// A mouse that moves over many curves has no time for all of them to be drawn anew.
    void theCurveUnderTheMouseIsDrawnOverTheOthers()
    {
        ViewState state;
        state.setCatalog(synthetic::catalog());
        state.setFullRange({ Step { synthetic::kFirst }, Step { synthetic::kLast } });
        state.setRank(Rank { 5 });
        state.setSelection({ key("layers.7.attn.qkv"), key("layers.7.attn.proj"), key("layers.6.attn.qkv") });
        const auto picture = curvePicture(state);
        const ValueScale scale = picture->fit(YMode::Log, false);
        const QRect plot(0, 0, 900, 300);
        QImage all(plot.size(), QImage::Format_RGB32);
        all.fill(Theme::dark().base);
        paintCurves(all, plot, *picture, scale, 0, Theme::dark());
        for (std::size_t series = 0; series < picture->series.size(); ++series) {
            QImage highlighted = all;
            paintHighlightedCurve(highlighted, plot, *picture, series, scale, 0, Theme::dark());
            QImage alone(plot.size(), QImage::Format_RGB32);
            alone.fill(Theme::dark().base);
            paintHighlightedCurve(alone, plot, *picture, series, scale, 0, Theme::dark());
            const int slot = picture->series[series].slot;
            const QRgb color = slot < SeriesStyle::kDistinct ? SeriesStyle::forSlot(slot, Theme::dark()).color.rgb()
                                                             : Theme::dark().accent.rgb();
            int inside = 0;
            for (int y = 0; y < plot.height(); ++y) {
                for (int x = 0; x < plot.width(); ++x) {
                    if (alone.pixel(x, y) == all.pixel(0, 0)) // less than half a shade of it is here
                        QVERIFY(std::abs(qGreen(highlighted.pixel(x, y)) - qGreen(all.pixel(x, y))) <= 1);
                    if (alone.pixel(x, y) == color) {
                        QCOMPARE(highlighted.pixel(x, y), color);
                        ++inside;
                    }
                }
            }
            QVERIFY(picture->series[series].isGroup || inside > 100); // a band lets through what lies below
        }

        CurveCanvas canvas(&state);
        canvas.resize(1038, 190);
        canvas.setPicture(picture);
        const QImage before = canvas.grab().toImage();
        for (const int x : { 300, 301, 500 }) {
            QTest::mouseMove(&canvas, canvas.plotRect().topLeft() + QPoint(x, canvas.plotRect().height() / 2));
            canvas.grab();
        }
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(&canvas, &leave);
        QCOMPARE(canvas.grab().toImage(), before);
    }

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

    void theLineOfAnEventCrossesNoHeader()
    {
        ViewState state;
        state.setFullRange({ Step { 0 }, Step { 31215 } });
        OverviewCanvas canvas(&state);
        canvas.setPicture(scalars());
        const QSize size(905, 640);
        const QRect plots = canvas.plotRect(size);
        const QImage without = canvas.renderTo(size);
        store::LogPage page;
        store::LogRecord& record = page.records.emplace_back();
        record.kind = "config";
        record.steps = { Step { 15000 }, Step { 15000 } };
        record.text = "rev 1";
        state.appendLog(page);
        const QImage with = canvas.renderTo(size);
        const auto areAlike = [&](int top, int bottom) {
            const QRect rows(0, top, size.width(), bottom - top);
            return with.copy(rows) == without.copy(rows);
        };
        const int lane = plots.top() - kPanelHeader;
        QVERIFY(!areAlike(0, lane)); // its flag
        QVERIFY(areAlike(lane, plots.top()));
        QVERIFY(!areAlike(plots.top(), plots.top() + 20));
        QVERIFY(!areAlike(plots.bottom() - 20, plots.bottom() - 5)); // also in the last
    }

    void aSharedPlotHasALineAndAColorOfItsOwnForEachPart()
    {
        Theme::apply(*qobject_cast<QApplication*>(QCoreApplication::instance()), Theme::Mode::Dark);
        ViewState whole;
        whole.setFullRange({ Step { 0 }, Step { 31215 } });
        auto picture = std::make_shared<CurvePicture>(*scalars());
        for (CurveSeries& one : picture->series) {
            one.row.key.name = QStringLiteral("expert_load/decoder.layers.11.mlp.router/ep_%1").arg(one.slot);
            one.row.label = QStringLiteral("a label that is too long for the gutter of any plot");
        }
        OverviewCanvas shared(&whole);
        shared.setPicture(picture);
        const QImage image = shared.renderTo({ 905, 300 });
        save(image, QStringLiteral("overview-shared"));
        QCOMPARE(shared.plots(), 1);
        // Samples of the colors in the line above the plot, in the order of the parts.
        const QRect plot = shared.plotRect({ 905, 300 });
        std::vector<int> places;
        for (int slot = 0; slot < 4; ++slot) {
            const QRgb color = SeriesStyle::forSlot(slot, Theme::dark()).color.rgb();
            for (int i = 0; i < plot.width() && static_cast<int>(places.size()) == slot; ++i) {
                for (int y = plot.top() - 22; y < plot.top() - 8; ++y) {
                    if (image.pixel(plot.left() + i, y) == color) {
                        places.push_back(i);
                        break;
                    }
                }
            }
        }
        QCOMPARE(places.size(), std::size_t { 4 });
        QVERIFY(std::is_sorted(places.begin(), places.end()));
        QVERIFY(places[1] - places[0] > 40);
        // The name goes on beyond the gutter.
        bool isBeyond = false;
        for (int x = plot.left() + 40; x < plot.left() + 120; ++x)
            isBeyond = isBeyond || image.pixel(x, plot.top() - 21) == Theme::dark().text.rgb();
        QVERIFY(isBeyond);
    }

    void noTagOfAStepLiesOverAnother()
    {
        const Theme& theme = Theme::dark();
        const auto tagged = [](std::optional<Step> cursor, const QColor& color) {
            StepMarks marks;
            marks.a = Step { 110 };
            marks.b = Step { 117 };
            marks.cursor = cursor;
            return pixelsOfTags(marks, QRect(0, 110, 400, 30), color);
        };
        const int marks = tagged({}, theme.border);
        QVERIFY(marks > 500);
        for (const int cursor : { 100, 112, 119, 130 })
            QCOMPARE(tagged(Step { cursor }, theme.border), marks);
        QVERIFY(tagged(Step { 117 }, theme.text) > 200); // one tag for both
    }

    /// Also where the marks leave no gap that is wide enough: it is read as its line's.
    void theTagOfTheMouseStaysAtItsLine()
    {
        const Theme& theme = Theme::dark();
        const auto pixelsNear = [&](std::optional<Step> hover) {
            StepMarks marks;
            marks.a = Step { 110 };
            marks.b = Step { 170 };
            marks.hover = hover;
            return pixelsOfTags(marks, QRect(50 + 132 - 6, 115, 12, 15), theme.raised);
        };
        QCOMPARE(pixelsNear({}), 0);
        QVERIFY(pixelsNear(Step { 132 }) > 60);
    }

    void theTagOfTheMouseStandsBesideTheCursors()
    {
        const Theme& theme = Theme::dark();
        for (const int cursor : { 0, 5, 150, 294, 299 }) {
            StepMarks marks;
            marks.cursor = Step { cursor };
            int left = 400, right = 0; // of the cursor's tag, which alone is of this color at its bottom
            for (int x = 0; x < 400; ++x) {
                if (pixelsOfTags(marks, QRect(x, 129, 1, 1), theme.text) > 0) {
                    left = std::min(left, x);
                    right = std::max(right, x);
                }
            }
            const QRect tag(QPoint(left, 114), QPoint(right, 130));
            const int whole = pixelsOfTags(marks, tag, theme.text);
            QVERIFY(whole > 200);
            for (int hover = std::max(0, cursor - 40); hover < std::min(300, cursor + 40); ++hover) {
                if (hover == cursor)
                    continue;
                marks.hover = Step { hover };
                QCOMPARE(pixelsOfTags(marks, tag, theme.text), whole);
                QVERIFY(pixelsOfTags(marks, QRect(0, 110, 400, 30), theme.raised) > 60);
            }
        }
    }

    void cursorLinesAreOfOneWidthAtEveryScale()
    {
        const Theme& theme = Theme::dark();
        for (const double scale : { 1.0, 1.5, 2.0 }) {
            for (int step = 1; step < 40; ++step) {
                QImage image((QSizeF(100, 10) * scale).toSize(), QImage::Format_RGB32);
                image.setDevicePixelRatio(scale);
                image.fill(theme.base);
                QPainter painter(&image);
                StepMarks marks;
                marks.cursor = Step { step };
                AxisPainter(painter, theme).cursorLines(QRectF(0, 0, 100, 10), { Step { 0 }, Step { 99 } }, marks);
                int width = 0;
                for (int x = 0; x < image.width(); ++x)
                    width += image.pixelColor(x, image.height() / 2) != theme.base ? 1 : 0;
                QCOMPARE(width, static_cast<int>(std::lround(scale)));
            }
        }
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

    void aRunsNameLosesItsFrontBeforeItsValueIsLost()
    {
        LegendValue one;
        one.state = series::CellState::Value;
        one.value = 7.642e-4;
        const std::vector<LegendValue> values(2, one);
        const auto painted = [&values](const QString& first, const QString& second) {
            CurvePicture picture;
            for (const QString& name : { first, second }) {
                CurveSeries& run = picture.series.emplace_back();
                run.row.label = QStringLiteral("2.attn.qkv.bias");
                run.hasRunColor = true;
                run.runName = name;
            }
            QImage image(142, 19 + 2 * 16, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            CurveLegend(image.rect(), picture, 0).paint(painter, values, -1, Theme::current());
            return image;
        };
        const auto width = static_cast<int>(QFontMetricsF(numberFont(12, 500)).horizontalAdvance(values[0].text()));
        const QRect value(132 - width - 1, 19, width + 1, 16);
        const QImage whole = painted(QStringLiteral("a"), QStringLiteral("b"));
        QImage empty = whole.copy(value);
        empty.fill(Theme::current().base);
        QVERIFY(whole.copy(value) != empty);
        const QImage cut = painted(QStringLiteral("demo-gpt #ed01690c"), QStringLiteral("demo-tp #ed01690c"));
        for (const int line : { 0, 16 })
            QCOMPARE(cut.copy(value.translated(0, line)), whole.copy(value)); // and nothing over it
        const QRect name(32, 19, value.left() - 32, 16);
        QVERIFY(cut.copy(name) != cut.copy(name.translated(0, 16)));
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
        // A long name stands above its own rank.
        const CurvePicture modules = headsOnRanks(2, QStringLiteral("%1.mlp.fc1.weight"));
        const CurveLegend names(QRectF(0, 0, 142, 2 * (19 + 16) + 18), modules, 0);
        for (int name = 0; name < 2; ++name)
            QCOMPARE(names.seriesAt({ 20, name * (19 + 16) + 19 + 8.0 }), name * 4);
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
        for (const char* name : { "moe-nan-nan", "moe-a" }) {
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
        QCOMPARE(legend.seriesAt({ 20, 3 * 18 + 9.0 }), -1);
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

    void theChoiceThatSaysMostIsCutLast()
    {
        ViewBar bar;
        QComboBox* axes = bar.addCombo(QStringLiteral("Axes"), QStringLiteral("a"), false);
        QComboBox* kind = bar.addCombo(QStringLiteral("Kind"), QStringLiteral("k"), false);
        axes->addItem(QStringLiteral("modules by their steps"));
        kind->addItem(QStringLiteral("gradient, reduced"));
        bar.keepWhole(kind);
        bar.resize(240, bar.height());
        bar.show();
        QTRY_COMPARE(kind->width(), kind->sizeHint().width());
        QVERIFY(axes->width() < axes->sizeHint().width());
        // Of several the first is.
        QComboBox* rows = bar.addCombo(QStringLiteral("Rows"), QStringLiteral("r"), false);
        rows->addItem(QStringLiteral("similar rows together"));
        bar.keepWhole(rows);
        bar.resize(400, bar.height());
        QTRY_COMPARE(rows->width(), rows->sizeHint().width());
        QCOMPARE(kind->width(), kind->sizeHint().width());
        QVERIFY(axes->width() < axes->sizeHint().width());
    }

    void aBareNumberKeepsItsLabel()
    {
        ViewBar bar;
        std::vector<QComboBox*> combos;
        for (const auto& [label, chosen] :
            { std::pair { "Axes", "module by step" }, { "Rank", "2" }, { "Rows", "all" } }) {
            combos.push_back(bar.addCombo(QString::fromLatin1(label), QString::fromLatin1(label)));
            combos.back()->addItem(QString::fromLatin1(chosen));
        }
        const auto labeled = [&](int width) {
            bar.resize(width, bar.height());
            bar.show();
            QCoreApplication::processEvents();
            QString shown;
            for (const QLabel* label : bar.findChildren<QLabel*>())
                shown += label->isVisible() ? label->text() + QLatin1Char(' ') : QString();
            return shown;
        };
        const int whole = bar.sizeHint().width();
        QCOMPARE(labeled(whole), QStringLiteral("Axes Rank Rows "));
        QCOMPARE(labeled(whole - 10), QStringLiteral("Rank Rows "));
        QCOMPARE(labeled(120), QStringLiteral("Rank "));
        // What is kept goes after the labels, and not before there is no room for it alone.
        QLabel* kept = bar.addCaption(true);
        kept->setText(QStringLiteral("kept"));
        const int withIt = whole + kept->sizeHint().width() + bar.layout()->spacing();
        QCOMPARE(labeled(withIt), QStringLiteral("Axes Rank Rows kept "));
        QCOMPARE(labeled(withIt - 10), QStringLiteral("Rank Rows kept "));
        QCOMPARE(labeled(80), QStringLiteral("Rank "));
    }

    void whatATitleSaysIsKeptBeforeLabels()
    {
        ViewBar bar;
        QLabel* caption = bar.addTitle(QStringLiteral("Curves"));
        for (const char* label : { "Smooth", "Show" })
            bar.addCombo(QString::fromLatin1(label), QString::fromLatin1(label))
                ->addItems({ QStringLiteral("run"), QStringLiteral("a longer choice") });
        const QString least = QStringLiteral("fp16 underflow");
        bar.setTitleCaption({ least + QStringLiteral(" of 1 selected series"), least }, true);
        bar.show();
        bool isShort = false;
        const int whole = bar.sizeHint().width();
        for (int width = whole + 400; width >= whole; --width) {
            bar.resize(width, bar.height());
            QCoreApplication::processEvents();
            QVERIFY2(caption->isVisible(), qPrintable(QString::number(width)));
            QVERIFY(caption->width() >= caption->fontMetrics().horizontalAdvance(caption->text()));
            isShort = isShort || caption->text() == least;
        }
        QVERIFY(isShort);
    }

    void theHeaderOfAFileDialogGoesToItsEnd()
    {
        Theme::apply(*qApp, Theme::Mode::Dark);
        QFileDialog dialog(nullptr, QString(), QDir::tempPath());
        dialog.setOption(QFileDialog::DontUseNativeDialog);
        QWidget host; // a window with a least size is warned of where there is no screen
        dialog.setParent(&host, Qt::Widget);
        dialog.resize(860, 500);
        host.show();
        dialog.show();
        const auto* header = dialog.findChild<QTreeView*>(QStringLiteral("treeView"))->header();
        QTRY_VERIFY(header->isVisible());
        QTRY_COMPARE(header->length(), header->viewport()->width());
        dialog.setParent(nullptr);
    }

    void noChoiceIsCutWhereALabelCouldGo()
    {
        ViewBar bar;
        std::vector<QComboBox*> combos;
        for (const char* label : { "Axes", "Scale", "Rank" }) {
            combos.push_back(bar.addCombo(QString::fromLatin1(label), QString::fromLatin1(label)));
            combos.back()->addItems({ QStringLiteral("a"), QStringLiteral("a long choice that nobody made") });
        }
        QComboBox* rows = bar.addCombo(QStringLiteral("Rows"), QStringLiteral("r"));
        rows->addItem(QStringLiteral("model order"));
        bar.addCaption(); // which says nothing
        bar.show();
        for (int width = bar.sizeHint().width(); width > 150; --width) {
            bar.resize(width, bar.height());
            QCoreApplication::processEvents();
            const auto labels = bar.findChildren<QLabel*>();
            const bool isLabeled = std::ranges::any_of(
                labels, [](const QLabel* label) { return label->isVisible() && !label->text().isEmpty(); });
            QVERIFY2(!isLabeled || rows->width() >= rows->sizeHint().width(), qPrintable(QString::number(width)));
        }
    }

    void theTableOfRanksSaysWhatIsUnusual()
    {
        Theme::apply(*qobject_cast<QApplication*>(QCoreApplication::instance()), Theme::Mode::Dark);
        ViewState state;
        state.setCatalog(synthetic::catalog());
        state.setRank(Rank { 2 });
        RanksSide side(&state);
        side.resize(RanksSide::kMostWidth, 600);
        auto* table = side.findChild<RankTable*>();
        const RankTableModel& model = table->rankModel();
        const auto text = [&](int rank, int column) { return model.index(rank, column).data().toString(); };
        // Archived, nothing lost: what no agent says has no column.
        QCOMPARE(model.rowCount(), 8);
        QVERIFY(!side.isEmpty() && !model.isLive() && model.sentence().isEmpty());
        QVERIFY(table->isColumnHidden(RankTableModel::LagColumn) && table->isColumnHidden(RankTableModel::TimesColumn));
        QCOMPARE(table->currentIndex().row(), 2);
        // An older agent of rank 5 that left says nothing of it beside the one that is connected.
        std::vector<ConnectionInfo> agents(3);
        agents[0].rank = agents[1].rank = Rank { 5 };
        agents[0].connected = true;
        agents[0].lagSeconds = 0.3;
        agents[0].spoolBytes = 4096;
        agents[1].saidBye = true;
        agents[1].lastHeardNs = 9;
        agents[2].rank = Rank { 6 };
        agents[2].connected = true;
        agents[2].lagSeconds = 12;
        state.setAgents(agents);
        store::LogPage page;
        page.records.emplace_back();
        page.records.back().isDrop = true;
        page.records.back().rank = Rank { 5 };
        page.records.back().dropClass = dropclass::kTensors;
        page.records.back().items = 3;
        state.appendLog(page);
        auto times = std::make_shared<RankTimes>();
        times->scalar = "forward_ms";
        times->steps = { Step { 0 }, Step { 1 } };
        for (int rank = 0; rank < 8; ++rank) {
            RankTimes::Box box;
            box.rank = Rank { rank };
            box.low = box.median = box.high = rank == 1 ? 20 : 10;
            box.steps = { box.low, std::numeric_limits<double>::quiet_NaN() };
            box.isSlow = rank == 1;
            times->boxes.push_back(box);
        }
        side.setTimes(times);
        QVERIFY(model.isLive());
        QVERIFY(
            !table->isColumnHidden(RankTableModel::LagColumn) && !table->isColumnHidden(RankTableModel::TimesColumn));
        QCOMPARE(text(5, RankTableModel::LagColumn), QStringLiteral("0.3 s"));
        QCOMPARE(text(5, RankTableModel::DroppedColumn), QStringLiteral("3"));
        QCOMPARE(text(5, RankTableModel::SpoolColumn), items::formatBytes(4096));
        QVERIFY(text(7, RankTableModel::LagColumn).isEmpty()); // no agent of it was heard
        const QString said = model.sentence();
        for (const char* words : { "takes rank 1.", "store is rank 6.", "lost of rank 5:" })
            QVERIFY2(said.contains(QLatin1String(words)), qPrintable(said));
        table->setCurrentIndex(model.index(4, 0));
        QCOMPARE(state.rank(), Rank { 4 });
    }

    void plotsScrollByWholeOnesAboveTheirAxis()
    {
        Theme::apply(*qobject_cast<QApplication*>(QCoreApplication::instance()), Theme::Mode::Dark);
        ViewState whole;
        whole.setFullRange({ Step { 0 }, Step { 31215 } });
        OverviewCanvas canvas(&whole);
        canvas.setPicture(scalars());
        canvas.resize(905, canvas.minimumSizeHint().height());
        const QSize size = canvas.size();
        QVERIFY(canvas.plots() > 2);
        QCOMPARE(canvas.shownPlots(size), 1);
        const QRect plot = canvas.plotRect();
        QTest::keyClick(&canvas, Qt::Key_Down);
        QCOMPARE(canvas.firstPlot(size), 1);
        QCOMPARE(canvas.plotRect(), plot); // the axis stays where it is
        canvas.setFirstPlot(99);
        QCOMPARE(canvas.firstPlot(size), canvas.plots() - 1);
        canvas.resize(905, 4000);
        QCOMPARE(canvas.shownPlots(canvas.size()), canvas.plots());
        QCOMPARE(canvas.firstPlot(canvas.size()), 0);
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

    void anotherRunBeginsAtItsFirstPlot()
    {
        const auto run = [](const char* path) {
            auto handle = std::make_shared<store::RunHandle>();
            handle->locator = store::RunLocator::ofFile(path);
            return handle;
        };
        ViewState state;
        state.setRun(run("/runs/a.telltale"));
        OverviewCanvas canvas(&state);
        canvas.setPicture(scalars());
        canvas.resize(905, canvas.minimumSizeHint().height());
        for (const auto& [path, first] : { std::pair { "/runs/b.telltale", 0 }, { "/runs/b.telltale", 1 } }) {
            canvas.setFirstPlot(1);
            QCOMPARE(canvas.firstPlot(canvas.size()), 1);
            state.setRun(run(path)); // as a run that has ended is opened anew
            QCOMPARE(canvas.firstPlot(canvas.size()), first);
        }
    }

    void rankBarsMarkWhatIsNotFinite_data() { everyPictureShowsTheRose_data(); }
    void rankBarsMarkWhatIsNotFinite()
    {
        using series::CellState;
        QFETCH(bool, dark);
        Theme::apply(
            *qobject_cast<QApplication*>(QCoreApplication::instance()), dark ? Theme::Mode::Dark : Theme::Mode::Light);
        const Theme& theme = Theme::current();
        RankBars bars;
        bars.resize(240, 66);
        constexpr int kFloor = 66 - 18;
        const auto bar = [](int rank, CellState state, double value) {
            series::CellValue cell;
            cell.state = state;
            cell.value = value;
            return RankBars::Bar { Rank { rank }, cell };
        };
        bars.set({ bar(0, CellState::Value, 2), bar(1, CellState::Value, -1), bar(2, CellState::NaN, 0),
                     bar(3, CellState::PosInf, 0), bar(4, CellState::NegInf, 0), bar(5, CellState::NotCollected, 0) },
            Rank { 1 });
        QImage picture = bars.grab().toImage();
        save(picture, QStringLiteral("rankbars-") + (dark ? QStringLiteral("dark") : QStringLiteral("light")));
        const auto at = [&picture](int rank, int y) { return picture.pixelColor(40 * rank + 20 - 9, y); };
        QCOMPARE(at(0, 12), theme.strong); // 85 % of the height
        QCOMPARE(at(0, 3), theme.base);
        QCOMPARE(at(1, kFloor - 3), theme.strong); // by its size, which is half
        QCOMPARE(at(1, 20), theme.base);
        for (const auto& [rank, state] :
            { std::pair(2, CellState::NaN), std::pair(3, CellState::PosInf), std::pair(4, CellState::NegInf) }) {
            QCOMPARE(at(rank, 2), glyphs::fill(state, theme));
            QCOMPARE(at(rank, kFloor - 3), glyphs::fill(state, theme));
            QCOMPARE(picture.pixelColor(40 * rank + 20, kFloor / 2), glyphs::ink(state));
        }
        QCOMPARE(at(5, kFloor - 3), theme.base);

        Rank chosen { -1 };
        connect(&bars, &RankBars::rankClicked, &bars, [&chosen](Rank rank) { chosen = rank; });
        QTest::mouseClick(bars.viewport(), Qt::LeftButton, {}, { 40 * 3 + 2, 5 }); // beside the bar, in its column
        QCOMPARE(chosen, Rank { 3 });
        QTest::keyClick(&bars, Qt::Key_Left);
        QCOMPARE(chosen, Rank { 0 });

        // What is 0 was measured.
        bars.set({ bar(0, CellState::Value, 0), bar(1, CellState::Value, 1), bar(2, CellState::NotCollected, 0) },
            Rank { 1 });
        picture = bars.grab().toImage();
        const auto foot = [&picture](int rank) { return picture.pixelColor(80 * rank + 40, kFloor - 1); };
        QVERIFY(foot(0) != theme.base);
        QCOMPARE(foot(2), theme.base);

        // One bad rank among many is seen too.
        std::vector<RankBars::Bar> many;
        for (int rank = 0; rank < 200; ++rank)
            many.push_back(bar(rank, rank == 150 ? CellState::NaN : CellState::Value, 1));
        bars.set(many, Rank { 0 });
        picture = bars.grab().toImage();
        bool isSeen = false;
        for (int x = 178; x < 184; ++x)
            isSeen = isSeen || picture.pixelColor(x, 2) == glyphs::fill(CellState::NaN, theme);
        QVERIFY(isSeen);
    }

    void wholeViewsStandTogetherInAWindow()
    {
        for (const Theme::Mode mode : { Theme::Mode::Dark, Theme::Mode::Light }) {
            Theme::apply(*qobject_cast<QApplication*>(QCoreApplication::instance()), mode);
            ViewState state;
            state.setCatalog(synthetic::catalog());
            state.appendLog(synthetic::log());
            state.setKind(Kind::Actv);
            state.setStat(Stat::AbsMax);
            state.setFullRange({ Step { synthetic::kFirst }, Step { synthetic::kLast } });
            state.setRank(Rank { 5 });
            state.setSelection({ key("layers.7.attn.qkv"), key("layers.7.attn.proj"), key("layers.6.attn.qkv") });
            state.setCursor(Step { synthetic::kBroken });
            SharedAxis axis(&state);
            const ViewContext context { &state, &axis, nullptr };
            QWidget window;
            auto* layout = new QVBoxLayout(&window);
            layout->setContentsMargins(0, 0, 0, 0);
            layout->setSpacing(0);
            // The offscreen platform warns about size hints of a window.
            layout->setSizeConstraint(QLayout::SetNoConstraint);
            auto* heat = new HeatmapView(context, &window);
            auto* curves = new CurvesView(context, &window);
            layout->addWidget(heat, 2);
            layout->addWidget(curves, 1);
            heat->setStepAxisVisible(false);
            window.resize(1038, 660);
            window.setAttribute(Qt::WA_DontShowOnScreen);
            window.show();
            QTRY_VERIFY(heat->isSettled() && curves->isSettled());
            heat->canvas()->setPicture(heatPicture(state, HeatScale::Log));
            curves->canvas()->setPicture(curvePicture(state));
            const QPoint cell = heat->canvas()->cellRect(44, 170).center().toPoint();
            QMouseEvent move(
                QEvent::MouseMove, cell, heat->canvas()->mapToGlobal(cell), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
            QVERIFY(QCoreApplication::sendEvent(heat->canvas(), &move));
            QCOMPARE(state.hover(), std::optional(Step { synthetic::kFirst + 170 }));
            save(window.grab().toImage().convertToFormat(QImage::Format_RGB32),
                mode == Theme::Mode::Dark ? QStringLiteral("window-dark") : QStringLiteral("window-light"));

            // One cursor is one line: both canvases put a step at the same x.
            QCOMPARE(heat->canvas()->plotRect().left(), curves->canvas()->plotRect().left());
            QCOMPARE(heat->canvas()->plotRect().width(), curves->canvas()->plotRect().width());

            // A click selects the module and pins the step.
            QTest::mouseClick(heat->canvas(), Qt::LeftButton, {}, heat->canvas()->cellRect(10, 50).center().toPoint());
            QCOMPARE(state.cursor(), std::optional(Step { synthetic::kFirst + 50 }));
            QCOMPARE(state.selection().front().name.toStdString(), synthetic::moduleNames()[10]);
            // Keys move the cursor, zoom back and follow.
            state.zoomTo({ Step { synthetic::kFirst }, Step { synthetic::kFirst + 99 } });
            QVERIFY(!state.isFollowing());
            QTest::keyClick(heat->canvas(), Qt::Key_Backspace);
            QVERIFY(state.isFollowing());
            state.setHover(Step { synthetic::kFirst + 20 });
            QTest::keyClick(curves->canvas(), Qt::Key_Right, Qt::ShiftModifier);
            QTest::keyClick(curves->canvas(), Qt::Key_Return);
            QCOMPARE(state.cursor(), std::optional(Step { synthetic::kFirst + 30 }));
            QTest::keyClick(curves->canvas(), Qt::Key_Down);
            QTest::keyClick(heat->canvas(), Qt::Key_Down);
            QCOMPARE(state.selection().front().name.toStdString(), synthetic::moduleNames()[11]);

            // What is shown is what the table says.
            QBuffer buffer;
            QVERIFY(buffer.open(QIODevice::WriteOnly));
            QVERIFY(heat->writeCsv(&buffer).has_value());
            const auto cells
                = static_cast<qsizetype>(synthetic::moduleNames().size()) * (synthetic::kLast - synthetic::kFirst + 1);
            QCOMPARE(buffer.data().count("\r\n"), cells + 1);
            QVERIFY(buffer.data().contains(",nan,NaN\r\n"));
            QVERIFY(buffer.data().contains(",posinf,Inf\r\n"));
            QVERIFY(buffer.data().contains(",gap,\r\n"));
            QBuffer curveTable;
            QVERIFY(curveTable.open(QIODevice::WriteOnly));
            QVERIFY(curves->writeCsv(&curveTable).has_value());
            QVERIFY(curveTable.data().contains(",neginf,-Inf,"));
            QCOMPARE(heat->renderImage({ 800, 400 }).size(), QSize(800, 400));

            // Every control has a name for those who cannot see it.
            for (const QWidget* control : window.findChildren<QWidget*>()) {
                if (qobject_cast<const QComboBox*>(control) || qobject_cast<const QToolButton*>(control))
                    QVERIFY2(!control->accessibleName().isEmpty(), control->metaObject()->className());
            }
        }
    }

private:
    /// How many pixels of a part of a picture of 400 x 140 have a color, when its axis has these tags.
    static int pixelsOfTags(const StepMarks& marks, const QRect& part, const QColor& color)
    {
        const Theme& theme = Theme::dark();
        QImage image(400, 140, QImage::Format_RGB32);
        image.fill(theme.base);
        QPainter painter(&image);
        AxisPainter(painter, theme).cursorTags(QRectF(50, 10, 300, 100), { Step { 0 }, Step { 299 } }, marks);
        int pixels = 0;
        for (int y = part.top(); y <= part.bottom(); ++y) {
            for (int x = part.left(); x <= part.right(); ++x)
                pixels += image.pixel(x, y) == color.rgb();
        }
        return pixels;
    }

    static ModuleKey key(const char* name) { return { QString::fromLatin1(name), Slot::output() }; }

    static std::shared_ptr<const HeatPicture> heatPicture(const ViewState& state, HeatScale scale)
    {
        auto picture = std::make_shared<HeatPicture>();
        picture->scaleMode = scale;
        picture->kind = Kind::Actv;
        picture->stat = Stat::AbsMax;
        picture->isLive = true;
        RowWish wish;
        wish.kind = Kind::Actv;
        wish.rank = Rank { 5 };
        picture->rows = buildRows(*state.catalog(), wish);
        picture->result = synthetic::heat(static_cast<int>(picture->rows.size()));
        picture->finish();
        return picture;
    }

    static std::shared_ptr<const CurvePicture> curvePicture(const ViewState& state)
    {
        auto picture = std::make_shared<CurvePicture>();
        picture->range = state.visibleRange();
        int slot = 0;
        for (const int row : { 44, 45, 38 }) {
            RowWish wish;
            wish.kind = Kind::Actv;
            wish.rank = Rank { 5 };
            CurveSeries one;
            one.row = buildRows(*state.catalog(), wish)[static_cast<std::size_t>(row)];
            one.stat = Stat::AbsMax;
            one.slot = slot++;
            one.result.range = state.visibleRange();
            one.result.buckets = synthetic::buckets(row);
            picture->series.push_back(one);
        }
        CurveSeries group = picture->series.front();
        group.isGroup = true;
        group.ranks = { Rank { 0 }, Rank { 1 }, Rank { 2 }, Rank { 3 }, Rank { 4 }, Rank { 6 }, Rank { 7 } };
        std::mt19937 random(5);
        for (series::Bucket& bucket : group.result.buckets) {
            std::uniform_real_distribution<double> low(15, 19);
            bucket = series::Bucket {};
            bucket.min = low(random);
            bucket.max = bucket.min + 14;
            bucket.first = bucket.last = bucket.mean = bucket.min + 7;
            bucket.finite = bucket.samples = 7;
            bucket.state = series::CellState::Value;
        }
        picture->series.push_back(group);
        return picture;
    }

    /// 780 buckets of 40 steps each: loss, gradient norm, learning rate, throughput, of which two end in NaN.
    static std::shared_ptr<const CurvePicture> scalars()
    {
        auto picture = std::make_shared<CurvePicture>();
        picture->range = { Step { 0 }, Step { 31215 } };
        std::mt19937 random(3);
        std::normal_distribution<double> noise;
        const char* const names[] = { "loss", "grad-norm", "lr", "throughput" };
        for (int which = 0; which < 4; ++which) {
            CurveSeries one;
            one.row.key.name = one.row.label = QLatin1String(names[which]);
            one.stat = Stat::Value;
            one.slot = which;
            one.result.range = picture->range;
            for (int i = 0; i < 780; ++i) {
                const double step = i * 40.0;
                const double spike = i % 287 > 280 ? (i % 287 - 280) * 0.2 : 0;
                series::Bucket bucket;
                bucket.samples = bucket.finite = 40;
                bucket.state = series::CellState::Value;
                const double n = noise(random);
                const double m = std::abs(noise(random));
                if (which == 0)
                    bucket.mean = 2.55 + 8 * std::exp(-step / 900) + 1.2 * std::exp(-step / 6000) + 0.05 * n + spike;
                else if (which == 1)
                    bucket.mean = (0.3 + 3 * std::exp(-step / 1500)) * std::exp(0.18 * n) * (1 + 3 * spike);
                else if (which == 2)
                    bucket.mean = step < 2000 ? 6e-4 * step / 2000 : 1e-4 + 2.5e-4 * (1 + std::cos(step / 31215 * 3.1));
                else
                    bucket.mean = i % 40 == 0 ? 405 : 418 + n;
                const double width = which == 2 ? 0 : 0.03 * bucket.mean * (0.5 + m);
                bucket.min = bucket.mean - width;
                bucket.max = bucket.mean + width * (1 + 2 * spike);
                bucket.first = bucket.last = bucket.mean;
                if (i == 779 && which < 2) {
                    bucket.state = series::CellState::NaN;
                    bucket.nans = 25;
                    bucket.finite = 15;
                }
                one.result.buckets.push_back(bucket);
            }
            picture->series.push_back(one);
        }
        return picture;
    }

    static void save(const QImage& image, const QString& name)
    {
        QVERIFY(image.save(QStringLiteral("pictures/%1.png").arg(name)));
        int rose = 0;
        for (int y = 0; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x)
                rose += (image.pixel(x, y) & 0xFFFFFF) == 0xFD2D65;
        }
        QVERIFY2(rose > 0, qPrintable(name + QStringLiteral(" hides what is not finite")));
    }
};

TELLTALE_TEST(QTEST_MAIN, PlotPictures)

}

#include "tst_plotpictures.moc"
