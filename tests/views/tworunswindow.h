// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include <telltale/common/viewstate.h>
#include <telltale/ingest/foreignimport.h>
#include <telltale/items/runsmodel.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/rundriver.h>
#include <telltale/store/querypool.h>

#include "shellfixture.h"
#include "shownwindow.h"

namespace telltale::test {

/// What a person does with runs and keys, on two small runs: one in the data directory, one elsewhere. A test class has
/// it as a base, calls openWindow() in its init() and closeWindow() in its cleanup(). Thread: the test's.
class TwoRunsWindow {
protected:
    void openWindow()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral(".?")));
        m_dir = std::make_unique<QTemporaryDir>();
        m_elsewhere = std::make_unique<QTemporaryDir>();
        m_pool = std::make_unique<store::QueryPool>(2);
        DemoCapsule(m_dir->path().toStdString()).write(100);
        DemoCapsule other(m_elsewhere->path().toStdString(), "2026-01-03_other_def456.telltale");
        other.write(120);
        m_other = QString::fromStdString(other.path());
        shell::AppContext context;
        context.queries = m_pool.get();
        context.dataDir = m_dir->path().toStdString();
        context.connections = [this] { return m_agents; };
        context.importFile = [this](const std::string& path, const std::function<bool(double)>& goesOn) {
            if (path.ends_with(".slow")) { // as long as it may
                m_isSlowRunning = true;
                while (goesOn(0.5))
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            return ingest::importAnything(m_dir->path().toStdString(), path, goesOn);
        };
        m_window = showWindow(context, {});
        QTRY_VERIFY_WITH_TIMEOUT(state()->catalog(), 20'000);
    }
    void closeWindow()
    {
        m_window.reset();
        m_pool.reset();
        m_agents.clear();
        m_elsewhere.reset();
        m_dir.reset();
    }

    views::ViewState* state() const { return m_window->state(); }
    const std::vector<store::RunSummary>& archived() const
    {
        return m_window->driver()->runs()->runs(items::RunsModel::ArchivedGroup);
    }
    QString firstId() const { return QString::fromStdString(archived().front().id); }

    std::atomic_bool m_isSlowRunning { false };
    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<QTemporaryDir> m_elsewhere;
    QString m_other; ///< the path of the run that is elsewhere
    std::vector<ConnectionInfo> m_agents;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<shell::MainWindow> m_window;
};

}
