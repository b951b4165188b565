// SPDX-License-Identifier: GPL-3.0-or-later
#include "mainwindow.h"

#include <utility>

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QScreen>
#include <QStackedWidget>
#include <QUndoStack>
#include <QUrl>
#include <QVBoxLayout>

#include <telltale/common/annotator.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/steeringstate.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/saidwords.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/runs/connectionspanel.h>
#include <telltale/runs/joinfield.h>
#include <telltale/runs/logpanel.h>
#include <telltale/runs/runspanel.h>
#include <telltale/store/storeservice.h>

#include "alertjump.h"
#include "archiveactions.h"
#include "collectswitch.h"
#include "commandpalette.h"
#include "commands.h"
#include "dockhost.h"
#include "imports.h"
#include "jobthread.h"
#include "layouts.h"
#include "logfeed.h"
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

constexpr QSize kFirstSize { 1600, 1000 };
constexpr QSize kLeastSize { 900, 600 };
constexpr QSize kFrameSize { 16, 48 }; ///< what a window manager puts around it
constexpr int kStatusHeight = 24;
constexpr int kSaveMs = 2000;

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
    : m_settings(std::move(loaded.settings))
    , m_note(std::move(loaded.note))
    , m_jobs(std::make_unique<JobThread>())
{
    m_parts.context = std::move(context);
    setObjectName(QStringLiteral("mainWindow"));
    // A wake carries nothing; the window drains the pool's queue.
    m_parts.context.queries->setWake([this] {
        QMetaObject::invokeMethod(
            this, [this] { m_parts.context.queries->deliver(); }, Qt::QueuedConnection);
    });
    makeParts();
    makeFrame();
    makeCommands();
    makeMenus();
    connectParts();
    restoreSession();
    m_saved = currentSettings();
    m_saveTimer.start(kSaveMs);
    m_parts.driver->refreshArchive();
    m_parts.driver->tick();
    updateCenter();
    if (!m_note.isEmpty())
        m_parts.toaster->post(Toaster::Severity::Warning, m_note);
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
    m_parts.toaster = new Toaster(this, kStatusHeight);
    m_parts.toaster->setAnimated(m_settings.animations);
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
    m_parts.layouts->setSaved(m_settings.layouts);
    m_openingRank = new OpeningRank(state, queries, this);
    m_alertJump = new AlertJump(m_parts, this);
    m_parts.palette = new CommandPalette(
        [this](const QString& text, int limit) { return searchPalette(m_parts, text, limit); }, this);
}

