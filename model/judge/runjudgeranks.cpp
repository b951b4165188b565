// SPDX-License-Identifier: GPL-3.0-or-later
// What is found between ranks and attempts, and of steps that were given up.
#include <telltale/judge/runjudge.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <telltale/judge/attemptdiff.h>
#include <telltale/judge/peerwords.h>
#include <telltale/judge/wording.h>

namespace telltale::judge {

Step RunJudge::everyoneIsAt() const
{
    Step last { std::numeric_limits<std::int64_t>::max() };
    for (const auto& [id, source] : m_sources) {
        if (source.isRunning && !source.judge.list().rows.empty())
            last = std::min(last, source.frontier);
    }
    return last;
}

Expected<void> RunJudge::judgeReplicas(store::RunReader& reader, StepRange steps, int attempt)
{
    if (!m_rules.isOn(Rule::Replica) || m_replicas.isEmpty())
        return {};
    // As far as every rank has come: one that is late, or silent, is waited for.
    const Step last = std::min(steps.last, everyoneIsAt());
    for (; m_replicasNext && *m_replicasNext <= last; ++m_replicasNext->value) {
        const auto found = m_replicas.judge(reader, *m_replicasNext);
        if (!found)
            return tl::unexpected<Error>(found.error());
        for (const Replicas::Divergence& one : *found)
            take(witnessOf(*m_catalog->rows, one), attempt);
    }
    return {};
}

void RunJudge::judgePeers(store::RunReader& reader, int attempt, Step last)
{
    for (const NoiseScale::Odd& odd : m_noise.judge(attempt, last))
        take(witnessOf(odd), attempt);
    const std::vector<Peers::Odd> found = m_peers.judge(attempt, last);
    if (found.empty())
        return;
    std::map<SourceId, const Watchlist*> lists;
    for (const auto& [id, source] : m_sources)
        lists.emplace(id, &source.judge.list());
    for (const Peers::Odd& odd : found)
        take(witnessOf(reader, *m_catalog, lists, odd), attempt);
}

Expected<void> RunJudge::compareAttempts(store::RunReader& reader, int attempt)
{
    for (auto& [id, source] : m_sources) {
        if (attempt == 0 || source.attempt != attempt || source.isCompared || !source.first
            || source.frontier.value + 1 < source.first->value + kStepsToCompare)
            continue;
        source.isCompared = true;
        // Of one that is judged from somewhere on, the first step is not known here.
        const bool isFromItsFirst = source.steps.isEmpty() || source.steps.first == *source.first;
        const Source* before = nullptr;
        for (const auto& [otherId, other] : m_sources) {
            const bool isOlder = other.attempt < attempt && other.judge.list().rank == source.judge.list().rank
                && other.first && *other.first <= *source.first;
            if (isOlder && (before == nullptr || other.attempt > before->attempt))
                before = &other;
        }
        if (before == nullptr || !isFromItsFirst || !m_rules.isOn(Rule::Attempt))
            continue;
        auto found
            = differenceOf(reader, *m_catalog, m_rules, { before->judge.list(), { *before->first, before->frontier } },
                { source.judge.list(), { *source.first, source.frontier } });
        if (!found)
            return tl::unexpected<Error>(std::move(found.error()));
        if (*found)
            take(std::move(**found), attempt);
    }
    return {};
}

RanksSeen RunJudge::ranksSeen(int attempt) const
{
    RanksSeen ranks;
    for (const auto& [id, source] : m_sources) {
        if (source.attempt != attempt)
            continue;
        ranks.all.insert(source.judge.list().rank);
        if (source.judge.nonFinite() > 0)
            ranks.bad.insert(source.judge.list().rank);
    }
    return ranks;
}

Expected<void> RunJudge::readLog(store::RunReader& reader)
{
    for (;;) {
        auto page = reader.log(m_log, { "log", {}, {} });
        if (!page)
            return tl::unexpected<Error>(std::move(page.error()));
        for (const store::LogRecord& record : page->records) {
            if (record.rule == "given_up")
                m_givenUp.emplace(record.steps.first, record.rank);
        }
        m_log = page->next;
        if (page->isLast)
            return {};
    }
}

void RunJudge::judgeGivenUp(Step upTo, int attempt)
{
    const auto times = static_cast<std::size_t>(m_rules.value(Rule::LossScale, 0));
    const auto within = static_cast<std::int64_t>(m_rules.value(Rule::LossScale, 1));
    while (!m_givenUp.empty() && m_givenUp.begin()->first <= upTo) {
        const auto [step, rank] = *m_givenUp.begin();
        m_givenUp.erase(m_givenUp.begin());
        std::deque<Step>& lately = m_lately[rank];
        lately.push_back(step);
        while (step.value - lately.front().value > within)
            lately.pop_front();
        if (lately.size() < times || !m_rules.isOn(Rule::LossScale))
            continue;
        take(witnessOfGivenUp(lately, rank), attempt);
    }
}

}
