// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <functional>

#include <QBuffer>
#include <QLabel>
#include <QPainter>

#include <telltale/compare/runcurves.h>
#include <telltale/plot/comparedcurves.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/plot/curvelegend.h>
#include <telltale/plot/curvesview.h>
#include <telltale/plot/overviewcanvas.h>
#include <telltale/plot/overviewview.h>

#include "comparedruns.h"

namespace comparecurvestest {

using namespace telltale;
using namespace telltale::views;
using series::CellState;

/// Curves of several runs, their legends, bands and tables. Thread: the test's.
class CompareCurvesTest : public QObject, test::ComparedRuns {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { writeRuns(); }
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

    void theRestOfTheSelectionIsDrawnWhenWanted()
    {
        compareWith({ "b" });
        std::vector<ModuleKey> keys;
        for (int row = 0; row < kRows; ++row)
            keys.push_back({ QStringLiteral("layers.%1.fc.weight").arg(row), {} });
        m_state->setSelection(keys);
        settle();
        QCOMPARE(m_view->curves()->picture()->series.size(), std::size_t { 6 });
        QCOMPARE(m_view->curves()->picture()->omitted, kRows - 3);
        // So is what was too much for any curves.
        m_state->setSelection({ keys.begin(), keys.begin() + 4 }, { keys.begin() + 4, keys.end() });
        settle();
        QCOMPARE(m_view->curves()->picture()->series.size(), std::size_t { 6 });
        QCOMPARE(m_view->curves()->picture()->omitted, kRows - 3);
        Q_EMIT m_view->curves()->showAllWanted();
        settle();
        QCOMPARE(m_view->curves()->picture()->series.size(), std::size_t { 2 * kRows });
        QCOMPARE(m_view->curves()->picture()->omitted, 0);
        for (const CurveSeries& one : m_view->curves()->picture()->series)
            QCOMPARE(one.slot % 6, one.runName == QStringLiteral("b") ? 1 : 0); // a color is a run's
    }

    void curvesSayBesideHowManyRunsTheyAreDrawn()
    {
        translations::install(*qApp, QStringLiteral("en"));
        ViewContext context { m_state.get(), m_axis.get(), m_pool.get() };
        CurvesView alone(context, m_host.get());
        alone.resize(1000, 300);
        alone.show();
        m_state->setSelection({ { QStringLiteral("layers.4.fc.weight"), {} } });
        const auto besides = [&alone] {
            for (const QLabel* label : alone.findChildren<QLabel*>()) {
                if (label->text().contains(QStringLiteral("selected series")))
                    return label->text().section(QStringLiteral("selected series"), 1);
            }
            return QStringLiteral("no caption");
        };
        compareWith({ "seed", "near" });
        QTRY_COMPARE(besides(), QStringLiteral(", beside 2 runs"));
        compareWith({ "seed", "moments" }); // which has no gradients
        QTRY_COMPARE(besides(), QStringLiteral(", beside 1 run"));
        translations::install(*qApp, QStringLiteral("zh_CN"));
        QCOMPARE(besideText(*m_state, alone.findChild<CurveCanvas*>()->picture().get()),
            QStringLiteral("，与 1 个运行对比"));
        translations::install(*qApp, QStringLiteral("en"));
        compareWith({ "seed" });
        QTRY_COMPARE(besides(), QStringLiteral(", beside ") + m_state->comparedName());
        const auto isSaid = [&alone](const QString& caption) {
            const auto labels = alone.findChildren<QLabel*>();
            return std::ranges::any_of(labels, [&](const QLabel* label) { return label->text() == caption; });
        };
        // What has no room for the other run says what is selected.
        QVERIFY(!isSaid(QStringLiteral("norm of 1 selected series")));
        for (int width = 1000; width > 500 && !besides().isEmpty(); width -= 10)
            alone.resize(width, 300);
        QVERIFY(isSaid(QStringLiteral("norm of 1 selected series")));
        alone.resize(1000, 300);
        compareWith({ "moments" });
        QTRY_COMPARE(besides(), QString());
        // What is selected and not drawn is counted, too.
        m_state->setSelection({ { QStringLiteral("layers.4.fc.weight"), {} } },
            { { QStringLiteral("layers.5.fc.weight"), {} }, { QStringLiteral("layers.6.fc.weight"), {} } });
        const auto labels = alone.findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(labels, [](const QLabel* label) {
            return label->text().startsWith(QStringLiteral("norm of 1 of 3 selected series"));
        }));
    }

