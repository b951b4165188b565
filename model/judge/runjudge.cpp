// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/runjudge.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include <telltale/core/blockname.h>
#include <telltale/judge/attemptdiff.h>
#include <telltale/judge/forecast.h>
#include <telltale/judge/peerwords.h>
#include <telltale/judge/wording.h>
#include <telltale/series/rowindex.h>

namespace telltale::judge {
namespace {

using series::CellState;

constexpr std::int64_t kChunk = 256; ///< steps that are read at once: a tile's
constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::min() / 4;

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

void RunJudge::noteLate(Source& source, const Watchlist& newer)
{
    if (source.frontier.value == kNoStep)
        return;
    std::set<std::pair<Kind, std::uint32_t>> known;
    for (const Watched& row : source.judge.list().rows)
        known.emplace(row.kind, row.tensor);
    for (const Watched& row : newer.rows) {
        if (row.kind == Kind::Scalar || known.contains({ row.kind, row.tensor }))
            continue;
        if (!source.late)
            source.late.emplace(Late { source.judge, Step { kNoStep }, {} });
        source.late->rows.emplace(row.kind, row.tensor);
    }
    if (!source.late)
        return;
    const auto& rows = source.late->rows;
    source.late->asked = Asked::of(newer, [&rows](const Watched& row) {
        return rows.contains({ row.kind, row.tensor });
    });
    source.late->asked.extras.clear(); // the rules that ask for them want a history
    source.late->judge.take(newer);
}

Expected<void> RunJudge::judgeLate(
    store::RunReader& reader, Source& source, StepRange steps, const series::CancelToken& cancel)
{
    if (!source.late)
        return {};
    Late& late = *source.late;
    const StepRange wanted { Step { std::max(steps.first.value, late.frontier.value + 1) },
        Step { std::min(steps.last.value, source.frontier.value) } };
    if (wanted.isEmpty())
        return {};
    auto columns = StepColumns::read(reader, late.judge.list(), late.asked, wanted, cancel);
    if (!columns)
        return tl::unexpected<Error>(columns.error());
    std::vector<Sighting> sightings;
    for (Step step = wanted.first; *columns && step <= wanted.last; ++step.value) {
        const auto column = (*columns)->at(step);
        if (!column)
            continue;
        late.judge.judge(*column, sightings);
        late.frontier = step;
        std::erase_if(sightings,
            [](const Sighting& seen) { return seen.rule != Rule::NonFinite && seen.rule != Rule::Overflow; });
        for (const Sighting& sighting : sightings)
            take(witnessOf(*m_catalog->rows, late.judge.list(), sighting, step), source.attempt);
    }
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

Expected<void> RunJudge::advance(store::RunReader& reader, StepRange steps, const series::CancelToken& cancel)
{
    if (auto ok = refresh(reader); !ok)
        return ok;
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
        const StepRange wanted { Step { std::max(steps.first.value, source.frontier.value + 1) }, steps.last };
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
        bool isBad = false;
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
            isBad = isBad || source.judge.nonFinite() > 0;
            for (const Sighting& sighting : sightings)
                take(inWords(reader, source, sighting, step), attempt);
            m_peers.add(id, step, source.judge.rollupValues());
            m_noise.add(id, step, source.judge.rollupValues());
        }
        if (!isMeasured)
            continue;
        if (!m_replicasNext)
            m_replicasNext = step;
        judgeGivenUp(step, attempt);
        m_desk.passed(step, isBad, attempt);
    }
    noteWhatLasts(attempt);
    if (auto ok = judgeReplicas(reader, steps, attempt); !ok)
        return ok;
    if (auto ok = compareAttempts(reader, attempt); !ok)
        return ok;
    judgePeers(reader, attempt, std::min(steps.last, everyoneIsAt()));
    describeNew(reader);
    return {};
}

void RunJudge::describeNew(store::RunReader& reader)
{
    for (IncidentDesk::Case& one : m_desk.cases()) {
        if (one.isNew)
            describe(reader, *m_catalog, m_desk, ranksSeen(one.attempt), one);
    }
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

Witness RunJudge::inWords(store::RunReader& reader, const Source& source, const Sighting& sighting, Step step) const
{
    Witness witness = witnessOf(*m_catalog->rows, source.judge.list(), sighting, step);
    if (sighting.rule != Rule::Explosion)
        return witness;
    const Watched& row = source.judge.list().rows[static_cast<std::size_t>(sighting.row)];
    const auto cells = reader.column(step, Stat::AbsMax, { &row.attempts, 1 });
    const auto info = std::lower_bound(m_catalog->series.begin(), m_catalog->series.end(), row.attempts.series.front(),
        [](const store::SeriesInfo& one, SeriesId id) { return one.id < id; });
    if (cells && info != m_catalog->series.end() && cells->front().state == CellState::Value)
        witness.finding.sentence += overflowForecast(cells->front().value, sighting.growth, info->dtype, step);
    return witness;
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

std::vector<Incident> RunJudge::incidents() const
{
    std::vector<const IncidentDesk::Case*> all;
    for (const IncidentDesk::Case& one : m_desk.cases())
        all.push_back(&one);
    std::stable_sort(all.begin(), all.end(),
        [](const auto* a, const auto* b) { return std::tie(a->attempt, a->begins) < std::tie(b->attempt, b->begins); });
    std::vector<Incident> incidents;
    incidents.reserve(all.size());
    for (const IncidentDesk::Case* one : all)
        incidents.push_back(one->incident);
    return incidents;
}

}
