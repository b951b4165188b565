// SPDX-License-Identifier: GPL-3.0-or-later
// How the window is worked with whatever it shows: layouts, a view in a window of its own, tabs that have no room,
// every control by the keyboard and with a name.
#include "testmain.h"

#include <algorithm>
#include <set>

#include <QAccessible>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QScreen>
#include <QTabBar>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>

#include <telltale/common/viewbar.h>
#include <telltale/items/runsmodel.h>
#include <telltale/shell/commandregistry.h>
#include <telltale/shell/layouts.h>
#include <telltale/shell/presentation.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/session.h>
#include <telltale/shell/toaster.h>
#include <telltale/shell/viewfactory.h>
#include <telltale/store/archive.h>
#include <telltale/store/stepnote.h>

#include "deskwindow.h"
#include "incidentfixture.h"

namespace deskworktest {

using namespace telltale;
using namespace telltale::shell;

namespace {

QString nameOf(QWidget* widget)
{
    QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
    return face ? face->text(QAccessible::Name) : QString();
}

/// Widgets that Tab stops at, as they are shown.
std::set<QWidget*> stopsOf(const QWidget& window)
{
    std::set<QWidget*> stops;
    for (QWidget* widget : window.findChildren<QWidget*>()) {
        if ((widget->focusPolicy() & Qt::TabFocus) != 0 && widget->isVisible() && widget->isEnabled()
            && !widget->focusProxy() && widget->window() == &window && !widget->visibleRegion().isEmpty())
            stops.insert(widget);
    }
    return stops;
}

QByteArray words(const QWidget* widget)
{
    return QByteArray(widget->metaObject()->className()) + ' ' + widget->objectName().toUtf8();
}

}

class DeskWorkTest : public QObject, test::DeskWindow {
    Q_OBJECT
private Q_SLOTS:
    void init() { openWindow(); }
    void cleanup() { closeWindow(); }

    void aRunIsRenamedInItsRow()
    {
        m_window->commands()->action("layout.overview")->trigger();
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        tree->setFocus();
        QTRY_VERIFY(m_window->commands()->action("run.rename")->isEnabled());
        m_window->commands()->action("run.rename")->trigger();
        auto* editor = tree->findChild<QLineEdit*>();
        QVERIFY(editor);
        QCOMPARE(editor->text(), QStringLiteral("a test run"));
        editor->setText(QStringLiteral("warm-up, longer"));
        QTest::keyClick(editor, Qt::Key_Return);
        const auto* runs = m_window->driver()->runs();
        QTRY_COMPARE_WITH_TIMEOUT(QString::fromStdString(runs->runs(items::RunsModel::ArchivedGroup).front().name),
            QStringLiteral("warm-up, longer"), kWaitMs);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->windowTitle().startsWith(QStringLiteral("warm-up, longer")), kWaitMs);
    }

