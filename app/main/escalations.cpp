// SPDX-License-Identifier: GPL-3.0-or-later
#include "escalations.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <telltale/config/monitorconfig.h>
#include <telltale/config/revision.h>

namespace telltale::app {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kAuthor = "rule ";
constexpr std::chrono::seconds kTriedFor { 10 };

bool isRules(const store::ConfigRevision& revision)
{
    return std::string_view(revision.author).substr(0, kAuthor.size()) == kAuthor;
}

std::string_view ruleOf(const store::ConfigRevision& revision)
{
    return std::string_view(revision.author).substr(kAuthor.size());
}

/// Ranks that it shows on; empty = all.
std::vector<Rank> ranksOf(const judge::Incident& incident)
{
    std::set<Rank> ranks;
    for (const judge::Reach& reach : incident.reach)
        ranks.insert(reach.rank);
    ranks.insert(incident.first.rank);
    return ranks.contains(Rank { -1 }) ? std::vector<Rank> {} : std::vector<Rank>(ranks.begin(), ranks.end());
}

}

Escalations::Escalations(store::StoreService& store, std::string dataDir, Push push, Steering steering,
    std::function<void(const std::string&)> say)
    : m_dataDir(std::move(dataDir))
    , m_push(std::move(push))
    , m_steering(std::move(steering))
    , m_say(std::move(say))
    , m_subscription(store.subscribe(*this))
{
}

Escalations::~Escalations() = default;

const store::ConfigRevision* Escalations::inForce(const store::ConfigHistory& history)
{
    // A rule's revisions in a row are what it gave and its way back, one after the other: a person's begins anew.
    const auto& all = history.revisions();
    const auto mine = std::find_if_not(all.rbegin(), all.rend(), isRules) - all.rbegin();
    return mine % 2 == 1 ? &all.back() : nullptr;
}

std::int64_t Escalations::timesOf(const store::ConfigHistory& history, std::string_view rule)
{
    std::int64_t times = 0;
    std::int64_t inARow = 0;
    for (const store::ConfigRevision& revision : history.revisions()) {
        inARow = isRules(revision) ? inARow + 1 : 0;
        times += inARow % 2 == 1 && ruleOf(revision) == rule ? 1 : 0;
    }
    return times;
}

std::optional<std::string> Escalations::before(const store::ConfigRevision& revision)
{
    Json config = Json::parse(revision.config, nullptr, false);
    const Json changes = Json::parse(revision.changes, nullptr, false);
    if (!config.is_object() || !changes.is_array())
        return std::nullopt;
    try {
        for (const Json& change : changes)
            config[Json::json_pointer(change.at("pointer").get<std::string>())] = change.at("before");
    } catch (const Json::exception&) {
        return std::nullopt;
    }
    return config.dump();
}

void Escalations::onRuns(const std::vector<store::RunRef>& live)
{
    std::erase_if(m_runs, [&live](const auto& entry) {
        return std::none_of(
            live.begin(), live.end(), [&](const store::RunRef& run) { return run == entry.second.ref; });
    });
    // What was looked at here and is over; what was not may be of a run that this list does not know yet.
    const std::lock_guard lock(m_told->mutex);
    std::erase_if(m_told->opened,
        [&live](const Opened& one) { return one.since && std::find(live.begin(), live.end(), one.run) == live.end(); });
}

void Escalations::onOpened(const store::RunRef& run, const judge::Incident& incident)
{
    const std::lock_guard lock(m_told->mutex);
    m_told->opened.push_back({ run, incident, std::chrono::steady_clock::now(), {} });
}

void Escalations::onDurable(const store::Durable& durable)
{
    Run& run = m_runs[durable.run->locator.text()];
    const bool isNew = run.ref != durable.run;
    if (isNew) {
        run = {};
        run.ref = durable.run;
    }
    if (!durable.steps.isEmpty())
        run.last = std::max(run.last, durable.steps.last);
    if (!run.reader) {
        auto reader = store::openReader(*run.ref);
        if (!reader)
            return; // with the next commit
        run.reader = std::move(*reader);
        run.isBehind = true;
    }
    run.isBehind = run.isBehind || !durable.events.isEmpty();
    if (run.isBehind && !run.history.update(*run.reader))
        return;
    run.isBehind = false;
    std::vector<Opened> opened;
    {
        const std::lock_guard lock(m_told->mutex);
        const auto mine = std::stable_partition(
            m_told->opened.begin(), m_told->opened.end(), [&run](const Opened& one) { return one.run != run.ref; });
        opened.assign(std::make_move_iterator(mine), std::make_move_iterator(m_told->opened.end()));
        m_told->opened.erase(mine, m_told->opened.end());
    }
    for (Opened& one : opened) {
        one.since = one.since.value_or(run.last);
        if (escalate(run, one))
            continue;
        const std::lock_guard lock(m_told->mutex);
        m_told->opened.push_back(std::move(one));
    }
    goBack(run);
    if (!durable.run->isLive()) // its file is left alone again
        m_runs.erase(durable.run->locator.text());
}

