// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <QDockWidget>
#include <QTabBar>

#include <telltale/common/viewstate.h>
#include <telltale/shell/dockhost.h>
#include <telltale/shell/panels.h>
#include <telltale/shell/rundriver.h>

#include "archivewindow.h"

namespace dockstest {

using namespace telltale;
using namespace telltale::shell;

/// Where the panels are in windows of all sizes. Thread: the test's.
class DocksTest : public QObject, test::ArchiveWindow {
    Q_OBJECT
public:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        m_layouts += event->type() == QEvent::LayoutRequest ? 1 : 0;
        return QObject::eventFilter(watched, event);
    }

private Q_SLOTS:
    void initTestCase() { writeArchive(); }
    void init() { openPool(); }
    void cleanup() { closeWindow(); }

    void aNarrowWindowPutsTheInspectorBehindTheModules()
    {
        open(m_archive.path(), QStringLiteral("light"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        m_window->resize(1000, 700);
        settle();
        auto* inspector = m_window->findChild<QDockWidget*>(QStringLiteral("inspector"));
        auto* modules = m_window->findChild<QDockWidget*>(QStringLiteral("modules"));
        QVERIFY(m_window->tabifiedDockWidgets(modules).contains(inspector));
        QCOMPARE(inspector->titleBarWidget()->sizeHint().height(), 0); // its tab says what it would
        QVERIFY2(modules->width() >= 290, qPrintable(QString::number(modules->width())));
        for (const QTabBar* bar : m_window->findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly))
            QVERIFY2(bar->count() > 0 || bar->visibleRegion().isEmpty(), "an empty band stands over the tabs");
        QVERIFY(comesToRest());
        shoot(QStringLiteral("narrow"));
        m_window->resize(1400, 900);
        settle();
        QVERIFY(!m_window->tabifiedDockWidgets(modules).contains(inspector));
        QCOMPARE(m_window->dockWidgetArea(inspector), Qt::RightDockWidgetArea);
        QVERIFY2(modules->width() >= 290, qPrintable(QString::number(modules->width())));
        QVERIFY(comesToRest());
        // A layout that was kept in a wide window leaves the left column what it needs in a narrow one.
        auto* docks = m_window->findChild<DockHost*>();
        const QByteArray wide = docks->save();
        m_window->resize(1000, 700);
        settle();
        QVERIFY(docks->restore(wide));
        settle();
        QVERIFY(m_window->tabifiedDockWidgets(modules).contains(inspector));
        QVERIFY2(modules->width() >= 290, qPrintable(QString::number(modules->width())));
    }

    void aPanelThatClosesGivesItsHeightBack()
    {
        open(m_archive.path(), QStringLiteral("light"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        m_window->resize(1000, 700);
        settle();
        auto* docks = m_window->findChild<DockHost*>();
        const auto& rows = panelFactories();
        const auto connections = std::find_if(rows.begin(), rows.end(),
            [](const PanelFactory& row) { return std::string_view(row.id) == "connections"; });
        const int whole = m_window->centralWidget()->height();
        docks->toggle(*connections);
        settle();
        QVERIFY(m_window->centralWidget()->height() < whole);
        docks->toggle(*connections);
        settle();
        QTRY_COMPARE(m_window->centralWidget()->height(), whole);
        // What somebody has changed meanwhile stays.
        m_window->resize(1000, 780);
        settle();
        const int taller = m_window->centralWidget()->height();
        docks->toggle(*connections);
        settle();
        auto* dock = m_window->findChild<QDockWidget*>(QStringLiteral("connections"));
        const int before = m_window->centralWidget()->height();
        m_window->resizeDocks({ dock }, { dock->height() + 40 }, Qt::Vertical);
        settle();
        QVERIFY(m_window->centralWidget()->height() < before);
        docks->toggle(*connections);
        settle();
        QVERIFY(m_window->centralWidget()->height() < taller);
    }

    void inTheSmallestWindowTheViewsAreAlone()
    {
        open(m_archive.path(), QStringLiteral("light"), QStringLiteral("en"));
        QTRY_VERIFY(m_window->state()->catalog());
        m_window->resize(1400, 900);
        settle();
        auto* docks = m_window->findChild<DockHost*>();
        const auto seen = [this] {
            QStringList names;
            for (const auto* dock : m_window->findChildren<QDockWidget*>())
                names += dock->isHidden() ? QString() : dock->objectName();
            names.removeAll(QString());
            names.sort(); // a dock that comes back is the last child
            return names;
        };
        const QStringList all = seen();
        QVERIFY(all.size() >= 4);
        docks->resized({ 667, 467 }); // as on a small screen
        QCOMPARE(seen(), QStringList());
        const QByteArray kept = docks->save(); // as if nothing had been closed
        docks->resized({ 1400, 467 });
        QVERIFY(seen().contains(QStringLiteral("runs")) && !seen().contains(QStringLiteral("anomalies")));
        docks->resized({ 1400, 900 });
        QCOMPARE(seen(), all);
        docks->arrange({});
        QVERIFY(docks->restore(kept));
        QCOMPARE(seen(), all);
        // What a person opens there stays open, and comes back.
        const auto& rows = panelFactories();
        const auto modules = std::find_if(
            rows.begin(), rows.end(), [](const PanelFactory& row) { return std::string_view(row.id) == "modules"; });
        QVERIFY(modules != rows.end());
        docks->resized({ 667, 467 });
        docks->toggle(*modules);
        QCOMPARE(seen(), QStringList { QStringLiteral("modules") });
        const QByteArray chosen = docks->save();
        docks->resized({ 1400, 900 });
        QCOMPARE(seen(), all);
        QVERIFY(docks->restore(chosen));
        QCOMPARE(seen(), QStringList { QStringLiteral("modules") });
        QVERIFY(docks->restore(kept));
        QCOMPARE(seen(), all);
        settle();
        QVERIFY(comesToRest());
    }

    void aWindowThatOpenedItsFirstRunComesToRest()
    {
        open(m_empty->path(), QStringLiteral("light"), QStringLiteral("en"));
        QVERIFY(comesToRest());
        m_window->findChild<RunDriver*>()->openPath(
            m_archive.path() + QStringLiteral("/runs/2026-01-02_gpt-12l_abc123.telltale"));
        QTRY_VERIFY(m_window->state()->catalog());
        settle();
        QVERIFY(comesToRest());
    }

private:
    /// Turns of the event loop follow one another in which the window is not laid out.
    bool comesToRest()
    {
        m_window->installEventFilter(this);
        int quiet = 0;
        for (int turn = 0; turn < 500 && quiet < 20; ++turn) {
            const int before = m_layouts;
            QCoreApplication::processEvents();
            quiet = m_layouts == before ? quiet + 1 : 0;
        }
        m_window->removeEventFilter(this);
        return quiet == 20;
    }

    int m_layouts = 0;
};

TELLTALE_TEST(QTEST_MAIN, DocksTest)

}

#include "dockstest.moc"
