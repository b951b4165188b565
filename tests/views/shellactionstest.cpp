// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QAbstractButton>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QStatusBar>
#include <QTableView>
#include <QTreeView>
#include <QWheelEvent>

#include <telltale/common/plotcanvas.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/items/logmodel.h>
#include <telltale/items/roles.h>
#include <telltale/runs/logfilter.h>
#include <telltale/runs/logpanel.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/keychip.h>
#include <telltale/shell/startup.h>
#include <telltale/shell/toast.h>
#include <telltale/shell/toaster.h>
#include <telltale/shell/viewtabs.h>

#include "tworunswindow.h"

namespace shellactionstest {

using namespace telltale;
using namespace telltale::shell;

/// What a person does in the window with keys, the wheel, views and panels. Thread: the test's.
class ShellActionsTest : public QObject, test::TwoRunsWindow {
    Q_OBJECT
private Q_SLOTS:
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

    void theStatusLineNamesTheKeysOfTheView()
    {
        const auto keys = [this] {
            QStringList all;
            for (const auto* chip : m_window->statusBar()->findChildren<KeyChip*>())
                all.append(chip->meaning());
            return all.join(u' ');
        };
        QCOMPARE(keys(), QStringLiteral("follow previous, next incident zoom back go to keys"));
        m_window->views()->setCurrent(QStringLiteral("config"));
        QCOMPARE(keys(), QStringLiteral("next error undo edit keys")); // it has ended: nothing can be applied
        QStringList said;
        for (const auto* chip : m_window->statusBar()->findChildren<KeyChip*>())
            said.append(chip->accessibleName());
        QCOMPARE(said.join(u' '), QStringLiteral("F8: next error Ctrl+Z: undo edit F1: keys"));
        QTest::keyClick(m_window->views()->currentView(), Qt::Key_F8); // that and no other: else it warns
        m_window->views()->setCurrent(QStringLiteral("curves"));
        QVERIFY(keys().startsWith(QStringLiteral("follow")));
    }

