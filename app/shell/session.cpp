// SPDX-License-Identifier: GPL-3.0-or-later
#include "session.h"

#include <algorithm>
#include <array>
#include <string>

#include <QMainWindow>
#include <QScreen>

#include <telltale/common/rowlist.h>
#include <telltale/common/viewstate.h>
#include <telltale/core/protocolone.h>
#include <telltale/items/guithread.h>
#include <telltale/runs/runspanel.h>
#include <telltale/store/querypool.h>

#include "dockhost.h"
#include "jobthread.h"
#include "layouts.h"
#include "openingrank.h"
#include "rundriver.h"
#include "startup.h"
#include "viewexport.h"
#include "viewtabs.h"

namespace telltale::shell {

namespace {

using GroupBy = items::RunsModel::GroupBy;
constexpr std::array<const char*, 3> kGroupings { "folder", "name", "tag" };
static_assert(kGroupings.size() == static_cast<std::size_t>(GroupBy::Tag) + 1);
constexpr QSize kFirstSize { 1600, 1000 };
constexpr int kSaveMs = 2000;

/// Kind, statistic, rank, filter, selection, cursor and the paths of the run and of those compared with it.
void storeState(const views::ViewState& state, settings::Settings& settings)
{
    settings.runPath = state.run() ? QString::fromStdString(state.run()->locator.text()) : QString();
    settings.kind = QString::fromUtf8(kindName(state.kind()));
    settings.stat = QString::fromUtf8(statName(state.stat()));
    settings.rank = state.rank().value;
    settings.moduleFilter = state.moduleFilter();
    settings.cursor = state.cursor() ? QString::number(state.cursor()->value) : QString();
    settings.comparedRuns.clear();
    for (const views::ComparedRun& one : state.comparedRuns())
        settings.comparedRuns.append(QString::fromStdString(one.run->locator.text()));
    settings.selection.clear();
    for (const views::ModuleKey& key : state.selection())
        settings.selection.append(key.slot.hasText() ? key.name + u'\t' + key.slotText() : key.name);
}

/// The other way, for the run that is open. Unknown words, and what the run does not have, leave the state as it is.
void restoreState(const settings::Settings& settings, views::ViewState& state)
{
    // The run is as it is now: what it no longer has would leave its views empty.
    const store::Catalog& catalog = *state.catalog();
    const auto has = [](const auto& all, auto one) { return std::find(all.begin(), all.end(), one) != all.end(); };
    const auto kind = kindFromName(settings.kind.toStdString());
    if (kind && *kind != Kind::Scalar && has(views::kindsOf(catalog), *kind))
        state.setKind(*kind);
    const auto stat = statFromName(settings.stat.toStdString());
    if (stat && has(views::statsOf(catalog, state.kind()), *stat))
        state.setStat(*stat);
    if (has(views::ranksOf(catalog, state.kind()), Rank { settings.rank }))
        state.setRank(Rank { settings.rank });
    state.setModuleFilter(settings.moduleFilter);
    std::vector<views::ModuleKey> keys;
    for (const QString& entry : settings.selection)
        keys.push_back({ entry.section(u'\t', 0, 0), protocolone::slotOf(entry.section(u'\t', 1, 1).toStdString()) });
    state.setSelection(std::move(keys));
    bool isStep = false;
    const Step step { settings.cursor.toLongLong(&isStep) };
    if (isStep && catalog.steps.contains(step))
        state.setCursor(step);
}

/// How the list of runs is grouped, and which of its headings are closed.
void storeList(const items::RunsModel& model, const views::RunsPanel& panel, settings::Settings& settings)
{
    settings.runsGroupedBy = QLatin1String(kGroupings.at(static_cast<std::size_t>(model.groupBy())));
    settings.closedHeadings = panel.closedHeadings();
}

void restoreList(const settings::Settings& settings, items::RunsModel& model, views::RunsPanel& panel)
{
    panel.setClosedHeadings(settings.closedHeadings);
    for (std::size_t i = 0; i < kGroupings.size(); ++i) {
        if (settings.runsGroupedBy == QLatin1String(kGroupings.at(i)))
            model.setGroupBy(static_cast<GroupBy>(i));
    }
}

}

Session::Session(WindowParts* parts, settings::Settings settings, JobThread* jobs, QObject* parent)
    : QObject(parent)
    , m_parts(parts)
    , m_jobs(jobs)
    , m_settings(std::move(settings))
{
    connect(&m_saveTimer, &QTimer::timeout, this, &Session::saveIfChanged);
}

void Session::begin()
{
    items::assertGuiThread();
    m_parts->layouts->setSaved(m_settings.layouts);
    restoreWindow();
    connect(m_parts->driver, &RunDriver::archiveListed, this, &Session::openRun, Qt::SingleShotConnection);
    // The selection waits for the catalog that it is about.
    connect(m_parts->views.state, &views::ViewState::catalogChanged, this, &Session::takeCatalog);
    m_saved = current();
    m_saveTimer.start(kSaveMs);
}

void Session::restoreWindow()
{
    m_parts->exporter->setFolder(m_settings.exportFolder);
    QMainWindow* window = m_parts->window;
    const QRect room = window->screen()->availableGeometry();
    if (m_settings.geometry.isEmpty() || !window->restoreGeometry(m_settings.geometry))
        window->resize(kFirstSize.boundedTo(room.size() - kFrameSize));
    // What was saved on a larger screen, or at another scale, must not reach beyond this one.
    if (!window->isMaximized() && !window->isFullScreen()
        && (window->width() > room.width() || window->height() > room.height())) {
        window->resize(window->size().boundedTo(room.size() - kFrameSize));
        window->move(room.topLeft());
    }
    m_parts->docks->restore(m_settings.docks);
    m_parts->tabs->restoreSplit(m_settings.heatmapSplit);
    if (!m_settings.activeTab.isEmpty())
        m_parts->tabs->setCurrent(m_settings.activeTab);
    m_parts->tabs->setChoices(m_settings.viewChoices);
    restoreList(m_settings, *m_parts->driver->runs(), *m_parts->docks->panel<views::RunsPanel>());
}

void Session::takeCatalog()
{
    const views::ViewState& state = *m_parts->views.state;
    if (!m_isRestoring || !state.catalog())
        return;
    m_isRestoring = false;
    if (m_settings.runPath == QString::fromStdString(state.run()->locator.text())) {
        Q_EMIT restoring();
        restoreState(m_settings, *m_parts->views.state);
        restoreChoices();
    }
}

/// Of the run of the last session: what it was compared with, and what views could not choose without it. The rest has
/// been chosen at the start, where the window may never have a run: what a box of ranks or layers offers is known now.
void Session::restoreChoices()
{
    m_parts->tabs->setChoices(m_settings.viewChoices);
    QStringList others;
    for (const QString& path : m_settings.comparedRuns) {
        for (const store::RunSummary& run : m_parts->driver->runs()->runs(items::RunsModel::ArchivedGroup)) {
            if (path == QString::fromStdString(run.locator.text()))
                others.append(QString::fromStdString(run.id));
        }
    }
    if (others.isEmpty())
        return;
    // Which of them the map shows can be chosen when they are there.
    connect(
        m_parts->views.state, &ViewState::comparedChanged, this,
        [this] { m_parts->tabs->setChoices(m_settings.viewChoices.filter(QStringLiteral("compareAgainst="))); },
        Qt::SingleShotConnection);
    m_parts->driver->compare(QString::fromStdString(m_parts->views.state->run()->id), others);
}

settings::Settings Session::current() const
{
    settings::Settings now = m_settings;
    now.geometry = m_parts->window->saveGeometry();
    if (const QByteArray docks = m_parts->docks->save(); !docks.isEmpty())
        now.docks = docks;
    now.activeTab = m_parts->tabs->currentId();
    now.heatmapSplit = m_parts->tabs->splitState();
    now.viewChoices = m_parts->tabs->choices();
    now.exportFolder = m_parts->exporter->folder();
    now.layouts = m_parts->layouts->saved();
    storeState(*m_parts->views.state, now);
    storeList(*m_parts->driver->runs(), *m_parts->docks->panel<views::RunsPanel>(), now);
    return now;
}

/// A window that is killed has had no time to say what it looked like.
void Session::saveIfChanged()
{
    // Until then the run of the last session stands where this one's will.
    const bool isRestoring = !m_isListed || (m_isRestoring && m_parts->views.state->run());
    if (!isRestoring && current() != m_saved)
        save();
}

void Session::save()
{
    m_saved = m_settings = current();
    m_jobs->submit([settings = m_settings, path = settingsPath(m_parts->context.dataDir)]() -> JobThread::Delivery {
        if (const Expected<void> saved = settings::save(path, settings); !saved)
            qWarning("%s", saved.error().sentence().c_str());
        return {};
    });
}

void Session::openRun()
{
    m_isListed = true;
    const auto& archived = m_parts->driver->runs()->runs(items::RunsModel::ArchivedGroup);
    if (!m_parts->views.state->run() && !archived.empty()) {
        const store::RunSummary* wanted = &archived.front();
        for (const store::RunSummary& run : archived) {
            if (QString::fromStdString(run.locator.text()) == m_settings.runPath)
                wanted = &run;
        }
        if (m_parts->driver->runs()->runs(items::RunsModel::LiveGroup).empty())
            m_parts->driver->openById(QString::fromStdString(wanted->id));
    }
}

}
