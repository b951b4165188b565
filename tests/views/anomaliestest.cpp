// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <QHeaderView>
#include <QLabel>
#include <QMouseEvent>
#include <QPushButton>
#include <QScrollBar>
#include <QTabBar>
#include <QTableView>
#include <QTreeWidget>

#include <telltale/anomalies/incidentcard.h>
#include <telltale/anomalies/timelinecanvas.h>
#include <telltale/common/axispainter.h>
#include <telltale/common/plotcanvas.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatmapview.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/items/incidentwords.h>
#include <telltale/plot/curvecanvas.h>
#include <telltale/plot/curvesview.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/startup.h>
#include <telltale/shell/tabbadge.h>
#include <telltale/shell/toaster.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/translations/translations.h>

#include "anomalieswindow.h"
#include "incidentfixture.h"
#include "looks.h"

namespace anomaliestest {

using namespace telltale;
using namespace telltale::items;
using store::Severity;

namespace {

/// How many times scroll bars were painted as long as it lives: a picture has none.
class PaintedBars : public QObject {
public:
    PaintedBars() { qApp->installEventFilter(this); }
    int count = 0;

private:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        count += event->type() == QEvent::Paint && qobject_cast<QScrollBar*>(watched) ? 1 : 0;
        return false;
    }
};

}

/// The incidents of a run on its timeline, and what a click or a key on them does. Thread: the test's.
class AnomaliesTest : public QObject, protected test::AnomaliesWindow {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { writeRun(); }
    void cleanup() { closeWindow(); }

    void lanesShareWhatThereIsRoomFor()
    {
        using views::LaneChoice;
        using views::LanePlan;
        std::vector<QString> blocks { QStringLiteral("embed") };
        for (int i = 0; i < 12; ++i)
            blocks.push_back(QStringLiteral("layers.%1").arg(i));
        blocks.push_back(QStringLiteral("head"));
        const LanePlan plan(blocks, 6, LaneChoice::Block);
        const QString dash(QChar(0x2013));
        QCOMPARE(plan.names(),
            (std::vector<QString> { QString(), QStringLiteral("embed"), QStringLiteral("layers 0") + dash + u'3',
                QStringLiteral("layers 4") + dash + u'7', QStringLiteral("layers 8") + dash + QStringLiteral("11"),
                QStringLiteral("head") }));
        QCOMPARE(plan.laneOf(QStringLiteral("layers.7")), 3);
        QCOMPARE(plan.laneOf(QStringLiteral("nowhere")), 0);
        QCOMPARE(LanePlan(blocks, 99, LaneChoice::Block).names().size(), blocks.size() + 1);
        // One that is left over is called as the ranges above it.
        const LanePlan odd({ QStringLiteral("layers.0"), QStringLiteral("layers.1"), QStringLiteral("layers.2") }, 3,
            LaneChoice::Block);
        QCOMPARE(odd.names(),
            (std::vector<QString> { QString(), QStringLiteral("layers 0") + dash + u'1', QStringLiteral("layers 2") }));
        // With too few lanes for all, what most modules are in keeps its own.
        const LanePlan few(blocks, 3, LaneChoice::Block);
        QCOMPARE(few.names(),
            (std::vector<QString> {
                QString(), QStringLiteral("layers 0") + dash + QStringLiteral("11"), QStringLiteral("others") }));
        QCOMPARE(few.laneOf(QStringLiteral("head")), 2);
        const std::vector<QString> numbers { QStringLiteral("0"), QStringLiteral("1") };
        QCOMPARE(LanePlan(numbers, 2, LaneChoice::Rank).names().back(), QStringLiteral("ranks 0") + dash + u'1');
        QCOMPARE(LanePlan(numbers, 9, LaneChoice::Rank).names().back(), QStringLiteral("rank 1"));
        // Modules of a sequence that is the model itself.
        QCOMPARE(LanePlan(numbers, 2, LaneChoice::Block).names().back(), QStringLiteral("0") + dash + u'1');
        QCOMPARE(LanePlan(numbers, 9, LaneChoice::Block).names().back(), QStringLiteral("1"));
    }

