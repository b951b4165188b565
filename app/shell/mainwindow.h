// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QMainWindow>

#include <telltale/common/dataview.h>
#include <telltale/settings/settingsfile.h>

#include "appcontext.h"
#include "commandpalette.h"

class QMenuBar;
class QStackedWidget;

namespace telltale::views {
class ConnectionsPanel;
class InspectorPanel;
class LogPanel;
class ModulesPanel;
class RunsPanel;
class SharedAxis;
class ViewState;
}

namespace telltale::shell {

class CommandRegistry;
class DockHost;
class JobThread;
class LogFeed;
class NonFiniteJump;
class OpeningRank;
class RunActions;
class RunDriver;
class StatusLine;
class Toaster;
class ToolBar;
class ViewExport;
class ViewTabs;
class WelcomePage;

/// The window: makes the parts and connects them, and nothing else. Everything in `context` outlives it.
/// Thread: gui. All file work is on the job thread, all reading of runs in the query pool.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    /// Reads the settings of the data directory and gives the application its language and theme first.
    explicit MainWindow(const AppContext& context);
    MainWindow(AppContext context, settings::LoadedSettings loaded);
    ~MainWindow() override;

    views::ViewState* state() const { return m_state; }
    RunDriver* driver() const { return m_driver; }
    CommandRegistry* commands() const { return m_commands; }
    ViewTabs* views() const { return m_views; }
    RunActions* runActions() const { return m_runActions; }
    Toaster* toaster() const { return m_toaster; }
    DockHost* docks() const { return m_docks; }

    /// A capsule's path or an id, as the command line and a dropped file give it.
    void openPath(const QString& path);
    void openCapsules(const QStringList& paths); ///< the last one is shown
    /// One sentence as a toast; never a dialog.
    void showProblem(const QString& sentence);
    /// What would be restored at the next start.
    settings::Settings currentSettings() const;
    /// Writes the settings and waits for it; what closing does.
    void saveSession();

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void makeParts();
    void makeFrame();
    void makeCommands(); ///< mainwindowcommands.cpp, with the menus
    void makeMenus();
    void connectParts();
    void restoreSession();
    void showRunMenu();
    void updateCentre();
    void updatePulse();
    void updateTitle();
    void openFirst();
    void setTheme(const QString& theme);
    void setLanguage(const QString& language);
    void moveCursor(std::int64_t steps);
    void setMark(bool first);
    std::vector<CommandPalette::Entry> findEntries(const QString& text, int limit);

    AppContext m_context;
    settings::Settings m_settings;
    QString m_note;
    views::ViewState* m_state;
    views::SharedAxis* m_axis;
    views::ViewContext m_viewContext;
    std::unique_ptr<JobThread> m_jobs;
    RunDriver* m_driver;
    CommandRegistry* m_commands;
    Toaster* m_toaster;
    DockHost* m_docks;
    QMenuBar* m_menuBar;
    ToolBar* m_toolBar;
    StatusLine* m_status;
    QStackedWidget* m_centre;
    ViewTabs* m_views;
    WelcomePage* m_welcome;
    CommandPalette* m_palette;
    ViewExport* m_export;
    RunActions* m_runActions;
    LogFeed* m_log;
    NonFiniteJump* m_jump;
    OpeningRank* m_openingRank;
    views::RunsPanel* m_runsPanel;
    views::ModulesPanel* m_modulesPanel;
    views::InspectorPanel* m_inspectorPanel;
    views::ConnectionsPanel* m_connectionsPanel;
    views::LogPanel* m_logPanel;
    bool m_archiveListed = false;
    bool m_restoring = true; ///< until the run of the last session is open or given up
};

}
