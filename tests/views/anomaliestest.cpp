// SPDX-License-Identifier: GPL-3.0-or-later
#include "shots.h"
#include "testmain.h"

#include <ctime>

#include <QAbstractItemModelTester>
#include <QBuffer>
#include <QComboBox>
#include <QDateTime>
#include <QDir>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTabBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTreeWidget>

#include <telltale/anomalies/anomaliesview.h>
#include <telltale/anomalies/glyphline.h>
#include <telltale/anomalies/incidentcard.h>
#include <telltale/anomalies/incidentreach.h>
#include <telltale/anomalies/incidentsentence.h>
#include <telltale/anomalies/incidenttimes.h>
#include <telltale/anomalies/timelinecanvas.h>
#include <telltale/common/axispainter.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/plotcanvas.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
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
#include <telltale/store/querypool.h>
#include <telltale/store/storeservice.h>
#include <telltale/translations/translations.h>

#include "incidentfixture.h"
#include "looks.h"
#include "shellfixture.h"

namespace anomaliestest {

using namespace telltale;
using namespace telltale::items;
using judge::Annotation;
using store::Severity;

namespace {

constexpr qint64 kSlowest = 50; ///< ms in which the window answers nobody: of the processor, not of its other work

qint64 threadMs()
{
    timespec now {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<qint64>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

store::LogRecord opened(const judge::Incident& incident, std::int64_t id)
{
    return test::recordOf(judge::incidentEvent(incident, 1), id);
}

store::LogRecord said(std::int64_t incident, Annotation::Action action, std::int64_t id)
{
    return test::recordOf(judge::annotationEvent({ incident, action, "a note" }, Step { 1 }, "me", 2), id);
}

std::vector<qint64> ids(const QAbstractItemModel& model)
{
    std::vector<qint64> all;
    for (int row = 0; row < model.rowCount(); ++row)
        all.push_back(model.index(row, 0).data(KeyRole).toLongLong());
    return all;
}

}

/// The incidents of a run: their rows, their views, and what a click or a key on them does. Thread: the test's.
class AnomaliesTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { test::DemoCapsule(m_clean.path().toStdString()).write(); }
    void cleanup()
    {
        m_window.reset();
        m_pool.reset();
        m_store.reset();
        m_dir.reset();
        translations::install(*qApp, QStringLiteral("en"));
    }

    void rowsAreInsertedAndMovedInTheOrderOfCauses()
    {
        IncidentsModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        QSignalSpy moved(&model, &QAbstractItemModel::rowsMoved);
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        model.append(
            { opened(test::incidentAt(50), 1), opened(test::incidentAt(20), 2), opened(test::incidentAt(90), 3) });
        QCOMPARE(ids(model), (std::vector<qint64> { 2, 1, 3 }));
        QCOMPARE(inserted.size(), 3);
        // An earlier cause is found for the last.
        judge::Incident earlier = test::incidentAt(10);
        earlier.id = 3;
        model.append({ opened(earlier, 4) });
        QCOMPARE(ids(model), (std::vector<qint64> { 3, 2, 1 }));
        QCOMPARE(moved.size(), 1);
        model.append({ said(2, Annotation::Action::Acknowledge, 5), said(2, Annotation::Action::False, 6) });
        QCOMPARE(changed.size(), 3);
        QCOMPARE(model.unacknowledged(), 2);
        QCOMPARE(model.index(1, IncidentsModel::StateColumn).data().toString(),
            QStringLiteral("open, acknowledged, false alarm"));
        earlier.first.step = Step { 30 };
        earlier.folded = 7;
        model.append({ opened(earlier, 7) });
        QCOMPARE(ids(model), (std::vector<qint64> { 2, 3, 1 }));
        QCOMPARE(model.index(1, IncidentsModel::FoldedColumn).data().toString(), QStringLiteral("7"));
        store::LogRecord ofAnAgent = opened(test::incidentAt(1), 8);
        ofAnAgent.rank = Rank { 0 };
        model.append({ ofAnAgent });
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(inserted.size(), 3);
        QCOMPARE(reset.size(), 0);
    }

    void whatBecomesPartOfAnotherLeavesItsRow()
    {
        IncidentsModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy removed(&model, &QAbstractItemModel::rowsRemoved);
        model.append(
            { opened(test::incidentAt(20), 1), opened(test::incidentAt(50), 2), opened(test::incidentAt(90), 3) });
        judge::Incident part = test::incidentAt(50);
        part.id = 2;
        part.into = 1;
        model.append({ opened(part, 4) });
        QCOMPARE(ids(model), (std::vector<qint64> { 1, 3 }));
        QCOMPARE(removed.size(), 1);
        QCOMPARE(model.find(2)->id, std::int64_t { 1 }); // who looks at it sees the one that has it
        model.append({ said(2, Annotation::Action::Acknowledge, 5) });
        QCOMPARE(ids(model), (std::vector<qint64> { 1, 3 }));
        model.clear(); // and from the beginning, as another window reads it
        model.append({ opened(test::incidentAt(20), 1), opened(test::incidentAt(50), 2), opened(part, 4) });
        QCOMPARE(ids(model), (std::vector<qint64> { 1 }));
    }

    void neighborsAreFoundFromAnIncidentOrAStep()
    {
        IncidentsModel model;
        model.append(
            { opened(test::incidentAt(20), 1), opened(test::incidentAt(20), 2), opened(test::incidentAt(60), 3) });
        QCOMPARE(model.rowBeside(1, Step { 20 }, true), 1);
        QCOMPARE(model.rowBeside(1, Step { 20 }, false), -1);
        QCOMPARE(model.rowBeside(3, Step { 60 }, true), -1);
        QCOMPARE(model.rowBeside(0, Step { 30 }, true), 2);
        QCOMPARE(model.rowBeside(0, Step { 30 }, false), 1);
        QCOMPARE(model.rowBeside(0, Step { -1 }, true), 0);
    }

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

    void thousandsOfIncidentsAndFoldedFindingsHoldNothingUp()
    {
        qint64 slowest = 0;
        const auto timed = [&](auto call) {
            const qint64 before = threadMs();
            call();
            slowest = std::max(slowest, threadMs() - before);
        };
        views::ViewState state;
        state.setFullRange({ Step { 0 }, Step { 99'999 } });
        views::SharedAxis axis(&state);
        store::QueryPool pool(1);
        QWidget host;
        host.resize(1200, 900);
        host.setAttribute(Qt::WA_DontShowOnScreen);
        views::AnomaliesView view({ &state, &axis, &pool }, &host);
        views::TimelineCanvas timeline(&state, &host);
        std::vector<QString> blocks;
        for (int i = 0; i < 96; ++i)
            blocks.push_back(QStringLiteral("layers.%1").arg(i));
        timeline.setBlocks(blocks);
        view.resize(1200, 700);
        timeline.resize(1200, 160);
        timeline.move(0, 720);
        host.show();
        // 5 000 incidents, each told of twenty times as it folds more: 100 000 records, in the pages of the log.
        std::int64_t record = 0;
        for (int round = 0; round < 20; ++round) {
            for (int page = 0; page < 10; ++page) {
                store::LogPage log;
                for (int i = 0; i < 500; ++i) {
                    const int number = page * 500 + i;
                    const auto severity = static_cast<Severity>(number % 3);
                    judge::Incident incident = test::incidentAt(number * 20, severity);
                    incident.folded = static_cast<std::uint64_t>(round + 1);
                    incident.reach = { { "layers." + std::to_string(number % 96), Rank { 1 },
                        { Step { number * 20 }, Step { number * 20 + round } }, 1 } };
                    incident.id = round == 0 ? 0 : number + 1;
                    log.records.push_back(opened(incident, ++record));
                }
                timed([&] { state.appendLog(log); });
            }
            while (!state.incidents()->isSettled())
                timed([] { QCoreApplication::processEvents(QEventLoop::AllEvents, 1); });
        }
        QCOMPARE(state.incidents()->rowCount(), 5000);
        QCOMPARE(state.incidents()->incident(4999).folded, std::uint64_t { 20 });
        timed([&] { timeline.setChoice(views::LaneChoice::Rank); });
        timed([&] { timeline.setChoice(views::LaneChoice::Block); });
        timed([&] { timeline.repaint(); });
        timed([&] { view.repaint(); });
        timed([&] { state.goToIncidentBeside(true); });
        timed([&] { view.findChild<QComboBox*>(QStringLiteral("incidentSeverity"))->setCurrentIndex(2); });
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // which take most of the time for themselves
        QVERIFY2(slowest <= kSlowest, qPrintable(QString::number(slowest)));
#endif
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

    void whatAPersonSaysIsWrittenAndShown()
    {
        open({ test::richIncident(360) });
        views::ViewState* state = m_window->state();
        const auto* badge = m_window->findChild<shell::TabBadge*>();
        QCOMPARE(badge->count(), 1);
        QVERIFY(badge->isVisible());
        auto* card = m_window->findChild<QDockWidget*>(QStringLiteral("anomalies"))->findChild<views::IncidentCard*>();
        auto* acknowledge = card->findChild<QPushButton*>(QStringLiteral("incidentAcknowledge"));
        auto* note = card->findChild<QLineEdit*>(QStringLiteral("incidentNote"));
        QTest::mouseClick(acknowledge, Qt::LeftButton);
        const auto incident = [&] { return state->incidents()->incident(0); };
        QTRY_VERIFY_WITH_TIMEOUT(incident().isAcknowledged, 20'000);
        QCOMPARE(badge->count(), 0);
        QVERIFY(!badge->isVisible() && !acknowledge->isEnabled());
        QTest::keyClicks(note, QStringLiteral("the loss scale"));
        QTest::keyClick(note, Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(incident().notes, std::vector<std::string> { "the loss scale" }, 20'000);
        // In a view Return pins the cursor, but not in a field there.
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* inView = m_window->views()->currentView()->findChild<QLineEdit*>(QStringLiteral("incidentNote"));
        inView->setFocus();
        const auto cursor = state->cursor();
        QTest::keyClicks(inView, QStringLiteral("seen"));
        QTest::keyClick(inView, Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(incident().notes.size(), std::size_t { 2 }, 20'000);
        QCOMPARE(state->cursor(), cursor);
        m_window->views()->setCurrent(QStringLiteral("heatmap"));
        QTest::mouseClick(card->findChild<QPushButton*>(QStringLiteral("incidentFalse")), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(incident().label, judge::Incident::Label::False, 20'000);
        QVERIFY(card->findChild<QPushButton*>(QStringLiteral("incidentFalse"))->isChecked());
        // What it reached, and one of it.
        QTest::mouseClick(card->findChild<QPushButton*>(QStringLiteral("incidentFolded")), Qt::LeftButton);
        auto* reach = card->findChild<QTreeWidget*>(QStringLiteral("incidentReach"));
        QVERIFY(reach->isVisible());
        // The name in the title loses its front, and none of it is cut without a word.
        const int whole = card->width();
        card->setFixedWidth(400);
        QCoreApplication::processEvents();
        const QLabel* title = nullptr;
        for (const auto* label : card->findChildren<QLabel*>())
            title = label->text().startsWith(QStringLiteral("Folded into")) ? label : title;
        QVERIFY2(title && title->text().contains(QChar(0x2026)), title ? qPrintable(title->text()) : "no title");
        QTRY_VERIFY(title->width() >= title->fontMetrics().horizontalAdvance(title->text()));
        card->setFixedWidth(whole);
        QCoreApplication::processEvents();
        QCOMPARE(reach->topLevelItemCount(), 6);
        QVERIFY(reach->header()->length() <= reach->viewport()->width());
        QVERIFY(!reach->horizontalScrollBar()->isVisible());
        for (int row = 0; row < 6; ++row) // none is cut, nor touches its rank
            QVERIFY(reach->columnWidth(0)
                > 16 + QFontMetrics(views::codeFont(12)).horizontalAdvance(reach->topLevelItem(row)->text(0)));
        QTest::mouseClick(
            reach->viewport(), Qt::LeftButton, {}, reach->visualItemRect(reach->topLevelItem(1)).center());
        QCOMPARE(state->cursor(), std::optional(Step { 361 }));
        QTest::mouseClick(
            reach->viewport(), Qt::LeftButton, {}, reach->visualItemRect(reach->topLevelItem(0)).center());
        QVERIFY(!state->selection().empty());
        QVERIFY(state->selection().front().name.startsWith(reach->topLevelItem(0)->text(0)));
    }

    void theListCountsWhatCameLaterAsTheCardDoes()
    {
        judge::Incident incident = test::incidentAt(150);
        incident.reach = { { "layers.6", Rank { 1 }, { Step { 150 }, Step { 150 } }, 3 },
            { "layers.7", Rank { 1 }, { Step { 150 }, Step { 150 } }, 4 } };
        incident.folded = 6; // and the first
        QCOMPARE(views::IncidentReach::laterFindings(incident), std::vector<std::uint64_t>({ 3, 3 }));
        incident.folded = 7;
        QCOMPARE(views::IncidentReach::laterFindings(incident), std::vector<std::uint64_t>({ 3, 4 }));
    }

    void whoDoesNotRecordSaysWhyNothingCanBeWritten()
    {
        open({ test::richIncident(360) }, false);
        const auto* card
            = m_window->findChild<QDockWidget*>(QStringLiteral("anomalies"))->findChild<views::IncidentCard*>();
        for (const char* name : { "incidentAcknowledge", "incidentTrue", "incidentFalse" })
            QVERIFY2(!card->findChild<QPushButton*>(QLatin1String(name))->isEnabled(), name);
        QVERIFY(!card->findChild<QLineEdit*>(QStringLiteral("incidentNote"))->isEnabled());
        const auto* why = card->findChild<QLabel*>(QStringLiteral("incidentWhyNot"));
        QVERIFY(why->isVisible() && why->text().contains(QStringLiteral("Another Telltale")));
        QVERIFY(card->findChild<QPushButton*>(QStringLiteral("incidentSource"))->isEnabled());
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

    void theListIsFilteredAndExported()
    {
        open({ test::richIncident(360), test::incidentAt(100, Severity::Warning),
            test::incidentAt(200, Severity::Notice) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* view = m_window->views()->currentView();
        const auto* table = view->findChild<QTableView*>(QStringLiteral("incidentTable"));
        view->findChild<QComboBox*>(QStringLiteral("incidentSeverity"))->setCurrentIndex(1);
        QCOMPARE(table->model()->rowCount(), 2);
        QBuffer file;
        file.open(QIODevice::ReadWrite);
        QVERIFY(view->writeCsv(&file));
        const QList<QByteArray> lines = file.data().trimmed().split('\n');
        QCOMPARE(lines.size(), 3);
        QVERIFY(lines[1].contains(",warning,100,1,layers.7.attn.qkv,output,actv,norm,forward,history,"));
        view->findChild<QComboBox*>(QStringLiteral("incidentWhich"))->setCurrentIndex(1);
        QCOMPARE(table->model()->rowCount(), 2);
    }

    void aNarrowListKeepsRoomForWhatWasSeen()
    {
        open({ test::richIncident(360), test::incidentAt(100, Severity::Warning) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* table = m_window->views()->currentView()->findChild<QTableView*>(QStringLiteral("incidentTable"));
        for (const int width : { 640, 720, 800, 900 }) {
            table->setFixedWidth(width);
            QCoreApplication::processEvents();
            const auto spare
                = [table](int column, int least) { return std::max(table->columnWidth(column) - least, 0); };
            // What can be cut well gives all that it can before this column is less than its words.
            const int lacking
                = static_cast<QAbstractItemView*>(table)->sizeHintForColumn(items::IncidentsModel::SentenceColumn)
                - table->columnWidth(items::IncidentsModel::SentenceColumn);
            QVERIFY2(table->columnWidth(items::IncidentsModel::SentenceColumn) >= 360 || lacking <= 0
                    || spare(items::IncidentsModel::PlaceColumn, 150) == 0,
                qPrintable(QString::number(width)));
        }
    }

    void aCardWithoutAnIncidentHasNothingLeftOfOne()
    {
        open({ test::richIncident(360) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        card->setFixedSize(560, 134); // in one row of buttons
        auto* folded = card->findChild<QPushButton*>(QStringLiteral("incidentFolded"));
        QTRY_VERIFY(folded->isVisible());
        m_window->state()->setRun({});
        QTRY_VERIFY(!folded->isVisible());
    }

    void whatIsSaidOfAnIncidentHasRoomInALowCard()
    {
        open({ test::richIncident(360) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        card->setFixedWidth(560);
        for (const int height : { 170, 134 }) { // in two rows, and in one
            card->setFixedHeight(height);
            QCoreApplication::processEvents();
            for (const char* name : { "incidentAcknowledge", "incidentTrue", "incidentFalse", "incidentFolded" })
                QTRY_VERIFY2(card->findChild<QPushButton*>(QLatin1String(name))->isVisible(), name);
            QCOMPARE(card->findChild<QLineEdit*>(QStringLiteral("incidentNote"))->isVisible(), height == 170);
            const auto* sentence = card->findChild<QLabel*>(QStringLiteral("incidentSentence"));
            QTRY_VERIFY(sentence->visibleRegion().boundingRect().height() >= 2 * sentence->fontMetrics().height());
        }
        QTest::mouseClick(card->findChild<QPushButton*>(QStringLiteral("incidentFalse")), Qt::LeftButton);
        card->setMinimumWidth(0);
        QTRY_VERIFY2(
            card->minimumSizeHint().width() < 400, qPrintable(QString::number(card->minimumSizeHint().width())));
        QTRY_COMPARE_WITH_TIMEOUT(
            m_window->state()->incidents()->incident(0).label, judge::Incident::Label::False, 20'000);
    }

    void evidenceThatHasNoRoomIsCountedAndNoneSaysWhatTheSentenceDoes()
    {
        judge::Incident incident = test::richIncident(360);
        judge::Finding again = incident.first;
        again.name = "head.weight";
        again.sentence = "an element is +Inf";
        incident.evidence.insert(incident.evidence.begin(), again);
        open({ incident });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        const auto shown = [card] {
            QStringList texts;
            for (const auto* line : card->findChildren<views::GlyphLine*>()) {
                const auto* label = line->findChild<QLabel*>();
                if (line->isVisible() && label->font().pixelSize() == views::wordsFont(12).pixelSize())
                    texts.append(label->text());
            }
            return texts;
        };
        card->setFixedSize(560, 400);
        QTRY_COMPARE(shown().size(), 3);
        QVERIFY2(shown().front().startsWith(QStringLiteral("norm left its own history")), qPrintable(shown().front()));
        for (int height = 300; height > 134; height -= 6) {
            card->setFixedHeight(height);
            QCoreApplication::processEvents();
            const QStringList texts = shown();
            if (!texts.isEmpty() && texts.size() < 3)
                QVERIFY2(texts.back().endsWith(QStringLiteral(" and %1 more").arg(3 - texts.size())),
                    qPrintable(texts.join(u'|')));
        }
    }

    void theEdgeOfALowCardGoesThroughNoLine()
    {
        judge::Incident incident = test::richIncident(360);
        incident.ties.clear();
        incident.first.name = "model.decoder.layers.7.self_attention.linear_qkv.of.a.model.with.long.names";
        open({ incident });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        const auto* sentence = card->findChild<QLabel*>(QStringLiteral("incidentSentence"));
        const QWidget* page = sentence->parentWidget();
        const auto* scroll = qobject_cast<QScrollArea*>(page->parentWidget()->parentWidget());
        card->setFixedSize(300, 400);
        QTRY_COMPARE(scroll->verticalScrollBar()->maximum(), 0);
        int scrolled = 0;
        for (int height = 300; height >= 134; height -= 3) {
            card->setFixedHeight(height);
            QTest::qWait(1);
            bool isEvidenceHidden = true;
            for (const auto* line : page->findChildren<views::GlyphLine*>())
                isEvidenceHidden = isEvidenceHidden && line->isHidden();
            QVERIFY(!isEvidenceHidden);
            const int edge = scroll->viewport()->height();
            if (scroll->verticalScrollBar()->maximum() == 0)
                continue;
            ++scrolled;
            const QFontMetrics metrics = sentence->fontMetrics();
            const double line = sentence->height() / std::floor(1.0 * sentence->height() / metrics.height());
            if (edge < sentence->height()) {
                const double lines = edge / line;
                QVERIFY2(std::abs(lines - std::round(lines)) * line <= 1, qPrintable(QString::number(lines)));
            }
        }
        QVERIFY(scrolled > 0);
    }

    void evidenceIsCutOnlyWhereItHasNoRoomForAnotherLine()
    {
        judge::Incident incident = test::richIncident(360);
        incident.ties.clear();
        open({ incident });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        card->setFixedSize(300, 400);
        const auto* page = card->findChild<QLabel*>(QStringLiteral("incidentSentence"))->parentWidget();
        QTRY_VERIFY(!page->findChild<views::GlyphLine*>()->isHidden());
        int mixed = 0;
        for (int height = 400; height >= 200; height -= 3) {
            card->setFixedHeight(height);
            int wrapped = 0, cut = 0;
            for (const auto* line : page->findChildren<views::GlyphLine*>()) {
                const auto* label = line->findChild<QLabel*>();
                cut += !line->isHidden() && label->text().endsWith(QChar(0x2026)) ? 1 : 0;
                wrapped += !line->isHidden() && label->wordWrap()
                        && label->fontMetrics().horizontalAdvance(label->text()) > 276 - views::GlyphLine::kIndent
                    ? 1
                    : 0;
            }
            mixed += wrapped > 0 && cut > 0 ? 1 : 0;
        }
        QVERIFY(mixed > 0);
    }

    void theCardIsAsWideAsItsButtons()
    {
        open({ test::richIncident(360) });
        const auto* dock = m_window->findChild<QWidget*>(QStringLiteral("anomaliesPanel"));
        const auto* card = dock->findChild<views::IncidentCard*>();
        const auto* folded = card->findChild<QPushButton*>(QStringLiteral("incidentFolded"));
        QTRY_VERIFY(folded->isVisible());
        card->findChild<QPushButton*>(QStringLiteral("incidentSource"))->setIconSize({ 400, 16 });
        Q_EMIT m_window->state()->incidents()->changed();
        QTRY_VERIFY2(folded->mapTo(card, folded->rect().topRight()).x() < card->width() - 12,
            qPrintable(QString::number(folded->mapTo(card, folded->rect().topRight()).x())));
        QTRY_VERIFY(card->geometry().right() <= dock->width());
    }

    void theCardGrowsWithTheButtonsOfAnotherIncident()
    {
        judge::Incident few = test::richIncident(360);
        few.folded = 1;
        judge::Incident many = test::richIncident(100);
        many.folded = 123'456;
        open({ few, many });
        const auto* dock = m_window->findChild<QWidget*>(QStringLiteral("anomaliesPanel"));
        const auto* card = dock->findChild<views::IncidentCard*>();
        const auto* folded = card->findChild<QPushButton*>(QStringLiteral("incidentFolded"));
        card->findChild<QPushButton*>(QStringLiteral("incidentSource"))->setIconSize({ 200, 16 });
        const auto* incidents = m_window->state()->incidents();
        QTRY_COMPARE(incidents->rowCount(), 2);
        for (int row = 0; row < 2; ++row) {
            m_window->state()->goToIncident(incidents->incident(row).id);
            QTRY_COMPARE(m_window->state()->incident(), incidents->incident(row).id);
            QTRY_VERIFY2(folded->mapTo(card, folded->rect().topRight()).x() < card->width() - 12,
                qPrintable(QString::number(folded->mapTo(card, folded->rect().topRight()).x())));
        }
    }

    void theHeadOfANarrowCardIsCutWithDots()
    {
        open({ test::richIncident(360) });
        m_window->views()->setCurrent(QStringLiteral("anomalies"));
        auto* card = m_window->views()->currentView()->findChild<views::IncidentCard*>();
        const auto* hint = card->findChild<QLabel*>(QStringLiteral("incidentHint"));
        card->setFixedSize(800, 200);
        QCoreApplication::processEvents();
        const QString whole = hint->text();
        QVERIFY(whole.startsWith(QStringLiteral("critical, ")));
        for (const int width : { 420, 230, 190 }) {
            card->setFixedWidth(width);
            QCoreApplication::processEvents();
            QVERIFY2(hint->fontMetrics().horizontalAdvance(hint->text()) <= hint->width(), qPrintable(hint->text()));
            QVERIFY(hint->geometry().right() <= card->width());
        }
        QVERIFY2(hint->text().endsWith(QChar(0x2026)), qPrintable(hint->text()));
        QVERIFY(hint->toolTip().startsWith(whole));
    }

    void whereNothingIsWrongTheCardSaysHowFarItWasLooked()
    {
        const auto words = [this] {
            QString all;
            const auto* dock = m_window->findChild<QWidget*>(QStringLiteral("anomaliesPanel"));
            for (const auto* label : dock->findChild<QWidget*>(QStringLiteral("incidentCard"))->findChildren<QLabel*>())
                all += label->isVisible() ? label->text() + u'|' : QString();
            return all;
        };
        open({});
        QTRY_VERIFY2(words().startsWith(QStringLiteral("Nobody has judged this run|")), qPrintable(words()));
        open({}, true, { { { Step { 0 }, Step { 399 } }, 412, 2, 17 } });
        QTRY_COMPARE(words(),
            QStringLiteral("Nothing is wrong up to step 399|17 rules looked at 412 tensors and scalars of 2 ranks.|"));
        open({}, true, { { { Step { 10 }, Step { 99 } }, 7, 1, 3 }, { { Step { 200 }, Step { 300 } }, 7, 1, 3 } });
        QTRY_COMPARE(words(),
            QStringLiteral("Nothing is wrong up to step 300|3 rules looked at 7 tensors and scalars of 1 rank. "
                           "Steps 0-9, 100-199, 301-399 were not judged.|")
                .replace(u'-', QChar(0x2013)));
    }

    void theCardSaysWhenItBeganAndHowLongItHasLasted()
    {
        constexpr std::int64_t kSecond = 1'000'000'000;
        constexpr std::int64_t kBegan = 1'700'000'000 * kSecond;
        judge::Incident incident = test::incidentAt(10);
        incident.lastStep = Step { 49 };
        const views::IncidentTimes times { kBegan, kBegan + 12 * kSecond };
        QCOMPARE(
            times.words(incident, kBegan + 200 * kSecond), QStringLiteral("3 min ago, for 40 steps so far (12 s)"));
        incident.isOver = true;
        incident.lastStep = Step { 10 };
        QCOMPARE(
            times.words(incident, kBegan + 3 * 86400 * kSecond), QStringLiteral("3 days ago, seen over 1 step (12 s)"));
        QCOMPARE(views::IncidentTimes().words(incident, kBegan), QStringLiteral("seen over 1 step"));
        QVERIFY(views::IncidentTimes().date().isEmpty());
        const QString date
            = QDateTime::fromSecsSinceEpoch(1'700'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
        QVERIFY2(times.date().startsWith(date + QStringLiteral(" UTC")), qPrintable(times.date()));
        // The window says it of the run that it shows.
        open({ test::richIncident(360) });
        const auto* dock = m_window->findChild<QWidget*>(QStringLiteral("anomaliesPanel"));
        QVERIFY(dock->findChild<QLabel*>(QStringLiteral("incidentWhen"))->text().contains(QStringLiteral("40 steps")));
    }

    void theNormOfABlockIsItsTotalOneBesideAPartOfIt()
    {
        judge::Finding finding = test::incidentAt(150).first;
        const auto seen = [&finding](const char* sentence) {
            finding.sentence = sentence;
            return items::incidentwords::seen(finding);
        };
        const QString total = QStringLiteral("the total norm of layers.7 is 3 times its usual 2 (z 9)");
        QCOMPARE(seen("the total norm of layers.7 is 3 times its usual 2 (z 9)"), total);
        QCOMPARE(seen("the norm of layers.7 is 3 times its usual 2 (z 9)"), total); // as older records have it
        QCOMPARE(seen("the norm of its block layers.7 is 3 times its usual 2 (z 9)"), total);
        const QString own = QStringLiteral("the norm of layers.7.attn.qkv is 3 times its usual 2 (z 9)");
        QCOMPARE(seen("the norm of layers.7.attn.qkv is 3 times its usual 2 (z 9)"), own);
    }

    void noNumberIsCutIntoAnother()
    {
        const QFontMetrics metrics(views::wordsFont(12));
        const QString text
            = QStringLiteral("the total norm of blocks.2 is 5.24 times its usual 1\u202F243.5 (z\u00A010)");
        const int whole = metrics.horizontalAdvance(text);
        QCOMPARE(views::incidentsentence::elided(text, metrics, whole), text);
        for (int width = metrics.horizontalAdvance(text.left(12)); width < whole; ++width) {
            const QString cut = views::incidentsentence::elided(text, metrics, width);
            QVERIFY2(metrics.horizontalAdvance(cut) <= width && cut.endsWith(QChar(0x2026)), qPrintable(cut));
            const QString kept = cut.chopped(1);
            QVERIFY2(text.startsWith(kept), qPrintable(cut));
            const QChar next = text[kept.size()];
            QVERIFY2(
                !kept.back().isDigit() || !(next.isDigit() || next == u'.' || next == QChar(0x202F)), qPrintable(cut));
        }
    }

    void whatWasSeenIsSaidInTheLanguageOfTheWindow()
    {
        judge::Incident incident = test::incidentAt(150);
        incident.first.sentence = "NaN in 3, +Inf in 1 of 1,024 elements";
        incident.sentence
            = "First abnormal: step 150, rank 1, layers.7.attn.qkv:output, forward: NaN in 3, +Inf in 1 of "
              "1,024 elements. Its inputs and weights were finite.";
        QCOMPARE(items::incidentwords::card(incident),
            QString::fromStdString(incident.sentence).replace(QLatin1String("1,024"), QStringLiteral("1\u202F024")));
        QVERIFY(translations::install(*qApp, QStringLiteral("zh_CN")));
        QCOMPARE(items::incidentwords::card(incident),
            QStringLiteral(
                "首个异常：第 150 步，rank 1，layers.7.attn.qkv:output，前向：1\u202F024 个元素中有 3 个 NaN，1 个 "
                "+Inf。其输入和权重均为有限值。"));
        QVERIFY(views::incidentsentence::marked(incident).contains(QStringLiteral("<b>第 150 步，rank 1</b>")));
        const auto seen = [&incident](const char* sentence) {
            incident.first.sentence = sentence;
            return items::incidentwords::seen(incident.first);
        };
        QCOMPARE(seen("the norm of layers.1 is 3 times that of the median of 4 ranks that do the same (z 9)"),
            QStringLiteral("layers.1 的范数是做同样工作的 4 个 rank 的中位数的 3 倍（z 9）"));
        QCOMPARE(
            seen("the norm of layers.1 grew by 2.0 % a step, 5 times within 24 steps, to 7; at this rate its largest "
                 "magnitude, 8, overflows f16 at about step 900"),
            QStringLiteral(
                "layers.1 的范数每步增长 2.0 %，24 步内增至 5 倍，达到 7；照此速度，其最大绝对值 8 约在第 900 步超出 "
                "f16 的范围"));
        QCOMPARE(
            seen("unlike the attempt before it, the learning rate is 0.1, and was 0.01; the optimizer has no first "
                 "moments, which 7 tensors had"),
            QStringLiteral("与上一次尝试不同，学习率为 0.1，此前为 0.01；优化器没有一阶矩，而此前有 7 个张量有"));
        // A block has a norm of each kind.
        incident.first.kind = Kind::GradReduced;
        incident.first.sentence = "the norm of layers.1 is 3 times its usual 2 (z 9)";
        QCOMPARE(views::incidentsentence::evidence(incident.first),
            views::kindText(Kind::GradReduced) + QStringLiteral("：layers.1 的范数是平常值 2 的 3 倍（z\u00a09）"));
        QCOMPARE(views::incidentsentence::evidence(test::incidentAt(150).first),
            seen(test::incidentAt(150).first.sentence.c_str()));
        // All of its ranks, the last of which in its third step.
        incident.first.step = Step { 400 };
        incident.reach = { { "layers.1", Rank { 0 }, { Step { 402 }, Step { 500 } }, 1 },
            { "layers.2", Rank { 0 }, { Step { 407 }, Step { 500 } }, 1 },
            { "layers.1", Rank { 1 }, { Step { 400 }, Step { 500 } }, 1 } };
        QCOMPARE(views::IncidentReach::reachedBy(incident), Step { 402 });
        // What this program does not know stays as it was recorded; so does a card around it.
        QCOMPARE(seen("hums in B flat"), QStringLiteral("hums in B flat"));
        incident.sentence = "Somewhere, something";
        QCOMPARE(items::incidentwords::card(incident), QStringLiteral("Somewhere, something"));
    }

    void everyLookIsCalm_data()
    {
        test::addLooks();
    }
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
    void shoot(const QString& name)
    {
        QVERIFY(m_window->grab().save(test::shot(name + QStringLiteral(".png"))));
    }

    /// A window on a run whose log says these. `isWriter`: it holds the folder, and may write there.
    void open(const std::vector<judge::Incident>& incidents, bool isWriter = true,
        const std::vector<judge::Judged>& judged = {})
    {
        m_window.reset();
        m_pool = std::make_unique<store::QueryPool>(2);
        m_store.reset();
        m_dir = std::make_unique<QTemporaryDir>();
        QDir(m_dir->path()).mkdir(QStringLiteral("runs"));
        const QString name = QStringLiteral("/runs/2026-01-02_gpt-12l_abc123.telltale");
        QVERIFY(QFile::copy(m_clean.path() + name, m_dir->path() + name));
        auto service = store::StoreService::start({ m_dir->path().toStdString() });
        QVERIFY(service);
        m_store = std::move(*service);
        std::size_t written = 0;
        for (const judge::Incident& incident : incidents)
            QVERIFY(m_store->append({ ++m_token, store::RunLocator::ofFile((m_dir->path() + name).toStdString()),
                Rank { -1 }, judge::incidentEvent(incident, 1'700'000'000'000'000'000) }));
        for (const judge::Judged& one : judged)
            QVERIFY(m_store->append({ ++m_token, store::RunLocator::ofFile((m_dir->path() + name).toStdString()),
                Rank { -1 }, judge::judgedEvent(one, 1'700'000'000'000'000'000) }));
        QTRY_VERIFY_WITH_TIMEOUT((written += m_store->takeEvents().size()) >= incidents.size() + judged.size(), 20'000);
        if (!isWriter)
            m_store.reset();
        shell::AppContext context;
        context.queries = m_pool.get();
        context.store = m_store.get();
        context.dataDir = m_dir->path().toStdString();
        context.connections = [] { return std::vector<ConnectionInfo>(); };
        settings::LoadedSettings loaded;
        m_window = std::make_unique<shell::MainWindow>(context, loaded);
        m_window->resize(1600, 1000);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        m_window->openPath(m_dir->path() + name);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->state()->catalog(), 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(
            m_window->state()->incidents()->rowCount(), static_cast<int>(incidents.size()), 20'000);
    }

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

    void settle()
    {
        QTRY_VERIFY_WITH_TIMEOUT(m_window->views()->currentView()->isSettled(), 20'000);
        QCoreApplication::processEvents();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->views()->currentView()->isSettled(), 20'000);
        QTest::qWait(200); // what is painted once the lanes are counted
    }

    QTemporaryDir m_clean;
    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<store::StoreService> m_store;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<shell::MainWindow> m_window;
    std::uint64_t m_token = 0;
};

TELLTALE_TEST(QTEST_MAIN, AnomaliesTest)

}

#include "anomaliestest.moc"
