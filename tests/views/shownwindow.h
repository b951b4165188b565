// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include <QtTest>

#include <telltale/shell/mainwindow.h>
#include <telltale/shell/toaster.h>

namespace telltale::test {

/// A window of a size that has room for everything, shown and active. Thread: the test's.
inline std::unique_ptr<shell::MainWindow> showWindow(
    const shell::AppContext& context, const settings::LoadedSettings& loaded, QSize size = { 1500, 950 })
{
    auto window = std::make_unique<shell::MainWindow>(context, loaded);
    window->toaster()->setAnimated(false);
    window->resize(size);
    window->show();
    if (!QTest::qWaitForWindowActive(window.get()))
        QTest::qFail("the window is not active", __FILE__, __LINE__);
    return window;
}

/// The same on a data directory, without agents. `store` may be null.
inline std::unique_ptr<shell::MainWindow> showWindow(const QString& dataDir, store::QueryPool* queries,
    store::StoreService* store, const settings::LoadedSettings& loaded, QSize size = { 1500, 950 })
{
    shell::AppContext context;
    context.queries = queries;
    context.store = store;
    context.dataDir = dataDir.toStdString();
    context.connections = [] { return std::vector<ConnectionInfo>(); };
    return showWindow(context, loaded, size);
}

}