    void twoRunsStandOnOneAxis()
    {
        m_window->openPath(m_other);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        auto* compare = m_window->findChild<QAbstractButton*>(QStringLiteral("runsCompare"));
        QVERIFY(!compare->isEnabled());
        tree->selectAll();
        QTRY_VERIFY(compare->isEnabled());
        compare->click();
        QTRY_VERIFY_WITH_TIMEOUT(state()->comparedRun(), 20'000);
        QVERIFY(state()->comparedRun()->locator.text() != state()->run()->locator.text());
        QCOMPARE(state()->fullRange().last, Step { 119 });
        QVERIFY(compare->isChecked());
        m_window->commands()->action("run.endComparison")->trigger();
        QVERIFY(!state()->comparedRun() && !compare->isChecked());
    }

    void f8GoesToWhereSomethingBreaks()
    {
        test::DemoCapsule broken(m_elsewhere->path().toStdString(), "2026-01-04_broken_fed789.telltale");
        broken.write(test::DemoCapsule::kFirstBad + 30);
        m_window->openPath(QString::fromStdString(broken.path()));
        QTRY_COMPARE_WITH_TIMEOUT(state()->run()->locator.text(), broken.path(), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), 20'000);
        state()->setKind(Kind::Actv);
        state()->zoomTo({ Step { 0 }, Step { 99 } });
        m_window->views()->setFocus();
        QTest::keyClick(m_window->views(), Qt::Key_F8);
        QTRY_COMPARE_WITH_TIMEOUT(state()->cursor(), std::optional(Step { test::DemoCapsule::kFirstBad }), 20'000);
        QCOMPARE(state()->rank(), Rank { 1 });
        QVERIFY(state()->visibleRange().contains(Step { test::DemoCapsule::kFirstBad }));
        QCOMPARE(state()->selection().size(), std::size_t { 1 });
        QTest::keyClick(m_window->views(), Qt::Key_F8);
        QTRY_VERIFY_WITH_TIMEOUT(*state()->cursor() > Step { test::DemoCapsule::kFirstBad }, 20'000);
        QTest::keyClick(m_window->views(), Qt::Key_F8, Qt::ShiftModifier);
        QTRY_COMPARE_WITH_TIMEOUT(state()->cursor(), std::optional(Step { test::DemoCapsule::kFirstBad }), 20'000);
        QTest::keyClick(m_window->views(), Qt::Key_F8, Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->toaster()->shown().isEmpty(), 20'000);
    }

    void theShownRunIsToldFromOthersThatAreSelected()
    {
        m_window->openPath(m_other);
        QTRY_COMPARE_WITH_TIMEOUT(archived().size(), std::size_t { 2 }, 20'000);
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        QTRY_COMPARE(tree->currentIndex().data(items::KeyRole).toString().toStdString(), state()->run()->id);
        const QModelIndex shown = tree->currentIndex().siblingAtColumn(0);
        const QModelIndex other = shown.siblingAtRow(1 - shown.row());
        const auto edgeOf = [tree](const QModelIndex& index) {
            return tree->viewport()->grab().toImage().pixelColor(1, tree->visualRect(index).center().y());
        };
        QCOMPARE(edgeOf(shown), views::Theme::current().selection);
        tree->selectAll();
        QCOMPARE(edgeOf(shown), views::Theme::current().accent);
        QCOMPARE(edgeOf(other), views::Theme::current().selection);
    }

    void theNextErrorIsOfAnyKind()
    {
        test::DemoCapsule broken(m_elsewhere->path().toStdString(), "2026-01-04_broken_fed789.telltale");
        broken.write(test::DemoCapsule::kFirstBad + 30);
        m_window->openPath(QString::fromStdString(broken.path()));
        QTRY_COMPARE_WITH_TIMEOUT(state()->run()->locator.text(), broken.path(), 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), 20'000);
        state()->setKind(Kind::ParamOrigin); // which is whole, as nobody collected it
        QTest::keyClick(m_window->views(), Qt::Key_F8);
        QTRY_COMPARE_WITH_TIMEOUT(state()->cursor(), std::optional(Step { test::DemoCapsule::kFirstBad }), 20'000);
        QVERIFY(state()->kind() != Kind::ParamOrigin);
    }

    void whatIsSeenIsWhatTheRangeSays()
    {
        const auto* box = m_window->findChild<QComboBox*>(QStringLiteral("overviewRange"));
        QCOMPARE(box->currentIndex(), 0);
        state()->zoomTo({ Step { 20 }, Step { 60 } });
        QCOMPARE(box->currentIndex(), -1);
        state()->zoomOutFully();
        QCOMPARE(box->currentIndex(), 0);
    }

    void whatIsNoneOfTheListHasItsRoom()
    {
        const auto widthOf = [](bool isItem) {
            views::ViewBar bar;
            QComboBox* other = bar.addCombo(QString(), QStringLiteral("y"));
            other->addItem(QStringLiteral("a long choice of some words"));
            QComboBox* box = bar.addCombo(QString(), QStringLiteral("range"));
            box->addItems({ QStringLiteral("the whole of the run"), QStringLiteral("zoomed") });
            box->setPlaceholderText(QStringLiteral("zoomed"));
            box->setCurrentIndex(isItem ? 1 : -1);
            bar.resize(other->sizeHint().width() + box->sizeHint().width() + 30, bar.height());
            bar.show();
            QCoreApplication::processEvents();
            return box->width();
        };
        QCOMPARE(widthOf(false), widthOf(true));
    }

    void theWheelZoomsAboutThePointerAndLetsTheNewestStepsGo()
    {
        auto* canvas = m_window->findChild<views::PlotCanvas*>(QStringLiteral("overviewCanvas"));
        QVERIFY(canvas);
        state()->setFollowing(true);
        const QPointF at(canvas->plotRect().left() + canvas->plotRect().width() / 4.0, canvas->plotRect().center().y());
        QWheelEvent wheel(
            at, canvas->mapToGlobal(at), {}, QPoint(0, 120), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QVERIFY(QCoreApplication::sendEvent(canvas, &wheel));
        QCOMPARE(state()->visibleRange().count(), 80);
        QCOMPARE(state()->visibleRange().first, Step { 5 });
        QVERIFY(!state()->isFollowing());
    }

    void theWheelLeavesTheWholeRunAsItIs()
    {
        auto* canvas = m_window->findChild<views::PlotCanvas*>(QStringLiteral("overviewCanvas"));
        const StepRange full = state()->fullRange();
        const QRect plot = canvas->plotRect();
        const auto turn = [&](int x, int angle) {
            const QPointF at(x, plot.center().y());
            QTest::mouseMove(canvas, at.toPoint());
            QWheelEvent wheel(at, canvas->mapToGlobal(at), {}, QPoint(0, angle), Qt::NoButton, Qt::NoModifier,
                Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(canvas, &wheel);
        };
        for (int x = plot.left(); x <= plot.right(); x += 3) {
            turn(x, -120);
            QCOMPARE(state()->visibleRange(), full);
        }
        for (const int x : { plot.left() + 20, plot.right() - 20 }) {
            for (int notch = 0; notch < 5; ++notch)
                turn(x, 120);
            for (int notch = 0; notch < 6; ++notch)
                turn(plot.left() + plot.right() - x, -120);
            QCOMPARE(state()->visibleRange(), full);
        }
    }

    void aListThatDropsDownHasItsKeysForItself()
    {
        // The platform of the tests says so of every popup.
        QTest::ignoreMessage(QtWarningMsg, "This plugin does not support raise()");
        QTest::ignoreMessage(QtWarningMsg, "This plugin does not support grabbing the keyboard");
        auto* box = m_window->findChild<QComboBox*>(QStringLiteral("overviewRange"));
        box->showPopup();
        QTRY_VERIFY(QApplication::activePopupWidget());
        // As the window system's keys come: who would have it for a shortcut is asked first.
        QKeyEvent key(QEvent::ShortcutOverride, Qt::Key_Space, Qt::NoModifier);
        key.ignore();
        QCoreApplication::sendEvent(box->view(), &key);
        QVERIFY(key.isAccepted());
        // And Return, which pins the cursor elsewhere, takes what the list stands on.
        const int other = box->currentIndex() == 0 ? 1 : 0;
        box->view()->setCurrentIndex(box->model()->index(other, 0));
        QKeyEvent enter(QEvent::ShortcutOverride, Qt::Key_Return, Qt::NoModifier);
        QCoreApplication::sendEvent(box->view(), &enter);
        QVERIFY(enter.isAccepted());
        QTRY_VERIFY(!QApplication::activePopupWidget());
        QCOMPARE(box->currentIndex(), other);
    }

    void theSettingsAreSavedSoonAfterAChange()
    {
        const QString path = settingsPath(m_dir->path().toStdString());
        m_window->views()->setCurrent(QStringLiteral("curves"));
        const auto saved = [&] {
            const auto loaded = settings::load(path);
            return loaded && loaded->settings.activeTab == QLatin1String("curves");
        };
        QTRY_VERIFY_WITH_TIMEOUT(saved(), 20'000);
    }

    void aPanelBehindAnotherComesUpFirst()
    {
        QAction* log = m_window->commands()->action("window.log");
        log->trigger();
        m_window->commands()->action("window.connections")->trigger();
        const auto* panel = m_window->findChild<QDockWidget*>(QStringLiteral("log"))->widget();
        QTRY_VERIFY(panel->visibleRegion().isEmpty());
        log->trigger();
        QTRY_VERIFY(!panel->visibleRegion().isEmpty());
        log->trigger();
        QTRY_VERIFY(!m_window->findChild<QDockWidget*>(QStringLiteral("log"))->isVisible());
        // Also one that is a tab and fills all of its dock.
        QAction* connections = m_window->commands()->action("window.connections");
        const auto* dock = m_window->findChild<QDockWidget*>(QStringLiteral("connections"));
        QTRY_VERIFY(dock->isVisible() && !dock->widget()->visibleRegion().isEmpty());
        connections->trigger();
        QTRY_VERIFY(!dock->isVisible());
    }

    void aRankThatBreaksIsSeenFromTheStart()
    {
        test::DemoCapsule broken(m_elsewhere->path().toStdString(), "2026-01-04_broken_fed789.telltale");
        broken.write(test::DemoCapsule::kFirstBad + 30);
        m_window->openPath(QString::fromStdString(broken.path()));
        QTRY_COMPARE_WITH_TIMEOUT(state()->run()->locator.text(), broken.path(), 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(state()->rank(), Rank { 1 }, 20'000);

        // On the healthy rank the lane still says where another is not, and so does the tree.
        state()->setRank(Rank { 0 });
        m_window->views()->setCurrent(QStringLiteral("heatmap"));
        auto* canvas = m_window->findChild<views::HeatCanvas*>(QStringLiteral("heatmapCanvas"));
        const auto laneAt = [&](Step step) {
            const QRect plot = canvas->plotRect();
            return QPoint(plot.left()
                    + static_cast<int>(views::SharedAxis::xOfStep(canvas->picture()->result.range, step, plot.width())),
                plot.top() - 12);
        };
        QTRY_VERIFY_WITH_TIMEOUT(canvas->picture() != nullptr, 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(canvas->otherRanksText(laneAt(Step { test::DemoCapsule::kFirstBad + 3 })),
            QStringLiteral("not finite on rank 1"), 20'000);
        QCOMPARE(canvas->otherRanksText(laneAt(Step { 100 })), QString());
        const auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("modulesTree"));
        const auto hint = [&] {
            for (int row = 0; row < tree->model()->rowCount(); ++row) {
                if (tree->model()->index(row, 0).data().toString() == QLatin1String("layers"))
                    return tree->model()->index(row, 0).data(Qt::ToolTipRole).toString();
            }
            return QString();
        };
        QTRY_VERIFY_WITH_TIMEOUT(hint().contains(QStringLiteral("rank 1")), 20'000);
    }

    void theLogKeepsWhatTheToastsSaid()
    {
        auto* dock = m_window->findChild<QDockWidget*>(QStringLiteral("log"));
        QVERIFY(!dock->isVisible());
        ConnectionInfo refused;
        refused.agentId = "node/3";
        refused.rank = Rank { 3 };
        refused.peer = "127.0.0.1:5000";
        refused.lastRefusal = "wrong token";
        m_agents = { refused };
        m_window->showProblem(QStringLiteral("the disk is full"));
        auto* table = m_window->findChild<QTableView*>(QStringLiteral("logTable"));
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 2, 20'000);
        m_window->commands()->action("window.log")->trigger();
        QTRY_VERIFY(dock->isVisible());
        auto* filter = m_window->findChild<QLineEdit*>(QStringLiteral("logFilter"));
        filter->setText(QStringLiteral("token"));
        QCOMPARE(table->model()->rowCount(), 1);
        QCOMPARE(table->model()->index(0, 2).data().toString(), QStringLiteral("3"));
        table->selectRow(0);
        table->setFocus();
        QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
        QVERIFY(QGuiApplication::clipboard()->text().endsWith(QStringLiteral("127.0.0.1:5000: wrong token")));
    }

    /// F8, in a run without a fault: the sentence names no run.
    void whatIsSaidOfARunGoesWithIt()
    {
        auto* table = m_window->findChild<QTableView*>(QStringLiteral("logTable"));
        const QString words = QStringLiteral("This run has no non-finite values");
        const auto isSaid = [table, &words] {
            const QAbstractItemModel& log = *table->model();
            const auto text = log.index(0, items::LogModel::TextColumn);
            return static_cast<int>(log.match(text, Qt::DisplayRole, words, -1, Qt::MatchExactly).size());
        };
        const QString own = QString::fromStdString(state()->run()->locator.text());
        m_window->toaster()->postOfRun(Toaster::Severity::Notice, words);
        m_window->toaster()->post(Toaster::Severity::Notice, QStringLiteral("the disk is full"));
        QCOMPARE(isSaid(), 1);
        m_window->openPath(m_other);
        QTRY_VERIFY_WITH_TIMEOUT(QString::fromStdString(state()->run()->locator.text()) == m_other, 20'000);
        QCOMPARE(m_window->toaster()->shown(), QStringList { QStringLiteral("the disk is full") });
        QCOMPARE(isSaid(), 0);
        m_window->openPath(own);
        QTRY_VERIFY_WITH_TIMEOUT(QString::fromStdString(state()->run()->locator.text()) == own, 20'000);
        QCOMPARE(isSaid(), 1);
    }

    /// Nor does it keep the dock from coming to the front.
    void aToastIsSeenWhereADockOpens()
    {
        m_window->resize(1200, 800);
        m_window->toaster()->post(Toaster::Severity::Critical, QStringLiteral("the disk is full"));
        const auto* toast = m_window->findChild<Toast*>();
        for (const char* id : { "window.inspector", "window.inspector", "window.log", "window.connections" }) {
            m_window->commands()->action(id)->trigger();
            const auto place = [&] { return QRect(toast->mapTo(m_window.get(), QPoint()), toast->size()); };
            QTRY_VERIFY(m_window->centralWidget()->geometry().contains(place()));
            QTRY_COMPARE(m_window->childAt(place().topLeft() + QPoint(3, 20)), toast);
        }
        QVERIFY(!m_window->findChild<QDockWidget*>(QStringLiteral("connections"))->visibleRegion().isEmpty());
    }

    void theLogIsFilteredByMessageStepAndRank()
    {
        items::LogModel model;
        for (const auto& [step, rank] : { std::pair(7, 0), std::pair(111, 2), std::pair(2, 1) }) {
            items::LogModel::Entry entry;
            entry.step = step;
            entry.rank = rank;
            entry.wallNs = 1'795'996'800'000'000'000; // 2026-11-30, which is no step
            entry.text = rank == 0 ? QStringLiteral("the loss scale") : QStringLiteral("a restart");
            model.add(entry);
        }
        views::LogFilter filter(&model);
        const auto count = [&filter](const char* text) {
            filter.setText(QLatin1String(text));
            return filter.rowCount();
        };
        QCOMPARE(count(""), 3);
        QCOMPARE(count("Loss"), 1);
        QCOMPARE(count("111"), 1);
        QCOMPARE(count("2"), 2); // a rank and a step
        QCOMPARE(count("rank 2"), 1);
        QCOMPARE(count("30"), 0);
        QCOMPARE(count(":"), 3); // a part of every time
    }

    void theSelectedLineOfTheLogIsAsHighAsItsWords()
    {
        items::LogModel model;
        for (const int words : { 1, 30, 30 }) {
            items::LogModel::Entry entry;
            entry.text = QStringLiteral("a sentence ").repeated(words);
            model.add(entry);
        }
        QWidget host; // a window with a layout has size hints, of which the platform warns
        host.setAttribute(Qt::WA_DontShowOnScreen);
        views::LogPanel panel(&model, &host);
        panel.resize(700, 300);
        host.show();
        auto* table = panel.findChild<QTableView*>(QStringLiteral("logTable"));
        const int line = table->rowHeight(0);
        table->setCurrentIndex(table->model()->index(0, 0));
        QCOMPARE(table->rowHeight(0), line);
        table->selectionModel()->setCurrentIndex(table->model()->index(1, 0), QItemSelectionModel::NoUpdate);
        QCOMPARE(table->rowHeight(1), line);
        QTest::mouseClick(
            table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(1, 4)).center());
        QVERIFY(table->rowHeight(1) > line && table->rowHeight(1) < table->viewport()->height());
        QCOMPARE(table->rowHeight(1) % line, 0); // whole lines above and below it
        const int narrow = table->rowHeight(1);
        panel.resize(1400, 300);
        QTRY_VERIFY(table->rowHeight(1) < narrow);
        table->setCurrentIndex(table->model()->index(2, 0));
        QCOMPARE(table->rowHeight(1), line);
        QVERIFY(table->rowHeight(2) > line);
    }
};

TELLTALE_TEST(QTEST_MAIN, ShellActionsTest)

}

#include "shellactionstest.moc"
