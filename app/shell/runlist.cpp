// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlist.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <QFileInfo>

#include <telltale/items/guithread.h>
#include <telltale/store/archive.h>

#include "jobthread.h"

namespace telltale::shell {
namespace {

constexpr std::chrono::milliseconds kProfileShare { 250 };

store::RunSummary summaryOf(const store::RunRef& run)
{
    store::RunSummary summary;
    summary.locator = run->locator;
    summary.id = run->id;
    summary.name = run->name;
    summary.state = stateOf(*run->live);
    summary.ranks = run->live->ranks.load(std::memory_order_relaxed);
    summary.lastStep = Step { run->live->lastStep.load(std::memory_order_relaxed) };
    summary.fileBytes = run->live->fileBytes.load(std::memory_order_relaxed);
    return summary;
}

}

store::RunState stateOf(const store::LiveRun& live)
{
    const bool isHeard = live.connectedRanks.load(std::memory_order_relaxed) > 0;
    return isHeard && !live.lost.load(std::memory_order_relaxed) ? store::RunState::Live : store::RunState::Lost;
}

bool isLive(const store::RunRef& run)
{
    return run && run->isLive();
}

RunList::RunList(std::string dataDir, JobThread* jobs, QObject* parent)
    : QObject(parent)
    , m_dataDir(std::move(dataDir))
    , m_jobs(jobs)
{
    connect(&m_model, &items::RunsModel::profilesWanted, this, [this] {
        if (!std::exchange(m_hasProfiles, true))
            readProfiles();
    });
}

void RunList::setLive(std::vector<store::RunRef> runs)
{
    items::assertGuiThread();
    m_live = std::move(runs);
    std::erase_if(m_live, [](const store::RunRef& run) { return !isLive(run); });
    updateLive();
}

void RunList::updateLive()
{
    std::vector<store::RunSummary> rows;
    for (const store::RunRef& run : m_live)
        rows.push_back(summaryOf(run));
    m_model.setLive(std::move(rows));
}

void RunList::refreshArchive()
{
    items::assertGuiThread();
    m_listAgain = m_listing;
    if (m_listing)
        return;
    m_listing = true;
    m_jobs->submit([this, dataDir = m_dataDir, outside = m_outside]() -> JobThread::Delivery {
        store::RunListing listing = store::listArchive(dataDir);
        std::vector<store::RunSummary>& found = listing.runs;
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
        return [this, listing = std::move(listing)]() mutable {
            m_listing = false;
            m_model.setArchived(std::move(listing.runs));
            tell(listing.problems);
            Q_EMIT archiveListed();
            if (m_listAgain)
                refreshArchive();
            else if (m_hasProfiles)
                readProfiles();
        };
    });
}

void RunList::tell(const std::vector<std::string>& problems)
{
    const std::set<std::string> told = std::exchange(m_told, { problems.begin(), problems.end() });
    for (const std::string& sentence : m_told) {
        if (!told.contains(sentence))
            Q_EMIT problem(QString::fromStdString(sentence));
    }
}

/// In pieces: other work on the job thread does not wait for thousands of runs that are opened for the first time.
void RunList::readProfiles()
{
    if (m_isReadingProfiles)
        return;
    m_isReadingProfiles = true;
    std::vector<store::RunSummary> runs = m_model.runs(items::RunsModel::ArchivedGroup);
    const auto& live = m_model.runs(items::RunsModel::LiveGroup);
    runs.insert(runs.end(), live.begin(), live.end());
    // Where nothing can be kept of a piece, the last one has the time that all of it takes.
    m_profileShare = std::max(kProfileShare, m_profileShare * 2);
    m_jobs->submit(
        [this, dataDir = m_dataDir, share = m_profileShare, runs = std::move(runs)]() -> JobThread::Delivery {
            const auto end = std::chrono::steady_clock::now() + share;
            auto profiles = archive::ProfileIndex(dataDir).read(
                runs, [end](std::size_t, std::size_t) { return std::chrono::steady_clock::now() < end; });
            return [this, profiles = std::move(profiles)]() mutable {
                m_isReadingProfiles = false;
                if (!profiles)
                    return readProfiles();
                m_profileShare = {};
                m_model.setProfiles(std::move(*profiles));
            };
        });
}

store::RunRef RunList::byId(const QString& id) const
{
    const std::string wanted = id.toStdString();
    for (const store::RunRef& run : m_live) {
        if (run->id == wanted)
            return run;
    }
    const store::RunSummary* run = m_model.runAt(m_model.indexOf(id));
    if (!run)
        return {};
    auto handle = std::make_shared<store::RunHandle>();
    handle->locator = run->locator;
    handle->id = run->id;
    handle->name = run->name;
    return handle;
}

store::RunRef RunList::byLocator(const store::RunLocator& locator)
{
    for (const store::RunRef& run : m_live) {
        if (run->locator == locator)
            return run;
    }
    std::error_code error;
    for (const store::RunSummary& run : m_model.runs(items::RunsModel::ArchivedGroup)) {
        if (run.locator == locator || std::filesystem::equivalent(run.locator.text(), locator.text(), error))
            return byId(QString::fromStdString(run.id));
    }
    if (std::find(m_outside.begin(), m_outside.end(), locator) == m_outside.end())
        m_outside.push_back(locator);
    refreshArchive();
    auto handle = std::make_shared<store::RunHandle>();
    handle->locator = locator;
    handle->id = locator.text();
    handle->name = QFileInfo(QString::fromStdString(locator.text())).completeBaseName().toStdString();
    return handle;
}

QString RunList::idOfAnother(const store::RunLocator& run) const
{
    for (const auto group : { items::RunsModel::LiveGroup, items::RunsModel::ArchivedGroup }) {
        for (const store::RunSummary& other : m_model.runs(group)) {
            if (other.locator != run)
                return QString::fromStdString(other.id);
        }
    }
    return {};
}

}
