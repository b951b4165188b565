// SPDX-License-Identifier: GPL-3.0-or-later
#include "rundriver.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include <QFileInfo>
#include <QPointer>

#include <telltale/common/viewstate.h>
#include <telltale/core/drops.h>
#include <telltale/store/storeservice.h>

#include "jobthread.h"
#include "storenews.h"

namespace telltale::shell {

namespace {

std::uint64_t droppedSamples(const views::ViewState& state)
{
    std::uint64_t items = state.droppedSamples();
    const auto catalog = state.catalog();
    for (std::size_t i = 0; catalog && i < catalog->unaccounted.size(); ++i)
        items += dropclass::isSamples(catalog->unaccounted[i].dropClass) ? catalog->unaccounted[i].items : 0;
    return items;
}

constexpr int kTickMs = 33;
constexpr int kUnfocusedTickMs = 100;
constexpr std::size_t kSparkPoints = 60;
constexpr double kFrameMs = 1000.0 / 60;

bool isLive(const store::RunRef& run)
{
    return run && run->live && !run->live->closed.load(std::memory_order_acquire);
}

QString text(const std::string& s)
{
    return QString::fromStdString(s);
}

}

RunDriver::RunDriver(const AppContext& context, views::ViewState* state, JobThread* jobs, QObject* parent)
    : QObject(parent)
    , m_context(context)
    , m_state(state)
    , m_jobs(jobs)
    , m_queryId(context.queries->newView())
    , m_compareId(context.queries->newView())
    , m_news(context.store ? std::make_unique<StoreNews>(*context.store) : nullptr)
{
    connect(&m_timer, &QTimer::timeout, this, &RunDriver::tick);
    m_second.start();
    m_lastTick.start();
    setFocused(true);
}

RunDriver::~RunDriver()
{
    m_context.queries->cancel(m_queryId);
    m_context.queries->cancel(m_compareId);
}

void RunDriver::setFocused(bool on)
{
    m_intervalMs = on ? kTickMs : kUnfocusedTickMs;
    m_timer.start(m_intervalMs);
    m_lastTick.restart();
}

void RunDriver::refreshArchive()
{
    m_listAgain = m_listing;
    if (m_listing)
        return;
    m_listing = true;
    m_jobs->submit([this, dataDir = m_context.dataDir, outside = m_outside]() -> JobThread::Delivery {
        std::vector<store::RunSummary> found = store::listRuns(dataDir);
        for (const store::RunLocator& run : outside) {
            found.push_back(store::describeRun(run));
            found.back().id = run.text();
        }
        // A copy has the id of its original: where it is tells them apart.
        std::set<std::string> known;
        for (store::RunSummary& run : found) {
            if (!known.insert(run.id).second)
                run.id = run.locator.text();
        }
        return [this, found = std::move(found)]() mutable {
            m_listing = false;
            m_runs.setArchived(std::move(found));
            m_pulse.runName = shownName(); // it may have been renamed
            Q_EMIT pulseChanged();
            Q_EMIT archiveListed();
            if (m_listAgain)
                refreshArchive();
        };
    });
}

void RunDriver::addOutside(const store::RunLocator& run)
{
    if (std::find(m_outside.begin(), m_outside.end(), run) == m_outside.end())
        m_outside.push_back(run);
    refreshArchive();
}

store::RunRef RunDriver::runById(const QString& id) const
{
    const std::string wanted = id.toStdString();
    for (const store::RunRef& run : m_live) {
        if (run->id == wanted)
            return run;
    }
    const store::RunSummary* run = m_runs.runAt(m_runs.indexOf(id));
    if (!run)
        return {};
    auto handle = std::make_shared<store::RunHandle>();
    handle->locator = run->locator;
    handle->id = run->id;
    handle->name = run->name;
    return handle;
}

void RunDriver::openById(const QString& id)
{
    if (store::RunRef run = runById(id))
        show(std::move(run));
}

void RunDriver::compare(const QString& shownId, const QString& otherId)
{
    openById(shownId);
    const store::RunRef other = runById(otherId);
    if (!other || !m_state->run() || other->locator == m_state->run()->locator)
        return;
    m_context.queries->submit(m_compareId, other,
        [this, other, shown = m_state->run()](
            Expected<store::RunReader*> reader, const series::CancelToken&) -> store::QueryPool::Delivery {
            auto catalog = reader ? (*reader)->catalog()
                                  : Expected<std::shared_ptr<const store::Catalog>>(tl::unexpected(reader.error()));
            return [this, other, shown, catalog] {
                if (!catalog)
                    Q_EMIT problem(text(catalog.error().sentence()));
                else if (shown == m_state->run())
                    m_state->setCompared(other, *catalog);
            };
        });
}

namespace {

/// Why a file cannot be shown at all, else empty. Said for each file, even where another one is opened after it.
QString whyUnreadable(const store::RunLocator& locator)
{
    const QString where = text(locator.text());
    if (store::runBytes(locator) == 0)
        return RunDriver::tr("%1 is empty: it holds no run").arg(where);
    const store::RunSummary run = store::describeRun(locator);
    const bool broken = run.state == store::RunState::Damaged || run.state == store::RunState::Newer;
    if (!broken || run.ranks > 0 || run.lastStep.value >= 0)
        return {};
    const QString note = text(run.note);
    return note.contains(where) ? note : RunDriver::tr("%1: %2").arg(where, note);
}

}

void RunDriver::openPath(const QString& path)
{
    m_opened = true;
    m_jobs->submit([this, dataDir = m_context.dataDir, wanted = path.toStdString()]() -> JobThread::Delivery {
        auto found = store::findRun(dataDir, wanted);
        const QString why = found ? whyUnreadable(*found) : text(found.error().sentence());
        return [this, found, why] {
            if (!why.isEmpty()) {
                Q_EMIT problem(why);
                return;
            }
            for (const store::RunRef& run : m_live) {
                if (run->locator == *found)
                    return show(run);
            }
            std::error_code error;
            for (const store::RunSummary& run : m_runs.runs(items::RunsModel::ArchivedGroup)) {
                if (run.locator == *found || std::filesystem::equivalent(run.locator.text(), found->text(), error))
                    return openById(text(run.id));
            }
            auto handle = std::make_shared<store::RunHandle>();
            handle->locator = *found;
            handle->id = found->text();
            handle->name = QFileInfo(text(found->text())).completeBaseName().toStdString();
            show(std::move(handle));
            addOutside(*found);
        };
    });
}

void RunDriver::show(store::RunRef run)
{
    m_opened = true;
    if (m_state->run() && m_state->run()->locator == run->locator && isLive(m_state->run()) == isLive(run))
        return;
    m_isNewlyShown = true;
    m_wasLive = isLive(run);
    m_toldDamage.clear();
    m_secondStep = -1;
    m_secondSamples = run->live ? run->live->storedSamples.load(std::memory_order_relaxed) : 0;
    m_pulse.rates.clear();
    m_pulse.stepsPerSecond = 0;
    m_pulse.samplesPerSecond = 0;
    m_state->setRun(std::move(run));
    askCatalog();
    everySecond();
    Q_EMIT runOpened();
}

void RunDriver::leave(const store::RunLocator& gone)
{
    std::erase(m_outside, gone);
    if (m_state->comparedRun() && m_state->comparedRun()->locator == gone)
        m_state->setCompared({}, {});
    if (!m_state->run() || m_state->run()->locator != gone)
        return;
    for (const auto group : { items::RunsModel::LiveGroup, items::RunsModel::ArchivedGroup }) {
        for (const store::RunSummary& other : m_runs.runs(group)) {
            if (other.locator != gone)
                return openById(text(other.id));
        }
    }
    m_state->setRun({});
    everySecond();
}

QString RunDriver::shownName() const
{
    const store::RunRef run = m_state->run();
    if (!run)
        return {};
    if (const store::RunSummary* summary = m_runs.runAt(m_runs.indexOf(text(run->id))))
        return text(summary->name);
    const auto catalog = m_state->catalog();
    return text(catalog && (run->id.empty() || run->id == run->locator.text()) ? catalog->name : run->name);
}

void RunDriver::askCatalog()
{
    m_context.queries->submit(m_queryId, m_state->run(),
        [this, run = m_state->run()](
            Expected<store::RunReader*> reader, const series::CancelToken&) -> store::QueryPool::Delivery {
            auto catalog = reader ? (*reader)->catalog()
                                  : Expected<std::shared_ptr<const store::Catalog>>(tl::unexpected(reader.error()));
            return [this, run, catalog] {
                if (run != m_state->run())
                    return;
                // What reading has met since is all that changes of a run that is over.
                const auto known = m_state->catalog();
                if (catalog && known && !isLive(run) && known->damage.size() == (*catalog)->damage.size()
                    && known->revision == (*catalog)->revision)
                    return;
                if (catalog)
                    takeCatalog(*catalog);
                else if (!isLive(run)) // a live run may not have its first page yet; the next tick asks again
                    Q_EMIT problem(text(catalog.error().sentence()));
            };
        });
}

void RunDriver::takeCatalog(const std::shared_ptr<const store::Catalog>& catalog)
{
    const bool first = !m_state->catalog();
    if (!isLive(m_state->run()) && !catalog->steps.isEmpty())
        m_state->setFullRange(catalog->steps);

    // What is shown must exist: a run without reduced gradients opens on what it has.
    const auto hasKind = [&](Kind kind) {
        return std::any_of(
            catalog->groups.begin(), catalog->groups.end(), [&](const store::GroupInfo& g) { return g.kind == kind; });
    };
    if (!hasKind(m_state->kind())) {
        for (const Kind kind : { Kind::GradReduced, Kind::GradUnreduced, Kind::Actv, Kind::ParamOrigin }) {
            if (hasKind(kind)) {
                m_state->setKind(kind);
                break;
            }
        }
        for (const store::GroupInfo& group : catalog->groups) {
            if (!hasKind(m_state->kind()) && group.kind != Kind::Scalar)
                m_state->setKind(group.kind);
        }
    }
    const auto hasRank = std::any_of(catalog->sources.begin(), catalog->sources.end(),
        [this](const store::SourceInfo& source) { return source.rank == m_state->rank(); });
    if (!hasRank && !catalog->sources.empty()) {
        const auto least = std::min_element(catalog->sources.begin(), catalog->sources.end(),
            [](const store::SourceInfo& a, const store::SourceInfo& b) { return a.rank < b.rank; });
        m_state->setRank(least->rank);
    }
    m_state->setCatalog(catalog);
    if (!isLive(m_state->run()))
        m_runs.setDamage(m_state->run()->locator, catalog->damage.empty() ? std::string() : catalog->damage.front());
    for (const std::string& damage : catalog->damage) {
        if (m_toldDamage.insert(damage).second)
            Q_EMIT problem(text(damage));
    }
    if (first)
        everySecond();
}

void RunDriver::tick()
{
    m_longestGapMs = std::max(m_longestGapMs, m_lastTick.restart() - m_intervalMs);
    pollRuns();
    pollRun();
    if (m_second.elapsed() >= 1000)
        everySecond();
}

store::RunSummary RunDriver::summaryOf(const store::RunRef& run) const
{
    store::RunSummary summary;
    summary.locator = run->locator;
    summary.id = run->id;
    summary.name = run->name;
    summary.state = run->live->lost.load(std::memory_order_relaxed) ? store::RunState::Lost : store::RunState::Live;
    summary.ranks = run->live->ranks.load(std::memory_order_relaxed);
    summary.lastStep = Step { run->live->lastStep.load(std::memory_order_relaxed) };
    summary.fileBytes = run->live->fileBytes.load(std::memory_order_relaxed);
    return summary;
}

void RunDriver::pollRuns()
{
    auto runs = m_news ? m_news->takeRuns() : std::nullopt;
    if (!runs)
        return;
    m_live = std::move(*runs);
    std::erase_if(m_live, [](const store::RunRef& run) { return !isLive(run); });
    std::vector<store::RunSummary> rows;
    for (const store::RunRef& run : m_live)
        rows.push_back(summaryOf(run));
    m_runs.setLive(std::move(rows));
    if (std::exchange(m_isListKnown, true))
        refreshArchive();
    if (!m_opened && !m_live.empty())
        show(m_live.front());
    // What is shown as it ended may live again: its training came back, or was slower than this window.
    const store::RunRef& shown = m_state->run();
    const auto back = std::find_if(m_live.begin(), m_live.end(),
        [&shown](const store::RunRef& run) { return shown && !isLive(shown) && run->locator == shown->locator; });
    if (back != m_live.end())
        show(*back);
}

void RunDriver::pollRun()
{
    if (!m_news)
        return;
    const store::RunRef run = m_state->run();
    const store::Durable news = m_news->takeDurable(run);
    if (!run || !run->live)
        return;
    const bool isAllNew = std::exchange(m_isNewlyShown, false);
    m_isDirectoryNew = m_isDirectoryNew || isAllNew || !news.series.isEmpty() || news.areSourcesChanged;
    if (m_isDirectoryNew && !m_context.queries->isBusy(m_queryId)) {
        m_isDirectoryNew = false;
        askCatalog();
    }
    if (isAllNew || !news.events.isEmpty() || !news.drops.isEmpty())
        Q_EMIT logGrew();
    if (isAllNew || !news.blobs.isEmpty())
        Q_EMIT m_state->blobsArrived();
    if (isAllNew || !news.steps.isEmpty()) {
        const Step first { run->live->firstStep.load(std::memory_order_relaxed) };
        const Step last { run->live->lastStep.load(std::memory_order_relaxed) };
        if (first <= last)
            m_state->setFullRange({ first, last });
        Q_EMIT m_state->dataArrived();
    }
    if (m_wasLive && !isLive(run)) {
        m_wasLive = false;
        m_state->setFollowing(false);
        askCatalog();
        everySecond();
        refreshArchive();
    }
}

void RunDriver::everySecond()
{
    const double seconds = std::max(0.2, static_cast<double>(m_second.restart()) / 1000.0);
    const store::RunRef run = m_state->run();
    m_pulse.hasRun = run != nullptr;
    m_pulse.live = isLive(run);
    m_pulse.state = !m_pulse.live                         ? store::RunState::Finished
        : run->live->lost.load(std::memory_order_relaxed) ? store::RunState::Lost
                                                          : store::RunState::Live;
    m_pulse.framesPerSecond = static_cast<int>(
        std::min(60.0, 1000.0 / std::max(kFrameMs, kFrameMs + static_cast<double>(m_longestGapMs - 8))));
    m_longestGapMs = 0;
    if (m_context.connections) {
        m_connections = m_context.connections();
        Q_EMIT connectionsChanged();
    }
    m_pulse.agents = 0;
    m_pulse.spoolBytes = 0;
    m_pulse.lagSeconds = 0;
    for (const ConnectionInfo& connection : m_connections) {
        m_pulse.agents += connection.connected ? 1 : 0;
        m_pulse.spoolBytes += connection.spoolBytes;
        const bool isExpected = connection.connected || !connection.saidBye;
        if (isExpected && run && connection.runName == run->name)
            m_pulse.lagSeconds = std::max(m_pulse.lagSeconds, connection.lagSeconds);
    }
    m_pulse.runName = shownName();
    if (!run)
        m_pulse.fileBytes = m_pulse.storedSamples = 0;
    if (run && run->live) {
        const store::LiveRun& live = *run->live;
        m_pulse.step = Step { live.lastStep.load(std::memory_order_relaxed) };
        m_pulse.ranks = live.ranks.load(std::memory_order_relaxed);
        m_pulse.connectedRanks = live.connectedRanks.load(std::memory_order_relaxed);
        // The file's also has what processes that are gone never handed over.
        m_pulse.dropped = std::max(live.droppedSamples.load(std::memory_order_relaxed), droppedSamples(*m_state));
        m_pulse.fileBytes = live.fileBytes.load(std::memory_order_relaxed);
        m_pulse.storedSamples = live.storedSamples.load(std::memory_order_relaxed);
        if (m_secondStep >= 0) {
            m_pulse.stepsPerSecond = static_cast<double>(m_pulse.step.value - m_secondStep) / seconds;
            m_pulse.samplesPerSecond = static_cast<double>(m_pulse.storedSamples - m_secondSamples) / seconds;
            if (m_pulse.step.value > m_secondStep)
                m_pulse.rates.push_back(m_pulse.stepsPerSecond);
            if (m_pulse.rates.size() > kSparkPoints)
                m_pulse.rates.erase(m_pulse.rates.begin());
        }
        m_secondStep = m_pulse.step.value;
        m_secondSamples = m_pulse.storedSamples;
    } else if (run) {
        m_pulse.step = m_state->catalog() ? m_state->catalog()->steps.last : Step { -1 };
        m_pulse.storedSamples = 0;
        m_pulse.dropped = droppedSamples(*m_state);
        if (const store::RunSummary* summary = m_runs.runAt(m_runs.indexOf(text(run->id)))) {
            m_pulse.state = summary->state;
            m_pulse.fileBytes = summary->fileBytes;
            m_pulse.ranks = summary->ranks;
        }
    }
    if (!m_live.empty()) {
        std::vector<store::RunSummary> rows;
        for (const store::RunRef& live : m_live)
            rows.push_back(summaryOf(live));
        m_runs.setLive(std::move(rows));
    }
    Q_EMIT pulseChanged();
    if (run && !m_pulse.live && !m_context.queries->isBusy(m_queryId))
        askCatalog();
}

}
