// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/peers.h>

#include <algorithm>
#include <cmath>

namespace telltale::judge {
namespace {

constexpr double kSlowLevel = 0.05; ///< of slow averages

/// What is about the same on ranks that see other data, and nothing has made the same.
bool isOfPeers(const Rollup& rollup)
{
    switch (rollup.kind) {
    case Kind::Scalar:
        return rollup.role == ScalarRole::Loss || rollup.role == ScalarRole::ComputeTime;
    case Kind::Actv:
    case Kind::ActvGrad:
    case Kind::GradUnreduced:
        return true;
    default:
        return false;
    }
}

double medianIn(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}

void Peers::take(const store::Catalog& catalog, const std::vector<const Watchlist*>& lists)
{
    std::map<SourceId, const store::SourceInfo*> infos;
    for (const store::SourceInfo& info : catalog.sources)
        infos.emplace(info.id, &info);
    // Ranks do the same where only their place in data parallelism tells them apart; and parts of one matrix, as far as
    // time goes.
    std::map<std::tuple<int, int, int, int, Kind, std::string>, Group> groups;
    for (const Watchlist* list : lists) {
        const store::SourceInfo& info = *infos.at(list->source);
        for (std::size_t i = 0; i < list->rollups.size(); ++i) {
            const Rollup& rollup = list->rollups[i];
            if (!isOfPeers(rollup))
                continue;
            const bool isTime = rollup.role == ScalarRole::ComputeTime;
            Group& group = groups[{
                info.attempt, info.pp, isTime ? -1 : info.tp, isTime ? -1 : info.ep, rollup.kind, rollup.block }];
            group.kind = rollup.kind;
            group.block = rollup.block;
            group.isTime = isTime;
            group.members.push_back({ info.id, i });
        }
    }
    m_groups.clear();
    m_attempts.clear();
    for (auto& [key, group] : groups) {
        if (group.members.size() < 2)
            continue;
        for (const Member& member : group.members)
            m_attempts[member.source] = std::get<0>(key);
        m_groups.push_back(std::move(group));
    }
}

void Peers::add(SourceId source, Step step, const std::vector<float>& rollups)
{
    const auto attempt = m_attempts.find(source);
    if (attempt == m_attempts.end())
        return;
    m_waiting[{ attempt->second, step }][source] = rollups;
    m_waitingValues += rollups.size();
}

std::vector<Peers::Odd> Peers::judge(int attempt, Step last)
{
    std::vector<Odd> found;
    for (auto waiting = m_waiting.begin(); waiting != m_waiting.end();) {
        const auto& [when, values] = *waiting;
        if (when.first >= attempt && (when.first > attempt || when.second > last) && m_waitingValues <= kMostWaiting)
            break;
        for (const Group& group : m_groups)
            judge(group, values, when.second, found);
        for (const auto& [source, rollups] : values)
            m_waitingValues -= std::min(m_waitingValues, rollups.size());
        waiting = m_waiting.erase(waiting);
    }
    return found;
}

void Peers::judge(const Group& group, const Values& values, Step step, std::vector<Odd>& out)
{
    std::vector<Now> now;
    std::vector<double> logs;
    for (const Member& member : group.members) {
        const auto known = values.find(member.source);
        if (known == values.end() || member.rollup >= known->second.size())
            continue;
        const auto value = static_cast<double>(known->second[member.rollup]);
        if (!(value > 0) || !std::isfinite(value))
            continue;
        logs.push_back(std::log(value));
        now.push_back({ member.source, logs.back(), 0, 0, &m_states[{ member.source, group.kind, group.block }] });
    }
    if (now.size() < 2)
        return;
    for (std::size_t i = 0; i < now.size(); ++i) {
        std::vector<double> others = logs;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        now[i].against = now[i].log - medianIn(std::move(others));
    }
    const Rule rule = group.isTime ? Rule::Straggler : Rule::Outlier;
    if (!m_rules.isOn(rule))
        return;
    const auto say = [&](std::optional<SourceId> source, Step since, double against, double z) {
        Odd odd { rule, since, step, source, group.kind, group.block, std::exp(against), z, {} };
        for (const Now& peer : now)
            odd.peers.push_back(peer.source);
        out.push_back(std::move(odd));
    };
    if (group.isTime) {
        for (const Now& one : now) {
            if (const auto slow
                = one.state->pace.take(step, one.against, m_rules.value(rule, 0), m_rules.value(rule, 1)))
                say(one.source, slow->since, slow->lag, slow->z);
        }
        return;
    }
    std::vector<const Now*> odd;
    for (Now& one : now) {
        if (judgeLikeness(one, step))
            odd.push_back(&one);
    }
    if (odd.size() == 2 && now.size() == 2) {
        // They are as far from each other: the odd one is farther from what it was itself.
        const double first = std::abs(odd[0]->log - odd[0]->state->level);
        const double second = std::abs(odd[1]->log - odd[1]->state->level);
        const Now& farther = first >= second ? *odd[0] : *odd[1];
        const bool isKnown = std::max(first, second) > 2 * std::min(first, second);
        say(isKnown ? std::optional(farther.source) : std::nullopt, farther.state->since, farther.against, farther.z);
        return;
    }
    // Where the odd one is among few others, they are unlike them, too, by less.
    double farthest = 0;
    for (const Now* one : odd)
        farthest = std::max(farthest, std::abs(one->against));
    for (const Now* one : odd) {
        if (std::abs(one->against) * 1.5 > farthest)
            say(one->source, one->state->since, one->against, one->z);
    }
}

bool Peers::judgeLikeness(Now& now, Step step) const
{
    const double far = m_rules.value(Rule::Outlier, 1);
    State& state = *now.state;
    const Baseline::Verdict verdict = state.ratio.judge(std::exp(now.against), far);
    now.z = verdict.z;
    const bool isFar
        = std::abs(verdict.z) > far && std::abs(verdict.logFactor) >= std::log(m_rules.value(Rule::Outlier, 0));
    if (!isFar) {
        state.far = 0;
        state.level += (now.log - state.level) * std::max(kSlowLevel, 1.0 / ++state.seen);
        return false;
    }
    // What is above at one step and below at the next is no difference of the rank's: it is what its batches do.
    const bool isAbove = verdict.logFactor > 0;
    if (state.far > 0 && isAbove != state.isAbove)
        state.far = 0;
    state.isAbove = isAbove;
    if (++state.far == 1)
        state.since = step;
    return state.far >= static_cast<int>(m_rules.value(Rule::Outlier, 2));
}

}
