// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QMainWindow>

#include <telltale/notify/alertplace.h>
#include <telltale/settings/settingsfile.h>

#include "windowparts.h"

class QStackedWidget;

namespace telltale::shell {

class AlertJump;
class JobThread;
class MainMenu;
class OpeningRank;
class StatusLine;
class ToolBar;
class WelcomePage;

/// The window: makes the parts and connects them, and nothing else; views, panels and commands are rows of
/// viewfactory.cpp, panels.cpp and commands.cpp. Everything in `context` outlives it. All file work is on the job
/// thread, all reading of runs in the query pool.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    /// Reads the settings of the data directory and gives the application its language and theme first.
    explicit MainWindow(const AppContext& context);
    MainWindow(AppContext context, settings::LoadedSettings loaded);
    ~MainWindow() override;

    views::ViewState* state() const { return m_parts.views.state; }
    RunDriver* driver() const { return m_parts.driver; }
    CommandRegistry* commands() const { return m_parts.commands; }
    ViewTabs* views() const { return m_parts.tabs; }
    RunActions* runActions() const { return m_parts.runActions; }
    ArchiveActions* archive() const { return m_parts.archive; }
    Toaster* toaster() const { return m_parts.toaster; }
    DockHost* docks() const { return m_parts.docks; }
    Session* session() const { return m_parts.session; }

    /// A capsule's path or an id, as the command line and a dropped file give it.
    void openPath(const QString& path);
    void openCapsules(const QStringList& paths); ///< the last one is shown
    /// One sentence as a toast; never a dialog.
    void showProblem(const QString& sentence);
    /// What a message on the desktop was about, in front of everything else. `token`: what lets the window come there,
    /// where the desktop gives one.
    void showAlert(const notify::AlertPlace& place, const QString& token);
    void setDemoStarting(bool on); ///< what the first start says while its training begins
    /// The program has got a store or a server that it had not at the start, or both.
    void takeRecording(const AppContext& context);
    void takeSteering(); ///< asks how the recorded runs are steered now

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void makeParts();
    void makeFrame();
    void makeCommands();
    void connectParts();
    void useRecording();
    void showRunMenu();
    void updateCenter();
    void spareDocks(); ///< as what is in the center needs
    void updateHints(); ///< the keys of what is in the center
    void updatePulse();
    void updateTitle();

    WindowParts m_parts;
    std::unique_ptr<JobThread> m_jobs;
    MainMenu* m_menu;
    ToolBar* m_toolBar;
    StatusLine* m_status;
    bool m_wasLive = false; ///< when the hints were last made
    QStackedWidget* m_centre;
    WelcomePage* m_welcome;
    OpeningRank* m_openingRank;
    AlertJump* m_alertJump;
};

}
