// SPDX-License-Identifier: GPL-3.0-or-later
#include "mainwindow.h"

#include <utility>

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QMenu>
#include <QMimeData>
#include <QScreen>
#include <QStackedWidget>
#include <QUndoStack>
#include <QUrl>
#include <QVBoxLayout>

#include <telltale/common/annotator.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/steeringstate.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/saidwords.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/runs/connectionspanel.h>
#include <telltale/runs/joinfield.h>
#include <telltale/runs/logpanel.h>
#include <telltale/runs/runspanel.h>
#include <telltale/steering/configview.h>
#include <telltale/store/storeservice.h>

#include "alertjump.h"
#include "archiveactions.h"
#include "collectswitch.h"
#include "commandpalette.h"
#include "commands.h"
#include "dockhost.h"
#include "imports.h"
#include "jobthread.h"
#include "keychip.h"
#include "layouts.h"
#include "logfeed.h"
#include "mainmenu.h"
#include "nonfinitejump.h"
#include "notes.h"
#include "openingrank.h"
#include "palettesearch.h"
#include "runactions.h"
#include "runbutton.h"
#include "rundriver.h"
#include "selectionundo.h"
#include "session.h"
#include "startup.h"
#include "statusline.h"
#include "toaster.h"
#include "toolbar.h"
#include "viewexport.h"
#include "viewfactory.h"
#include "viewtabs.h"
#include "welcomepage.h"