    void aDamagedRunSaysSoWhateverIsShown()
    {
        test::DemoCapsule whole(m_dir->path().toStdString(), "2026-01-04_torn_fed987.telltale");
        whole.write();
        // Somewhere in its tiles, where the catalog still reads: until reading all of it finds something.
        QFile file(QString::fromStdString(whole.path()));
        QVERIFY(file.open(QIODevice::ReadWrite));
        bool isDamaged = false;
        for (qint64 at = file.size() * 6 / 10; at < file.size() && !isDamaged; at += 4096 + 13) {
            file.seek(at);
            const QByteArray before = file.read(64);
            file.seek(at);
            file.write(QByteArray(64, '\x5A'));
            file.flush();
            const auto report = store::verifyRun(store::RunLocator::ofFile(whole.path()));
            isDamaged = report && !report->problems.empty();
            if (isDamaged)
                break;
            file.seek(at);
            file.write(before);
            file.flush();
        }
        QVERIFY(isDamaged);
        file.close();
        m_window->openPath(QString::fromStdString(whole.path()));
        const auto* runs = m_window->driver()->runs();
        const auto isTold = [&] {
            const auto& archived = runs->runs(items::RunsModel::ArchivedGroup);
            return std::any_of(archived.begin(), archived.end(), [](const store::RunSummary& run) {
                return run.state == store::RunState::Damaged && !run.note.empty();
            });
        };
        QTRY_VERIFY_WITH_TIMEOUT(isTold(), kWaitMs);
        QTRY_VERIFY(m_window->toaster()->shown().join(u'\n').contains(QStringLiteral("a test run: ")));
        // Nobody is told that nothing is wrong, and the next list of the data directory knows it.
        const auto* card = m_window->findChild<QWidget*>(QStringLiteral("incidentCard"));
        const auto says = [card](QLatin1String words) {
            const auto labels = card->findChildren<QLabel*>();
            return std::any_of(
                labels.begin(), labels.end(), [&](const QLabel* label) { return label->text().contains(words); });
        };
        QTRY_VERIFY(says(QLatin1String("This run's file is damaged")));
        QVERIFY(!state()->damage().isEmpty());
        const auto torn = store::RunLocator::ofFile(whole.path());
        QTRY_COMPARE(state()->damage().toStdString(), store::rememberedDamage(m_dir->path().toStdString(), torn));
        // Above every view, until a run that is whole is shown.
        auto* strip = m_window->findChild<QWidget*>(QStringLiteral("damageStrip"));
        QTRY_VERIFY(strip->isVisible());
        const auto* said = strip->findChild<QLabel*>();
        QVERIFY(said->text().startsWith(QStringLiteral("This run is damaged")));
        for (const ViewFactory& row : viewFactories()) {
            m_window->views()->setCurrent(QLatin1String(row.id));
            QVERIFY(strip->isVisible());
        }
        const auto& archived = runs->runs(items::RunsModel::ArchivedGroup);
        const auto healthy = std::find_if(archived.begin(), archived.end(),
            [](const store::RunSummary& run) { return run.state != store::RunState::Damaged; });
        QVERIFY(healthy != archived.end());
        m_window->driver()->openById(QString::fromStdString(healthy->id));
        QTRY_VERIFY(!strip->isVisible());
    }

    void theLogOpensAtItsNewestRow()
    {
        for (int i = 0; i < 60; ++i) {
            store::StepNote note;
            note.steps = { Step { i }, Step { i } };
            note.text = "note " + std::to_string(i);
            QVERIFY(m_store->append({ 0, state()->run()->locator, Rank { -1 }, note.event() }));
        }
        QTRY_COMPARE_WITH_TIMEOUT(state()->notes().size(), std::size_t { 60 }, kWaitMs);
        m_window->commands()->action("window.log")->trigger();
        const auto* table = m_window->findChild<QTableView*>(QStringLiteral("logTable"));
        const auto* bar = table->verticalScrollBar();
        QTRY_VERIFY(bar->maximum() > 0);
        QTRY_COMPARE(bar->value(), bar->maximum());
        QTRY_COMPARE(table->rowViewportPosition(table->rowAt(0)), 0); // and the first row is whole
    }

    void escapeLeavesTheSearchOfRuns()
    {
        m_window->commands()->action("edit.runs")->trigger();
        auto* search = m_window->findChild<QLineEdit*>(QStringLiteral("runsSearch"));
        QVERIFY(search->isVisible() && search->hasFocus());
        QVERIFY(search->contentsRect().height() >= 22);
        QTest::keyClicks(search, QStringLiteral("nothing of this name"));
        QTest::keyClick(search, Qt::Key_Escape);
        QVERIFY(search->text().isEmpty() && !search->isVisible());
        QVERIFY(m_window->findChild<QTreeView*>(QStringLiteral("runsTree"))->hasFocus());
    }

