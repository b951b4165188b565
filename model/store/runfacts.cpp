// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/runfacts.h>

#include <algorithm>

#include <telltale/store/capsulefile.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/runstore.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/storeservice.h>

namespace telltale::store {
namespace {

/// After this long without any rank, the same MASTER_ADDR and port are another job.
constexpr std::int64_t kMasterAddrNs = 600'000'000'000;

}

std::map<Rank, SourceInfo> RunFacts::newestAttempts() const
{
    std::map<Rank, SourceInfo> newest;
    for (const SourceInfo& source : sources) {
        const auto [entry, isNew] = newest.try_emplace(source.rank, source);
        if (!isNew && source.attempt > entry->second.attempt)
            entry->second = source;
    }
    return newest;
}

bool RunFacts::isDone() const
{
    const auto newest = newestAttempts();
    return !newest.empty() && std::all_of(newest.begin(), newest.end(), [](const auto& entry) {
        return entry.second.state == SourceState::Finished || entry.second.state == SourceState::Failed;
    });
}

bool RunFacts::isFinished() const
{
    const auto newest = newestAttempts();
    return !newest.empty() && std::all_of(newest.begin(), newest.end(), [](const auto& entry) {
        return entry.second.state == SourceState::Finished;
    });
}

bool RunFacts::knows(const StreamRequest& request) const
{
    return runKey == request.runKey
        && std::find(streams.begin(), streams.end(), std::pair(request.agentId, request.incarnation)) != streams.end();
}

bool RunFacts::welcomes(const StreamRequest& request, std::int64_t nowNs) const
{
    if (runKey != request.runKey)
        return false;
    // Whoever names the run again means it, however it ended.
    if (request.keySource == "run_id" || request.keySource == "TELLTALE_RUN_ID")
        return true;
    const auto newest = newestAttempts();
    // A rank that was never seen may still belong to a run whose other ranks were quick.
    if (isFinished() && (static_cast<int>(newest.size()) >= worldSize || newest.contains(request.rank)))
        return false;
    return keySource != "MASTER_ADDR" || isConnected || nowNs - lastSeenNs < kMasterAddrNs;
}

Expected<RunFacts> CapsuleStore::facts(const RunLocator& run) const
{
    const std::string& path = run.text();
    auto db = openForReading(path);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    RunFacts facts;
    auto key = metaText(db->get(), "run_key");
    auto keySource = metaText(db->get(), "key_source");
    if (!key || !keySource)
        return tl::unexpected<Error>(std::move(key ? keySource.error() : key.error()));
    facts.runKey = std::move(*key);
    facts.keySource = std::move(*keySource);
    facts.worldSize = static_cast<int>(metaNumber(db->get(), "world_size"));
    facts.createdNs = metaNumber(db->get(), "created_ns");
    facts.lastSeenNs = metaNumber(db->get(), "last_seen_ns");
    facts.state = static_cast<RunState>(metaNumber(db->get(), "state"));
    auto sources = Statement::prepare(db->get(), "SELECT id, rank, attempt, state FROM source");
    auto streams = Statement::prepare(db->get(), "SELECT agent_id, incarnation FROM stream");
    if (!sources || !streams)
        return failure(ErrorCode::Damaged, "the capsule " + path + " cannot be read");
    for (auto more = sources->step(); more && *more; more = sources->step()) {
        SourceInfo source;
        source.id = SourceId(sources->integer(0));
        source.rank = Rank(static_cast<std::int32_t>(sources->integer(1)));
        source.attempt = static_cast<int>(sources->integer(2));
        source.state = static_cast<SourceState>(sources->integer(3));
        facts.sources.push_back(std::move(source));
    }
    for (auto more = streams->step(); more && *more; more = streams->step())
        facts.streams.emplace_back(streams->text(0), static_cast<std::uint64_t>(streams->integer(1)));
    return facts;
}

RunLocator runWithStream(const std::string& dataDir, const StreamRequest& request)
{
    for (const RunSummary& run : listRuns(dataDir)) {
        if (run.isElsewhere || run.key != request.runKey)
            continue;
        if (request.incarnation == 0)
            return run.locator;
        const auto facts = readRunFacts(run.locator);
        if (facts && facts->knows(request))
            return run.locator;
    }
    return {};
}

ImportedRun importedAs(const std::string& dataDir, const StreamRequest& request)
{
    ImportedRun run;
    run.locator = runWithStream(dataDir, request);
    if (!run.locator.isEmpty())
        run.id = describeRun(run.locator).id;
    return run;
}

}
