// SPDX-License-Identifier: GPL-3.0-or-later
#include "mainwindow.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QStackedWidget>
#include <QUrl>
#include <QVBoxLayout>

#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/runs/connectionspanel.h>
#include <telltale/runs/inspectorpanel.h>
#include <telltale/runs/joinfield.h>
#include <telltale/runs/logpanel.h>
#include <telltale/runs/modulespanel.h>
#include <telltale/runs/runspanel.h>

#include "commandregistry.h"
#include "dockhost.h"
#include "jobthread.h"
#include "logfeed.h"
#include "nonfinitejump.h"
#include "openingrank.h"
#include "runactions.h"
#include "runbutton.h"
#include "rundriver.h"
#include "session.h"
#include "startup.h"
#include "statusline.h"
#include "toaster.h"
#include "toolbar.h"
#include "viewexport.h"
#include "viewtabs.h"
#include "welcomepage.h"

namespace telltale::shell {

using views::ViewState;

namespace {

constexpr QSize kFirstSize { 1600, 1000 };
constexpr QSize kLeastSize { 900, 600 };
constexpr int kStatusHeight = 24;

/// "127.0.0.1:47800" out of "telltale://127.0.0.1:47800#token=...".
QString addressOf(const QString& join)
{
    return QUrl(join).authority();
}

}

MainWindow::MainWindow(const AppContext& context)
    : MainWindow(context, prepareApplication(*qApp, context.dataDir))
{
}

MainWindow::MainWindow(AppContext context, settings::LoadedSettings loaded)
    : m_context(std::move(context))
    , m_settings(std::move(loaded.settings))
    , m_note(std::move(loaded.note))
    , m_state(new ViewState(this))
    , m_axis(new views::SharedAxis(m_state, this))
    , m_viewContext { m_state, m_axis, m_context.queries }
    , m_jobs(std::make_unique<JobThread>())
{
    setObjectName(QStringLiteral("mainWindow"));
    // A wake carries nothing; the window drains the pool's queue.
    m_context.queries->setWake([this] {
        QMetaObject::invokeMethod(
            this, [this] { m_context.queries->deliver(); }, Qt::QueuedConnection);
    });
    makeParts();
    makeFrame();
    makeCommands();
    makeMenus();
    connectParts();
    restoreSession();
    m_driver->refreshArchive();
    m_driver->tick();
    updateCentre();
    if (!m_note.isEmpty())
        m_toaster->post(Toaster::Severity::Warning, m_note);
}

MainWindow::~MainWindow()
{
    m_context.queries->setWake({});
    m_jobs.reset(); // finishes its work; what it would deliver is gone
}

void MainWindow::makeParts()
{
    m_driver = new RunDriver(m_context, m_state, m_jobs.get(), this);
    m_commands = new CommandRegistry(this);
    m_toaster = new Toaster(this, kStatusHeight);
    m_toaster->setAnimated(m_settings.animations);
    m_docks = new DockHost(this);
    m_toolBar = new ToolBar(this);
    m_status = new StatusLine(this);
    m_views = new ViewTabs(m_viewContext, this);
    m_welcome = new WelcomePage(this);
    m_export = new ViewExport(m_jobs.get(), m_toaster, this);
    m_runActions = new RunActions(m_driver, m_jobs.get(), m_toaster, m_context.dataDir, this);
    m_log = new LogFeed(m_state, m_driver, m_toaster, this);
    m_jump = new NonFiniteJump(m_state, m_context.queries, this);
    m_openingRank = new OpeningRank(m_state, m_context.queries, this);
    m_runsPanel = new views::RunsPanel(m_driver->runs(), this);
    m_modulesPanel = new views::ModulesPanel(m_viewContext, this);
    m_inspectorPanel = new views::InspectorPanel(m_viewContext, this);
    m_connectionsPanel = new views::ConnectionsPanel(this);
    m_logPanel = new views::LogPanel(m_log->model(), this);
    m_palette = new CommandPalette([this](const QString& text, int limit) { return findEntries(text, limit); }, this);
}

void MainWindow::makeFrame()
{
    setMinimumSize(kLeastSize);
    setAcceptDrops(true);
    setUnifiedTitleAndToolBarOnMac(false);
    m_centre = new QStackedWidget(this);
    m_centre->addWidget(m_views);
    m_centre->addWidget(m_welcome);
    setCentralWidget(m_centre);

    // Menus and tool bar share the menu's place: a QToolBar has margins of its own and a style sheet that recolours
    // what is in it.
    auto* top = new QWidget(this);
    auto* rows = new QVBoxLayout(top);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    m_menuBar = new QMenuBar(top);
    m_menuBar->setMinimumHeight(28); // Chinese needs a pixel more, and a bar too low hides its menus
    rows->addWidget(m_menuBar);
    rows->addWidget(m_toolBar);
    setMenuWidget(top);
    setStatusBar(m_status);

    m_docks->add(DockHost::Runs, tr("Runs"), m_runsPanel, m_runsPanel->head());
    m_docks->add(DockHost::Modules, tr("Modules"), m_modulesPanel, m_modulesPanel->head());
    m_docks->add(DockHost::Inspector, tr("Inspector"), m_inspectorPanel, m_inspectorPanel->head());
    m_docks->add(DockHost::Connections, tr("Connections"), m_connectionsPanel, m_connectionsPanel->head());
    m_docks->add(DockHost::Log, tr("Log"), m_logPanel, m_logPanel->head());
}

void MainWindow::connectParts()
{
    connect(m_driver, &RunDriver::pulseChanged, this, &MainWindow::updatePulse);
    connect(m_driver, &RunDriver::connectionsChanged, this,
        [this] { m_connectionsPanel->setConnections(m_driver->connections()); });
    connect(m_driver, &RunDriver::problem, this,
        [this](const QString& sentence) { m_toaster->post(Toaster::Severity::Warning, sentence); });
    connect(m_driver, &RunDriver::archiveListed, this, &MainWindow::openFirst);
    connect(m_driver, &RunDriver::runOpened, this, [this] {
        updateCentre();
        updateTitle();
        m_runsPanel->setCurrentRun(QString::fromStdString(m_state->run()->id));
    });
    connect(m_state, &ViewState::catalogChanged, this, &MainWindow::updateTitle);
    // The session's selection waits for the catalog that it is about.
    connect(m_state, &ViewState::catalogChanged, this, [this] {
        if (!m_restoring || !m_state->catalog())
            return;
        m_restoring = false;
        if (m_settings.runPath == QString::fromStdString(m_state->run()->path)) {
            m_openingRank->keep();
            shell::restoreState(m_settings, *m_state);
        }
    });

    connect(m_runsPanel, &views::RunsPanel::runActivated, m_driver, &RunDriver::openById);
    connect(m_runsPanel, &views::RunsPanel::renameWanted, m_runActions, &RunActions::rename);
    connect(m_runsPanel, &views::RunsPanel::deleteWanted, m_runActions, &RunActions::remove);
    connect(m_runsPanel, &views::RunsPanel::exportWanted, m_runActions, &RunActions::exportCopy);
    connect(m_runsPanel, &views::RunsPanel::openWanted, m_runActions, &RunActions::open);
    connect(m_runsPanel, &views::RunsPanel::importWanted, m_runActions, &RunActions::askImport);
    connect(m_runsPanel, &views::RunsPanel::compareWanted, m_driver, &RunDriver::compare);
    connect(m_jump, &NonFiniteJump::nothingFound, this, [this](bool forward) {
        m_toaster->post(Toaster::Severity::Notice,
            forward ? tr("Nothing stops being finite after the cursor")
                    : tr("Nothing stops being finite before the cursor"));
    });
    connect(m_logPanel, &views::LogPanel::stepWanted, this, [this](qint64 step, int rank) {
        m_state->goTo(Step { step });
        if (rank >= 0)
            m_state->setRank(Rank { rank });
    });
    m_toaster->setDefaultAction(tr("Log"), [this] { m_docks->show(DockHost::Log); });
    connect(m_toolBar->runButton(), &QAbstractButton::clicked, this, &MainWindow::showRunMenu);
    connect(m_toolBar->paletteButton(), &QAbstractButton::clicked, m_palette, &CommandPalette::popUp);
    connect(m_status, &StatusLine::connectionsClicked, this, [this] { m_docks->show(DockHost::Connections); });
    connect(m_welcome, &WelcomePage::openWanted, m_runActions, &RunActions::open);
    connect(m_welcome, &WelcomePage::importWanted, m_runActions, &RunActions::askImport);
    connect(m_welcome, &WelcomePage::demoWanted, m_commands->action(QStringLiteral("run.demo")), &QAction::trigger);
    const auto copied = [this] { m_toaster->post(Toaster::Severity::Good, tr("The join string is on the clipboard")); };
    connect(m_welcome, &WelcomePage::joinCopied, this, copied);
    connect(m_connectionsPanel->joinField(), &views::JoinField::copied, this, copied);

    const QString join = m_context.joinString ? m_context.joinString() : QString();
    m_welcome->setListening(join, m_context.captureProblem);
    m_welcome->setDemoAvailable(static_cast<bool>(m_context.runDemo));
    m_connectionsPanel->setListening(join, m_context.captureProblem);
    m_status->setListening(addressOf(join), m_context.captureProblem);
}

void MainWindow::restoreSession()
{
    m_export->setFolder(m_settings.exportFolder);
    if (m_settings.geometry.isEmpty() || !restoreGeometry(m_settings.geometry))
        resize(kFirstSize);
    m_docks->restore(m_settings.docks);
    m_views->restoreSplit(m_settings.heatmapSplit);
    if (!m_settings.activeTab.isEmpty())
        m_views->setCurrent(m_settings.activeTab);
}

settings::Settings MainWindow::currentSettings() const
{
    settings::Settings now = m_settings;
    now.geometry = saveGeometry();
    if (const QByteArray docks = m_docks->save(); !docks.isEmpty())
        now.docks = docks;
    now.activeTab = m_views->currentId();
    now.heatmapSplit = m_views->splitState();
    now.exportFolder = m_export->folder();
    storeState(*m_state, now);
    return now;
}

void MainWindow::saveSession()
{
    m_settings = currentSettings();
    m_jobs->submit([settings = m_settings, path = settingsPath(m_context.dataDir)]() -> JobThread::Delivery {
        if (const Expected<void> saved = settings::save(path, settings); !saved)
            qWarning("%s", saved.error().sentence().c_str());
        return {};
    });
}

void MainWindow::openPath(const QString& path)
{
    m_restoring = false;
    m_driver->openPath(path);
}

void MainWindow::openCapsules(const QStringList& paths)
{
    for (const QString& path : paths)
        openPath(path);
}

void MainWindow::showProblem(const QString& sentence)
{
    m_toaster->post(Toaster::Severity::Warning, sentence);
}

void MainWindow::openFirst()
{
    m_archiveListed = true;
    disconnect(m_driver, &RunDriver::archiveListed, this, &MainWindow::openFirst);
    connect(m_driver, &RunDriver::archiveListed, this, &MainWindow::updateCentre);
    const auto& archived = m_driver->runs()->runs(items::RunsModel::ArchivedGroup);
    if (!m_state->run() && !archived.empty()) {
        const store::RunSummary* wanted = &archived.front();
        for (const store::RunSummary& run : archived) {
            if (QString::fromStdString(run.path) == m_settings.runPath)
                wanted = &run;
        }
        if (m_driver->runs()->runs(items::RunsModel::LiveGroup).empty())
            m_driver->openById(QString::fromStdString(wanted->id));
    }
    updateCentre();
}

void MainWindow::updateCentre()
{
    // Until the archive has been listed nobody knows whether this is a first start.
    const bool welcoming = !m_state->run() && m_archiveListed;
    m_centre->setCurrentWidget(welcoming ? static_cast<QWidget*>(m_welcome) : m_views);
    m_docks->setWelcoming(welcoming);
    if (!focusWidget() || focusWidget() == m_toolBar->runButton())
        m_centre->currentWidget()->setFocus(); // where single keys work, not on the first button
    if (welcoming) {
        m_status->setHints({ { QStringLiteral("Ctrl+O"), tr("open") },
            { QStringLiteral("Ctrl+Shift+C"), tr("copy join string") }, { QStringLiteral("F1"), tr("keys") } });
    } else {
        m_status->setHints({ { tr("Space"), tr("follow") }, { tr("Backspace"), tr("zoom back") },
            { QStringLiteral("Ctrl+K"), tr("go to") }, { QStringLiteral("F1"), tr("keys") } });
    }
    updatePulse();
}

void MainWindow::updatePulse()
{
    m_toolBar->show(m_driver->pulse());
    m_status->show(m_driver->pulse());
}

void MainWindow::updateTitle()
{
    const store::RunRef run = m_state->run();
    setWindowTitle(
        run ? QStringLiteral("%1 \u2013 Telltale").arg(QString::fromStdString(run->name)) : QStringLiteral("Telltale"));
}

void MainWindow::showRunMenu()
{
    QMenu menu(this);
    const items::RunsModel* runs = m_driver->runs();
    constexpr int kMost = 15;
    for (const auto group : { items::RunsModel::LiveGroup, items::RunsModel::ArchivedGroup }) {
        int count = 0;
        for (const store::RunSummary& run : runs->runs(group)) {
            if (++count > kMost)
                break;
            const QString id = QString::fromStdString(run.id);
            menu.addAction(QString::fromStdString(run.name), this, [this, id] { m_driver->openById(id); });
        }
        if (count > 0)
            menu.addSeparator();
    }
    menu.addAction(m_commands->action(QStringLiteral("file.open")));
    QWidget* button = m_toolBar->runButton();
    menu.exec(button->mapToGlobal(QPoint(0, button->height() + 2)));
}

void MainWindow::setTheme(const QString& theme)
{
    m_settings.theme = theme;
    applyTheme(*qApp, theme);
}

void MainWindow::setLanguage(const QString& language)
{
    m_settings.language = language;
    m_toaster->post(Toaster::Severity::Notice, tr("The language changes at the next start"));
}

void MainWindow::changeEvent(QEvent* event)
{
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::ActivationChange)
        m_driver->setFocused(isActiveWindow());
}

void MainWindow::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    m_docks->widthChanged(event->size().width());
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    saveSession();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile())
            openPath(url.toLocalFile());
    }
    event->acceptProposedAction();
}

}
