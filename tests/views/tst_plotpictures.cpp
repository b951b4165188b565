// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QApplication>
#include <QBuffer>
#include <QDir>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/axispainter.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/common/theme.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatmapview.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/plot/curvepainter.h>
#include <telltale/plot/curvesview.h>
#include <telltale/plot/overviewcanvas.h>
#include <telltale/plot/overviewheader.h>
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