    /// The lanes, the table and the words of the card; nothing that can be pressed.
    void aPictureHoldsWhatAReaderWants()
    {
        open({ test::richIncident(360), test::incidentAt(100, Severity::Warning, "layers.2.mlp.fc", 0) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        settle();
        views::DataView* view = m_window->views()->currentView();
        const QSize size = view->size();
        const QString picture = QString::fromUtf8(view->renderSvg({ 1200, 700 }));
        for (const char* part : { "2 incidents", "layers.11", "layers.2.mlp.fc", "Severity", "checksums equal" })
            QVERIFY2(picture.contains(QLatin1String(part)), part);
        for (const char* part : { "not acknowledged", "Acknowledge", "Go to source", "False alarm" })
            QVERIFY2(!picture.contains(QLatin1String(part)), part);
        QCOMPARE(view->size(), size);
        // Where there is little room the words go, and rows say how many there are besides.
        const QString low = QString::fromUtf8(view->renderSvg({ 1200, 210 }));
        QVERIFY(!low.contains(QStringLiteral("checksums equal")));
        QVERIFY(low.contains(QStringLiteral("and 2 more")) || low.contains(QStringLiteral("and 1 more")));
        QVERIFY(view->renderImage({ 1200, 700 }).save(test::shot(QStringLiteral("anomalies-picture.png"))));
    }

    /// Whatever the card shows in the window; the list that is open there comes in whole rows below the words.
    void aPictureSaysTheSameWhileTheListOfFoldedFindingsIsOpen()
    {
        judge::Incident incident = test::richIncident(360);
        for (int i = 0; i < 40; ++i)
            incident.reach.push_back({ "tower." + std::to_string(i), Rank { 0 }, { Step { 370 }, Step { 380 } }, 1 });
        open({ incident, test::incidentAt(100, Severity::Warning, "layers.2.mlp.fc", 0),
            test::incidentAt(120, Severity::Warning, "layers.3.mlp.fc", 0) });
        m_window->state()->goToIncident(m_window->state()->incidents()->incident(2).id);
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        settle();
        views::DataView* view = m_window->views()->currentView();
        const QStringList words { QStringLiteral("First abnormal"), QStringLiteral("norm left its own history"),
            QStringLiteral("layers.2.mlp.fc"), QStringLiteral("3 incidents") };
        const auto* reach = view->findChild<QTreeWidget*>(QStringLiteral("incidentReach"));
        for (const bool isOpen : { false, true }) {
            if (isOpen)
                QTest::mouseClick(view->findChild<QPushButton*>(QStringLiteral("incidentFolded")), Qt::LeftButton);
            QCOMPARE(reach->isVisible(), isOpen);
            for (const QSize size : { QSize(1200, 1000), QSize(819, 425) }) {
                const PaintedBars bars;
                const QString picture = QString::fromUtf8(view->renderSvg(size));
                QVERIFY(view->renderImage(size).save(
                    test::shot(QStringLiteral("anomalies-folded-%1-%2.png").arg(isOpen).arg(size.width()))));
                QCOMPARE(bars.count, 0);
                for (const QString& part : words)
                    QVERIFY2(picture.contains(part), qPrintable(part));
                QCOMPARE(picture.contains(QStringLiteral("214 later findings folded")), isOpen);
                const auto rows = picture.count(QStringLiteral(">tower."))
                    + picture.count(QStringLiteral("\u2013399</text>")); // steps of the first
                QVERIFY(!isOpen || picture.contains(QStringLiteral("and %1 more").arg(46 - rows)));
            }
        }
        QVERIFY(reach->isVisible()); // as it was
        // Where nobody says how high it is, it has room for all.
        const QString whole = QString::fromUtf8(view->renderSvg({ 819, view->pictureHeight(819) }));
        QVERIFY(!whole.contains(QStringLiteral("and 1")) && whole.contains(QStringLiteral("tower.39")));
    }

    void aClickShowsTheSourceEverywhere()
    {
        open({ test::richIncident(360), test::incidentAt(100, Severity::Warning, "layers.2.mlp.fc", 0),
            test::incidentAt(200, Severity::Notice, "layers.7.attn.qkv", 0) });
        views::ViewState* state = m_window->state();
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* table = m_window->views()->currentView()->findChild<QTableView*>(QStringLiteral("incidentTable"));
        QCOMPARE(table->model()->rowCount(), 3);
        // Unasked, the card is that of the worst.
        QCOMPARE(state->incidents()->find(state->incident())->first.step, Step { 360 });
        QTest::mouseClick(
            table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(0, 3)).center());
        isShown("layers.2.mlp.fc", Rank { 0 }, Step { 100 });
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, QPoint(20, table->viewport()->height() - 2));
        QVERIFY(table->selectionModel()->isRowSelected(0)); // whose card stays, too
        QVERIFY(table->horizontalHeader()->length() <= table->viewport()->width());
        const auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        QVERIFY(card->findChild<QLabel*>(QStringLiteral("incidentSentence"))
                    ->text()
                    .contains(QStringLiteral("<b>step 100")));
        // The next one by its key, in whatever has the focus, and back.
        QTest::keyClick(table, Qt::Key_BracketRight);
        isShown("layers.7.attn.qkv", Rank { 0 }, Step { 200 });
        QTest::keyClick(m_window.get(), Qt::Key_BracketRight);
        isShown("layers.7.attn.qkv", Rank { 1 }, Step { 360 });
        QCOMPARE(table->currentIndex().row(), 2);
        QTest::keyClick(m_window.get(), Qt::Key_BracketLeft);
        isShown("layers.7.attn.qkv", Rank { 0 }, Step { 200 });
        // A mark in the timeline, a key there, and the mark above a plot.
        auto* timeline = m_window->findChild<views::TimelineCanvas*>();
        QTRY_VERIFY(timeline->lanes().size() > 3);
        const auto place = [&](int lane, std::int64_t step) {
            const QRect rect = timeline->laneRect(lane);
            return QPoint(rect.left()
                    + static_cast<int>(views::SharedAxis::xOfStep(state->visibleRange(), Step { step }, rect.width())),
                rect.center().y());
        };
        QPoint at;
        const auto isMarked = [&] {
            for (int lane = 0; lane < static_cast<int>(timeline->lanes().size()); ++lane) {
                if (timeline->incidentAt(place(lane, 360)) != 0)
                    at = place(lane, 360);
            }
            return !at.isNull();
        };
        QTRY_VERIFY(isMarked());
        const QPoint near = at - QPoint(4, 0); // some steps away, and still on its sign
        QMouseEvent move(QEvent::MouseMove, near, timeline->mapToGlobal(near), Qt::NoButton, Qt::NoButton, {});
        QCoreApplication::sendEvent(timeline, &move);
        QCOMPARE(state->hover(), std::optional(Step { 360 }));
        QTest::mouseClick(timeline, Qt::LeftButton, {}, at);
        isShown("layers.7.attn.qkv", Rank { 1 }, Step { 360 });
        QTest::keyClick(timeline, Qt::Key_Up);
        isShown("layers.7.attn.qkv", Rank { 0 }, Step { 200 });
        m_window->views()->setCurrent(QStringLiteral("heatmap"));
        settle();
        auto* plot = m_window->views()->currentView()->findChild<views::PlotCanvas*>();
        const QRect area = plot->plotRect();
        const int x = area.left()
            + static_cast<int>(views::SharedAxis::xOfStep(state->visibleRange(), Step { 100 }, area.width()));
        QTest::mouseClick(plot, Qt::LeftButton, {}, QPoint(x, area.top() - 8));
        isShown("layers.2.mlp.fc", Rank { 0 }, Step { 100 });
        // One cursor, one line down the window.
        QTRY_COMPARE(timeline->mapToGlobal(timeline->plotRect().topLeft()).x(), plot->mapToGlobal(area.topLeft()).x());
        QCOMPARE(timeline->plotRect().width(), area.width());
    }