    void aLegendSaysTheValueOfTheStepWhereAPointIsOfSeveral()
    {
        ViewContext context { m_state.get(), m_axis.get(), m_pool.get() };
        auto* alone = new CurvesView(context, m_host.get());
        alone->resize(400, 300);
        alone->show();
        m_view->resize(400, 700);
        compareWith({ "seed" });
        m_state->setCursor(Step { 100 });
        m_state->setSelection({ { QStringLiteral("layers.4.fc.weight"), {} } });
        const auto check = [&](const CurveCanvas* canvas, int step) {
            m_state->setCursor(Step { step });
            const auto hasBoth = [&] {
                return canvas->picture() && canvas->picture()->range == m_state->visibleRange()
                    && canvas->picture()->series.size() == 2;
            };
            QTRY_VERIFY(hasBoth());
            QVERIFY(canvas->plotRect().width() < m_state->visibleRange().count());
            for (const std::size_t i : { 0U, 1U })
                QTRY_COMPARE(
                    canvas->legendValues()[i].value, static_cast<double>(valueIn(run(i == 0 ? "a" : "seed"), 4, step)));
        };
        for (const CurveCanvas* canvas : { m_view->curves(), alone->findChild<CurveCanvas*>() }) {
            for (int step = 100; step < 108; ++step)
                check(canvas, step);
        }
        m_state->zoomTo({ Step { 2 }, Step { kSteps - 1 } }); // which all ask anew for, with the cursor where it is
        for (const CurveCanvas* canvas : { m_view->curves(), alone->findChild<CurveCanvas*>() })
            check(canvas, 107);
        alone->hide();
        m_state->setCursor(Step { 60 });
        alone->show();
        check(alone->findChild<CurveCanvas*>(), 60);
        delete alone;
    }

    /// Of runs of one name the legend has room for what tells them apart; the table has the whole.
    void runsOfOneNameAreToldByTheirIds()
    {
        const auto again = std::make_shared<store::RunHandle>(
            store::RunHandle { store::RunLocator::ofFile(path("a")), "a2", "a", nullptr });
        m_state->setSelection({ { QStringLiteral("layers.4.fc.weight"), {} } });
        m_state->setComparedRuns({ { again, m_state->catalog() } });
        settle();
        const auto series = m_view->curves()->picture()->series;
        QCOMPARE(series.size(), std::size_t { 2 });
        QCOMPARE(m_state->runName(1), QStringLiteral("a #a2"));
        QCOMPARE(series[0].runName, QStringLiteral("#a"));
        QCOMPARE(series[1].runName, QStringLiteral("#a2"));
        QBuffer table;
        table.open(QIODevice::WriteOnly);
        QVERIFY(m_view->writeCsv(&table));
        QVERIFY(table.data().contains(",a #a2\r\n"));
    }

    /// Beside one row a color is a run's, beside several a row's.
    void runsAreCalledAndColoredAlikeInEveryView()
    {
        ViewContext context { m_state.get(), m_axis.get(), m_pool.get() };
        CurvesView curves(context, m_host.get());
        OverviewView overview(context, m_host.get());
        for (DataView* view : { static_cast<DataView*>(&curves), static_cast<DataView*>(&overview) }) {
            view->resize(1000, 300);
            view->show();
        }
        const ModuleKey row { QStringLiteral("layers.4.fc.weight"), {} };
        m_state->setSelection({ row });
        const auto again = std::make_shared<store::RunHandle>(
            store::RunHandle { store::RunLocator::ofFile(path("a")), "a2", "a", nullptr });
        m_state->setComparedRuns({ { again, m_state->catalog() } });
        const auto* overviewCanvas = overview.findChild<OverviewCanvas*>();
        const auto* canvas = curves.findChild<CurveCanvas*>();
        for (const auto& pictureOf : { std::function([&] { return canvas->picture(); }),
                 std::function([&] { return overviewCanvas->picture(); }) }) {
            QTRY_VERIFY(pictureOf() && pictureOf()->series.size() > 1 && pictureOf()->series[1].run == 1);
            for (std::size_t run = 0; run < 2; ++run) {
                const CurveSeries one = pictureOf()->series[run];
                QCOMPARE(one.runName, run == 0 ? QStringLiteral("#a") : QStringLiteral("#a2"));
                QVERIFY(one.hasRunColor);
                QCOMPARE(one.slot, static_cast<int>(run));
            }
        }
        for (const DataView* view : { static_cast<DataView*>(&curves), static_cast<DataView*>(&overview) }) {
            QBuffer table;
            table.open(QIODevice::WriteOnly);
            QVERIFY(view->writeCsv(&table));
            QVERIFY(table.data().contains(",a #a\r\n") && table.data().contains(",a #a2\r\n"));
        }
        m_state->setSelection({ row, { QStringLiteral("layers.5.fc.weight"), {} } });
        QTRY_VERIFY(canvas->picture() && canvas->picture()->series.size() == 4);
        QVERIFY(!canvas->picture()->series[1].hasRunColor);
        QCOMPARE(canvas->picture()->series[3].slot, canvas->picture()->series[2].slot);
    }

