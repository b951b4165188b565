// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <cmath>

#include <QApplication>
#include <QBuffer>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTextDocumentFragment>
#include <QToolButton>

#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>
#include <telltale/compare/comparebar.h>
#include <telltale/compare/compareview.h>
#include <telltale/compare/comparewords.h>
#include <telltale/compare/differencetrees.h>
#include <telltale/compare/runcurves.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatquery.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/runsmodel.h>
#include <telltale/plot/comparedcurves.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/plot/curvesview.h>
#include <telltale/store/querypool.h>
#include <telltale/translations/translations.h>

#include "../store/capsulebuilder.h"
#include "looks.h"

namespace compareviewtest {

using namespace telltale;
using namespace telltale::views;
using series::CellState;

namespace {

constexpr int kSteps = 240;
constexpr int kRows = 6;
constexpr int kParts = 120; ///< where run "b" leaves the reference
constexpr int kBreaks = 150; ///< where layers.1 of "b" is NaN, once
constexpr int kBroken = 200; ///< where layers.2 is NaN in all of them, once
constexpr int kBatch = 8;

/// What a tensor shows after so many samples.
float valueOf(int row, int samples)
{
    return static_cast<float>((1 + row) * std::exp(0.3 * std::sin(samples / 90.0 + row)));
}

struct MadeUp {
    std::string name;
    int batch = kBatch;
    double shift = 0; ///< of every value, as another seed has
    bool parts = false;
    std::string config = "{\"start_step\": 0}";
    int steps = kSteps;
    std::vector<Kind> kinds = { Kind::GradReduced };
};

float valueIn(const MadeUp& run, int row, int step)
{
    float value = valueOf(row, (step + 1) * run.batch) + static_cast<float>(run.shift);
    if (run.parts && step >= kParts && row == 3)
        value *= 1.01F;
    if ((run.parts && step == kBreaks && row == 1) || (step == kBroken && row == 2 && run.batch == kBatch))
        value = std::nanf("");
    return value;
}

void stage(test::CapsuleBuilder& builder, std::int64_t stream, const MadeUp& run, int from, int to)
{
    std::vector<std::string> names;
    for (int row = 0; row < kRows; ++row)
        names.push_back("layers." + std::to_string(row) + ".fc.weight");
    std::vector<std::shared_ptr<const SeriesLayout>> tensors;
    for (const Kind kind : run.kinds)
        tensors.push_back(builder.addLayout(kind, { Stat::Norm, Stat::Nans }, names));
    const auto scalars
        = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss", "telltale.samples_seen", "telltale.wall_ns" });
    std::vector<StepBlock> blocks;
    for (int step = from; step < to; ++step) {
        StepBlock values;
        values.step = Step { step };
        std::vector<float> norms;
        std::vector<std::uint64_t> nans;
        for (int row = 0; row < kRows; ++row) {
            const float value = valueIn(run, row, step);
            norms.push_back(std::isnan(value) ? 1.0F : value);
            nans.push_back(std::isnan(value) ? 1 : 0);
        }
        values.columns = { { Stat::Norm, norms }, { Stat::Nans, nans } };
        for (const auto& layout : tensors) {
            values.layout = layout;
            blocks.push_back(values);
        }
        StepBlock loss;
        loss.layout = scalars;
        loss.step = Step { step };
        loss.columns = { { Stat::Value,
            std::vector<double> {
                3.0 - 0.001 * step + run.shift, static_cast<double>((step + 1) * run.batch), 1e18 + 5e8 * step } } };
        blocks.push_back(loss);
    }
    builder.stage(stream, std::move(blocks));
    builder.commit();
}

void write(const std::string& path, const MadeUp& run)
{
    test::CapsuleBuilder builder(path, run.name);
    const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
    stage(builder, stream, run, 0, run.steps);
    Blob config;
    config.id = config.kind = "config";
    config.name = "config.json";
    config.bytes = run.config;
    builder.stage(stream, {}, {}, {}, { config });
    builder.commit();
    builder.releaseAll();
    builder.finish();
}

}

/// Runs whose values are known, beside each other. Thread: the test's.
class CompareViewTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_dir.isValid());
        m_runs = { { "a" }, { "same" }, { "b", kBatch, 0, true, "{\"start_step\": 10}" }, { "seed", kBatch, 0.5 },
            { "other", kBatch, 1.5 }, { "wide", 2 * kBatch }, { "near", kBatch, 1e-5 },
            { "short", 2 * kBatch, 0, false, "{}", 60 },
            { "more", kBatch, 0, false, "{}", kSteps, { Kind::GradReduced, Kind::ExpAvg } },
            { "moments", kBatch, 0, false, "{}", kSteps, { Kind::ExpAvg } },
            { "brief", kBatch, 0.25, false, "{}", 60 } };
        for (const MadeUp& run : m_runs)
            write(path(run.name), run);
    }

    void init() { openWindow(); }
    void cleanup()
    {
        m_host.reset();
        m_pool.reset();
        m_state.reset();
        translations::install(*qApp, QStringLiteral("en"));
        Theme::apply(*qApp, Theme::Mode::Dark);
    }

    void theSentenceIsTheVerbs_data()
    {
        QTest::addColumn<QString>("other");
        QTest::addColumn<double>("tolerance");
        for (const QString& other : { QStringLiteral("same"), QStringLiteral("b"), QStringLiteral("seed") }) {
            for (const double tolerance : { 0.0, 1e-4, 0.1 })
                QTest::addRow("%s %g", qPrintable(other), tolerance) << other << tolerance;
        }
    }
    void theSentenceIsTheVerbs()
    {
        QFETCH(QString, other);
        QFETCH(double, tolerance);
        compareWith({ other.toStdString() });
        choose("compareTolerance", tolerance);
        settle();
        const auto a = reader("a");
        const auto b = reader(other.toStdString());
        judge::ComparisonWish wish;
        wish.tolerance = tolerance;
        const auto found
            = test::CapsuleBuilder::must(judge::compareRuns({ *a, **a->catalog() }, { *b, **b->catalog() }, wish));
        QVERIFY(m_view->conformance().found());
        QCOMPARE(judge::reportJson(*m_view->conformance().found(), {}), judge::reportJson(found, {}));
        auto* sentence = m_view->findChild<QWidget*>(QStringLiteral("compareSentence"))->parentWidget();
        QString expected = QString::fromStdString(found.sentence());
        if (!found.isEqual()) {
            // The verb says the words that its options take, the window what people read.
            const judge::Deviation& first = found.first.front();
            const auto words
                = QStringLiteral(", %1 %2: ")
                      .arg(QString::fromUtf8(kindName(first.kind)), QString::fromUtf8(statName(first.stat)));
            QVERIFY(expected.contains(words));
            expected.replace(words, QStringLiteral(" (%1; %2): ").arg(kindText(first.kind), statText(first.stat)));
        }
        static const QRegularExpression kNumber(QStringLiteral(R"((?<![\w.])-?\d+(\.\d+)?(e[+-]\d+)?(?![\w.]*\w))"));
        for (qsizetype at = 0; at >= 0;) {
            const auto match = kNumber.match(expected, at);
            const QString number = items::reformatNumber(match.captured());
            expected.replace(match.capturedStart(), match.capturedLength(), number);
            at = match.hasMatch() ? match.capturedStart() + number.size() : -1;
        }
        expected.replace(QLatin1String(": 3 against 3.5"), QLatin1String(": 3.0 against 3.5")); // with as many figures
        QCOMPARE(sentence->accessibleName(), expected);
    }

    void aSmallDifferenceIsSeenInTheSentence()
    {
        compareWith({ "near" });
        settle();
        const judge::Deviation& one = m_view->conformance().found()->first.front();
        const auto [a, b] = deviationTexts(one);
        QCOMPARE(items::formatValue(one.a.value), items::formatValue(one.b.value));
        QVERIFY2(a != b && a.size() == b.size(), qPrintable(a + QStringLiteral(" against ") + b));
        QCOMPARE(a.chopped(1), b.chopped(1)); // no more digits than tell them apart
        QVERIFY(std::abs(a.toDouble() - one.a.value) < std::abs(one.a.value - one.b.value));
        QVERIFY(std::abs(b.toDouble() - one.b.value) < std::abs(one.a.value - one.b.value));
        const QString text
            = m_view->findChild<QWidget*>(QStringLiteral("compareSentence"))->parentWidget()->accessibleName();
        QVERIFY2(text.contains(QStringLiteral("%1 against %2").arg(a, b)), qPrintable(text));
    }

    void aLongSentenceIsWhole()
    {
        compareWith({ "near" });
        settle();
        auto* label = m_view->findChild<QLabel*>(QStringLiteral("compareSentence"));
        auto* line = label->parentWidget();
        const int wide = line->height();
        for (const int height : { 700, 400 }) { // without the facts below it, too
            m_view->resize(560, height);
            QTRY_VERIFY(line->width() == 560 && line->height() > wide - 16);
            QCOMPARE(label->text(), line->accessibleName());
            const QRect words
                = label->fontMetrics().boundingRect(QRect(0, 0, label->width(), 1), Qt::TextWordWrap, label->text());
            QVERIFY2(words.height() <= label->height(), qPrintable(QString::number(words.height())));
        }
    }

    void itOpensOnWhatAllRunsHave()
    {
        const auto catalog = test::CapsuleBuilder::must(reader("more")->catalog());
        m_state->setRun(handle("more"));
        m_state->setCatalog(catalog);
        m_state->setFullRange(catalog->steps);
        m_state->setKind(Kind::ExpAvg);
        compareWith({ "moments" });
        settle();
        QCOMPARE(m_state->kind(), Kind::ExpAvg); // which is shown, and which both have
        compareWith({ "moments", "a" });
        settle();
        QCOMPARE(m_state->kind(), Kind::ExpAvg); // nothing is in all of them
        compareWith({ "a" });
        settle();
        QCOMPARE(m_state->kind(), Kind::GradReduced);
        QVERIFY(m_view->map()->picture());
        m_state->setKind(Kind::ExpAvg); // by a person, who may look at what only one has
        settle();
        QCOMPARE(m_state->kind(), Kind::ExpAvg);
        m_view->hide();
        m_view->setVisible(true);
        settle();
        QCOMPARE(m_state->kind(), Kind::GradReduced);
    }

    void aRunThatIsOverLacksNothing()
    {
        compareWith({ "short" });
        settle();
        const auto sides = [this] { return m_view->map()->picture()->sides; };
        QCOMPARE(sides()->both, (StepRange { Step { 0 }, Step { 59 } }));
        QCOMPARE(sides()->after, QStringLiteral("short has no step after 59"));
        const QPoint beyond(m_view->map()->plotRect().right() - 1, m_view->map()->plotRect().top() + 3);
        QCOMPARE(m_view->map()->renderTo(m_view->map()->size()).pixelColor(beyond), Theme::current().base);
        // A cursor beyond its end goes behind the words that say so.
        constexpr int kMiddle = (60 + kSteps) / 2;
        m_state->setCursor(Step { kMiddle });
        const QImage image = m_view->map()->renderTo(m_view->map()->size());
        const QRect plot = m_view->map()->plotRect();
        const auto isCrossedAt = [&](int y) {
            bool isCrossed = false;
            for (int x = -6; x <= 6; ++x)
                isCrossed
                    |= image.pixelColor(plot.left() + plot.width() * kMiddle / kSteps + x, y) == Theme::current().text;
            return isCrossed;
        };
        QVERIFY(isCrossedAt(plot.center().y() - 20));
        QVERIFY(!isCrossedAt(plot.center().y()));
        m_state->setCursor(std::nullopt);
        choose("compareAlign", static_cast<int>(XAxis::Samples));
        settle();
        QCOMPARE(sides()->both, (StepRange { Step { 0 }, Step { 120 } })); // the nearest to its last one
        QCOMPARE(sides()->after, QStringLiteral("short has no step after 59"));
    }

    void aMapOfOneRunEndsWhereTheRunDoes()
    {
        m_state->setRun(handle("short"));
        m_state->setCatalog(test::CapsuleBuilder::must(reader("short")->catalog()));
        m_state->setFullRange(m_state->catalog()->steps);
        HeatRequest request;
        request.catalog = m_state->catalog();
        request.kind = Kind::GradReduced;
        request.rank = Rank { 0 };
        request.range = { Step { 0 }, Step { kSteps - 1 } };
        request.pixels = kSteps;
        HeatCanvas map(m_state.get());
        map.resize(900, 300);
        const auto picture = readHeat(*reader("short"), request);
        QVERIFY(picture && !picture->rows.empty());
        map.setPicture(std::make_shared<const HeatPicture>(*picture));
        const auto ground = [&map] {
            const QRect plot = map.plotRect();
            const QRect beyond(plot.left() + plot.width() * 61 / kSteps, plot.top(), plot.width() / 8, plot.height());
            const QImage image = map.renderTo(map.size()).copy(beyond);
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x)
                    if (image.pixelColor(x, y) != Theme::current().base)
                        return false;
            return true;
        };
        QVERIFY(!ground());
        compareWith({ "a" });
        QVERIFY(ground());
    }

    void withoutCurvesTheMapHasAnAxis()
    {
        compareWith({ "b" });
        m_state->setSelection({ { QStringLiteral("layers.0.fc.weight"), {} } });
        settle();
        const HeatCanvas* map = m_view->map();
        const auto below = [map] { return map->height() - map->plotRect().bottom(); };
        const int without = below();
        m_state->setSelection({ { QStringLiteral("nobody"), {} } });
        settle();
        QVERIFY(below() > without);
        m_state->setSelection({ { QStringLiteral("layers.0.fc.weight"), {} } });
        settle();
        QCOMPARE(below(), without);
    }

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

    void everyCellIsWhatTheRunsDifferBy()
    {
        for (const std::string other : { "same", "b", "seed" }) {
            for (const HeatScale value : { HeatScale::Difference, HeatScale::Ratio }) {
                compareWith({ other });
                choose("compareValue", static_cast<int>(value));
                settle();
                const HeatPicture& picture = *m_view->map()->picture();
                QCOMPARE(picture.columns(), kSteps);
                QCOMPARE(picture.rows.size(), std::size_t { kRows });
                for (int row = 0; row < kRows; ++row) {
                    for (int step = 0; step < kSteps; ++step)
                        verifyCell(picture, run("a"), run(other), row, step, value);
                }
            }
        }
    }

    void aNaNAgainstANumberIsSeenAtEveryZoom_data()
    {
        QTest::addColumn<int>("width");
        for (const int width : { 1080, 420, 300 })
            QTest::addRow("%d px", width) << width;
    }
    void aNaNAgainstANumberIsSeenAtEveryZoom()
    {
        QFETCH(int, width);
        m_host->resize(width, 700);
        m_view->resize(width, 700);
        compareWith({ "b" });
        settle();
        const HeatPicture& picture = *m_view->map()->picture();
        const int broken = picture.columnOf(Step { kBreaks });
        QCOMPARE(picture.state(1, broken), CellState::NaN);
        QCOMPARE(picture.strongest[static_cast<std::size_t>(broken)], CellState::NaN);
        // NaN in both is equal, and stays marked above the map.
        const int both = picture.columnOf(Step { kBroken });
        QCOMPARE(picture.state(2, both), CellState::Value);
        QCOMPARE(picture.value(2, both), 0.0F);
        QCOMPARE(picture.strongest[static_cast<std::size_t>(both)], CellState::NaN);
        const auto& apart = m_view->conformance().found()->stepsApart;
        const auto at
            = std::find_if(apart.begin(), apart.end(), [](const auto& of) { return of.step == Step { kBreaks }; });
        QVERIFY(at != apart.end() && at->nonFinite > 0);
    }

    void theSmallestDifferenceIsSeenBesideTheLargest()
    {
        compareWith({ "b" });
        settle();
        const HeatPicture& picture = *m_view->map()->picture();
        for (int step = 0; step < kSteps; ++step) {
            const float shown = picture.shown[static_cast<std::size_t>(3 * kSteps + step)];
            QVERIFY2(step < kParts ? shown == 0 : shown >= 0.1F, qPrintable(QString::number(step)));
        }
    }

    void aClickGoesWhereTheyPart()
    {
        compareWith({ "b" });
        m_state->setKind(Kind::Scalar);
        settle();
        auto* go = m_view->findChild<QPushButton*>(QStringLiteral("compareGo"));
        QVERIFY(go->isVisible());
        QTest::mouseClick(go, Qt::LeftButton);
        QCOMPARE(m_state->cursor(), std::optional(Step { kParts }));
        QCOMPARE(m_state->kind(), Kind::GradReduced);
        QCOMPARE(m_state->selection(), (std::vector<ModuleKey> { { QStringLiteral("layers.3.fc.weight"), {} } }));
        settle();
        QCOMPARE(m_view->curves()->picture()->series.size(), std::size_t { 2 });
        compareWith({ "same" });
        settle();
        QVERIFY(!go->isVisible());
    }

    void runsThatSawOtherSamplesAStepAreLaidBesideEachOther()
    {
        compareWith({ "wide" });
        settle();
        QVERIFY(std::abs(m_view->map()->picture()->value(0, 10)) > 1e-3F);
        choose("compareAlign", static_cast<int>(XAxis::Samples));
        settle();
        const HeatPicture& picture = *m_view->map()->picture();
        QCOMPARE(picture.columns(), kSteps);
        for (int row = 0; row < kRows; ++row) {
            // Step 2 n + 1 of a saw as much as step n of the other.
            for (int step = 1; step < kSteps; step += 2) {
                const bool isBroken = row == 2 && step == kBroken;
                QVERIFY(isBroken || picture.state(row, step) == CellState::Value);
                QCOMPARE(picture.value(row, step), 0.0F);
            }
        }
        QVERIFY(m_view->curves()->picture()->warp);
        choose("compareAlign", static_cast<int>(XAxis::Time));
        settle();
        QVERIFY(std::abs(m_view->map()->picture()->value(0, 10)) > 1e-3F); // a step of each took as long
        const QString of100 = m_view->curves()->picture()->warp->textOf(Step { 100 });
        const StepRange whole = m_state->visibleRange();
        m_state->zoomTo({ Step { 90 }, Step { 110 } });
        settle();
        QVERIFY(of100.startsWith(QStringLiteral("50")) || of100.startsWith(QStringLiteral("0:50")));
        QCOMPARE(m_view->curves()->picture()->range.first, Step { 90 });
        // Time counts from the first step of the run also where it is not in sight.
        QCOMPARE(m_view->curves()->picture()->warp->textOf(Step { 100 }), QStringLiteral("50.0 s"));
        m_state->zoomTo(whole);
        choose("compareAlign", static_cast<int>(XAxis::Tokens)); // which none of them records
        settle();
        QCOMPARE(m_view->map()->picture()->columns(), kSteps);
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

    void factsWrapAndAreCutWhole()
    {
        const auto* note = m_view->findChild<QLabel*>(QStringLiteral("compareNote"));
        const QString between = QStringLiteral("\u00A0 ·  ");
        m_state->setSelection({ { QStringLiteral("layers.4.fc.weight"), {} } });
        compareWith({ "more" });
        settle();
        const QString all = note->text();
        QVERIFY(note->toolTip().isEmpty());
        const QStringList facts = all.split(between);
        QVERIFY2(facts.size() > 1, qPrintable(all));
        const int line = note->height();
        const int words = note->fontMetrics().horizontalAdvance(all);
        m_view->resize(m_view->width() - (note->width() - words) - 20, 700);
        QTRY_COMPARE(note->height(), 2 * line);
        QCOMPARE(note->text(), all);
        QVERIFY(note->heightForWidth(note->width()) <= note->height());
        m_view->resize(m_view->width() - (note->width() - words * 2 / 7), 700);
        QTRY_VERIFY(note->text() != all);
        QVERIFY(note->height() <= 3 * line);
        QStringList shown = note->text().split(between);
        QCOMPARE(shown.takeLast(), QStringLiteral("…"));
        QCOMPARE(shown, facts.first(shown.size()));
        QVERIFY(note->toolTip().contains(facts.last()));
    }

    void aLowViewKeepsWhatLeadsToTheFirstOfItsMap()
    {
        compareWith({ "b" });
        settle();
        m_state->setStat(Stat::Nans);
        settle();
        const auto* note = m_view->findChild<QLabel*>(QStringLiteral("compareNote"));
        const auto says = [&] { return note->isVisible() ? noteText() : QString(); };
        QVERIFY2(says().contains(QStringLiteral("differ")), qPrintable(says()));
        m_view->resize(1080, 400);
        QTRY_VERIFY2(!says().contains(QStringLiteral("differ")), qPrintable(says()));
        QVERIFY2(says().startsWith(QStringLiteral("in this map: step ")), qPrintable(says()));
    }

    void theLetterOfTheOtherRunStaysInItsBox()
    {
        compareWith({ "b" });
        settle();
        for (const int width : { 1080, 560 }) {
            m_view->resize(width, 700);
            QTRY_COMPARE(m_view->width(), width);
            QCOMPARE(
                m_view->findChild<QComboBox*>(QStringLiteral("compareAgainst"))->currentText(), QStringLiteral("B: b"));
        }
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

    void commandsThatDifferAtTheirEndReadUnlikeEachOther()
    {
        FactsTree facts;
        facts.setAttribute(Qt::WA_DontShowOnScreen);
        const std::string run = "/usr/bin/python -u -m telltale train-demo --model moe --ranks 4 --heads 4 --steps ";
        facts.set({ QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c") },
            { { "environment", "command", { run + "10 --seed 1", run + "20 --seed 2", run + "30 --seed 3" } },
                { "run", "steps", { "0 to 9", "0 to 19", "0 to 29" } } });
        facts.show();
        const auto* command = facts.topLevelItem(0);
        for (const int width : { 1100, 600, 480 }) {
            facts.resize(width, 300);
            QCoreApplication::processEvents();
            const QRect row = facts.visualItemRect(command);
            QVERIFY(row.height() > 30 && row.height() < 100);
            QVERIFY(facts.visualItemRect(facts.topLevelItem(1)).height() <= 26);
            const auto cell = [&](int column) {
                const QRect place(
                    facts.columnViewportPosition(column), row.top(), facts.columnWidth(column), row.height());
                return facts.viewport()->grab(place).toImage();
            };
            QVERIFY2(cell(3) != cell(4), qPrintable(QString::number(width)));
            const auto isColored = [&](int column) { // which differs from the first
                const QImage image = cell(column);
                for (int x = 0; x < image.width(); ++x) {
                    for (int y = 0; y < image.height(); ++y) {
                        if (image.pixelColor(x, y).blue() > image.pixelColor(x, y).red() + 60)
                            return true;
                    }
                }
                return false;
            };
            QVERIFY(isColored(3) && !isColored(2));
            const int padding = 16;
            QVERIFY(
                facts.columnWidth(1) >= padding + QFontMetrics(command->font(1)).horizontalAdvance(command->text(1)));
        }
        QVERIFY(command->toolTip(3).contains(QStringLiteral("-\u2060-\u2060steps 20"))); // breaks at no hyphen
    }

    void theWordsOfAFactAreTheWindows()
    {
        FactsTree facts;
        facts.set({ QStringLiteral("a"), QStringLiteral("b") },
            { { "run", "steps", { "0 to 9", "0 to 1239" } }, { "revisions", "rev 2", { {}, "step 1240, /lr 0.1" } },
                { "config", "note", { "step 1240", "0 to 1239" } } });
        const auto shown = [&facts](int row) { return facts.topLevelItem(row)->text(3); };
        QCOMPARE(shown(0), QStringLiteral("from 0 to 1\u202F239"));
        QCOMPARE(shown(1), QStringLiteral("step 1\u202F240, /lr 0.1"));
        QCOMPARE(shown(2), QStringLiteral("0 to 1239")); // which is a person's
    }

    void whatDiffersIsListed()
    {
        compareWith({ "b" });
        const auto* waiting = m_view->findChild<FactsTree*>();
        QTRY_VERIFY(m_view->conformance().isBusy() || m_view->conformance().found());
        QVERIFY(m_view->conformance().found() || waiting->emptyText().contains(QStringLiteral("being compared")));
        choose("compareBelow", static_cast<int>(BelowMap::Facts));
        settle();
        const auto* facts = m_view->findChild<FactsTree*>();
        QVERIFY(facts->isVisible());
        QCOMPARE(facts->topLevelItemCount(), 1);
        QCOMPARE(facts->topLevelItem(0)->text(1), QStringLiteral("start_step"));
        QCOMPARE(facts->topLevelItem(0)->text(2), QStringLiteral("0"));
        QCOMPARE(facts->topLevelItem(0)->text(3), QStringLiteral("10"));
        m_view->resize(690, 500);
        QVERIFY(facts->header()->length() <= facts->viewport()->width()); // all runs are seen
        QCOMPARE(csv(), QByteArray("section,field,a,b\r\nconfig,start_step,0,10\r\n"));
        choose("compareBelow", static_cast<int>(BelowMap::Findings));
        settle();
        auto* findings = m_view->findChild<FindingsTree*>();
        QCOMPARE(findings->topLevelItem(0)->text(FindingsTree::NameColumn), QStringLiteral("layers.3.fc.weight"));
        QTRY_VERIFY(findings->isVisible());
        QVERIFY(findings->header()->length() <= findings->viewport()->width());
        QVERIFY(findings->columnWidth(FindingsTree::BColumn)
            >= findings->fontMetrics().horizontalAdvance(findings->topLevelItem(0)->text(FindingsTree::BColumn)));
        QTest::mouseClick(
            findings->viewport(), Qt::LeftButton, {}, findings->visualItemRect(findings->topLevelItem(0)).center());
        QCOMPARE(m_state->cursor(), std::optional(Step { kParts }));
        QVERIFY(csv().startsWith(
            "what,step,rank,name,slot,kind,statistic,a,b,relative\r\nfirst,120,0,layers.3.fc.weight,"));
    }

    void checksumsLeaveRoomForTheShare()
    {
        QWidget host; // a child has its size at once
        host.setAttribute(Qt::WA_DontShowOnScreen);
        FindingsTree tree(&host);
        tree.resize(360, 120);
        judge::Deviation one;
        one.kind = Kind::GradReduced;
        one.stat = Stat::Norm;
        one.key.name = "tok_emb.weight";
        one.a.state = one.b.state = series::CellState::Value;
        one.a.value = 1.401;
        one.b.value = 1.409;
        one.relative = 0.00542;
        judge::Deviation sum = one;
        sum.stat = Stat::Checksum;
        sum.a.identity = 0xffffffa7388c485d;
        sum.b.identity = 0xffffffbaf9c29c6c;
        judge::Comparison found;
        found.first = { one, sum };
        host.show();
        tree.set(&found);
        const int sums = QFontMetrics(numberFont(12)).horizontalAdvance(QStringLiteral("ffffffa7388c485d"));
        QVERIFY(tree.columnWidth(FindingsTree::AColumn) < sums && tree.columnWidth(FindingsTree::BColumn) < sums);
        QCOMPARE(
            tree.topLevelItem(1)->toolTip(FindingsTree::AColumn).contains(QStringLiteral("ffffffa7388c485d")), true);
        // The half that differs stands there, and all of it where it has room.
        const QTreeWidgetItem* row = tree.topLevelItem(1);
        const auto widthOf = [](const QString& text) { return QFontMetrics(numberFont(12)).horizontalAdvance(text); };
        QCOMPARE(row->text(FindingsTree::AColumn), QStringLiteral("ffffffa7\u2026"));
        QCOMPARE(row->text(FindingsTree::BColumn), QStringLiteral("ffffffba\u2026"));
        for (const int column : { FindingsTree::AColumn, FindingsTree::BColumn })
            QVERIFY(tree.columnWidth(column) > widthOf(row->text(column)));
        tree.resize(1200, 120);
        QCOMPARE(row->text(FindingsTree::AColumn), QStringLiteral("ffffffa7388c485d"));
        found.first[1].b.identity = 0xffffffa7f9c29c6c;
        tree.resize(360, 120);
        tree.set(&found);
        QCOMPARE(tree.topLevelItem(1)->text(FindingsTree::AColumn), QStringLiteral("\u2026388c485d"));
        QCOMPARE(tree.topLevelItem(1)->text(FindingsTree::BColumn), QStringLiteral("\u2026f9c29c6c"));
    }

    void everyCellIsInTheTable()
    {
        compareWith({ "b" });
        settle();
        const QList<QByteArray> lines = csv().split('\n');
        QCOMPARE(lines.size(), kRows * kSteps + 2 * kSteps + 2);
        const QList<QByteArray> cells = lines[1 + kSteps + kBreaks].trimmed().split(',');
        QCOMPARE(cells[0], QByteArray("layers.1.fc.weight"));
        QCOMPARE(cells[5].toInt(), kBreaks);
        QCOMPARE(cells[7], QByteArray("value"));
        QCOMPARE(cells[9], QByteArray("nan"));
        const QList<QByteArray> other = lines[1 + 3 * kSteps + kParts].trimmed().split(',');
        QCOMPARE(other[11].toFloat(), valueIn(run("b"), 3, kParts) - valueIn(run("a"), 3, kParts));
        for (const auto& [at, name] : { std::pair(0, "a"), std::pair(1, "b") }) { // their curves, of the loss
            const QList<QByteArray> last = lines[(kRows + 1 + at) * kSteps].trimmed().split(',');
            QCOMPARE(last[0], QByteArray("loss"));
            QCOMPARE(last[5].toInt(), kSteps - 1);
            QCOMPARE(last.back(), QByteArray(name));
        }
    }

    void theFirstDifferenceOfTheMapIsNamedBesideThatOfAll()
    {
        compareWith({ "b" });
        settle();
        const auto note = [this] { return noteText(); };
        m_view->resize(1600, 900);
        QVERIFY(!note().contains(QStringLiteral("in this map"))); // the norms have what the sentence names
        m_state->setStat(Stat::Nans);
        settle();
        int first = -1;
        for (int step = 0; step < kSteps && first < 0; ++step) {
            if (std::isnan(valueIn(run("a"), 1, step)) != std::isnan(valueIn(run("b"), 1, step)))
                first = step;
        }
        QCOMPARE(first, kBreaks);
        QVERIFY2(note().startsWith(QStringLiteral("in this map: step %1, layers.1.fc.weight").arg(kBreaks)),
            qPrintable(note()));
        QVERIFY(m_view->conformance().found()->first.front().step < Step { kBreaks });
        m_state->setStat(Stat::Norm);
        settle();
        QVERIFY(!note().contains(QStringLiteral("in this map")));
    }

    void theFirstDifferenceIsMarkedInTheMap_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::addColumn<HeatScale>("value");
        for (const HeatScale value : { HeatScale::Difference, HeatScale::Ratio }) {
            QTest::addRow("dark %d", static_cast<int>(value)) << true << value;
            QTest::addRow("light %d", static_cast<int>(value)) << false << value;
        }
    }
    void theFirstDifferenceIsMarkedInTheMap()
    {
        QFETCH(bool, dark);
        QFETCH(HeatScale, value);
        Theme::apply(*qApp, dark ? Theme::Mode::Dark : Theme::Mode::Light);
        compareWith({ "b" });
        choose("compareValue", static_cast<int>(value));
        settle();
        HeatCanvas* map = m_view->map();
        const NamedCell named = map->namedCell();
        QCOMPARE(named, (NamedCell { 3, kParts, glyphs::Severity::Warning }));
        const auto inColor = [&](const QImage& image) {
            int count = 0;
            for (int y = 0; y < image.height(); ++y) {
                for (int x = 0; x < image.width(); ++x)
                    count += image.pixelColor(x, y) == Theme::current().warnMark ? 1 : 0;
            }
            return count;
        };
        const auto exported = [this] { return m_view->renderImage(m_view->size()); };
        const QRect before(map->cellRect(named.row, named.column).toAlignedRect().adjusted(-22, -10, 0, 10));
        QVERIFY(inColor(map->grab(before).toImage()) > 15);
        const QImage with = exported();
        map->setNamedCell({});
        QCOMPARE(inColor(map->grab(before).toImage()), 0);
        QVERIFY(inColor(with) > inColor(exported()) + 15);
        // It follows the rows, and is where the sentence leads.
        choose("compareRows", static_cast<int>(RowOrder::Value));
        settle();
        QCOMPARE(map->picture()->rows[static_cast<std::size_t>(map->namedCell().row)].key.name,
            QStringLiteral("layers.3.fc.weight"));
        m_state->zoomTo({ Step { kParts + 10 }, Step { kSteps - 1 } });
        settle();
        QCOMPARE(map->namedCell().column, -1);
        m_state->setStat(Stat::Nans);
        settle();
        QCOMPARE(m_state->visibleRange().first.value + map->namedCell().column, kBreaks);
        Theme::apply(*qApp, dark ? Theme::Mode::Light : Theme::Mode::Dark);
        m_state->setCursor({});
        auto* note = m_view->findChild<QLabel*>(QStringLiteral("compareNote"));
        QTRY_VERIFY(note->text().contains(Theme::current().accent.name()));
        QTest::mouseClick(note, Qt::LeftButton, {}, QPoint(20, note->height() / 2));
        QCOMPARE(m_state->cursor(), std::optional(Step { kBreaks }));
        QCOMPARE(m_state->selection(), (std::vector<ModuleKey> { { QStringLiteral("layers.1.fc.weight"), {} } }));
    }

    void whatIsLaidBesideOtherStepsHasNoMark()
    {
        compareWith({ "wide" });
        settle();
        QCOMPARE(m_view->map()->namedCell().column, 0);
        choose("compareAlign", static_cast<int>(XAxis::Samples)); // step 1 of both was compared
        settle();
        QCOMPARE(m_view->map()->namedCell(), NamedCell());
    }

    void whatIsNotAlignedSaysSoFirstAndHasOneAxis()
    {
        m_view->resize(1600, 900);
        compareWith({ "more" }); // of which more could be said
        settle();
        const QRect plot = m_view->map()->plotRect();
        choose("compareAlign", static_cast<int>(XAxis::Tokens)); // which none of them records
        settle();
        QCOMPARE(m_view->map()->plotRect(), plot);
        QVERIFY2(noteText().startsWith(QStringLiteral("not recorded by a")), qPrintable(noteText()));
        choose("compareAlign", static_cast<int>(XAxis::Samples));
        settle();
        QVERIFY(m_view->map()->plotRect().height() < plot.height());
    }

    void aFilterThatHidesTheFirstDifferenceNamesThatOfWhatIsShown()
    {
        m_view->resize(1600, 900);
        compareWith({ "b" });
        settle();
        const auto filter = [this](const char* text) {
            m_state->setModuleFilter(QLatin1String(text));
            settle();
            return noteText();
        };
        QVERIFY(!filter("layers.3").contains(QStringLiteral("of the modules shown")));
        QCOMPARE(m_view->map()->namedCell().row, 0);
        const QString note = filter("layers.1");
        QVERIFY2(note.startsWith(QStringLiteral("of the modules shown: step %1, layers.1.fc.weight").arg(kBreaks)),
            qPrintable(note));
        QCOMPARE(m_view->map()->namedCell(), (NamedCell { 0, kBreaks, glyphs::Severity::Critical }));
        QVERIFY(filter("layers.0").startsWith(QStringLiteral("of the modules shown: nothing differs")));
        QCOMPARE(m_view->map()->namedCell(), NamedCell());
        QVERIFY(!filter("").contains(QStringLiteral("of the modules shown")));
        QCOMPARE(m_view->map()->namedCell().column, kParts);
    }

    void rowsThatAreShownAreAskedOfOnlyWhereTheirFirstIsHidden()
    {
        compareWith({ "b" });
        settle();
        const auto holders = [this] { return m_state->comparedRuns().front().run.use_count(); };
        const auto filter = [&](const char* text) {
            m_state->setModuleFilter(QLatin1String(text));
            settle();
            return holders();
        };
        QTRY_COMPARE(holders(), 2); // the comparison of all, and the window
        QTRY_COMPARE(filter("layers.1"), 3);
        QTRY_COMPARE(filter("layers.3"), 2);
        QTRY_COMPARE(filter("layers.1"), 3);
        const std::weak_ptr run = m_state->comparedRuns().front().run;
        m_state->setComparedRuns({});
        settle();
        QTRY_VERIFY(run.expired());
    }

    void whatWasAskedIsNotAskedAgain()
    {
        Conformance asked(m_pool.get());
        QSignalSpy changed(&asked, &Conformance::changed);
        const std::vector runs { handle("a"), handle("b") };
        judge::ComparisonWish wish;
        wish.kind = Kind::GradReduced;
        wish.pattern = "layers.1";
        const auto isAsked = [&] {
            const auto before = changed.size();
            asked.askOnce(runs, 1, wish);
            return changed.size() > before && asked.isBusy() && !asked.found();
        };
        QVERIFY(isAsked());
        QVERIFY(!isAsked());
        QTRY_VERIFY(asked.found());
        QVERIFY(!isAsked());
        QVERIFY(asked.found());
        wish.tolerance = 0.1;
        QVERIFY(isAsked());
        wish.pattern = "layers.2";
        QVERIFY(isAsked());
        asked.clear();
        QVERIFY(!asked.isBusy());
        QVERIFY(isAsked());
    }

    void aQuestionThatFailedSaysNothingOfWhatIsShown()
    {
        const QString gone = QString::fromStdString(path("gone"));
        write(gone.toStdString(), run("b"));
        compareWith({ "gone" });
        settle();
        QVERIFY(QFile::remove(gone)); // which the map's readers hold open
        m_state->setModuleFilter(QStringLiteral("layers.1"));
        settle();
        QCOMPARE(m_view->map()->picture()->rows.size(), std::size_t { 1 });
        QVERIFY2(!noteText().contains(QStringLiteral("of the modules shown")), qPrintable(noteText()));
        QCOMPARE(m_view->map()->namedCell(), NamedCell());
    }

    void whatIsSaidOfTheRowsThatAreShownStandsWhileARunIsRecorded()
    {
        m_view->resize(1600, 900);
        test::CapsuleBuilder builder(path("lives"), "lives");
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        stage(builder, stream, run("b"), 0, 180);
        m_state->setComparedRuns(
            { { std::make_shared<store::RunHandle>(builder.liveHandle()), reader("a")->catalog().value() } });
        settle();
        m_state->setModuleFilter(QStringLiteral("layers.1"));
        settle();
        const QString said = QStringLiteral("of the modules shown: step %1, layers.1.fc.weight").arg(kBreaks);
        QVERIFY2(noteText().startsWith(said), qPrintable(noteText()));
        m_pool->setWake([] {}); // the next questions have no answer
        QTRY_VERIFY_WITH_TIMEOUT(m_view->conformance().isBusy(), 20'000);
        QVERIFY2(noteText().startsWith(said), qPrintable(noteText()));
        QCOMPARE(m_view->map()->namedCell().column, kBreaks);
        m_state->setComparedRuns({});
        settle();
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
            QCOMPARE(line.count(','), 14);
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
                QCOMPARE(found[name][step][5].toInt(), step);
                QCOMPARE(found[name][step][16].toFloat(), valueIn(run(name), 4, step));
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
            QCOMPARE(median[16].toFloat(), valueIn(run("seed"), 4, step));
            QCOMPARE(median.mid(17, 3), QList<QByteArray>(3)); // a range and a mean it has not
            QCOMPARE(range[16], QByteArray()); // no run's is the range's
            QCOMPARE(range[17].toFloat(), valueIn(run("a"), 4, step));
            QCOMPARE(range[18].toFloat(), valueIn(run("other"), 4, step));
            QCOMPARE(median[24], QByteArray("a; seed; other"));
            QCOMPARE(range[24], QByteArray("a; seed; other"));
        }
    }

    void aPictureHasTheTableThatIsShown()
    {
        compareWith({ "b" });
        const auto painted = [this](BelowMap below) {
            choose("compareBelow", static_cast<int>(below));
            settle();
            QImage image(m_view->size(), QImage::Format_ARGB32_Premultiplied);
            image.fill(Theme::current().window);
            QPainter painter(&image);
            m_view->paintPicture(painter, image.size());
            return image.copy(0, image.height() * 7 / 10, image.width(), image.height() * 3 / 10);
        };
        const QImage curves = painted(BelowMap::Lines);
        const QImage facts = painted(BelowMap::Facts);
        QVERIFY(facts != curves);
        QVERIFY(painted(BelowMap::Findings) != facts);
    }

    void runsAreChosenFromAListWithASearch()
    {
        m_state->setComparedRuns({});
        settle();
        QTest::mouseClick(m_view->bar()->runsButton(), Qt::LeftButton);
        auto* chooser = m_view->findChild<QWidget*>(QStringLiteral("compareChooser"));
        QVERIFY(chooser && chooser->isVisible());
        auto* list = chooser->findChild<QListWidget*>();
        QCOMPARE(list->count(), static_cast<int>(m_runs.size()) - 1); // without the one that is shown
        chooser->findChild<QLineEdit*>()->setText(QStringLiteral("SE"));
        QStringList seen;
        for (int row = 0; row < list->count(); ++row) {
            if (!list->item(row)->isHidden())
                seen.append(list->item(row)->text());
        }
        QCOMPARE(seen, (QStringList { QStringLiteral("seed") }));
        QTest::keyClick(chooser->findChild<QLineEdit*>(), Qt::Key_Down);
        list->setCurrentItem(list->findItems(QStringLiteral("seed"), Qt::MatchExactly).front());
        QTest::keyClick(list, Qt::Key_Space);
        QTRY_COMPARE(m_state->comparedRuns().size(), std::size_t { 1 });
        list->findItems(QStringLiteral("b"), Qt::MatchExactly).front()->setCheckState(Qt::Checked);
        QTRY_COMPARE(m_state->comparedRuns().size(), std::size_t { 2 });
        QCOMPARE(m_state->runName(1), QStringLiteral("seed"));
        list->findItems(QStringLiteral("seed"), Qt::MatchExactly).front()->setCheckState(Qt::Unchecked);
        QTRY_COMPARE(m_state->comparedRuns().size(), std::size_t { 1 });
        QCOMPARE(m_state->runName(1), QStringLiteral("b"));
        QTest::keyClick(list, Qt::Key_Escape);
        QVERIFY(!chooser->isVisible());
        settle();
        QVERIFY(m_view->map()->picture());
    }

    void theButtonOfTheListStaysWhereItIs()
    {
        QPushButton* button = m_view->bar()->runsButton();
        m_state->setComparedRuns({});
        settle();
        const QRect alone(button->mapTo(m_view, QPoint()), button->size());
        compareWith({ "b", "seed" });
        settle();
        QTRY_VERIFY(m_view->findChild<QComboBox*>(QStringLiteral("compareAgainst"))->isVisible());
        QCOMPARE(QRect(button->mapTo(m_view, QPoint()), button->size()), alone);
        QVERIFY(m_view->findChild<QComboBox*>(QStringLiteral("compareRows"))->isVisible());
        QVERIFY(!m_view->findChild<QComboBox*>(QStringLiteral("compareRank"))->isVisible()); // there is one alone
    }

    void aRunIsFoundByWhenItBegan()
    {
        store::RunSummary summary;
        summary.locator = store::RunLocator::ofFile(path("b"));
        summary.id = summary.name = "b";
        summary.createdNs = 1'700'000'000'000'000'000;
        m_model->setArchived({ summary });
        QTest::mouseClick(m_view->bar()->runsButton(), Qt::LeftButton);
        auto* chooser = m_view->findChild<QWidget*>(QStringLiteral("compareChooser"));
        const QListWidgetItem* item = chooser->findChild<QListWidget*>()->item(0);
        QCOMPARE(item->text(), QStringLiteral("b")); // its date has a column of its own
        chooser->findChild<QLineEdit*>()->setText(QStringLiteral("11-1")); // the 14th or, far in the east, the 15th
        QVERIFY(!item->isHidden());
        chooser->findChild<QLineEdit*>()->setText(QStringLiteral("11-2"));
        QVERIFY(item->isHidden());
    }

    void aRunThatIsStillRecordedIsComparedOn()
    {
        test::CapsuleBuilder builder(path("live"), "live");
        const std::int64_t stream = builder.addAttempt(Rank { 0 }, 0);
        stage(builder, stream, run("b"), 0, 100);
        m_state->setComparedRuns(
            { { std::make_shared<store::RunHandle>(builder.liveHandle()), reader("a")->catalog().value() } });
        settle();
        QVERIFY(m_view->conformance().found()->isEqual());
        QCOMPARE(m_view->conformance().found()->steps.last, Step { 97 });
        stage(builder, stream, run("b"), 100, 180);
        QTRY_VERIFY_WITH_TIMEOUT(!m_view->conformance().found()->isEqual(), 20'000);
        QCOMPARE(m_view->conformance().found()->first.front().step, Step { kParts });
        m_state->setComparedRuns({});
        settle();
    }

    void nothingToCompareWithSaysSo()
    {
        m_state->setComparedRuns({});
        settle();
        QVERIFY(!m_view->map()->picture());
        QVERIFY(m_view->renderImage({ 800, 500 }).save(test::shot(QStringLiteral("compare-none.png"))));
    }

    void itLooksAsItShould_data() { test::addLooks(); }
    void itLooksAsItShould()
    {
        m_host.reset();
        const auto [theme, language] = test::putOnLook();
        openWindow();
        compareWith({ "b", "seed", "other" });
        settle();
        QTest::mouseClick(m_view->findChild<QPushButton*>(QStringLiteral("compareGo")), Qt::LeftButton);
        settle();
        for (const BelowMap below : { BelowMap::Lines, BelowMap::Band, BelowMap::Findings, BelowMap::Facts }) {
            choose("compareBelow", static_cast<int>(below));
            settle();
            QVERIFY(m_view->grab().save(
                test::shot(QStringLiteral("compare-%1-%2-%3.png").arg(theme, language).arg(static_cast<int>(below)))));
        }
        QVERIFY(m_view->renderImage({ 1200, 800 })
                    .save(test::shot(QStringLiteral("compare-picture-%1-%2.png").arg(theme, language))));
    }

private:
    std::string path(const std::string& name) const { return m_dir.path().toStdString() + '/' + name + ".telltale"; }
    const MadeUp& run(const std::string& name) const
    {
        return *std::find_if(m_runs.begin(), m_runs.end(), [&](const MadeUp& one) { return one.name == name; });
    }
    store::RunRef handle(const std::string& name) const
    {
        return std::make_shared<store::RunHandle>(
            store::RunHandle { store::RunLocator::ofFile(path(name)), name, name, nullptr });
    }
    std::unique_ptr<store::RunReader> reader(const std::string& name) const
    {
        return test::CapsuleBuilder::must(store::openReader(*handle(name)));
    }

    void openWindow()
    {
        m_pool = std::make_unique<store::QueryPool>(2);
        m_state = std::make_unique<ViewState>();
        m_axis = std::make_unique<SharedAxis>(m_state.get());
        m_model = std::make_unique<items::RunsModel>();
        std::vector<store::RunSummary> archived;
        for (const MadeUp& one : m_runs) {
            store::RunSummary summary;
            summary.locator = store::RunLocator::ofFile(path(one.name));
            summary.id = summary.name = one.name;
            archived.push_back(summary);
        }
        m_model->setArchived(archived);
        m_host = std::make_unique<QWidget>();
        m_host->resize(1080, 700);
        m_host->setAttribute(Qt::WA_DontShowOnScreen);
        m_pool->setWake([this] {
            QMetaObject::invokeMethod(
                this,
                [this] {
                    if (m_pool)
                        m_pool->deliver();
                },
                Qt::QueuedConnection);
        });
        ViewContext context { m_state.get(), m_axis.get(), m_pool.get() };
        context.runs = m_model.get();
        m_view = new CompareView(context, m_host.get());
        m_view->resize(1080, 700);
        const auto catalog = test::CapsuleBuilder::must(reader("a")->catalog());
        m_state->setRun(handle("a"));
        m_state->setCatalog(catalog);
        m_state->setFullRange(catalog->steps);
        m_host->show();
    }
    void show(const std::string& name)
    {
        const auto catalog = test::CapsuleBuilder::must(reader(name)->catalog());
        m_state->setRun(handle(name));
        m_state->setCatalog(catalog);
        m_state->setFullRange(catalog->steps);
    }
    QString noteText() const
    {
        const QString text = m_view->findChild<QLabel*>(QStringLiteral("compareNote"))->text();
        return QTextDocumentFragment::fromHtml(text).toPlainText();
    }
    void compareWith(const std::vector<std::string>& names)
    {
        std::vector<ComparedRun> runs;
        for (const std::string& name : names)
            runs.push_back({ handle(name), test::CapsuleBuilder::must(reader(name)->catalog()) });
        m_state->setComparedRuns(std::move(runs));
    }
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(m_view->isSettled(), 20'000); }
    /// As a person does.
    void choose(const char* name, const QVariant& data)
    {
        auto* box = m_view->findChild<QComboBox*>(QLatin1String(name));
        const int index = box->findData(data);
        QVERIFY(index >= 0);
        box->setCurrentIndex(index);
        Q_EMIT box->activated(index);
    }
    QByteArray csv() const
    {
        QBuffer buffer;
        buffer.open(QIODevice::WriteOnly);
        return m_view->writeCsv(&buffer) ? buffer.data() : QByteArray();
    }
    static void verifyCell(
        const HeatPicture& picture, const MadeUp& runA, const MadeUp& runB, int row, int step, HeatScale value)
    {
        const float a = valueIn(runA, row, step);
        const float b = valueIn(runB, row, step);
        const CellState state = picture.state(row, step);
        if (std::isnan(a) != std::isnan(b)) {
            QCOMPARE(state, CellState::NaN);
            return;
        }
        QCOMPARE(state, CellState::Value);
        const bool areEqual = std::isnan(a) || a == b;
        const float expected = value == HeatScale::Difference ? (areEqual ? 0 : b - a) : (areEqual ? 1 : b / a);
        QCOMPARE(picture.value(row, step), expected);
    }

    QTemporaryDir m_dir;
    std::vector<MadeUp> m_runs;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<ViewState> m_state;
    std::unique_ptr<SharedAxis> m_axis;
    std::unique_ptr<items::RunsModel> m_model;
    std::unique_ptr<QWidget> m_host;
    CompareView* m_view = nullptr;
};

TELLTALE_TEST(QTEST_MAIN, CompareViewTest)

}

#include "compareviewtest.moc"
