// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QLabel>
#include <QPainter>
#include <QPushButton>

#include <telltale/common/glyphs.h>
#include <telltale/compare/differencemap.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatimage.h>
#include <telltale/heatmap/heatlegend.h>
#include <telltale/heatmap/heatquery.h>
#include <telltale/heatmap/runends.h>
#include <telltale/plot/curvecanvas.h>

#include "comparedruns.h"

namespace comparemaptest {

using namespace telltale;
using namespace telltale::views;
using series::CellState;

/// The map of what two runs differ by. Thread: the test's.
class CompareMapTest : public QObject, test::ComparedRuns {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { writeRuns(); }
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

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

    void whatOneRunCollectsRarelyIsHeldWhateverTheOtherHas()
    {
        constexpr int kColumns = 100;
        constexpr int kEach = 5;
        constexpr int kNaN = 60;
        const auto partOf = [](int each, bool breaks) {
            ComparePart part;
            part.own = { Step { 0 }, Step { kColumns - 1 } };
            part.rows.resize(1);
            part.heat.range = part.own;
            part.heat.rows = 1;
            part.heat.columns = kColumns;
            for (int column = 0; column < kColumns; ++column) {
                part.heat.states.push_back(column % each != 0 ? CellState::NotCollected
                        : breaks && column >= kNaN            ? CellState::NaN
                                                              : CellState::Value);
                part.heat.values.push_back(static_cast<float>(breaks ? 1 : 2));
            }
            return part;
        };
        CompareRequest request;
        request.value = HeatScale::Difference;
        request.steps.resize(2, { Step { 0 }, Step { kColumns - 1 } });
        request.against = 1;
        CompareAnswer answer;
        addDifferenceMap(answer, request, partOf(kEach, false), partOf(1, true));
        QCOMPARE(answer.map->strongest[kNaN + 1], CellState::NaN); // it is news in the lane, at its own step
        const QImage image
            = HeatImage::render(*answer.map, RowLayout({ { 0, 0 } }, 12, 0), { 2 * kColumns, 12 }, 1, Theme::current());
        for (int column = kNaN; column < kColumns; ++column)
            QCOMPARE(image.pixel(2 * column, 0), glyphs::fill(CellState::NaN, Theme::current()).rgb());
        QCOMPARE(columnStepsText(*answer.map), QStringLiteral("one step in 5"));
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

    void whyAMapEndsIsSaidWholeOrNotAtAll()
    {
        HeatPicture picture;
        picture.sides = std::make_shared<HeatSides>();
        const auto hasWords = [&](QSize room) {
            QImage image(room, QImage::Format_RGB32);
            image.fill(Theme::current().base);
            const QImage empty = image;
            QPainter painter(&image);
            paintRunEndWords(
                painter, { { image.rect(), noStepAfter(QStringLiteral("short"), Step { 59 }) } }, picture, *m_state);
            painter.end();
            return image != empty;
        };
        QVERIFY(hasWords({ 300, 40 }));
        QVERIFY(hasWords({ 40, 300 }));
        QVERIFY(!hasWords({ 40, 40 }));
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

    void everyCellIsInTheTable()
    {
        compareWith({ "b" });
        settle();
        const QList<QByteArray> lines = csv().split('\n');
        QCOMPARE(lines.size(), kRows * kSteps + 2 * kSteps + 2);
        const QList<QByteArray> cells = lines[1 + kSteps + kBreaks].trimmed().split(',');
        QCOMPARE(cells[0], QByteArray("layers.1.fc.weight"));
        QCOMPARE(cells[6].toInt(), kBreaks);
        QCOMPARE(cells[8], QByteArray("value"));
        QCOMPARE(cells[10], QByteArray("nan"));
        const QList<QByteArray> other = lines[1 + 3 * kSteps + kParts].trimmed().split(',');
        QCOMPARE(other[12].toFloat(), valueIn(run("b"), 3, kParts) - valueIn(run("a"), 3, kParts));
        for (const auto& [at, name] : { std::pair(0, "a"), std::pair(1, "b") }) { // their curves, of the loss
            const QList<QByteArray> last = lines[(kRows + 1 + at) * kSteps].trimmed().split(',');
            QCOMPARE(last[0], QByteArray("loss"));
            QCOMPARE(last[6].toInt(), kSteps - 1);
            QCOMPARE(last.back(), QByteArray(name));
        }
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
};

TELLTALE_TEST(QTEST_MAIN, CompareMapTest)

}

#include "comparemaptest.moc"