    void aRunThatHasNoneOfTheCurvesIsNamedInTheLegend()
    {
        ViewContext context { m_state.get(), m_axis.get(), m_pool.get() };
        CurvesView alone(context, m_host.get());
        alone.resize(1000, 300);
        alone.show();
        m_state->setSelection({ { QStringLiteral("layers.4.fc.weight"), {} } });
        const auto* canvas = alone.findChild<CurveCanvas*>();
        const auto lacking = [&] { return canvas->picture() ? canvas->picture()->lacking : QStringList(); };
        compareWith({ "moments" }); // which has no gradients
        QTRY_COMPARE(lacking(), QStringList { QStringLiteral("moments") });
        CurvePicture picture = *canvas->picture();
        const auto painted = [&picture] {
            QImage image(142, 100, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            QPainter painter(&image);
            CurveLegend(image.rect(), picture, 0)
                .paint(painter, std::vector<LegendValue>(picture.series.size()), -1, Theme::current());
            return image;
        };
        const QImage one = painted();
        QCOMPARE(CurveLegend::lackingText(picture, 400), QStringLiteral("moments has none"));
        picture.lacking.append(QStringLiteral("other"));
        QCOMPARE(CurveLegend::lackingText(picture, 400), QStringLiteral("2 runs have none"));
        picture.lacking.clear();
        QVERIFY(painted() != one);
        compareWith({ "seed", "moments" });
        QTRY_COMPARE(canvas->picture()->series.size(), std::size_t { 2 });
        QTRY_COMPARE(lacking(), QStringList { QStringLiteral("moments") });
        compareWith({ "seed" });
        QTRY_COMPARE(lacking(), QStringList());
    }

    void repeatedRunsAreABandAndTheirMedian()
    {
        compareWith({ "seed", "other" });
        m_state->setSelection({ { QStringLiteral("layers.4.fc.weight"), {} } });
        choose("compareBelow", static_cast<int>(BelowMap::Lines));
        settle();
        auto series = m_view->curves()->picture()->series;
        QCOMPARE(series.size(), std::size_t { 3 });
        QCOMPARE(series[0].runName, QStringLiteral("a"));
        QCOMPARE(series[2].runName, QStringLiteral("other"));
        QVERIFY(series[0].slot != series[1].slot && series[1].slot != series[2].slot);
        choose("compareBelow", static_cast<int>(BelowMap::Band));
        settle();
        series = m_view->curves()->picture()->series;
        QCOMPARE(series.size(), std::size_t { 2 });
        QVERIFY(!series[0].isGroup && series[1].isGroup);
        QVERIFY(series[0].slot > 2); // no run's color
        QCOMPARE(series[1].runName, QStringLiteral("range")); // has room beside a value
        m_state->setCursor(Step { 7 }); // of which no run alone has the median
        settle();
        QCOMPARE(m_view->curves()->legendValues()[0].value, static_cast<double>(valueIn(run("seed"), 4, 7)));
        for (int step = 0; step < kSteps; ++step) {
            const auto at = static_cast<std::size_t>(step);
            const auto value = [&](const char* name) { return static_cast<double>(valueIn(run(name), 4, step)); };
            QCOMPARE(series[0].result.buckets[at].last, value("seed")); // lies between the others
            QCOMPARE(series[1].result.buckets[at].min, value("a"));
            QCOMPARE(series[1].result.buckets[at].max, value("other"));
        }
    }

    void theLegendOfABandSaysOfWhichStepItIs()
    {
        compareWith({ "short" });
        m_state->setSelection({ { QStringLiteral("layers.4.fc.weight"), {} } });
        choose("compareBelow", static_cast<int>(BelowMap::Lines));
        settle();
        QVERIFY(!m_view->curves()->legendStep()); // each has its own last one
        const QString ended = m_view->curves()->legendValues()[1].text();
        QVERIFY2(ended.startsWith(QStringLiteral("at 59 ")), qPrintable(ended));
        choose("compareBelow", static_cast<int>(BelowMap::Band));
        settle();
        CurveCanvas* canvas = m_view->curves();
        QCOMPARE(canvas->legendStep(), std::optional(Step { 59 })); // the last that both have
        QCOMPARE(canvas->legendValues()[0].state, series::CellState::Value);
        const auto legend = [&] { return canvas->grab(QRect(canvas->plotRect().right() + 8, 0, 120, 19)).toImage(); };
        const QImage newest = legend();
        m_state->setCursor(Step { 7 });
        settle();
        QCOMPARE(canvas->legendStep(), std::optional(Step { 7 }));
        QVERIFY(legend() != newest);
    }

    void aBandGoesAsFarAsTwoRunsAndSaysOfHowMany()
    {
        show("brief");
        compareWith({ "a", "b" });
        m_state->setSelection({ { QStringLiteral("layers.1.fc.weight"), {} } });
        choose("compareBelow", static_cast<int>(BelowMap::Band));
        settle();
        const auto value = [&](const char* name, int step) { return static_cast<double>(valueIn(run(name), 1, step)); };
        const CurveCanvas& canvas = *m_view->curves();
        const std::vector<CurveSeries> series = canvas.picture()->series;
        for (int step = 0; step < kSteps; ++step) {
            const series::Bucket& band = series[1].result.buckets[static_cast<std::size_t>(step)];
            if (step == kBreaks) // where "b" has what is left of it
                continue;
            QCOMPARE(band.min, value("a", step));
            QCOMPARE(band.max, value(step < 60 ? "brief" : "a", step));
        }
        QCOMPARE(series[0].where, QStringLiteral("2 to 3 of 3 runs"));
        QCOMPARE(whereText(series[0], 7), QStringLiteral("median, of 3 runs")); // as beside the mouse
        QCOMPARE(whereText(series[1], 70), QStringLiteral("range, 2 of 3 runs"));
        const auto legend = [&](int step) {
            m_state->setCursor(Step { step });
            return std::pair(canvas.legendValues()[0].where, canvas.legendValues()[1].where);
        };
        const auto range = [&](int step, const char* most) {
            return QStringLiteral("%1 to %2").arg(formatValue(value("a", step)), formatValue(value(most, step)));
        };
        QCOMPARE(legend(7), std::pair(QStringLiteral("of 3 runs"), range(7, "brief")));
        QCOMPARE(legend(100), std::pair(QStringLiteral("2 of 3 runs"), range(100, "a")));
        const auto shown = [&](int step) {
            m_state->setCursor(Step { step });
            const QRect area(canvas.plotRect().right() + 8, 40, 130, 80);
            return m_view->curves()->grab(area).toImage();
        };
        QVERIFY(shown(7) != shown(100));
    }

    void aNaNOfOneRunIsSignedAboveTheBand()
    {
        show("seed");
        compareWith({ "a", "b" }); // of which "b" has a NaN beside what is finite
        m_state->setSelection({ { QStringLiteral("layers.1.fc.weight"), {} } });
        choose("compareBelow", static_cast<int>(BelowMap::Band));
        settle();
        CurveCanvas& canvas = *m_view->curves();
        const QRect plot = canvas.plotRect();
        const QImage image = canvas.renderTo(canvas.size());
        const auto isSigned = [&](int step) {
            const int x = plot.left() + static_cast<int>((step + 0.5) * plot.width() / kSteps);
            for (int y = 0; y < plot.top(); ++y) {
                if (image.pixelColor(x, y) == Theme::current().criticalMark)
                    return true;
            }
            return false;
        };
        QVERIFY(isSigned(kBreaks));
        QVERIFY(!isSigned(kBreaks - 10) && !isSigned(kBreaks + 10));
        m_state->setCursor(Step { kBreaks });
        for (const LegendValue& value : canvas.legendValues())
            QCOMPARE(value.state, CellState::NaN);
        QCOMPARE(canvas.legendValues()[0].where, QStringLiteral("of 3 runs"));
    }

    void oneValueBesideANaNIsNoBand()
    {
        series::Bucket two, nan;
        two.state = CellState::Value;
        two.samples = two.finite = 1;
        two.min = two.max = two.mean = two.first = two.last = 2;
        nan.state = CellState::NaN;
        nan.samples = nan.nans = 1;
        std::vector<ComparePart> parts(3);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            CurveSeries one;
            one.result.range = { Step { 0 }, Step { 2 } };
            one.result.buckets = { two, i == 0 ? nan : two, i == 0 ? nan : i == 1 ? two : series::Bucket() };
            parts[i].curves = { one };
        }
        const std::vector<CurveSeries> series = bandsOfRuns(parts);
        QCOMPARE(series[1].runsIn, (std::vector { 3, 2, 1 }));
        for (const CurveSeries& one : series) {
            const std::vector<series::Bucket>& buckets = one.result.buckets;
            QVERIFY(buckets[0].state == CellState::Value && buckets[0].finite == 3);
            QVERIFY(buckets[1].state == CellState::NaN && buckets[1].finite == 2);
            QVERIFY(buckets[2].state == CellState::NaN && buckets[2].finite == 0 && buckets[2].samples == 1);
            QCOMPARE(one.where, QStringLiteral("2 to 3 of 3 runs"));
        }
    }

