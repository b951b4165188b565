// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels.h"

#include <map>

#include <QCoreApplication>

#include <telltale/anomalies/anomaliespanel.h>
#include <telltale/anomalies/timelinecanvas.h>
#include <telltale/common/plotcanvas.h>
#include <telltale/common/steeringstate.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/runsmodel.h>
#include <telltale/runs/connectionspanel.h>
#include <telltale/runs/inspectorpanel.h>
#include <telltale/runs/logpanel.h>
#include <telltale/runs/modulespanel.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/runspanel.h>

#include "commandregistry.h"
#include "logfeed.h"
#include "nonfinitejump.h"
#include "notes.h"
#include "runactions.h"
#include "rundriver.h"
#include "viewtabs.h"
#include "windowparts.h"

namespace telltale::shell {

namespace {

Panel makeRuns(const WindowParts& parts, QWidget* parent)
{
    using views::RunsPanel;
    auto* panel = new RunsPanel(parts.driver->runs(), parent);
    QObject::connect(panel, &RunsPanel::runActivated, parts.driver, &RunDriver::openById);
    QObject::connect(panel, &RunsPanel::firstNonFiniteWanted, parts.jump,
        [driver = parts.driver, jump = parts.jump](const QString& id) {
            driver->openById(id);
            jump->firstOf(id);
        });
    QObject::connect(panel, &RunsPanel::highlightChanged, parts.commands, &CommandRegistry::refresh);
    QObject::connect(panel, &RunsPanel::runsSelected, parts.views.steering, &views::SteeringState::choose);
    QObject::connect(panel, &RunsPanel::openWanted, parts.runActions, &RunActions::open);
    QObject::connect(panel, &RunsPanel::importWanted, parts.runActions, &RunActions::askImport);
    QObject::connect(parts.driver->runs(), &items::RunsModel::renameWanted, parts.runActions, &RunActions::renameTo);
    QObject::connect(panel, &RunsPanel::compareWanted, parts.driver,
        [driver = parts.driver, tabs = parts.tabs](const QString& shownId, const QStringList& otherIds) {
            driver->compare(shownId, otherIds);
            tabs->setCurrent(QStringLiteral("compare"));
        });
    QObject::connect(panel, &RunsPanel::endComparisonWanted, parts.views.state,
        [state = parts.views.state] { state->setComparedRuns({}); });
    QObject::connect(parts.views.state, &views::ViewState::comparedChanged, panel, [panel, state = parts.views.state] {
        QStringList ids;
        for (const views::ComparedRun& one : state->comparedRuns())
            ids.append(QString::fromStdString(one.run->id));
        panel->setCompared(ids);
    });
    QObject::connect(parts.driver, &RunDriver::runOpened, panel,
        [panel, state = parts.views.state] { panel->setCurrentRun(QString::fromStdString(state->run()->id)); });
    return { panel, panel->head() };
}

Panel makeModules(const WindowParts& parts, QWidget* parent)
{
    auto* panel = new views::ModulesPanel(parts.views, parent);
    return { panel, panel->head() };
}

Panel makeInspector(const WindowParts& parts, QWidget* parent)
{
    auto* panel = new views::InspectorPanel(parts.views, parent);
    return { panel, panel->head() };
}

/// The runs as their list names them.
std::vector<ConnectionInfo> named(std::vector<ConnectionInfo> agents, const items::RunsModel& runs)
{
    std::map<std::string, std::string> names; // by id: many ranks are of one run
    for (ConnectionInfo& agent : agents) {
        const auto [name, isNew] = names.try_emplace(agent.runId);
        if (isNew) {
            const store::RunSummary* run = runs.runAt(runs.indexOf(QString::fromStdString(agent.runId)));
            name->second = run ? runs.shownName(*run).toStdString() : std::string();
        }
        if (!name->second.empty())
            agent.runName = name->second;
    }
    return agents;
}

Panel makeConnections(const WindowParts& parts, QWidget* parent)
{
    auto* panel = new views::ConnectionsPanel(parent);
    QObject::connect(parts.driver, &RunDriver::connectionsChanged, panel,
        [panel, driver = parts.driver] { panel->setConnections(named(driver->connections(), *driver->runs())); });
    return { panel, panel->head() };
}

Panel makeLog(const WindowParts& parts, QWidget* parent)
{
    auto* panel = new views::LogPanel(parts.log->model(), parent);
    QObject::connect(
        panel, &views::LogPanel::stepWanted, parts.views.state, [state = parts.views.state](qint64 step, int rank) {
            state->goTo(Step { step });
            if (rank >= 0)
                state->setRank(Rank { rank });
        });
    QObject::connect(panel, &views::LogPanel::noteWanted, parts.notes, &Notes::askEdit);
    QObject::connect(panel, &views::LogPanel::noteRemovalWanted, parts.notes, &Notes::remove);
    return { panel, panel->head() };
}

/// Under the plot of the view that is shown, so that one cursor is one line down the window. The card is where the view
/// of all incidents is, while that is shown.
Panel makeAnomalies(const WindowParts& parts, QWidget* parent)
{
    auto* panel = new views::AnomaliesPanel(parts.views, parent);
    const auto align = [panel, tabs = parts.tabs] {
        panel->timeline()->alignWith(tabs->currentPage());
        panel->showCard(tabs->currentId() != QLatin1String("anomalies"));
    };
    QObject::connect(parts.tabs, &ViewTabs::currentChanged, panel, align);
    align();
    return { panel, panel->head() };
}

constexpr const char* kPanelContext = "telltale::shell::PanelFactory";

constexpr PanelFactory kPanels[] {
    { "runs", QT_TRANSLATE_NOOP("telltale::shell::PanelFactory", "Runs"), "", Qt::Key_unknown, Qt::LeftDockWidgetArea,
        { 300, 230 }, true, false, &makeRuns },
    { "modules", QT_TRANSLATE_NOOP("telltale::shell::PanelFactory", "Modules"), "", Qt::Key_unknown,
        Qt::LeftDockWidgetArea, { 300, 480 }, true, false, &makeModules },
    { "inspector", QT_TRANSLATE_NOOP("telltale::shell::PanelFactory", "Inspector"), "", Qt::Key_unknown,
        Qt::RightDockWidgetArea, { 296, 710 }, true, true, &makeInspector },
    { "anomalies", QT_TRANSLATE_NOOP("telltale::shell::PanelFactory", "Anomaly timeline"), "dia",
        Qt::CTRL | Qt::SHIFT | Qt::Key_T, Qt::BottomDockWidgetArea, { 1600, 236 }, true, true, &makeAnomalies },
    { "connections", QT_TRANSLATE_NOOP("telltale::shell::PanelFactory", "Connections"), "plug",
        Qt::CTRL | Qt::SHIFT | Qt::Key_A, Qt::BottomDockWidgetArea, { 1600, 236 }, false, true, &makeConnections },
    { "log", QT_TRANSLATE_NOOP("telltale::shell::PanelFactory", "Log"), "logs", Qt::CTRL | Qt::SHIFT | Qt::Key_L,
        Qt::BottomDockWidgetArea, { 1600, 236 }, false, true, &makeLog },
};

}

QString PanelFactory::title() const
{
    return QCoreApplication::translate(kPanelContext, name);
}

std::span<const PanelFactory> panelFactories()
{
    return kPanels;
}

}
