// SPDX-License-Identifier: GPL-3.0-or-later
#include "rundriver.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <QPointer>

#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>
#include <telltale/items/saidwords.h>
#include <telltale/store/storeservice.h>

#include "jobthread.h"
#include "storenews.h"

namespace telltale::shell {

namespace {

constexpr int kTickMs = 33;
constexpr int kUnfocusedTickMs = 100;
constexpr int kVerifyAfterMs = 1000; ///< what people look at is read first

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
    , m_runs(context.dataDir, jobs, this)
    , m_queryId(context.queries->newView())
    , m_comparison(state, context.queries)
{
    connect(&m_timer, &QTimer::timeout, this, &RunDriver::tick);
    m_verifyTimer.setSingleShot(true);
    m_verifyTimer.setInterval(kVerifyAfterMs);
    connect(&m_verifyTimer, &QTimer::timeout, this, &RunDriver::verify);
    connect(&m_comparison, &views::ComparisonLoader::problem, this, &RunDriver::problem);
    connect(&m_runs, &RunList::problem, this, &RunDriver::problem);
    connect(&m_runs, &RunList::archiveListed, this, [this] {
        m_meter.setRunName(*m_state, m_runs.model()); // it may have been renamed
        readRenamed();
        Q_EMIT pulseChanged();
        Q_EMIT archiveListed();
    });
    m_lastTick.start();
    setFocused(true);
}

/// Compared runs are named by their catalogs.
void RunDriver::readRenamed()
{
    std::vector<store::RunRef> runs;
    bool isAny = false;
    for (const views::ComparedRun& one : m_state->comparedRuns()) {
        const store::RunSummary* summary
            = m_runs.model().runAt(m_runs.model().indexOf(QString::fromStdString(one.run->id)));
        isAny = isAny || (summary && one.catalog && summary->name != one.catalog->name);
        runs.push_back(one.run);
    }
    if (isAny)
        m_comparison.want(std::move(runs));
}

RunDriver::~RunDriver()
{
    m_context.queries->cancel(m_queryId);
}

void RunDriver::follow(const store::StoreService& service)
{
    if (m_news)
        return;
    m_news = std::make_unique<StoreNews>(service);
    m_isNewlyShown = true;
}

void RunDriver::setFocused(bool on)
{
    m_intervalMs = on ? kTickMs : kUnfocusedTickMs;
    m_timer.start(m_intervalMs);
    m_lastTick.restart();
}

void RunDriver::openById(const QString& id)
{
    if (store::RunRef run = m_runs.byId(id))
        show(std::move(run));
}

void RunDriver::compare(const QString& shownId, const QStringList& otherIds)
{
    openById(shownId);
    compareWith(otherIds);
}

void RunDriver::compareWith(const QStringList& ids)
{
    std::vector<store::RunRef> others;
    for (const QString& id : ids) {
        if (store::RunRef run = m_runs.byId(id))
            others.push_back(std::move(run));
    }
    m_comparison.want(std::move(others));
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
        const QString why = found ? whyUnreadable(*found) : items::saidwords::of(found.error());
        return [this, found, why] {
            if (!why.isEmpty())
                Q_EMIT problem(why);
            else
                show(m_runs.byLocator(*found));
        };
    });
}

void RunDriver::show(store::RunRef run)
{
    items::assertGuiThread();
    m_opened = true;
    if (m_state->run() && m_state->run()->locator == run->locator && isLive(m_state->run()) == isLive(run))
        return;
    m_isNewlyShown = true;
    m_wasLive = isLive(run);
    m_toldDamage.clear();
    m_verifyTimer.stop();
    m_meter.begin();
    if (m_state->run()) {
        QStringList& others = m_comparedWith[m_state->run()->locator];
        others.clear();
        for (const views::ComparedRun& one : m_state->comparedRuns())
            others.append(text(one.run->id));
    }
    m_state->setRun(std::move(run));
    const auto& archived = m_runs.model().runs(items::RunsModel::ArchivedGroup);
    const auto listed = std::find_if(archived.begin(), archived.end(),
        [this](const store::RunSummary& one) { return one.locator == m_state->run()->locator; });
    if (listed != archived.end() && listed->state == store::RunState::Damaged)
        m_state->setDamage(text(listed->note));
    askCatalog();
    if (const QStringList others = m_comparedWith[m_state->run()->locator]; !others.isEmpty())
        compareWith(others);
    everySecond();
    Q_EMIT runOpened();
}

void RunDriver::leave(const store::RunLocator& gone)
{
    m_runs.forget(gone);
    std::vector<views::ComparedRun> compared = m_state->comparedRuns();
    std::erase_if(compared, [&gone](const views::ComparedRun& one) { return one.run->locator == gone; });
    m_state->setComparedRuns(std::move(compared));
    if (!m_state->run() || m_state->run()->locator != gone)
        return;
    if (const QString other = m_runs.idOfAnother(gone); !other.isEmpty())
        return openById(other);
    m_state->setRun({});
    everySecond();
}