    void withoutCurvesTheTableHasNoColumnsForThem()
    {
        compareWith({ "b" });
        m_state->setSelection({ { QStringLiteral("nobody"), {} } });
        settle();
        const QList<QByteArray> lines = csv().trimmed().split('\n');
        QCOMPARE(lines.size(), kRows * kSteps + 1);
        QVERIFY2(lines[0].trimmed().endsWith(",difference,ratio,a_run,b_run"), lines[0].constData());
        for (const QByteArray& line : lines)
            QCOMPARE(line.count(','), 15);
        QVERIFY2(lines[1].trimmed().endsWith(",a,b"), lines[1].constData());
    }

    void furtherRunsAndTheBandAreInTheTable()
    {
        compareWith({ "seed", "other" });
        m_state->setSelection({ { QStringLiteral("layers.4.fc.weight"), {} } });
        const auto records = [this] {
            std::map<QByteArray, QList<QList<QByteArray>>> byRun; // of the curves
            const QList<QByteArray> lines = csv().trimmed().split('\n');
            const auto columns = lines[0].split(',').size();
            for (qsizetype i = 1; i < lines.size(); ++i) {
                const QList<QByteArray> cells = lines[i].trimmed().split(',');
                if (cells.size() != columns)
                    return std::map<QByteArray, QList<QList<QByteArray>>> {};
                byRun[cells.back()].append(cells);
            }
            return byRun;
        };
        m_view->resize(1200, 700);
        settle();
        auto found = records();
        QCOMPARE(found[QByteArray()].size(), kRows * kSteps); // cells of the map
        for (const char* name : { "a", "seed", "other" }) {
            QCOMPARE(found[name].size(), kSteps);
            for (int step = 0; step < kSteps; ++step) {
                QCOMPARE(found[name][step][6].toInt(), step);
                QCOMPARE(found[name][step][17].toFloat(), valueIn(run(name), 4, step));
            }
        }
        choose("compareBelow", static_cast<int>(BelowMap::Band));
        settle();
        found = records();
        QCOMPARE(found["median"].size(), kSteps);
        QCOMPARE(found["range"].size(), kSteps);
        for (int step = 0; step < kSteps; ++step) {
            const QList<QByteArray>& median = found["median"][step];
            const QList<QByteArray>& range = found["range"][step];
            QCOMPARE(median[17].toFloat(), valueIn(run("seed"), 4, step));
            QCOMPARE(median.mid(18, 3), QList<QByteArray>(3)); // a range and a mean it has not
            QCOMPARE(range[17], QByteArray()); // no run's is the range's
            QCOMPARE(range[18].toFloat(), valueIn(run("a"), 4, step));
            QCOMPARE(range[19].toFloat(), valueIn(run("other"), 4, step));
            QCOMPARE(median[25], QByteArray("a; seed; other"));
            QCOMPARE(range[25], QByteArray("a; seed; other"));
        }
    }
};

TELLTALE_TEST(QTEST_MAIN, CompareCurvesTest)

}

#include "comparecurvestest.moc"