namespace telltale::shell {

using views::ViewState;

namespace {

constexpr QSize kLeastSize { 900, 600 };

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
    : m_jobs(std::make_unique<JobThread>())
{
    m_parts.context = std::move(context);
    m_parts.session = new Session(&m_parts, std::move(loaded.settings), m_jobs.get(), this);
    setObjectName(QStringLiteral("mainWindow"));
    // A wake carries nothing; the window drains the pool's queue.
    m_parts.context.queries->setWake([this] {
        QMetaObject::invokeMethod(
            this, [this] { m_parts.context.queries->deliver(); }, Qt::QueuedConnection);
    });
    makeParts();
    makeFrame();
    makeCommands();
    m_menu->fill();
    connectParts();
    m_parts.session->begin();
    connect(m_parts.driver, &RunDriver::archiveListed, this, &MainWindow::updateCenter);
    m_parts.driver->refreshArchive();
    m_parts.driver->tick();
    updateCenter();
    if (!loaded.note.isEmpty())
        showProblem(loaded.note);
}

MainWindow::~MainWindow()
{
    m_parts.context.queries->setWake({});
    m_jobs.reset(); // finishes its work; what it would deliver is gone
}

void MainWindow::makeParts()
{
    auto* state = new ViewState(this);
    store::QueryPool* queries = m_parts.context.queries;
    m_parts.window = this;
    auto* steering = new views::SteeringState(this);
    auto* annotator = new views::Annotator(this);
    annotator->folder = QString::fromStdString(m_parts.context.dataDir);
    m_parts.views = { state, new views::SharedAxis(state, this), queries, steering, annotator };
    m_parts.driver = new RunDriver(m_parts.context, state, m_jobs.get(), this);
    m_parts.views.runs = m_parts.driver->runs();
    state->setIsSharedName([runs = m_parts.driver->runs()](const QString& name) { return runs->isSharedName(name); });
    m_parts.views.findRun = [driver = m_parts.driver](const QString& id) { return driver->runById(id); };
    m_parts.views.dataDir = m_parts.context.dataDir;
    m_parts.commands = new CommandRegistry(this);
    m_parts.toaster = new Toaster(this);
    m_parts.toaster->setAnimated(m_parts.session->settings().animations);
    m_parts.docks = new DockHost(this);
    m_toolBar = new ToolBar(this);
    m_status = new StatusLine(this);
    m_parts.tabs = new ViewTabs(m_parts.views, this);
    m_welcome = new WelcomePage(this);
    m_parts.exporter = new ViewExport(m_jobs.get(), m_parts.toaster, this);
    m_parts.runActions
        = new RunActions(m_parts.driver, m_jobs.get(), queries, m_parts.toaster, m_parts.context.dataDir, this);
    m_parts.archive = new ArchiveActions(
        m_parts.driver, m_jobs.get(), queries, m_parts.toaster, m_parts.runActions, m_parts.context.dataDir, this);
    m_parts.imports = new Imports(m_parts.context, m_parts.driver, m_parts.toaster, this);
    m_parts.runActions->setImports(m_parts.imports);
    connect(m_parts.imports, &Imports::progress, m_status, &StatusLine::setWork);
    m_parts.log = new LogFeed(queries, state, m_parts.driver, m_parts.toaster, this);
    m_parts.jump = new NonFiniteJump(state, queries, this);
    m_parts.undo = new QUndoStack(this);
    new SelectionUndo(state, m_parts.undo, this);
    m_parts.notes = new Notes(m_parts.views, m_parts.undo, m_parts.toaster, this);
    m_parts.layouts = new Layouts(m_parts.docks, m_parts.tabs, this);
    m_openingRank = new OpeningRank(state, queries, this);
    m_alertJump = new AlertJump(m_parts, this);
    m_parts.palette = new CommandPalette(
        [this](const QString& text, int limit) { return searchPalette(m_parts, text, limit); }, this);
}

void MainWindow::makeFrame()
{
    setMinimumSize(kLeastSize.boundedTo(screen()->availableGeometry().size() - Session::kFrameSize));
    setAcceptDrops(true);
    setUnifiedTitleAndToolBarOnMac(false);
    m_centre = new QStackedWidget(this);
    m_centre->addWidget(m_parts.tabs);
    m_centre->addWidget(m_welcome);
    setCentralWidget(m_centre);

    // Menus and tool bar share the menu's place: a QToolBar has margins of its own and a style sheet that recolors
    // what is in it.
    auto* top = new QWidget(this);
    auto* rows = new QVBoxLayout(top);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    m_menu = new MainMenu(&m_parts, top);
    rows->addWidget(m_menu);
    rows->addWidget(m_toolBar);
    setMenuWidget(top);
    setStatusBar(m_status);

    m_parts.docks->makePanels(m_parts);
}

void MainWindow::makeCommands()
{
    CommandRegistry* commands = m_parts.commands;
    commands->add(windowCommands(&m_parts));
    for (const auto signal : { &ViewState::runChanged, &ViewState::comparedChanged, &ViewState::followingChanged })
        connect(m_parts.views.state, signal, commands, &CommandRegistry::refresh);
    connect(m_parts.driver, &RunDriver::pulseChanged, commands, &CommandRegistry::refresh);
    connect(m_parts.docks, &DockHost::openChanged, commands, &CommandRegistry::refresh);
    connect(m_parts.tabs, &ViewTabs::currentChanged, commands, &CommandRegistry::refresh);
    connect(m_parts.driver, &RunDriver::archiveListed, commands, &CommandRegistry::refresh);
    connect(m_parts.undo, &QUndoStack::indexChanged, commands, &CommandRegistry::refresh);
    connect(m_parts.imports, &Imports::progress, commands, &CommandRegistry::refresh);
    m_parts.docks->panel<views::RunsPanel>()->setRunActions(
        { commands->action("run.rename"), commands->action("run.move"), commands->action("run.pin"),
            commands->action("run.unpin"), commands->action("run.copy"), commands->action("run.delete") },
        { commands->action("run.trash") });
    connect(m_parts.views.steering, &views::SteeringState::whyNoApplyChanged, commands, &CommandRegistry::refresh);
    m_toolBar->setApplyAction(commands->action("run.applyConfig"));
    for (const char* id : { "window.connections", "window.reset" })
        m_toolBar->addAction(commands->action(id));
    for (const char* id : { "view.back", "file.picture" })
        m_parts.tabs->addAction(commands->action(id));
}

void MainWindow::connectParts()
{
    connect(m_parts.tabs, &ViewTabs::currentChanged, this, &MainWindow::spareDocks);
    connect(m_parts.tabs, &ViewTabs::currentChanged, this, &MainWindow::updateHints);
    connect(m_parts.driver, &RunDriver::pulseChanged, this, &MainWindow::updatePulse);
    connect(m_parts.driver, &RunDriver::pulseChanged, this, &MainWindow::updateTitle);
    connect(m_parts.driver, &RunDriver::stepReached, m_toolBar,
        [this] { m_toolBar->showStep(m_parts.driver->pulse().step); });
    connect(m_parts.driver, &RunDriver::problem, this,
        [this](const QString& sentence) { m_parts.toaster->post(Toaster::Severity::Warning, sentence); });
    connect(m_parts.views.state, &ViewState::runChanged, this, &MainWindow::updateCenter);
    connect(m_parts.views.state, &ViewState::runChanged, m_parts.toaster, &Toaster::leaveRun);
    connect(m_parts.session, &Session::restoring, m_openingRank, &OpeningRank::keep);
    connect(m_alertJump, &AlertJump::arrived, m_openingRank, &OpeningRank::keep);
    connect(m_parts.driver, &RunDriver::runMoved, m_openingRank, &OpeningRank::keep);
    takeSteering();
    m_toolBar->collectSwitch()->follow(m_parts.views.state, m_parts.views.steering);
    connect(m_parts.views.steering, &views::SteeringState::draftWanted, this,
        [this] { m_parts.tabs->setCurrent(QStringLiteral("config")); });
    connect(m_parts.jump, &NonFiniteJump::nothingFound, this, [this](bool forward) {
        const std::optional<Step> cursor = m_parts.views.state->cursor();
        const QString at = cursor ? views::formatStep(cursor->value) : QString();
        m_parts.toaster->postOfRun(Toaster::Severity::Notice,
            !cursor       ? tr("This run has no non-finite values")
                : forward ? tr("No further non-finite values after step %1").arg(at)
                          : tr("No non-finite values before step %1").arg(at));
    });
    m_parts.toaster->setDefaultAction(tr("Log"), [this] { m_parts.docks->show<views::LogPanel>(); });
    connect(m_toolBar->runButton(), &QAbstractButton::clicked, this, &MainWindow::showRunMenu);
    connect(m_toolBar->paletteButton(), &QAbstractButton::clicked, m_parts.palette, &CommandPalette::popUp);
    connect(
        m_status, &StatusLine::connectionsClicked, this, [this] { m_parts.docks->show<views::ConnectionsPanel>(); });
    connect(m_welcome, &WelcomePage::openWanted, m_parts.runActions, &RunActions::open);
    connect(m_welcome, &WelcomePage::importWanted, m_parts.runActions, &RunActions::askImport);
    connect(m_welcome, &WelcomePage::faultWanted, m_parts.commands->action("run.fault"), &QAction::trigger);
    connect(m_welcome, &WelcomePage::demoWanted, m_parts.commands->action("run.demo"), &QAction::trigger);
    for (const auto* field : findChildren<views::JoinField*>()) {
        connect(field, &views::JoinField::copied, this,
            [this] { m_parts.toaster->post(Toaster::Severity::Good, tr("The join string is on the clipboard")); });
    }
    useRecording();
}

/// Tells every part of the store and the server there are, or of what keeps them from here.
void MainWindow::useRecording()
{
    const AppContext& context = m_parts.context;
    if (context.store) {
        m_parts.views.annotator->write = [store = context.store](const store::RunLocator& run, Event event) {
            return store->append({ 0, run, Rank { -1 }, std::move(event) });
        };
        m_parts.driver->follow(*context.store);
    }
    m_parts.views.steering->offer = context.offerConfig;
    const QString join = context.joinString ? context.joinString() : QString();
    QString problem = items::saidwords::inLanguage(context.captureProblem);
    if (context.isWaiting)
        problem = tr("%1. This window records as soon as that has ended.").arg(problem);
    m_welcome->setListening(join, problem);
    m_welcome->setDemoAvailable(static_cast<bool>(context.runDemo));
    m_status->setListening(addressOf(join), problem);
    m_parts.docks->panel<views::ConnectionsPanel>()->setListening(join, problem);
}

void MainWindow::takeRecording(const AppContext& context)
{
    m_parts.context = context;
    useRecording();
    takeSteering();
    m_parts.driver->refreshArchive();
    m_parts.commands->refresh();
    updatePulse();
    if (context.captureProblem.isEmpty())
        m_parts.toaster->post(Toaster::Severity::Good, tr("This window records now"));
}

void MainWindow::openPath(const QString& path)
{
    m_parts.session->giveUpRun();
    m_parts.driver->openPath(path);
}

void MainWindow::openCapsules(const QStringList& paths)
{
    for (const QString& path : paths)
        openPath(path);
}

void MainWindow::showProblem(const QString& sentence)
{
    m_parts.toaster->post(Toaster::Severity::Warning, sentence);
}

void MainWindow::showAlert(const notify::AlertPlace& place, const QString& token)
{
    m_parts.session->giveUpRun();
    constexpr const char* kToken = "XDG_ACTIVATION_TOKEN"; // where Qt looks for it
    const QString platform = QGuiApplication::platformName();
    const bool isUsed = !token.isEmpty() && platform.startsWith(QLatin1String("wayland"));
    if (isUsed)
        qputenv(kToken, token.toUtf8());
    setWindowState(windowState() & ~Qt::WindowMinimized);
    show();
    if (platform == QLatin1String("xcb")) // others cannot, and warn
        raise();
    activateWindow();
    if (isUsed)
        qunsetenv(kToken);
    m_alertJump->go(place);
}

void MainWindow::setDemoStarting(bool on)
{
    m_welcome->setStarting(on);
    m_welcome->setDemoAvailable(!on && m_parts.context.runDemo);
}

void MainWindow::takeSteering()
{
    if (m_parts.context.steering)
        m_parts.views.steering->set(m_parts.context.steering());
}

void MainWindow::spareDocks()
{
    const bool welcoming = m_centre->currentWidget() == m_welcome;
    m_parts.docks->setSpared(welcoming || findView(m_parts.tabs->currentId())->needsRoom);
}

void MainWindow::updateCenter()
{
    // Until the archive has been listed nobody knows whether this is a first start.
    const bool welcoming = !m_parts.views.state->run() && m_parts.session->isListed();
    m_centre->setCurrentWidget(welcoming ? static_cast<QWidget*>(m_welcome) : m_parts.tabs);
    spareDocks();
    if (!welcoming)
        m_welcome->setStarting(false);
    if (!focusWidget() || focusWidget() == m_toolBar->runButton())
        m_centre->currentWidget()->setFocus(); // where single keys work, not on the first button
    updateHints();
    updatePulse();
}

void MainWindow::updateHints()
{
    if (m_centre->currentWidget() == m_welcome) {
        m_status->setHints({ { QStringLiteral("Ctrl+O"), tr("open") },
            { QStringLiteral("Ctrl+Shift+C"), tr("copy join string") }, { QStringLiteral("F1"), tr("keys") } });
    } else if (m_parts.tabs->currentId() == QLatin1String("config")) {
        std::vector<std::pair<QString, QString>> hints;
        for (const auto& [key, words] : views::ConfigView::keys(m_wasLive)) // a run that has ended takes no config
            hints.emplace_back(KeyChip::textOf(key), words);
        hints.emplace_back(QStringLiteral("F1"), tr("keys"));
        m_status->setHints(hints);
    } else {
        m_status->setHints({ { tr("Space"), tr("follow") }, { QStringLiteral("[ ]"), tr("previous, next incident") },
            { tr("Backspace"), tr("zoom back") }, { QStringLiteral("Ctrl+K"), tr("go to") },
            { QStringLiteral("F1"), tr("keys") } });
    }
}

void MainWindow::updatePulse()
{
    const Pulse& pulse = m_parts.driver->pulse();
    m_toolBar->show(pulse);
    m_status->show(pulse);
    if (std::exchange(m_wasLive, pulse.live) != pulse.live)
        updateHints();
    RunRates rates { pulse.cost.monitorMs(), pulse.cost.stepMs() };
    if (pulse.storedSamples > 0)
        rates.bytesPerSample = static_cast<double>(pulse.fileBytes) / static_cast<double>(pulse.storedSamples);
    rates.every = pulse.cost.every();
    m_parts.views.steering->setRates(rates);
}

void MainWindow::updateTitle()
{
    const QString name = items::lineText(m_parts.driver->pulse().shownName);
    setWindowTitle(name.isEmpty() ? QStringLiteral("Telltale") : QStringLiteral("%1 \u2013 Telltale").arg(name));
}

void MainWindow::showRunMenu()
{
    QMenu menu(this);
    const items::RunsModel* runs = m_parts.driver->runs();
    constexpr int kMost = 15;
    for (const auto group : { items::RunsModel::LiveGroup, items::RunsModel::ArchivedGroup }) {
        int count = 0;
        for (const store::RunSummary& run : runs->runs(group)) {
            if (++count > kMost)
                break;
            const QString id = QString::fromStdString(run.id);
            QString name = items::lineText(runs->shownName(run));
            name.replace(u'&', QStringLiteral("&&"));
            auto* action = menu.addAction(
                name + u'\t' + items::RunsModel::startedText(run), this, [this, id] { m_parts.driver->openById(id); });
            action->setCheckable(true);
            action->setChecked(state()->run() && state()->run()->locator == run.locator);
        }
        if (count > 0)
            menu.addSeparator();
    }
    menu.addAction(m_parts.commands->action("file.open"));
    QWidget* button = m_toolBar->runButton();
    menu.exec(button->mapToGlobal(QPoint(0, button->height() + 2)));
}

void MainWindow::changeEvent(QEvent* event)
{
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::ActivationChange)
        m_parts.driver->setFocused(isActiveWindow());
}

void MainWindow::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    m_parts.docks->resized(event->size());
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    m_parts.session->save();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    QStringList paths;
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile())
            paths << url.toLocalFile();
    }
    if (paths.isEmpty())
        showProblem(tr("What was dropped is not on this machine: copy it here first"));
    m_parts.imports->take(paths);
    event->acceptProposedAction();
}

}
