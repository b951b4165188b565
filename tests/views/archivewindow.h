// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <QApplication>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include <telltale/shell/mainwindow.h>
#include <telltale/shell/startup.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/store/querypool.h>
#include <telltale/translations/translations.h>

#include "shellfixture.h"
#include "shots.h"
#include "someagents.h"

namespace telltale::test {

/// A window on a data directory with one run, or on an empty one. A test class has it as a base, and calls
/// writeArchive() before all tests, openPool() in its init() and closeWindow() in its cleanup(). Thread: the test's.
class ArchiveWindow {
protected:
    static constexpr auto kJoin = "telltale://127.0.0.1:47800#token=0123456789abcdef0123456789abcdef";

    void writeArchive()
    {
        QCoreApplication::setApplicationVersion(QStringLiteral("0.1.0"));
        DemoCapsule(m_archive.path().toStdString()).write();
    }
    void openPool()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral(".?")));
        m_empty = std::make_unique<QTemporaryDir>();
        m_pool = std::make_unique<store::QueryPool>(2);
    }
    void closeWindow()
    {
        m_window.reset();
        m_pool.reset();
        m_empty.reset();
        translations::install(*qApp, QStringLiteral("en"));
    }

    shell::AppContext context(const QString& dataDir)
    {
        shell::AppContext c;
        c.queries = m_pool.get();
        c.dataDir = dataDir.toStdString();
        c.connections
            = [some = dataDir != m_empty->path()] { return some ? someAgents() : std::vector<ConnectionInfo>(); };
        c.joinString = [] { return QString::fromLatin1(kJoin); };
        c.runDemo = [this](const QStringList&) { ++m_demoStarts; };
        return c;
    }

    void open(const QString& dataDir, const QString& theme, const QString& language)
    {
        m_demoStarts = 0;
        if (!language.isEmpty())
            QVERIFY(translations::install(*qApp, language));
        shell::applyTheme(*qApp, theme);
        settings::LoadedSettings loaded;
        loaded.settings.theme = theme;
        m_window = std::make_unique<shell::MainWindow>(context(dataDir), loaded);
        m_window->resize(1600, 1000);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }

    /// Until nothing is asked any more and everything is painted.
    void settle()
    {
        QTest::qWait(20);
        views::DataView* view = m_window->views()->currentView();
        QTRY_VERIFY2_WITH_TIMEOUT(view->isSettled(), qPrintable(view->objectName() + u' ' + view->trouble()), 20'000);
        QTest::qWait(300);
    }

    void shoot(const QString& name) { QVERIFY(m_window->grab().save(shot(name + QStringLiteral(".png")))); }

    QTemporaryDir m_archive;
    std::unique_ptr<QTemporaryDir> m_empty;
    std::unique_ptr<store::QueryPool> m_pool;
    std::unique_ptr<shell::MainWindow> m_window;
    int m_demoStarts = 0;
};

}
