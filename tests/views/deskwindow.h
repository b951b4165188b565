// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QDockWidget>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include <telltale/common/viewstate.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatmapview.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/store/querypool.h>
#include <telltale/store/storeservice.h>

#include "shellfixture.h"
#include "shownwindow.h"

namespace telltale::test {

/// A window that records, with a run of a hundred steps in it and the heat map shown. A test class has it as a base,
/// calls openWindow() in its init() and closeWindow() in its cleanup(). Thread: the test's.
class DeskWindow {
protected:
    static constexpr int kWaitMs = 20'000;

    void openWindow()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral(".?")));
        m_dir = std::make_unique<QTemporaryDir>();
        m_pool = std::make_unique<store::QueryPool>(2);
        DemoCapsule(m_dir->path().toStdString()).write(100);
        auto service = store::StoreService::start({ m_dir->path().toStdString() });
        QVERIFY(service);
        m_store = std::move(*service);
        open({});
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), kWaitMs);
        m_window->views()->setCurrent(QStringLiteral("heatmap"));
        auto* heat = m_window->findChild<views::HeatmapView*>();
        QTRY_VERIFY_WITH_TIMEOUT(heat->isSettled() && heat->canvas()->picture(), kWaitMs);
    }
    void closeWindow()
    {
        m_window.reset();
        m_store.reset();
        m_pool.reset();
        m_dir.reset();
    }
    void open(const settings::LoadedSettings& loaded)
    {
        m_window = showWindow(m_dir->path(), m_pool.get(), m_store.get(), loaded);
    }
    void openBadRun()
    {
        DemoCapsule bad(m_dir->path().toStdString(), "2026-01-03_bad_def456.telltale");
        bad.write();
        m_window->openPath(QString::fromStdString(bad.path()));
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog() && state()->fullRange().last == Step { 399 }, kWaitMs);
    }

    bool isOpen(const char* panel) const
    {
        return m_window->findChild<QDockWidget*>(QLatin1String(panel))->toggleViewAction()->isChecked();
    }
    views::ViewState* state() const { return m_window->state(); }
    static std::vector<views::ModuleKey> keys(std::initializer_list<const char*> names)
    {
        std::vector<views::ModuleKey> keys;
        for (const char* name : names)
            keys.push_back({ QLatin1String(name) });
        return keys;
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<store::StoreService> m_store;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<shell::MainWindow> m_window;
};

}