void MainWindow::makeFrame()
{
    setMinimumSize(kLeastSize.boundedTo(screen()->availableGeometry().size() - kFrameSize));
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
    m_menuBar = new QMenuBar(top);
    m_menuBar->setMinimumHeight(28); // Chinese needs a pixel more, and a bar too low hides its menus
    rows->addWidget(m_menuBar);
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

void MainWindow::makeMenus()
{
    QMenu* menu = nullptr;
    for (const auto& [command, action] : m_parts.commands->all()) {
        if (!action)
            menu->addSeparator();
        else if (!menu || menu->title() != command.menu)
            menu = m_menuBar->addMenu(command.menu);
        if (action)
            menu->addAction(action);
        if (command.id == "view.present")
            addChoices(menu);
        if (command.id == "window.reset")
            addSavedLayouts(menu);
    }
}

void MainWindow::addSavedLayouts(QMenu* menu)
{
    QMenu* saved = menu->addMenu(tr("Saved &layouts"));
    connect(menu, &QMenu::aboutToShow, saved, [this, saved] {
        saved->clear();
        QMenu* removal = nullptr;
        for (const settings::SavedLayout& layout : m_parts.layouts->saved()) {
            const QString name = layout.name;
            const QString shown = QString(name).replace(u'&', QStringLiteral("&&"));
            QAction* action = saved->addAction(shown, this, [this, name] { m_parts.layouts->apply(name); });
            if (!removal)
                removal = new QMenu(tr("&Remove"), saved);
            removal->addAction(shown, this, [this, name] { m_parts.layouts->remove(name); });
            action->setStatusTip(name);
        }
        if (removal) {
            saved->addSeparator();
            saved->addMenu(removal);
        }
        saved->setEnabled(removal != nullptr);
    });
}

void MainWindow::addChoices(QMenu* menu)
{
    const auto choice = [this, menu](const QString& title, const QString& current,
                            const std::vector<std::pair<QString, QString>>& values, auto choose) {
        QMenu* sub = menu->addMenu(title);
        auto* group = new QActionGroup(sub);
        for (const auto& [value, text] : values) {
            QAction* action = group->addAction(text);
            action->setCheckable(true);
            action->setChecked(value == current);
            connect(action, &QAction::triggered, this, [this, choose, key = value] { (this->*choose)(key); });
            m_parts.choices.emplace_back(
                QStringLiteral("%1: %2").arg(QString(title).remove(u'&'), text), [action] { action->trigger(); });
            sub->addAction(action);
        }
    };
    menu->addSeparator();
    choice(tr("&Theme"), m_settings.theme,
        { { QStringLiteral("system"), tr("Follow system") }, { QStringLiteral("dark"), tr("Dark") },
            { QStringLiteral("light"), tr("Light") } },
        &MainWindow::setTheme);
    choice(tr("&Language"), m_settings.language,
        { { QStringLiteral("system"), tr("Follow system") }, { QStringLiteral("en"), QStringLiteral("English") },
            { QStringLiteral("zh_CN"), QStringLiteral("\u7b80\u4f53\u4e2d\u6587") } },
        &MainWindow::setLanguage);
}

void MainWindow::connectParts()
{
    connect(m_parts.tabs, &ViewTabs::currentChanged, this, &MainWindow::spareDocks);
    connect(m_parts.tabs, &ViewTabs::currentChanged, this, &MainWindow::updateHints);
    connect(m_parts.driver, &RunDriver::pulseChanged, this, &MainWindow::updatePulse);
    connect(m_parts.driver, &RunDriver::pulseChanged, this, &MainWindow::updateTitle);
    connect(m_parts.driver, &RunDriver::problem, this,
        [this](const QString& sentence) { m_parts.toaster->post(Toaster::Severity::Warning, sentence); });
    connect(m_parts.driver, &RunDriver::archiveListed, this, &MainWindow::openFirst);
    connect(m_parts.views.state, &ViewState::runChanged, this, &MainWindow::updateCenter);
    // The session's selection waits for the catalog that it is about.
    connect(m_parts.views.state, &ViewState::catalogChanged, this, [this] {
        if (!m_restoring || !m_parts.views.state->catalog())
            return;
        m_restoring = false;
        if (m_settings.runPath == QString::fromStdString(m_parts.views.state->run()->locator.text())) {
            m_openingRank->keep();
            shell::restoreState(m_settings, *m_parts.views.state);
            restoreChoices();
        }
    });

    connect(m_alertJump, &AlertJump::arrived, m_openingRank, &OpeningRank::keep);
    connect(m_parts.driver, &RunDriver::runMoved, m_openingRank, &OpeningRank::keep);
    takeSteering();
    m_toolBar->collectSwitch()->follow(m_parts.views.state, m_parts.views.steering);
    connect(m_parts.views.steering, &views::SteeringState::draftWanted, this,
        [this] { m_parts.tabs->setCurrent(QStringLiteral("config")); });
    connect(&m_saveTimer, &QTimer::timeout, this, &MainWindow::saveIfChanged);
    connect(m_parts.jump, &NonFiniteJump::nothingFound, this, [this](bool forward) {
        const std::optional<Step> cursor = m_parts.views.state->cursor();
        const QString at = cursor ? views::formatStep(cursor->value) : QString();
        m_parts.toaster->post(Toaster::Severity::Notice,
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

void MainWindow::restoreSession()
{
    m_parts.exporter->setFolder(m_settings.exportFolder);
    if (m_settings.geometry.isEmpty() || !restoreGeometry(m_settings.geometry))
        resize(kFirstSize.boundedTo(screen()->availableGeometry().size() - kFrameSize));
    // What was saved on a larger screen, or at another scale, must not reach beyond this one.
    const QRect room = screen()->availableGeometry();
    if (!isMaximized() && !isFullScreen() && (width() > room.width() || height() > room.height())) {
        resize(size().boundedTo(room.size() - kFrameSize));
        move(room.topLeft());
    }
    m_parts.docks->restore(m_settings.docks);
    m_parts.tabs->restoreSplit(m_settings.heatmapSplit);
    if (!m_settings.activeTab.isEmpty())
        m_parts.tabs->setCurrent(m_settings.activeTab);
    m_parts.tabs->setChoices(m_settings.viewChoices);
    restoreList(m_settings, *m_parts.driver->runs(), *m_parts.docks->panel<views::RunsPanel>());
}

/// Of the run of the last session: what it was compared with, and what views could not choose without it. The rest has
/// been chosen at the start, where the window may never have a run: what a box of ranks or layers offers is known now.
void MainWindow::restoreChoices()
{
    m_parts.tabs->setChoices(m_settings.viewChoices);
    QStringList others;
    for (const QString& path : m_settings.comparedRuns) {
        for (const store::RunSummary& run : m_parts.driver->runs()->runs(items::RunsModel::ArchivedGroup)) {
            if (path == QString::fromStdString(run.locator.text()))
                others.append(QString::fromStdString(run.id));
        }
    }
    if (others.isEmpty())
        return;
    // Which of them the map shows can be chosen when they are there.
    connect(
        m_parts.views.state, &ViewState::comparedChanged, this,
        [this] { m_parts.tabs->setChoices(m_settings.viewChoices.filter(QStringLiteral("compareAgainst="))); },
        Qt::SingleShotConnection);
    m_parts.driver->compare(QString::fromStdString(m_parts.views.state->run()->id), others);
}

settings::Settings MainWindow::currentSettings() const
{
    settings::Settings now = m_settings;
    now.geometry = saveGeometry();
    if (const QByteArray docks = m_parts.docks->save(); !docks.isEmpty())
        now.docks = docks;
    now.activeTab = m_parts.tabs->currentId();
    now.heatmapSplit = m_parts.tabs->splitState();
    now.viewChoices = m_parts.tabs->choices();
    now.exportFolder = m_parts.exporter->folder();
    now.layouts = m_parts.layouts->saved();
    storeState(*m_parts.views.state, now);
    storeList(*m_parts.driver->runs(), *m_parts.docks->panel<views::RunsPanel>(), now);
    return now;
}

/// A window that is killed has had no time to say what it looked like.
void MainWindow::saveIfChanged()
{
    // Until then the run of the last session stands where this one's will.
    const bool isRestoring = !m_archiveListed || (m_restoring && m_parts.views.state->run());
    if (!isRestoring && currentSettings() != m_saved)
        saveSession();
}

void MainWindow::saveSession()
{
    m_saved = m_settings = currentSettings();
    m_jobs->submit([settings = m_settings, path = settingsPath(m_parts.context.dataDir)]() -> JobThread::Delivery {
        if (const Expected<void> saved = settings::save(path, settings); !saved)
            qWarning("%s", saved.error().sentence().c_str());
        return {};
    });
}

void MainWindow::openPath(const QString& path)
{
    m_restoring = false;
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
    m_restoring = false;
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

void MainWindow::openFirst()
{
    m_archiveListed = true;
    disconnect(m_parts.driver, &RunDriver::archiveListed, this, &MainWindow::openFirst);
    connect(m_parts.driver, &RunDriver::archiveListed, this, &MainWindow::updateCenter);
    const auto& archived = m_parts.driver->runs()->runs(items::RunsModel::ArchivedGroup);
    if (!m_parts.views.state->run() && !archived.empty()) {
        const store::RunSummary* wanted = &archived.front();
        for (const store::RunSummary& run : archived) {
            if (QString::fromStdString(run.locator.text()) == m_settings.runPath)
                wanted = &run;
        }
        if (m_parts.driver->runs()->runs(items::RunsModel::LiveGroup).empty())
            m_parts.driver->openById(QString::fromStdString(wanted->id));
    }
    updateCenter();
}

void MainWindow::spareDocks()
{
    const bool welcoming = m_centre->currentWidget() == m_welcome;
    m_parts.docks->setSpared(welcoming || findView(m_parts.tabs->currentId())->needsRoom);
}

void MainWindow::updateCenter()
{
    // Until the archive has been listed nobody knows whether this is a first start.
    const bool welcoming = !m_parts.views.state->run() && m_archiveListed;
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
        std::vector<std::pair<QString, QString>> hints { { QStringLiteral("F8"), tr("next error") },
            { QStringLiteral("Ctrl+Z"), tr("undo edit") }, { QStringLiteral("F1"), tr("keys") } };
        if (m_wasLive) // a run that has ended takes no config
            hints.insert(hints.begin(), { QStringLiteral("Ctrl+Enter"), tr("apply") });
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
    const QString name = items::lineText(m_parts.driver->pulse().runName);
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
            const QString started
                = runs->data(runs->indexOf(id).siblingAtColumn(items::RunsModel::StartedColumn)).toString();
            auto* action = menu.addAction(name + u'\t' + started, this, [this, id] { m_parts.driver->openById(id); });
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

void MainWindow::setTheme(const QString& theme)
{
    m_settings.theme = theme;
    applyTheme(*qApp, theme);
}

void MainWindow::setLanguage(const QString& language)
{
    m_settings.language = language;
    m_parts.toaster->post(Toaster::Severity::Notice, tr("The language changes at the next start"));
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
