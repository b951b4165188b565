// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <QTimer>

#include <telltale/shell/mainwindow.h>

#include "backend.h"
#include "demorun.h"
#include "report.h"

class QSystemTrayIcon;

namespace telltale::app {

/// The names that Qt asks an application for. Language and theme are the window's. Thread: gui.
void nameApplication();

/// The main window on top of a backend, and the demo that its welcome page can start. Thread: gui.
class Desktop {
public:
    explicit Desktop(Backend& backend);
    ~Desktop();

    shell::MainWindow& window() { return *m_window; }
    Expected<void> startDemo(DemoOptions options);

private:
    shell::AppContext context();
    void followSteering();
    void retry();
    void followAlerts();
    bool isLookedAt(const alerts::Alert& alert) const;
    void showInTray(const QString& title, const QString& text, const notify::AlertPlace& place);

    Backend& m_backend;
    std::unique_ptr<DemoRun> m_demo;
    std::unique_ptr<shell::MainWindow> m_window;
    QTimer m_retryTimer; ///< while another program holds what this one needs
    std::unique_ptr<QSystemTrayIcon> m_tray; ///< where nothing else shows notifications
    notify::AlertPlace m_inTray; ///< what its message is about
};

/// Runs the desktop until it is closed.
int openDesktop(Report& report, const Backend::Options& options, const QStringList& capsules,
    const std::optional<DemoOptions>& demo);

}