    /// Between the edges of the plots above, so that a step is one line down the window; with an axis of its own where
    /// there are no such edges.
    void theTimelineHasTheAxisOfTheView()
    {
        open({ test::incidentAt(100, Severity::Warning, "layers.2.mlp.fc", 0) });
        auto* state = m_window->state();
        state->setSelection(
            views::keysOf(*state->catalog(), state->kind(), QStringLiteral("layers.3.attn.qkv.weight")).keys);
        auto* timeline = m_window->findChild<views::TimelineCanvas*>();
        const auto left
            = [](const views::PlotCanvas* plot) { return plot->mapToGlobal(plot->plotRect().topLeft()).x(); };
        const auto names = [timeline] {
            QStringList all;
            for (const views::Lane& lane : timeline->lanes())
                all.append(lane.name);
            return all;
        };
        QStringList grouped;
        for (const char* id : { "heatmap", "curves", "ranks" }) {
            m_window->views()->setCurrent(QString::fromLatin1(id));
            settle();
            grouped = names();
            QTRY_VERIFY2(!timeline->hasOwnAxis(), id);
            const int lanes = static_cast<int>(timeline->lanes().size());
            QVERIFY(timeline->laneRect(lanes - 1).bottom() < timeline->stripRect().top());
            // Blocks share lanes, and there is no room for another.
            QVERIFY(names().filter(QChar(0x2013)).size() > 0);
            QVERIFY2(timeline->height() - timeline->stripRect().bottom() < 8 + views::TimelineCanvas::kLaneHeight, id);
            int count = 0;
            for (const auto* plot : m_window->views()->currentView()->findChildren<views::PlotCanvas*>()) {
                if (!plot->isVisible() || !plot->hasEvenSteps())
                    continue;
                ++count;
                QTRY_COMPARE(left(timeline), left(plot));
                QTRY_COMPARE(timeline->plotRect().width(), plot->plotRect().width());
            }
            QVERIFY2(count > 0, id);
            // The card begins there, wherever that is.
            const auto* card
                = m_window->findChild<QWidget*>(QStringLiteral("anomaliesPanel"))->findChild<views::IncidentCard*>();
            QTRY_VERIFY2(card->x() > timeline->plotRect().right() && card->x() - timeline->plotRect().right() < 12, id);
        }
        // A map over ranks has no steps; the curves below it have.
        auto* heatmap = m_window->findChild<views::HeatmapView*>();
        m_window->views()->setCurrent(QStringLiteral("heatmap"));
        heatmap->setAxes(views::HeatAxes::ModuleByRank);
        settle();
        auto* below = heatmap->parentWidget()->findChild<views::CurvesView*>()->findChild<views::CurveCanvas*>();
        QTRY_COMPARE(heatmap->canvas()->hasEvenSteps(), false);
        QTRY_COMPARE(left(timeline), left(below));
        QTRY_COMPARE(timeline->plotRect().width(), below->plotRect().width());
        heatmap->setAxes(views::HeatAxes::ModuleByStep);
        const auto isAlone = [&](const char* id) {
            QTRY_VERIFY2(timeline->hasOwnAxis(), id);
            const int lanes = static_cast<int>(timeline->lanes().size());
            QVERIFY(
                timeline->laneRect(lanes - 1).bottom() + views::AxisPainter::kStepBand < timeline->stripRect().top());
            QVERIFY(timeline->stripRect().bottom() <= timeline->height());
            QCOMPARE(names(), grouped); // whether the axis is here or above
        };
        for (const char* id : { "config", "attention", "structure" }) {
            m_window->views()->setCurrent(QString::fromLatin1(id));
            settle();
            isAlone(id);
        }
        state->setSelection({});
        m_window->views()->setCurrent(QStringLiteral("curves"));
        settle();
        isAlone("no curves");
    }

