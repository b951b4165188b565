// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/configdesk.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/config/revision.h>
#include <telltale/store/clock.h>

namespace telltale::server {
namespace {

using Json = nlohmann::json;
namespace configphase = store::configphase;
namespace configstatus = protocol::configstatus;

constexpr std::size_t kMostRuns = 64; ///< without anybody there
constexpr std::size_t kMostWriting = 16; ///< revisions that are not durable yet

std::string namesOf(const std::vector<Rank>& ranks)
{
    if (ranks.empty())
        return "all ranks";
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    constexpr std::size_t kNamed = 8;
    for (std::size_t i = 0; i < std::min(ranks.size(), kNamed); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(ranks[i].value);
    return ranks.size() > kNamed ? text + ", ..." : text;
}

store::OwnRecord recordOf(const store::RunLocator& run, Rank rank, std::int64_t step, std::uint64_t rev,
    std::string_view phase, std::string text)
{
    store::OwnRecord record;
    record.run = run;
    record.rank = rank;
    record.event = { "config", Step { std::max<std::int64_t>(step, 0) }, store::wallClockNs(), std::move(text), "{}" };
    record.event.rev = rev;
    record.event.phase = phase;
    return record;
}

}

void ConfigDesk::open(const store::RunLocator& locator, const std::string& id, const std::string& name)
{
    m_home.check();
    forgetRuns();
    Run& run = m_runs[locator];
    run.locator = locator;
    run.id = id;
    run.name = name;
}

/// Of runs where nobody is: their capsules know all of it.
void ConfigDesk::forgetRuns()
{
    for (auto run = m_runs.begin(); run != m_runs.end() && m_runs.size() > kMostRuns;) {
        const auto isThere = [](const auto& entry) { return entry.second.connection() != 0; };
        const bool isWritten = std::none_of(
            m_writing.begin(), m_writing.end(), [&](const auto& entry) { return entry.second.first == run->first; });
        if (run->second.isLoaded && isWritten
            && std::none_of(run->second.ranks.begin(), run->second.ranks.end(), isThere))
            run = m_runs.erase(run);
        else
            ++run;
    }
}

void ConfigDesk::load(const store::RunLocator& locator, const store::ConfigHistory& history,
    const std::vector<KnownRank>& ranks, Clock::time_point now)
{
    m_home.check();
    const auto found = m_runs.find(locator);
    if (found == m_runs.end() || found->second.isLoaded)
        return;
    Run& run = found->second;
    run.isLoaded = true;
    m_isChanged = true;
    for (const store::ConfigRevision& known : history.revisions()) {
        Revision revision;
        revision.rev = known.rev;
        revision.hash = known.hash;
        revision.author = known.author;
        revision.wallNs = known.wallNs;
        revision.applyAtStep = known.applyAtStep.value;
        revision.ranks = known.ranks;
        revision.json = std::make_shared<const std::string>(known.config);
        revision.record = known.record;
        revision.isUnderWay = std::any_of(known.answers.begin(), known.answers.end(),
            [](const auto& answer) { return answer.second.phase == configphase::kApplied; });
        run.revisions.push_back(std::move(revision));
    }
    for (const KnownRank& known : ranks) {
        RankDesk& rank = run.ranks.try_emplace(known.rank, known.rank).first->second;
        if (rank.connection() == 0)
            rank.setFinished(known.isFinished);
    }
    forgetConfigs(run);
    for (Revision& revision : run.revisions) {
        // The log keeps the fields in an order of its own, and may have been written to by others.
        const auto config = revision.json ? checkedConfig(*revision.json) : tl::unexpected(Error {});
        if (config)
            revision.json = std::make_shared<const std::string>(config->json);
        else if (revision.json)
            revision.failure = "it cannot be read: " + config.error().sentence();
    }
    for (auto& [id, rank] : run.ranks) {
        const store::ConfigRevision* newest = history.newestFor(id);
        const Revision* target = targetOf(run, id);
        if (newest == nullptr || target == nullptr || newest->rev != target->rev)
            continue;
        if (const auto answer = newest->answers.find(id); answer != newest->answers.end())
            rank.remember(*target, answer->second);
    }
    settle(run, now);
}

ConfigDesk::Place ConfigDesk::placeOf(std::uint64_t connection)
{
    m_home.check();
    const auto known = m_connections.find(connection);
    if (known == m_connections.end())
        return {};
    const auto run = m_runs.find(known->second.first);
    if (run == m_runs.end())
        return {};
    RankDesk& rank = run->second.ranks.at(known->second.second);
    return rank.connection() == connection ? Place { &run->second, &rank } : Place {};
}

void ConfigDesk::attach(
    std::uint64_t connection, const store::RunLocator& locator, const RankDesk::Peer& peer, Clock::time_point now)
{
    m_home.check();
    Run& run = m_runs.at(locator);
    run.worldSize = std::max(run.worldSize, peer.worldSize);
    RankDesk& rank = run.ranks.try_emplace(peer.rank, peer.rank).first->second;
    if (!rank.attach(connection, peer, now))
        return;
    m_connections.insert_or_assign(connection, std::pair(locator, peer.rank));
    m_isChanged = true;
    settle(run, now);
}

void ConfigDesk::detach(std::uint64_t connection, bool isFinished, Clock::time_point now)
{
    const Place place = placeOf(connection);
    m_connections.erase(connection);
    if (place.rank == nullptr)
        return;
    place.rank->detach(isFinished);
    m_isChanged = true;
    settle(*place.run, now);
}

void ConfigDesk::onStep(std::uint64_t connection, Step step, std::int64_t wallNs)
{
    if (const Place place = placeOf(connection); place.rank != nullptr)
        place.rank->onStep(step, wallNs);
}

void ConfigDesk::onNextStep(std::uint64_t connection, std::int64_t step, Clock::time_point now)
{
    if (const Place place = placeOf(connection); place.rank != nullptr)
        place.rank->onNextStep(step, now);
}

void ConfigDesk::onStatus(std::uint64_t connection, const protocol::ConfigStatus& status, Clock::time_point now)
{
    const Place place = placeOf(connection);
    if (place.rank == nullptr)
        return;
    Run& run = *place.run;
    RankDesk& rank = *place.rank;
    rank.onNextStep(status.step, now);
    m_isChanged = true;
    Revision* revision = find(run, status.rev);
    if (status.status == configstatus::kInForce) {
        takeEdit(run, rank, status, now);
    } else if (status.status == configstatus::kApplied) {
        rank.onAnswer(status.rev);
        if (revision != nullptr && rank.view().rev == status.rev && rank.isOpen()) {
            rank.runs(*revision);
            rank.applied(status.step, now);
            // Such as a collection that its collect_times ends at once.
            if (!status.hash.empty() && status.hash != revision->hash)
                rank.differs(status.hash);
            revision->isUnderWay = true;
            answer(run, rank, configphase::kApplied, fmt::format("runs revision {} of the config", status.rev));
        } else if (revision != nullptr && rank.view().rev != status.rev) {
            rank.runs(*revision); // which it had accepted before it was told of the newest
            rank.reopen();
        }
    } else if (rank.onAnswer(status.rev) && revision != nullptr) {
        if (status.status == configstatus::kAccepted && rank.state() == RankDesk::State::Offered) {
            rank.accepted(status.step);
            answer(run, rank, configphase::kAccepted, fmt::format("takes over revision {} of the config", status.rev));
        } else if (status.status == configstatus::kRefused) {
            rank.refused(status.step, status.reason, now);
            answer(run, rank, configphase::kRefused,
                fmt::format("refuses revision {} of the config: {}", status.rev, status.reason));
        } else if (status.status == configstatus::kPassed) {
            rank.passed(status.step);
            if (rank.passes() == 1)
                answer(run, rank, configphase::kPassed,
                    fmt::format(
                        "was past step {} when revision {} of the config came", revision->applyAtStep, status.rev));
        }
    }
    settle(run, now);
}

/// The rank says what it runs. An edit of the job's file that nobody has made a revision of becomes one.
void ConfigDesk::takeEdit(Run& run, RankDesk& rank, const protocol::ConfigStatus& status, Clock::time_point now)
{
    auto config = checkedConfig(status.json);
    const std::string hash = config ? config->hash : status.hash;
    std::string ran = rank.view().runs;
    const bool isFirst = rank.onInForce(status, hash);
    if (!config || status.rev != 0 || status.reason.find(configstatus::kEdited) == std::string::npos)
        return;
    // Told again after a reconnect, it may be older than what was pushed meanwhile.
    const auto isKnown = [&hash](const Revision& revision) { return revision.hash == hash; };
    const Revision* target = targetOf(run, rank.rank());
    if (target != nullptr && target->hash == hash) {
        if (rank.state() == RankDesk::State::Refused && rank.view().rev == target->rev) { // the offer, not the file
            rank.runs(*target);
            rank.applied(status.step, now);
            answer(run, rank, configphase::kApplied, fmt::format("runs revision {} of the config", target->rev));
        }
        return;
    }
    const bool mayBeOld = isFirst && rank.state() != RankDesk::State::Applied;
    if (mayBeOld && std::any_of(run.revisions.begin(), run.revisions.end(), isKnown))
        return;
    if (run.edit) // one that was never offered
        ran = run.edit->before;
    run.edit = Run::Edit { std::move(*config), "config.json on " + rank.host(), std::move(ran), mayBeOld };
}

void ConfigDesk::placeEdit(Run& run, Clock::time_point now)
{
    constexpr std::chrono::seconds kOften { 1 }; // whoever writes the file without end does not fill the log
    if (!run.edit || (run.lastEdit && now - *run.lastEdit < kOften))
        return;
    const Run::Edit edit = std::move(*run.edit);
    run.edit.reset();
    const auto isKnown = [&edit](const Revision& revision) { return revision.hash == edit.config.hash; };
    // What the ranks of a node all saw is one edit; so is what was told before the log was read.
    const auto newest = std::find_if(run.revisions.rbegin(), run.revisions.rend(),
        [](const Revision& revision) { return revision.failure.empty(); });
    if ((newest != run.revisions.rend() && isKnown(*newest))
        || (edit.mayBeOld && std::any_of(run.revisions.begin(), run.revisions.end(), isKnown)))
        return;
    run.lastEdit = now;
    add(run, edit.config, {}, 0, edit.author, edit.before.empty() ? before(run, {}) : edit.before, now);
}

Expected<std::uint64_t> ConfigDesk::push(const store::RunLocator& locator, const CheckedConfig& config,
    const std::vector<Rank>& ranks, std::int64_t atStep, const std::string& author, Clock::time_point now)
{
    m_home.check();
    const auto found = m_runs.find(locator);
    if (found == m_runs.end() || !found->second.isLoaded)
        return failure(ErrorCode::Busy, "the run is still being looked into", "try again");
    Run& run = found->second;
    for (const Rank rank : ranks) {
        if (rank.value < 0 || (rank.value >= run.worldSize && !run.ranks.contains(rank)))
            return failure(ErrorCode::BadInput, fmt::format("the run {} has no rank {}", run.name, rank.value),
                fmt::format("its ranks are 0 to {}",
                    std::max(run.worldSize, run.ranks.empty() ? 1 : run.ranks.rbegin()->first.value + 1) - 1));
    }
    if (m_writing.size() >= kMostWriting)
        return failure(ErrorCode::Busy, "more revisions are asked for than can be written", "try again");
    run.lastEdit.reset();
    placeEdit(run, now); // what was there before
    const std::uint64_t rev = add(run, config, ranks, atStep, author, before(run, ranks), now);
    settle(run, now);
    return rev;
}

std::uint64_t ConfigDesk::add(Run& run, const CheckedConfig& config, const std::vector<Rank>& ranks,
    std::int64_t atStep, const std::string& author, const std::string& before, Clock::time_point now)
{
    Revision revision;
    revision.rev = run.revisions.empty() ? 1 : run.revisions.back().rev + 1;
    revision.hash = config.hash;
    revision.author = author;
    revision.wallNs = store::wallClockNs();
    revision.ranks = ranks;
    revision.json = std::make_shared<const std::string>(config.json);
    revision.applyAtStep = std::max(atStep, nextCommonStep(run, revision, now));
    Json changes = Json::array();
    if (const auto earlier = config::parseMonitorConfig(before)) {
        for (const config::FieldChange& change : config::configChanges(earlier->config, config.config))
            changes.push_back({ { "pointer", change.pointer }, { "before", Json::parse(change.before, nullptr, false) },
                { "after", Json::parse(change.after, nullptr, false) } });
    }
    Json asked;
    for (const Rank rank : ranks)
        asked.push_back(rank.value);
    const Json json { { "config", Json::parse(config.json, nullptr, false) }, { "hash", config.hash },
        { "changes", std::move(changes) }, { "ranks", std::move(asked) }, { "apply_at_step", revision.applyAtStep } };
    store::OwnRecord record
        = recordOf(run.locator, Rank { -1 }, revision.applyAtStep, revision.rev, configphase::kOffered,
            fmt::format("revision {} of the config for {}, from step {} on", revision.rev, namesOf(ranks),
                revision.applyAtStep));
    record.event.json = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    record.event.author = author;
    record.token = ++m_lastToken;
    m_writing.emplace(record.token, std::pair(run.locator, revision.rev));
    m_records.push_back(std::move(record));
    run.revisions.push_back(std::move(revision));
    if (run.revisions.size() > store::ConfigHistory::kMost)
        run.revisions.erase(run.revisions.begin());
    m_isChanged = true;
    return run.revisions.back().rev;
}

std::string ConfigDesk::before(const Run& run, const std::vector<Rank>& ranks)
{
    std::string kept; ///< by who refused what it was to run
    for (const auto& [id, rank] : run.ranks) {
        if (!ranks.empty() && std::find(ranks.begin(), ranks.end(), id) == ranks.end())
            continue;
        const Revision* target = targetOf(run, id);
        const bool isRefused
            = target != nullptr && rank.view().rev == target->rev && rank.state() == RankDesk::State::Refused;
        if (target != nullptr && target->json && !isRefused)
            return *target->json;
        if (!isRefused && !rank.view().runs.empty())
            return rank.view().runs;
        if (kept.empty())
            kept = rank.view().runs;
    }
    return kept;
}

void ConfigDesk::onWritten(const store::RecordWritten& written, Clock::time_point now)
{
    m_home.check();
    const auto waiting = m_writing.find(written.token);
    if (waiting == m_writing.end())
        return;
    Run& run = m_runs.at(waiting->second.first);
    Revision* revision = find(run, waiting->second.second);
    m_writing.erase(waiting);
    if (revision == nullptr)
        return;
    revision->record = written.id;
    if (written.id == 0)
        revision->failure = "it could not be written: " + written.error.sentence();
    m_isChanged = true;
    settle(run, now);
    forgetConfigs(run);
}

/// Only what some rank may still be offered is kept, and the newest for whoever looks at it.
void ConfigDesk::forgetConfigs(Run& run)
{
    std::set<Rank> served;
    bool isEverybodyServed = false;
    for (auto revision = run.revisions.rbegin(); revision != run.revisions.rend(); ++revision) {
        const bool isForSomebody = !isEverybodyServed
            && (revision->ranks.empty()
                || std::any_of(revision->ranks.begin(), revision->ranks.end(),
                    [&served](Rank rank) { return !served.contains(rank); }));
        const bool isDue = revision->record != 0 && revision->failure.empty();
        if (revision != run.revisions.rbegin() && revision->record != 0 && (!isDue || !isForSomebody))
            revision->json.reset();
        if (!isDue)
            continue;
        served.insert(revision->ranks.begin(), revision->ranks.end());
        isEverybodyServed = isEverybodyServed || revision->ranks.empty();
    }
}

Revision* ConfigDesk::find(Run& run, std::uint64_t rev)
{
    const auto found = std::lower_bound(run.revisions.begin(), run.revisions.end(), rev,
        [](const Revision& revision, std::uint64_t wanted) { return revision.rev < wanted; });
    return found == run.revisions.end() || found->rev != rev ? nullptr : &*found;
}

const Revision* ConfigDesk::targetOf(const Run& run, Rank rank)
{
    const auto found = std::find_if(run.revisions.rbegin(), run.revisions.rend(), [rank](const Revision& revision) {
        return revision.record != 0 && revision.failure.empty() && revision.asks(rank);
    });
    return found == run.revisions.rend() ? nullptr : &*found;
}

Revision* ConfigDesk::targetOf(Run& run, Rank rank)
{
    return const_cast<Revision*>(targetOf(std::as_const(run), rank));
}

}
