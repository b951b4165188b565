// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include <telltale/common/dataview.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/judge/incident.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/store/querypool.h>
#include <telltale/store/storeservice.h>
#include <telltale/translations/translations.h>

#include "shellfixture.h"
#include "shownwindow.h"

namespace telltale::test {

/// A window on a run whose log says what a test wants of incidents. A test class has it as a base, calls writeRun() in
/// its initTestCase() and closeWindow() in its cleanup(). Thread: the test's.
class AnomaliesWindow {
protected:
    void writeRun() { DemoCapsule(m_clean.path().toStdString()).write(); }
    void closeWindow()
    {
        m_window.reset();
        m_pool.reset();
        m_store.reset();
        m_dir.reset();
        translations::install(*qApp, QStringLiteral("en"));
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
        m_window = showWindow(m_dir->path(), m_pool.get(), m_store.get(), {}, { 1600, 1000 });
        m_window->openPath(m_dir->path() + name);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->state()->catalog(), 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(
            m_window->state()->incidents()->rowCount(), static_cast<int>(incidents.size()), 20'000);
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

}