    void whatALaneIsCalledIsCutInTheMiddleAndSaid()
    {
        const std::string name = "transformer.decoder_blocks_of_the_second_stage.7.mlp.fc";
        open({ test::incidentAt(100, Severity::Warning, name.c_str(), 0) });
        auto* timeline = m_window->findChild<views::TimelineCanvas*>();
        QTRY_VERIFY(timeline->lanes().size() > 2); // the run's own blocks, which come when they are read
        timeline->setBlocks({ QStringLiteral("transformer.decoder_blocks_of_the_second_stage.7") });
        settle();
        QTRY_COMPARE(timeline->lanes().size(), std::size_t { 2 });
        const QString said = timeline->laneText(1);
        QVERIFY2(said.contains(QStringLiteral("transformer.decoder_blocks_of_the_second_stage.7")), qPrintable(said));
        QVERIFY2(said.contains(timeline->lanes()[1].rules), qPrintable(said));
    }

    void aClickOnAMessageOfTheDesktopShowsItsIncident()
    {
        open({ test::richIncident(360), test::incidentAt(100, Severity::Warning, "layers.2.mlp.fc", 0) });
        const auto* incidents = m_window->state()->incidents();
        const std::string here = m_window->state()->run()->locator.text();
        const std::int64_t early = incidents->incident(0).id;
        // From a window that is away, of the run that it shows.
        m_window->views()->setCurrent(QStringLiteral("curves"));
        m_window->showMinimized();
        m_window->showAlert({ here, early }, {});
        QVERIFY(!m_window->isMinimized() && QTest::qWaitForWindowActive(m_window.get()));
        isShown("layers.2.mlp.fc", Rank { 0 }, Step { 100 });
        QCOMPARE(m_window->state()->incident(), early);
        QCOMPARE(m_window->views()->currentId(), QStringLiteral("curves")); // its card is below
        // While another run is shown, and no card is.
        const QString other = m_dir->path() + QStringLiteral("/runs/2026-01-03_other_def456.telltale");
        QVERIFY(QFile::copy(m_clean.path() + QStringLiteral("/runs/2026-01-02_gpt-12l_abc123.telltale"), other));
        const auto showOther = [&] {
            m_window->openPath(other);
            QTRY_VERIFY_WITH_TIMEOUT(m_window->state()->run()->locator.text() == other.toStdString(), 20'000);
        };
        showOther();
        m_window->commands()->action("window.anomalies")->trigger();
        m_window->showAlert({ here, early }, {});
        QTRY_COMPARE_WITH_TIMEOUT(m_window->state()->cursor(), std::optional(Step { 100 }), 20'000);
        QVERIFY(m_window->state()->run()->locator.text() == here);
        isShown("layers.2.mlp.fc", Rank { 0 }, Step { 100 });
        QCOMPARE(m_window->views()->currentId(), QStringLiteral("anomalies"));
        // Several: all that their run has.
        showOther();
        m_window->views()->setCurrent(QStringLiteral("curves"));
        m_window->showAlert({ here }, {});
        QTRY_COMPARE_WITH_TIMEOUT(m_window->views()->currentId(), QStringLiteral("anomalies"), 20'000);
        QVERIFY(m_window->state()->run()->locator.text() == here && !m_window->state()->cursor());
        // What is not there any more is one sentence.
        m_window->showAlert({ here, 999 }, {});
        QTRY_COMPARE_WITH_TIMEOUT(m_window->toaster()->shown(),
            QStringList { QStringLiteral("The run has no such incident any more") }, 20'000);
        m_window->showAlert({ "/nowhere/run.telltale", 1 }, {});
        QTRY_COMPARE_WITH_TIMEOUT(m_window->toaster()->shown().size(), 2, 20'000);
        QVERIFY(m_window->toaster()->shown().back().contains(QStringLiteral("there is no file")));
        m_window->showAlert({}, {});
        QVERIFY(m_window->state()->run()->locator.text() == here);
    }

    void theWholeRunIsDraggedThroughTheWindow()
    {
        open({ test::richIncident(360) });
        views::ViewState* state = m_window->state();
        state->zoomTo({ Step { 0 }, Step { 99 } });
        auto* timeline = m_window->findChild<views::TimelineCanvas*>();
        const QRect strip = timeline->stripRect();
        QVERIFY(timeline->rect().contains(strip));
        QTest::mousePress(timeline, Qt::LeftButton, {}, QPoint(strip.left() + strip.width() / 8, strip.center().y()));
        QCOMPARE(state->visibleRange().first, Step { 0 });
        QTest::mouseMove(timeline, QPoint(strip.left() + strip.width() * 5 / 8, strip.center().y()));
        QTRY_VERIFY(std::abs(state->visibleRange().first.value - 200) <= 2);
        QTest::mouseRelease(
            timeline, Qt::LeftButton, {}, QPoint(strip.left() + strip.width() * 5 / 8, strip.center().y()));
        QCOMPARE(state->visibleRange().count(), 100);
    }

    void everyLookIsCalm_data() { test::addLooks(); }

    void everyLookIsCalm()
    {
        QFETCH(QString, theme);
        QFETCH(QString, language);
        QVERIFY(translations::install(*qApp, language));
        shell::applyTheme(*qApp, theme);
        const QString tail = theme + u'-' + language;
        open({}, true, { { { Step { 0 }, Step { 399 } }, 412, 2, 17 } });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        settle();
        const auto* empty = m_window->findChild<QLabel*>(QStringLiteral("anomaliesEmpty"));
        QVERIFY(empty->isVisible() && empty->text().contains(QStringLiteral("399")));
        if (language == QLatin1String("en"))
            QVERIFY(empty->text().contains(QStringLiteral("step 399.\n"))); // a sentence before another
        shoot(QStringLiteral("anomalies-none-") + tail);
        open({ test::richIncident(360) });
        m_window->state()->goToIncident(m_window->state()->incident());
        settle();
        shoot(QStringLiteral("anomalies-one-") + tail);
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        settle();
        shoot(QStringLiteral("anomalies-tab-") + tail);
        checkBadge();
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        std::vector<judge::Incident> many { test::richIncident(360) };
        for (int i = 0; i < 14; ++i)
            many.push_back(test::incidentAt(20 + i * 24, static_cast<Severity>(i % 2),
                i % 3 == 0       ? "tok_emb"
                    : i % 3 == 1 ? "layers.5.mlp.fc"
                                 : "layers.10.ln1",
                i % 2));
        open(many);
        m_window->state()->goToIncident(m_window->state()->incident());
        settle();
        shoot(QStringLiteral("anomalies-many-") + tail);
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        settle();
        shoot(QStringLiteral("anomalies-manytab-") + tail);
    }

private:
    /// The count stands in its tab as in the design, whether it is the current one or not.
    void checkBadge()
    {
        const auto* badge = m_window->findChild<shell::TabBadge*>();
        const auto* tabs = qobject_cast<const QTabBar*>(badge->parentWidget());
        for (const char* view : { "anomalies", "heatmap" }) {
            m_window->views()->setCurrent(QLatin1String(view));
            int tab = 0;
            while (tabs->tabButton(tab, QTabBar::RightSide) != badge)
                ++tab;
            const QRect pill = badge->pill().translated(badge->pos());
            constexpr int kPadding = 14;
            const int words
                = tabs->tabRect(tab).left() + kPadding + tabs->fontMetrics().horizontalAdvance(tabs->tabText(tab));
            const int before = pill.left() - words, behind = tabs->tabRect(tab).right() - pill.right();
            QVERIFY2(before >= 6 && before <= 10, qPrintable(QString::number(before)));
            QVERIFY2(behind >= 12 && behind <= 14, qPrintable(QString::number(behind)));
        }
    }

    void shoot(const QString& name) { QVERIFY(m_window->grab().save(test::shot(name + QStringLiteral(".png")))); }

    void isShown(const char* name, Rank rank, Step step)
    {
        const views::ViewState* state = m_window->state();
        QCOMPARE(state->cursor(), std::optional(step));
        QCOMPARE(state->rank(), rank);
        QCOMPARE(state->selection().size(), std::size_t { 1 });
        QCOMPARE(state->selection().front(), (views::ModuleKey { QString::fromLatin1(name), Slot::output() }));
        QCOMPARE(state->kind(), Kind::Actv);
        QCOMPARE(state->stat(), Stat::Norm);
    }
};

TELLTALE_TEST(QTEST_MAIN, AnomaliesTest)

}

#include "anomaliestest.moc"
