// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/runjudge.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include <telltale/core/blockname.h>
#include <telltale/judge/wording.h>
#include <telltale/series/rowindex.h>

namespace telltale::judge {
namespace {

constexpr std::int64_t kChunk = 256; ///< steps that are read at once: a tile's
constexpr std::int64_t kMostBehind = 1000; ///< steps for which a rank is waited for

}

Expected<void> RunJudge::refresh(store::RunReader& reader)
{
    m_home.check();
    auto catalog = reader.catalog();
    if (!catalog)
        return tl::unexpected<Error>(catalog.error());
    if (*catalog == m_catalog)
        return {};
    const bool isLarger = !m_catalog || (*catalog)->series.size() != m_catalog->series.size()
        || (*catalog)->sources.size() != m_catalog->sources.size();
    m_catalog = *catalog;
    const auto noteStates = [this] {
        for (const store::SourceInfo& info : m_catalog->sources) {
            const auto known = m_sources.find(info.id);
            if (known == m_sources.end())
                continue;
            known->second.isRunning = info.state == store::SourceState::Running;
            known->second.attempt = info.attempt;
            known->second.steps = { info.firstStep, info.lastStep };
        }
    };
    noteStates();
    if (!isLarger)
        return {};
    bool hasNewSource = false;
    for (Watchlist& list : watchlistsOf(*m_catalog)) {
        const auto [entry, isNew] = m_sources.try_emplace(list.source, Source { RankJudge(m_rules), Step { kNoStep } });
        Source& source = entry->second;
        hasNewSource = hasNewSource || isNew;
        noteLate(source, list);
        source.asked = Asked::of(list);
        source.judge.take(std::move(list));
    }
    noteStates();
    std::vector<const Watchlist*> lists;
    for (const auto& [id, source] : m_sources)
        lists.push_back(&source.judge.list());
    m_peers.take(*m_catalog, lists);
    m_noise.take(*m_catalog, lists);
    m_replicas.take(*m_catalog);
    if (hasNewSource)
        m_replicasNext.reset();
    return {};
}

Expected<void> RunJudge::judgeAll(store::RunReader& reader, const series::CancelToken& cancel)
{
    if (auto ok = refresh(reader); !ok)
        return ok;
    // One attempt after the other, as they were lived through.
    std::map<int, StepRange> attempts;
    for (const store::SourceInfo& info : m_catalog->sources) {
        if (info.lastStep < info.firstStep)
            continue;
        StepRange& range
            = attempts.try_emplace(info.attempt, StepRange { info.firstStep, info.lastStep }).first->second;
        range.first = std::min(range.first, info.firstStep);
        range.last = std::max(range.last, info.lastStep);
    }
    for (const auto& [attempt, range] : attempts) {
        if (auto ok = judgeChunks(reader, range, attempt, cancel); !ok)
            return ok;
        judgePeers(reader, attempt, range.last); // who is late now never comes
        describeNew(reader);
    }
    return {};
}

Expected<void> RunJudge::advance(
    store::RunReader& reader, StepRange steps, const series::CancelToken& cancel, const OpenSteps& open)
{
    if (auto ok = refresh(reader); !ok)
        return ok;
    for (auto& [id, source] : m_sources) {
        const auto step = open.find(id);
        source.open = step != open.end() && source.isRunning ? std::optional(step->second) : std::nullopt;
    }
    std::set<int> attempts;
    int newest = 0;
    for (const auto& [id, source] : m_sources)
        newest = std::max(newest, source.attempt);
    for (const auto& [id, source] : m_sources) {
        if (source.isRunning || source.attempt == newest || source.late
            || (source.frontier < source.steps.last && steps.first <= source.steps.last))
            attempts.insert(source.attempt);
    }
    for (const int attempt : attempts) {
        if (auto ok = judgeChunks(reader, steps, attempt, cancel); !ok)
            return ok;
    }
    return {};
}

Expected<void> RunJudge::judgeChunks(
    store::RunReader& reader, StepRange steps, int attempt, const series::CancelToken& cancel)
{
    for (std::int64_t first = steps.first.value; first <= steps.last.value; first += kChunk) {
        const StepRange chunk { Step { first }, Step { std::min(first + kChunk - 1, steps.last.value) } };
        if (auto ok = judge(reader, chunk, attempt, cancel); !ok)
            return ok;
    }
    return {};
}

Expected<void> RunJudge::judge(
    store::RunReader& reader, StepRange steps, int attempt, const series::CancelToken& cancel)
{
    if (auto ok = readLog(reader); !ok)
        return ok;
    std::map<SourceId, StepColumns> read;
    for (auto& [id, source] : m_sources) {
        if (source.attempt != attempt)
            continue;
        if (auto ok = judgeLate(reader, source, steps, cancel); !ok)
            return ok;
        const Step last { source.open ? std::min(steps.last.value, source.open->value - 1) : steps.last.value };
        const StepRange wanted { Step { std::max(steps.first.value, source.frontier.value + 1) }, last };
        if (wanted.isEmpty())
            continue;
        auto columns = StepColumns::read(reader, source.judge.list(), source.asked, wanted, cancel);
        if (!columns)
            return tl::unexpected<Error>(columns.error());
        if (*columns)
            read.emplace(id, std::move(**columns));
    }
    std::vector<Sighting> sightings;
    for (Step step = steps.first; step <= steps.last; ++step.value) {
        bool isMeasured = false;
        for (auto& [id, columns] : read) {
            Source& source = m_sources.at(id);
            const auto column = columns.steps().contains(step) ? columns.at(step) : std::nullopt;
            if (!column)
                continue;
            source.judge.judge(*column, sightings);
            source.frontier = step;
            source.first = source.first.value_or(step);
            m_judged += column->values.size();
            isMeasured = true;
            for (Sighting& sighting : sightings) {
                if (checkBits(reader, source, sighting, step))
                    take(inWords(reader, source, sighting, step), attempt);
            }
            m_peers.add(id, step, source.judge.rollupValues());
            m_noise.add(id, step, source.judge.rollupValues());
        }
        if (!isMeasured)
            continue;
        if (!m_replicasNext)
            m_replicasNext = step;
        judgeGivenUp(step, attempt);
        if (auto ok = compareAttempts(reader, attempt); !ok)
            return ok;
        m_desk.passed(nowOf(attempt, step));
    }
    noteWhatLasts(attempt);
    if (auto ok = judgeReplicas(reader, steps, attempt); !ok)
        return ok;
    judgePeers(reader, attempt, std::min(steps.last, everyoneIsAt()));
    describeNew(reader);
    return {};
}

IncidentDesk::Now RunJudge::nowOf(int attempt, Step step) const
{
    IncidentDesk::Now now { attempt, step, {}, 0 };
    for (const auto& [id, source] : m_sources) {
        if (source.attempt != attempt || !source.first)
            continue;
        now.learningRate = std::max(now.learningRate, source.judge.learningRate());
        // What a rank is at the steps before those that it has told of is not known; one that tells no more is not
        // waited for.
        if (source.isRunning && step.value - source.frontier.value < kMostBehind)
            now.everyone = std::min(now.everyone, source.frontier);
        if (source.judge.nonFinite() > 0)
            now.bad = std::max(now.bad.value_or(source.frontier), source.frontier);
    }
    return now;
}

void RunJudge::noteWhatLasts(int attempt)
{
    std::set<std::pair<std::string, Rank>> blocks;
    Step last { kNoStep };
    for (const auto& [id, source] : m_sources) {
        const Watchlist& list = source.judge.list();
        if (source.attempt != attempt)
            continue;
        for (std::size_t i = 0; source.judge.nonFinite() > 0 && i < list.rows.size(); ++i) {
            const std::string& name = m_catalog->rows->key(list.rows[i].tensor).name;
            if (!source.judge.isNonFinite(i))
                continue;
            blocks.emplace(list.rows[i].kind == Kind::Scalar ? name : blockOf(name), list.rank);
            last = std::max(last, source.frontier);
        }
    }
    if (!blocks.empty())
        m_desk.lasts(last, blocks);
}

void RunJudge::take(Witness witness, int attempt)
{
    witness.attempt = attempt;
    m_desk.take(std::move(witness));
}

Judged RunJudge::extent() const
{
    Judged extent;
    std::set<Rank> ranks;
    for (const auto& [id, source] : m_sources) {
        if (!source.first)
            continue;
        const bool isFirst = extent.steps.isEmpty();
        extent.steps = { isFirst ? *source.first : std::min(extent.steps.first, *source.first),
            isFirst ? source.frontier : std::max(extent.steps.last, source.frontier) };
        extent.rows += source.judge.list().rows.size();
        ranks.insert(source.judge.list().rank);
    }
    extent.ranks = ranks.size();
    for (const RuleInfo& info : ruleTable())
        extent.rules += m_rules.isOn(info.rule) ? 1 : 0;
    return extent;
}

std::vector<Incident> RunJudge::incidents() const
{
    std::vector<const IncidentDesk::Case*> all;
    for (const IncidentDesk::Case& one : m_desk.cases()) {
        if (one.into.empty())
            all.push_back(&one);
    }
    std::stable_sort(all.begin(), all.end(),
        [](const auto* a, const auto* b) { return std::tie(a->attempt, a->begins) < std::tie(b->attempt, b->begins); });
    std::vector<Incident> incidents;
    incidents.reserve(all.size());
    for (const IncidentDesk::Case* one : all)
        incidents.push_back(one->incident);
    return incidents;
}

}
