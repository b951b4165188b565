// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/liverunentry.h>

#include <telltale/store/clock.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/runstore.h>

namespace telltale::store {
namespace {

constexpr std::chrono::seconds kLateRank { 10 }; ///< for ranks that are not monitored, or come late

}

Expected<std::unique_ptr<LiveRunEntry>> LiveRunEntry::create(const std::string& dataDir, const StreamRequest& request)
{
    std::unique_ptr<LiveRunEntry> entry(new LiveRunEntry);
    entry->m_live = std::make_shared<LiveRun>();
    RunMeta meta;
    meta.storeId = newShortId() + newShortId();
    meta.runId = newShortId();
    meta.runKey = request.runKey;
    meta.keySource = request.keySource;
    meta.name = request.runName.empty() ? request.runKey : request.runName;
    meta.worldSize = request.worldSize;
    meta.createdNs = wallClockNs();
    const auto run
        = RunLocator::ofFile(runsFolder(dataDir) + "/" + capsuleFileName(meta.name, meta.runId, meta.createdNs));
    auto recorder = storeOf(run).create(run, meta, *entry->m_live);
    if (!recorder)
        return tl::unexpected<Error>(std::move(recorder.error()));
    entry->m_recorder = std::move(*recorder);
    const RunMeta& saved = entry->m_recorder->meta();
    entry->m_ref = std::make_shared<RunHandle>(RunHandle { run, saved.runId, saved.name, entry->m_live });
    entry->m_lastSeenNs = saved.createdNs;
    return entry;
}

Expected<std::unique_ptr<LiveRunEntry>> LiveRunEntry::open(const RunLocator& run)
{
    std::unique_ptr<LiveRunEntry> entry(new LiveRunEntry);
    entry->m_live = std::make_shared<LiveRun>();
    auto recorder = storeOf(run).recorder(run, *entry->m_live);
    if (!recorder)
        return tl::unexpected<Error>(std::move(recorder.error()));
    entry->m_recorder = std::move(*recorder);
    const RunMeta& meta = entry->m_recorder->meta();
    entry->m_ref = std::make_shared<RunHandle>(RunHandle { run, meta.runId, meta.name, entry->m_live });
    entry->m_lastSeenNs = wallClockNs();
    entry->m_live->ranks.store(entry->knownRanks());
    return entry;
}

int LiveRunEntry::knownRanks() const
{
    return static_cast<int>(facts().newestAttempts().size());
}

RunFacts LiveRunEntry::facts() const
{
    RunFacts facts;
    const RunMeta& meta = m_recorder->meta();
    facts.runKey = meta.runKey;
    facts.keySource = meta.keySource;
    facts.worldSize = meta.worldSize;
    facts.isConnected = hasConnections();
    facts.lastSeenNs = m_lastSeenNs;
    for (const auto& [id, source] : m_recorder->sources())
        facts.sources.push_back(source);
    for (const auto& [id, stream] : m_recorder->streams())
        facts.streams.emplace_back(stream.agentId, stream.incarnation);
    return facts;
}

Expected<std::int64_t> LiveRunEntry::admit(const StreamRequest& request)
{
    m_home.check();
    std::int64_t stream = m_recorder->findStream(request.agentId, request.incarnation);
    if (stream == 0) {
        auto added = m_recorder->addStream(request);
        if (!added)
            return added;
        stream = *added;
    } else {
        const SourceState before = m_recorder->sources().at(m_recorder->streams().at(stream).source.value).state;
        if (auto ok = m_recorder->resume(stream); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
        if (before != SourceState::Running)
            m_stateBefore[stream] = before;
    }
    if (m_live->lost.load()) {
        if (auto ok = m_recorder->setState(RunState::Live); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
        m_live->lost.store(false);
    }
    if (auto ok = m_recorder->skipTo(stream, request.firstRetainedSeq); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    m_connected.insert(stream);
    countConnections();
    return stream;
}

Expected<void> LiveRunEntry::leave(
    std::int64_t stream, const std::string& byeReason, std::uint64_t lastSeq, Produced produced, std::int64_t nowNs)
{
    m_home.check();
    m_connected.erase(stream);
    m_lastSeenNs = nowNs;
    m_quietSince = Clock::now();
    countConnections();
    // How a process ended only it knows: who brings what it left, or hangs up, changes nothing of what it said before.
    const auto before = m_stateBefore.find(stream);
    const SourceState state = byeReason == "finished" ? SourceState::Finished
        : byeReason == "error"                        ? SourceState::Failed
        : before != m_stateBefore.end()               ? before->second
                                                      : SourceState::Lost;
    auto ok = m_recorder->leave(stream, state, lastSeq, produced);
    if (ok)
        m_stateBefore.erase(stream);
    return ok;
}

bool LiveRunEntry::noticeLoss(Clock::time_point now, std::chrono::milliseconds lostAfter)
{
    m_home.check();
    if (m_live->lost.load() || hasConnections() || now - m_quietSince < lostAfter || facts().isDone())
        return false;
    // What cannot be written now is tried again at the next turn.
    if (!m_recorder->setState(RunState::Lost))
        return false;
    m_live->lost.store(true);
    m_isNewlyLost = true;
    return true;
}

void LiveRunEntry::abandon()
{
    m_live->closed.store(true, std::memory_order_release);
    m_live->clearOpenTiles();
}

Durable LiveRunEntry::takeNews()
{
    Durable news = m_recorder->takeNews();
    news.run = m_ref;
    news.areSourcesChanged = news.areSourcesChanged || std::exchange(m_isNewlyLost, false);
    return news;
}

void LiveRunEntry::countConnections()
{
    std::set<Rank> ranks;
    for (std::int64_t stream : m_connected)
        ranks.insert(m_recorder->sources().at(m_recorder->streams().at(stream).source.value).rank);
    m_live->connectedRanks.store(static_cast<int>(ranks.size()));
    m_live->ranks.store(knownRanks());
}

bool LiveRunEntry::isOver(Clock::time_point now, std::chrono::milliseconds grace) const
{
    if (hasConnections())
        return false;
    const auto quiet = now - m_quietSince;
    if (!facts().isDone())
        return m_live->lost.load() && quiet >= grace;
    return knownRanks() >= m_recorder->meta().worldSize || quiet > kLateRank;
}

RunState LiveRunEntry::finalState() const
{
    const RunFacts now = facts();
    if (!now.isDone())
        return m_live->lost.load() ? RunState::Lost : RunState::Interrupted;
    return now.isFinished() ? RunState::Finished : RunState::Failed;
}

}