    void aLayoutIsForAPurposeAndCanBeKept()
    {
        m_window->commands()->action("layout.overview")->trigger();
        QCOMPARE(m_window->views()->currentId(), QStringLiteral("overview"));
        QVERIFY(isOpen("runs") && isOpen("log") && !isOpen("modules") && !isOpen("inspector"));
        m_window->commands()->action("layout.hunt")->trigger();
        QCOMPARE(m_window->views()->currentId(), QStringLiteral("heatmap"));
        QVERIFY(isOpen("modules") && isOpen("inspector") && isOpen("anomalies") && !isOpen("log"));
        m_window->commands()->action("layout.compare")->trigger();
        QCOMPARE(m_window->views()->currentId(),
            findView(QStringLiteral("compare")) ? QStringLiteral("compare") : QStringLiteral("curves"));

        m_window->commands()->action("layout.hunt")->trigger();
        auto* layouts = m_window->findChild<Layouts*>();
        layouts->save(QStringLiteral("mine"));
        m_window->commands()->action("layout.overview")->trigger();
        layouts->apply(QStringLiteral("mine"));
        QCOMPARE(m_window->views()->currentId(), QStringLiteral("heatmap"));
        QVERIFY(isOpen("modules") && isOpen("inspector") && !isOpen("log"));

        // It outlives the window, and what a newer one has a view for that is unknown here leaves the tab.
        settings::Settings kept = settings::fromJson(settings::toJson(m_window->session()->current())).settings;
        QCOMPARE(kept, m_window->session()->current());
        QCOMPARE(kept.layouts.size(), std::size_t { 1 });
        kept.layouts.front().view = QStringLiteral("hologram");
        kept.activeTab = QStringLiteral("curves");
        m_window.reset();
        open({ kept, {} });
        m_window->findChild<Layouts*>()->apply(QStringLiteral("mine"));
        QCOMPARE(m_window->views()->currentId(), QStringLiteral("curves"));
        QVERIFY(isOpen("inspector"));
        m_window->findChild<Layouts*>()->remove(QStringLiteral("mine"));
        QVERIFY(m_window->session()->current().layouts.empty());
    }

    void aPresentationIsLookedAtOnly()
    {
        state()->setCursor(Step { 30 });
        m_window->commands()->action("view.present")->trigger();
        auto* shown = m_window->findChild<Presentation*>();
        QVERIFY(shown && shown->isVisible() && shown->isWindow());
        const QSize room = m_window->screen()->availableSize();
        QCOMPARE(shown->size().boundedTo(room), shown->size());
        QTRY_VERIFY_WITH_TIMEOUT(shown->view()->isSettled(), kWaitMs);
        QVERIFY2(
            shown->windowTitle().endsWith(QStringLiteral("  \u00b7  Heatmap  \u00b7  gradient, reduced  \u00b7  norm")),
            qPrintable(shown->windowTitle()));
        for (const views::ViewBar* bar : shown->findChildren<views::ViewBar*>())
            QVERIFY(!bar->isVisible());
        // Neither what is done there nor what is done in the window changes what it shows.
        auto* canvas = shown->findChild<views::HeatCanvas*>();
        QTest::mouseClick(canvas, Qt::LeftButton, {}, canvas->cellRect(3, 70).center().toPoint());
        QTest::keyClick(canvas, Qt::Key_Escape);
        QCOMPARE(shown->state()->cursor(), std::optional(Step { 30 }));
        QVERIFY(shown->state()->selection().empty());
        state()->zoomTo({ Step { 10 }, Step { 20 } });
        QCOMPARE(shown->state()->visibleRange().count(), std::int64_t { 100 });
        // What the run becomes, it shows.
        state()->setFullRange({ Step { 0 }, Step { 149 } });
        QCOMPARE(shown->state()->fullRange().last, Step { 149 });
        shown->toggleFullScreen();
        QVERIFY(shown->isFullScreen());
        QTest::keyClick(shown, Qt::Key_Escape);
        QVERIFY(!shown->isFullScreen());
        QTest::keyClick(shown, Qt::Key_Escape);
        QTRY_VERIFY(!m_window->findChild<Presentation*>());
    }

    void everyViewCanBePresented()
    {
        for (const ViewFactory& row : viewFactories()) {
            m_window->views()->setCurrent(QLatin1String(row.id));
            m_window->commands()->action("view.present")->trigger();
            auto* shown = m_window->findChild<Presentation*>();
            QVERIFY2(shown, row.id);
            QTRY_VERIFY_WITH_TIMEOUT(shown->view()->isSettled(), kWaitMs);
            shown->close();
            QTRY_VERIFY(!m_window->findChild<Presentation*>());
        }
    }