bool Escalations::isBusy(const Run& run) const
{
    const std::lock_guard lock(m_told->mutex);
    return m_told->busy.contains(run.ref->locator.text());
}

void Escalations::goBack(Run& run)
{
    const store::ConfigRevision* revision = inForce(run.history);
    if (revision == nullptr || isBusy(run))
        return;
    std::int64_t steps = 0; // where its rule asks for nothing any more
    const auto rules = judge::rulesInForce(m_dataDir, run.reader.get());
    if (const auto rule = judge::ruleFromId(ruleOf(*revision)); rule && rules)
        steps = rules->rules.escalation(*rule).steps;
    if (run.last.value < revision->applyAtStep.value + steps)
        return;
    if (const auto config = before(*revision))
        push(run, { run.ref->id, *config, revision->ranks, 0, revision->author, revision->rev }, {});
}

bool Escalations::escalate(Run& run, const Opened& opened)
{
    const judge::Incident& incident = opened.incident;
    const auto rule = judge::ruleFromId(incident.first.rule);
    if (!rule || inForce(run.history) != nullptr)
        return true; // one at a time
    const auto rules = judge::rulesInForce(m_dataDir, run.reader.get());
    if (!rules || rules->rules.escalation(*rule).config.empty())
        return true;
    const judge::Escalation& more = rules->rules.escalation(*rule);
    if (more.times > 0 && timesOf(run.history, incident.first.rule) >= more.times)
        return true;
    // As long as it would have been given, and where the steps are short as long as a rank takes to tell its config.
    const bool isOver = run.last.value >= opened.since->value + more.steps
        && std::chrono::steady_clock::now() - opened.at > kTriedFor;
    if (isBusy(run))
        return isOver;
    const auto all = m_steering();
    const auto steering
        = std::find_if(all.begin(), all.end(), [&](const RunSteering& one) { return one.runId == run.ref->id; });
    if (steering == all.end())
        return isOver;
    // Those that run the same as where it began: what they go back to is one config.
    const std::vector<Rank> around = ranksOf(incident);
    std::string runs;
    for (const RankSteering& rank : steering->ranks) {
        if (!rank.runs.empty() && (runs.empty() || rank.rank == incident.first.rank))
            runs = rank.runs;
    }
    std::vector<Rank> ranks;
    for (const RankSteering& rank : steering->ranks) {
        const bool isAround = around.empty() || std::find(around.begin(), around.end(), rank.rank) != around.end();
        if (isAround && rank.runs == runs)
            ranks.push_back(rank.rank);
    }
    Json wanted = Json::parse(runs, nullptr, false);
    if (ranks.empty() || !wanted.is_object())
        return isOver;
    wanted.merge_patch(Json::parse(more.config));
    const auto now = config::parseMonitorConfig(runs);
    const auto then = config::parseMonitorConfig(wanted.dump());
    if (!now || !now->config.dynamicOn || !then)
        return true; // somebody has switched the collection off
    if (config::configHash(now->config) == config::configHash(then->config))
        return true; // it is collected anyway
    push(run, { run.ref->id, wanted.dump(), ranks, 0, std::string(kAuthor) + incident.first.rule, steering->rev },
        opened);
    return true;
}

void Escalations::push(Run& run, ConfigRequest request, std::optional<Opened> what)
{
    const std::string locator = run.ref->locator.text();
    {
        const std::lock_guard lock(m_told->mutex);
        m_told->busy.insert(locator);
    }
    const auto answer = [told = m_told, locator, ref = run.ref, say = m_say, author = request.author,
                            what = std::move(what)](const Expected<RunSteering>& said) {
        if (said || said.error().code == ErrorCode::Busy) { // a person's, or an answer that is still to come
            const std::lock_guard lock(told->mutex);
            told->busy.erase(locator);
            if (!said && what)
                told->opened.push_back(*what);
        } else if (say) {
            say(author + " changes no config of " + ref->name + " any more: " + said.error().sentence());
        }
    };
    m_push(std::move(request), answer);
}

}