void RunDriver::moved(const std::map<store::RunLocator, store::RunLocator>& places)
{
    for (const auto& [from, to] : places)
        m_runs.forget(from);
    const auto isMoved = [&](const store::RunRef& run) { return run && places.contains(run->locator); };
    const auto inItsNewPlace = [&](const store::RunRef& run) {
        if (!isMoved(run))
            return run;
        auto handle = std::make_shared<store::RunHandle>(*run);
        handle->locator = places.at(run->locator);
        return store::RunRef(std::move(handle));
    };
    std::vector<store::RunRef> others;
    bool isCompared = false;
    for (const views::ComparedRun& one : m_state->comparedRuns()) {
        isCompared = isCompared || isMoved(one.run);
        others.push_back(inItsNewPlace(one.run));
    }
    const bool isShown = isMoved(m_state->run());
    if (isShown) {
        const store::RunLocator to = places.at(m_state->run()->locator);
        auto* once = new QObject(this);
        connect(m_state, &views::ViewState::catalogChanged, once,
            [this, once, visible = m_state->visibleRange(), cursor = m_state->cursor(), a = m_state->markA(),
                b = m_state->markB(), to] {
                if (!m_state->catalog())
                    return;
                m_state->disconnect(once);
                once->deleteLater();
                if (!m_state->run() || m_state->run()->locator != to)
                    return;
                if (!visible.isEmpty())
                    m_state->zoomTo(visible);
                m_state->setCursor(cursor);
                m_state->setMarks(a, b);
            });
        show(inItsNewPlace(m_state->run()));
        Q_EMIT runMoved();
    }
    if (isShown || isCompared)
        m_comparison.want(std::move(others));
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
                    Q_EMIT problem(items::saidwords::of(catalog.error()));
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
    if (!isLive(m_state->run()) && (first || !catalog->damage.empty()))
        m_runs.model().setDamage(
            m_state->run()->locator, catalog->damage.empty() ? std::string() : catalog->damage.front());
    if (!isLive(m_state->run()) && !catalog->damage.empty() && m_toldDamage.empty()) {
        m_jobs->submit([dataDir = m_context.dataDir, run = m_state->run()->locator,
                           damage = catalog->damage.front()]() -> JobThread::Delivery {
            store::rememberDamage(dataDir, run, damage);
            return {};
        });
    }
    for (const std::string& damage : catalog->damage)
        tellDamage(damage);
    if (first)
        everySecond();
    if (first && catalog->damage.empty() && !isLive(m_state->run()))
        m_verifyTimer.start();
}

void RunDriver::tellDamage(const std::string& damage)
{
    const auto& catalog = m_state->catalog();
    if (m_toldDamage.insert(damage).second)
        Q_EMIT problem(text(catalog && !catalog->name.empty() ? catalog->name + ": " + damage : damage));
}

/// What is shown reads a part of a file: what is damaged elsewhere is found by reading all of it, where that takes a
/// moment only.
void RunDriver::verify()
{
    constexpr std::uintmax_t kMostBytes = 64u << 20;
    const store::RunRef run = m_state->run();
    m_jobs->submit([this, dataDir = m_context.dataDir, run]() -> JobThread::Delivery {
        std::error_code error;
        const std::uintmax_t bytes = std::filesystem::file_size(run->locator.text(), error);
        if (error || bytes > kMostBytes)
            return {};
        const auto report = store::verifyRun(run->locator);
        std::string damage;
        if (!report)
            damage = report.error().sentence();
        else if (!report->problems.empty())
            damage = report->problems.front();
        store::rememberDamage(dataDir, run->locator, damage);
        return [this, run, damage] {
            m_runs.model().setDamage(run->locator, damage);
            if (m_state->run() != run)
                return;
            if (damage.empty() && !m_state->damage().isEmpty())
                refreshArchive(); // the list said otherwise
            m_state->setDamage(text(damage));
            if (!damage.empty())
                tellDamage(damage);
        };
    });
}

void RunDriver::tick()
{
    items::assertGuiThread();
    m_meter.late(m_lastTick.restart() - m_intervalMs);
    pollRuns();
    pollRun();
    if (m_meter.isDue())
        everySecond();
}

void RunDriver::pollRuns()
{
    auto runs = m_news ? m_news->takeRuns() : std::nullopt;
    if (!runs)
        return;
    m_runs.setLive(std::move(*runs));
    const std::vector<store::RunRef>& live = m_runs.live();
    if (std::exchange(m_isListKnown, true))
        refreshArchive();
    if (!m_opened && !live.empty())
        show(live.front());
    // What is shown as it ended may live again: its training came back, or was slower than this window.
    const store::RunRef& shown = m_state->run();
    const auto back = std::find_if(live.begin(), live.end(),
        [&shown](const store::RunRef& run) { return shown && !isLive(shown) && run->locator == shown->locator; });
    if (back != live.end())
        show(*back);
}

void RunDriver::pollRun()
{
    if (!m_news)
        return;
    const store::RunRef run = m_state->run();
    const store::Durable news = m_news->takeDurable(run);
    if (run && !isLive(run) && !news.events.isEmpty())
        Q_EMIT logGrew(); // what a person says of a run that is over
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
        if (m_meter.reach(last))
            Q_EMIT stepReached();
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

void RunDriver::giveAgents()
{
    std::vector<ConnectionInfo> agents;
    const auto catalog = m_state->catalog();
    if (catalog && m_state->run()->live) {
        std::copy_if(m_connections.begin(), m_connections.end(), std::back_inserter(agents),
            [&](const ConnectionInfo& one) { return one.runKey == catalog->runKey; });
    }
    m_state->setAgents(std::move(agents));
}

void RunDriver::everySecond()
{
    if (m_context.connections) {
        m_connections = m_context.connections();
        Q_EMIT connectionsChanged();
    }
    giveAgents();
    m_meter.measure(*m_state, m_runs.model(), m_connections);
    if (!m_runs.live().empty())
        m_runs.updateLive();
    if (m_news)
        m_runs.model().setIncidents(m_news->incidents());
    Q_EMIT pulseChanged();
    if (m_state->run() && !pulse().live && !m_context.queries->isBusy(m_queryId))
        askCatalog();
}

}