    void tabsThatHaveNoRoomAreInAMenu()
    {
        auto* bar = m_window->views()->findChild<QTabBar*>();
        auto* more = m_window->findChild<QToolButton*>(QStringLiteral("moreViews"));
        auto* menu = more->findChild<QMenu*>();
        for (const int width : { 1600, 1000, 900 }) {
            m_window->resize(width, 700);
            QTRY_COMPARE(m_window->width(), width);
            QCoreApplication::processEvents(); // what is in it follows
            for (const ViewFactory& row : viewFactories()) {
                m_window->views()->setCurrent(QLatin1String(row.id));
                QVERIFY(bar->isTabVisible(bar->currentIndex()));
                QVERIFY2(bar->geometry().contains(bar->tabRect(bar->currentIndex()).translated(bar->pos())), row.id);
                int hidden = 0;
                for (int i = 0; i < bar->count(); ++i)
                    hidden += bar->isTabVisible(i) ? 0 : 1;
                QCOMPARE(more->isVisible(), hidden > 0);
                if (hidden == 0)
                    continue;
                Q_EMIT menu->aboutToShow();
                QCOMPARE(menu->actions().size(), hidden);
            }
        }
        // One of them is chosen there.
        m_window->views()->setCurrent(QLatin1String(viewFactories().front().id));
        m_window->views()->setMaximumWidth(420); // as beside wide panels
        QTRY_VERIFY(more->isVisible());
        Q_EMIT menu->aboutToShow();
        QVERIFY(!menu->actions().isEmpty());
        menu->actions().constLast()->trigger();
        QCOMPARE(bar->currentIndex(), bar->count() - 1);
        m_window->commands()->action("view.nextView")->trigger();
        QCOMPARE(bar->currentIndex(), 0);
        m_window->commands()->action("view.previousView")->trigger();
        QCOMPARE(bar->currentIndex(), bar->count() - 1);
    }

    void everyControlIsReachedByTheKeyboard()
    {
        for (const ViewFactory& row : viewFactories()) {
            m_window->views()->setCurrent(QLatin1String(row.id));
            QTRY_VERIFY_WITH_TIMEOUT(m_window->views()->currentView()->isSettled(), kWaitMs);
            std::set<QWidget*> left = stopsOf(*m_window);
            QVERIFY(left.size() > 15);
            // Tab alone goes through all of it.
            m_window->views()->currentView()->setFocus();
            for (int i = 0; i < 800 && !left.empty(); ++i) {
                QWidget* focus = m_window->focusWidget();
                for (QWidget* above = focus; above; above = above->parentWidget())
                    left.erase(above); // a view whose part has the focus
                QTest::keyClick(focus ? focus : m_window.get(), Qt::Key_Tab);
            }
            QByteArray missed = row.id;
            for (const QWidget* widget : left)
                missed += ' ' + words(widget);
            QVERIFY2(left.empty(), missed.constData());
        }
    }

    void everyControlHasAName()
    {
        for (const char* panel : { "window.log", "window.connections" })
            m_window->commands()->action(panel)->trigger();
        for (const ViewFactory& row : viewFactories()) {
            m_window->views()->setCurrent(QLatin1String(row.id));
            QTRY_VERIFY_WITH_TIMEOUT(m_window->views()->currentView()->isSettled(), kWaitMs);
            for (QWidget* widget : m_window->findChildren<QWidget*>()) {
                const bool canFocus = widget->focusPolicy() != Qt::NoFocus && !widget->focusProxy();
                if (canFocus && widget->window() == m_window.get() && widget->isVisibleTo(m_window.get()))
                    QVERIFY2(!nameOf(widget).isEmpty(), (row.id + QByteArray(": ") + words(widget)).constData());
            }
        }
    }
};

TELLTALE_TEST(QTEST_MAIN, DeskWorkTest)

}

#include "deskworktest.moc"
