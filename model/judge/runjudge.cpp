// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/runjudge.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <telltale/core/blockname.h>
#include <telltale/series/rowindex.h>

namespace telltale::judge {
namespace {

using series::CellState;

constexpr std::int64_t kChunk = 256; ///< steps that are read at once: a tile's
constexpr std::int64_t kNotedSteps = 64; ///< how far back something that was noted can be a cause
constexpr std::size_t kMostNoted = 4; ///< that a card says
constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::min() / 4;

std::string number(double value)
{
    return fmt::format("{:.4g}", value);
}

/// 12,345
std::string grouped(std::uint64_t value)
{
    std::string text = std::to_string(value);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), 1, ',');
    return text;
}

std::string placeOf(const Finding& finding)
{
    return finding.slot.empty() ? finding.name : finding.name + ':' + finding.slot;
}

const char* stateWord(CellState state)
{
    return state == CellState::NaN ? "NaN" : state == CellState::PosInf ? "+Inf" : "-Inf";
}

}

/// What one source measured at some steps.
struct RunJudge::Columns {
    struct Channel {
        const std::vector<std::size_t>* rows = nullptr;
        series::HeatResult heat;
    };
    StepRange range;
    std::vector<Channel> channels;
    Channel magnitudes;
    std::vector<float> values, large;
    std::vector<CellState> states;

    /// Gathers a column; false where nothing was measured.
    bool gather(std::size_t rows, std::int64_t column)
    {
        values.assign(rows, 0);
        states.assign(rows, CellState::NotCollected);
        bool isMeasured = false;
        for (const Channel& channel : channels) {
            for (std::size_t i = 0; i < channel.rows->size(); ++i) {
                const std::size_t at
                    = i * static_cast<std::size_t>(channel.heat.columns) + static_cast<std::size_t>(column);
                values[(*channel.rows)[i]] = channel.heat.values[at];
                states[(*channel.rows)[i]] = channel.heat.states[at];
                isMeasured = isMeasured || channel.heat.states[at] >= CellState::Absent;
            }
        }
        if (magnitudes.rows != nullptr && !magnitudes.rows->empty()) {
            large.assign(rows, std::numeric_limits<float>::quiet_NaN());
            for (std::size_t i = 0; i < magnitudes.rows->size(); ++i) {
                const std::size_t at
                    = i * static_cast<std::size_t>(magnitudes.heat.columns) + static_cast<std::size_t>(column);
                if (magnitudes.heat.states[at] == CellState::Value)
                    large[(*magnitudes.rows)[i]] = magnitudes.heat.values[at];
            }
        }
        return isMeasured;
    }
};

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
            if (const auto known = m_sources.find(info.id); known != m_sources.end())
                known->second.isRunning = info.state == store::SourceState::Running;
        }
    };
    noteStates();
    if (!isLarger)
        return {};
    bool hasNewSource = false;
    for (Watchlist& list : watchlistsOf(*m_catalog)) {
        const auto [entry, isNew]
            = m_sources.try_emplace(list.source, Source { RankJudge(m_rules), Step { kNoStep }, {}, {}, true });
        Source& source = entry->second;
        hasNewSource = hasNewSource || isNew;
        source.channels.clear();
        source.limited.clear();
        for (std::size_t i = 0; i < list.rows.size(); ++i) {
            source.channels[list.rows[i].stat].push_back(i);
            if (list.rows[i].limit > 0)
                source.limited.push_back(i);
        }
        source.judge.take(std::move(list));
    }
    noteStates();
    m_replicas.take(*m_catalog);
    if (hasNewSource)
        m_replicasNext.reset();
    return {};
}

Expected<std::optional<RunJudge::Columns>> RunJudge::read(
    store::RunReader& reader, const Source& source, StepRange steps, const series::CancelToken& cancel) const
{
    Columns columns;
    columns.range = steps;
    const auto ask = [&](Stat stat, const std::vector<std::size_t>& rows) -> Expected<Columns::Channel> {
        series::HeatQuery query;
        query.stat = stat;
        query.range = steps;
        query.pixels = static_cast<int>(steps.count());
        query.rows.reserve(rows.size());
        for (const std::size_t row : rows)
            query.rows.push_back(source.judge.list().rows[row].attempts);
        auto heat = reader.heatmap(query, cancel);
        if (!heat)
            return tl::unexpected<Error>(heat.error());
        return Columns::Channel { &rows, std::move(*heat) };
    };
    for (const auto& [stat, rows] : source.channels) {
        auto channel = ask(stat, rows);
        if (!channel)
            return tl::unexpected<Error>(channel.error());
        columns.channels.push_back(std::move(*channel));
    }
    if (!source.limited.empty()) {
        auto channel = ask(Stat::AbsMax, source.limited);
        if (!channel)
            return tl::unexpected<Error>(channel.error());
        columns.magnitudes = std::move(*channel);
    }
    return columns.channels.empty() ? std::nullopt : std::optional(std::move(columns));
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
        for (std::int64_t first = range.first.value; first <= range.last.value; first += kChunk) {
            const StepRange chunk { Step { first }, Step { std::min(first + kChunk - 1, range.last.value) } };
            if (auto ok = judge(reader, chunk, cancel); !ok)
                return ok;
        }
    }
    return {};
}

Expected<void> RunJudge::advance(store::RunReader& reader, StepRange steps, const series::CancelToken& cancel)
{
    if (auto ok = refresh(reader); !ok)
        return ok;
    for (std::int64_t first = steps.first.value; first <= steps.last.value; first += kChunk) {
        const StepRange chunk { Step { first }, Step { std::min(first + kChunk - 1, steps.last.value) } };
        if (auto ok = judge(reader, chunk, cancel); !ok)
            return ok;
    }
    return {};
}

Expected<void> RunJudge::judge(store::RunReader& reader, StepRange steps, const series::CancelToken& cancel)
{
    if (auto ok = readLog(reader); !ok)
        return ok;
    std::map<SourceId, Columns> read;
    for (auto& [id, source] : m_sources) {
        const StepRange wanted { Step { std::max(steps.first.value, source.frontier.value + 1) }, steps.last };
        if (wanted.isEmpty())
            continue;
        auto columns = this->read(reader, source, wanted, cancel);
        if (!columns)
            return tl::unexpected<Error>(columns.error());
        if (*columns)
            read.emplace(id, std::move(**columns));
    }
    std::vector<Sighting> sightings;
    std::set<SourceId> touched;
    for (Step step = steps.first; step <= steps.last; ++step.value) {
        bool isMeasured = false;
        bool isBad = false;
        for (auto& [id, columns] : read) {
            Source& source = m_sources.at(id);
            if (!columns.range.contains(step)
                || !columns.gather(source.judge.list().rows.size(), step.value - columns.range.first.value))
                continue;
            source.judge.judge({ step, columns.values, columns.states, columns.large }, sightings);
            source.frontier = step;
            m_judged += columns.values.size();
            isMeasured = true;
            isBad = isBad || source.judge.nonFinite() > 0;
            take(source, sightings, step);
        }
        if (!isMeasured)
            continue;
        if (!m_replicasNext)
            m_replicasNext = step;
        judgeGivenUp(step);
        m_desk.passed(step, isBad);
    }
    noteWhatLasts();
    if (auto ok = judgeReplicas(reader, steps); !ok)
        return ok;
    for (IncidentDesk::Case& one : m_desk.cases()) {
        if (one.isNew)
            describe(reader, one);
    }
    return {};
}

void RunJudge::noteWhatLasts()
{
    std::set<std::pair<std::string, Rank>> blocks;
    Step last { kNoStep };
    for (const auto& [id, source] : m_sources) {
        const Watchlist& list = source.judge.list();
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

void RunJudge::judgeGivenUp(Step upTo)
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
        Witness witness;
        witness.seen = step;
        witness.moment = { lately.front(), Phase::Loss, std::numeric_limits<std::int32_t>::min() };
        Finding& finding = witness.finding;
        finding.rule = idOf(Rule::LossScale);
        finding.step = lately.front();
        finding.rank = rank;
        finding.kind = Kind::Scalar;
        finding.stat = Stat::Value;
        finding.name = witness.block = "loss-scale";
        const std::int64_t span = step.value - lately.front().value + 1;
        finding.sentence = fmt::format("{} tries {} were given up, for gradients that were not finite", lately.size(),
            span == 1 ? std::string("of this step") : fmt::format("within {} steps", span));
        m_desk.take(std::move(witness));
    }
}

Expected<void> RunJudge::judgeReplicas(store::RunReader& reader, StepRange steps)
{
    if (!m_rules.isOn(Rule::Replica) || m_replicas.isEmpty())
        return {};
    // As far as every rank has come: one that is late, or silent, is waited for.
    Step last = steps.last;
    for (const auto& [id, source] : m_sources) {
        if (source.isRunning && !source.judge.list().rows.empty())
            last = std::min(last, source.frontier);
    }
    for (; m_replicasNext && *m_replicasNext <= last; ++m_replicasNext->value) {
        const auto found = m_replicas.judge(reader, *m_replicasNext);
        if (!found)
            return tl::unexpected<Error>(found.error());
        for (const Replicas::Divergence& one : *found)
            m_desk.take(witnessOf(one));
    }
    return {};
}

Witness RunJudge::witnessOf(const Replicas::Divergence& one) const
{
    const series::SeriesKey& key = m_catalog->rows->key(one.tensor);
    Witness witness;
    witness.seen = one.step;
    // Why it differs, where a rule knows that, comes first.
    witness.moment = { one.step, phaseOf(one.kind), std::numeric_limits<std::int32_t>::max() };
    witness.block = blockOf(key.name);
    Finding& finding = witness.finding;
    finding.rule = idOf(Rule::Replica);
    finding.severity = store::Severity::Critical;
    finding.step = one.step;
    finding.rank = one.minority.size() == 1 ? one.minority.front() : Rank { -1 };
    finding.kind = one.kind;
    finding.name = key.name;
    finding.slot = key.slot.text();
    finding.stat = Stat::Checksum;
    std::string ranks;
    for (const Rank rank : one.minority)
        ranks.append(ranks.empty() ? "" : ", ").append(std::to_string(rank.value));
    if (one.areParts)
        finding.sentence = fmt::format(
            "holds the same bits on ranks {}, which should hold different parts of it (the same seed?)", ranks);
    else if (one.minority.size() < one.ranks)
        finding.sentence = fmt::format("differs on rank {} from the other {} ranks that held the same bits until then",
            ranks, one.ranks - one.minority.size());
    else
        finding.sentence = fmt::format("differs between ranks {}, which held the same bits until then", ranks);
    return witness;
}

void RunJudge::take(const Source& source, const std::vector<Sighting>& sightings, Step step)
{
    for (const Sighting& sighting : sightings)
        m_desk.take(witnessOf(source, sighting, step));
}

Witness RunJudge::witnessOf(const Source& source, const Sighting& sighting, Step step) const
{
    const Watched& row = source.judge.list().rows[static_cast<std::size_t>(sighting.row)];
    const series::SeriesKey& key = m_catalog->rows->key(row.tensor);
    Witness witness;
    witness.moment = sighting.moment;
    witness.seen = step;
    witness.block = row.kind == Kind::Scalar ? key.name : blockOf(key.name);
    witness.opens = sighting.opens;
    Finding& finding = witness.finding;
    finding.rule = idOf(sighting.rule);
    finding.severity = sighting.severity;
    finding.step = sighting.moment.step;
    finding.rank = source.judge.list().rank;
    finding.kind = row.kind;
    finding.name = key.name;
    finding.slot = key.slot.text();
    finding.stat = row.stat;
    switch (sighting.rule) {
    case Rule::NonFinite:
        finding.sentence
            = fmt::format("{} is {}", row.kind == Kind::Scalar ? "the value" : "an element", stateWord(sighting.state));
        break;
    case Rule::Overflow:
        finding.stat = Stat::AbsMax;
        finding.sentence = fmt::format("its largest magnitude is {}, {} times below the limit of its type, {}",
            number(sighting.value), number(sighting.expected / sighting.value), number(sighting.expected));
        break;
    case Rule::Loss:
    case Rule::Level: {
        const Rollup& rollup = source.judge.list().rollups[static_cast<std::size_t>(sighting.rollup)];
        const double factor = sighting.value / sighting.expected;
        finding.sentence
            = fmt::format("the {} of {} is {} {} its usual {} (z {:.0f})", row.kind == Kind::Scalar ? "value" : "norm",
                rollup.block, factor >= 1 ? number(factor) : number(1 / factor), factor >= 1 ? "times" : "times below",
                number(sighting.expected), sighting.z);
        break;
    }
    case Rule::Vanished:
        finding.sentence = fmt::format(
            "has been exactly 0 for {} steps; it was about {}", sighting.lasted, number(sighting.expected));
        break;
    case Rule::Frozen:
        finding.sentence = fmt::format("has not changed for {} steps, while other weights have", sighting.lasted);
        break;
    case Rule::LossScale:
        if (sighting.value > sighting.expected || sighting.lasted < 2)
            finding.sentence = fmt::format("{} from {} to {}", sighting.value > sighting.expected ? "jumped" : "fell",
                number(sighting.expected), number(sighting.value));
        else
            finding.sentence = fmt::format("fell {} times, to {}", sighting.lasted, number(sighting.value));
        break;
    case Rule::EntropyCollapse:
        finding.sentence
            = fmt::format("its entropy is {}, and was about {}", number(sighting.value), number(sighting.expected));
        break;
    case Rule::Drift:
        finding.sentence = fmt::format("its norm is {}, {} times what it was about 20 steps before",
            number(sighting.value), number(sighting.value / sighting.expected));
        break;
    case Rule::LearningRate:
        finding.sentence = fmt::format("rose from {} to {}", number(sighting.expected), number(sighting.value));
        break;
    case Rule::Replica:
        break;
    }
    return witness;
}

void RunJudge::describe(store::RunReader& reader, IncidentDesk::Case& one)
{
    one.isNew = false;
    one.isChanged = true;
    Incident& incident = one.incident;
    Finding& first = incident.first;
    incident.evidence.clear();
    // How much of it: only the capsule knows.
    if (first.rule == idOf(Rule::NonFinite) && first.kind != Kind::Scalar) {
        for (const series::RowIndex::Row& row : m_catalog->rows->rows()) {
            const series::SeriesKey& key = m_catalog->rows->key(row);
            if (row.kind != first.kind || row.rank != first.rank || key.name != first.name
                || key.slot.text() != first.slot)
                continue;
            const auto cells = reader.column(first.step, first.stat, { &row.attempts, 1 });
            const std::uint64_t numel = m_catalog->series[row.newest].numel;
            if (!cells || cells->front().nans + cells->front().posInfs + cells->front().negInfs == 0)
                continue;
            std::string counts;
            for (const auto& [count, word] : { std::pair { cells->front().nans, "NaN" },
                     std::pair { cells->front().posInfs, "+Inf" }, std::pair { cells->front().negInfs, "-Inf" } }) {
                if (count > 0)
                    counts.append(counts.empty() ? "" : ", ").append(word).append(" in ").append(grouped(count));
            }
            first.sentence = fmt::format("{} of {} elements", counts, grouped(numel));
        }
    }
    const std::string block = first.kind == Kind::Scalar ? first.name : blockOf(first.name);
    // One line of each place: where that began.
    for (const Witness* noted : m_desk.noted(block, first.step, kNotedSteps)) {
        const bool isKnown
            = std::any_of(incident.evidence.begin(), incident.evidence.end(), [&](const Finding& finding) {
                  return finding.name == noted->finding.name && finding.kind == noted->finding.kind
                      && finding.rank == noted->finding.rank && finding.rule == noted->finding.rule;
              });
        if (!isKnown && incident.evidence.size() < kMostNoted)
            incident.evidence.push_back(noted->finding);
    }
    const std::string test = sourceTest(reader, incident);
    std::set<Rank> ranks;
    std::set<Rank> bad;
    for (const auto& [id, source] : m_sources) {
        ranks.insert(source.judge.list().rank);
        if (source.judge.nonFinite() > 0)
            bad.insert(source.judge.list().rank);
    }
    for (const Reach& reach : incident.reach) {
        if (reach.rank.value >= 0)
            bad.insert(reach.rank);
    }
    if (ranks.size() > 1 && first.rank.value >= 0) {
        Finding others = first;
        others.rule = "ranks";
        others.severity = store::Severity::Notice;
        others.sentence = bad.size() <= 1
            ? fmt::format("only rank {} of {} was abnormal", first.rank.value, ranks.size())
            : fmt::format("{} of {} ranks were abnormal", bad.size(), ranks.size());
        incident.evidence.push_back(std::move(others));
    }
    const std::string rank
        = first.rank.value >= 0 && ranks.size() > 1 ? fmt::format(", rank {}", first.rank.value) : std::string();
    incident.sentence = fmt::format("First abnormal: step {}{}, {}, {}: {}.{}", first.step.value, rank, placeOf(first),
        phaseWord(incident.phase), first.sentence, test.empty() ? "" : ' ' + test);
}

std::string RunJudge::sourceTest(store::RunReader& reader, const Incident& incident) const
{
    const Finding& first = incident.first;
    if (first.kind != Kind::Actv && first.kind != Kind::ActvGrad)
        return {};
    // What went into it: its inputs and weights, or, on the way back, the gradient of its output.
    std::vector<series::RowAttempts> inputs;
    std::vector<series::RowAttempts> weights;
    for (const series::RowIndex::Row& row : m_catalog->rows->rows()) {
        if (row.rank != first.rank || !row.answers(Stat::Norm))
            continue;
        const series::SeriesKey& key = m_catalog->rows->key(row);
        const Role into = first.kind == Kind::Actv ? Role::Input : Role::Output;
        if (row.kind == first.kind && key.name == first.name && key.slot.role == into && key.slot.text() != first.slot)
            inputs.push_back(row.attempts);
        if (row.kind == Kind::ParamOrigin && key.name.starts_with(first.name + '.'))
            weights.push_back(row.attempts);
    }
    const auto areFinite = [&](const std::vector<series::RowAttempts>& rows) -> std::optional<bool> {
        const auto cells
            = rows.empty() ? Expected<std::vector<series::CellValue>>() : reader.column(first.step, Stat::Norm, rows);
        if (!cells || cells->empty())
            return {};
        if (std::any_of(cells->begin(), cells->end(), [](const auto& cell) { return series::isNonFinite(cell.state); }))
            return false;
        const bool isKnown = std::any_of(
            cells->begin(), cells->end(), [](const auto& cell) { return cell.state == CellState::Value; });
        return isKnown ? std::optional(true) : std::nullopt;
    };
    const auto input = areFinite(inputs);
    const auto weight = areFinite(weights);
    const char* const what = first.kind == Kind::Actv ? "inputs" : "output's gradient";
    if (input == true && weight == true)
        return fmt::format("Its {} and weights were finite.", what);
    if (input == true)
        return fmt::format("Its {} {} finite.", what, first.kind == Kind::Actv ? "were" : "was");
    if (input == false)
        return fmt::format("Its {} {} not finite either.", what, first.kind == Kind::Actv ? "were" : "was");
    return weight == true ? "Its weights were finite." : "";
}

std::vector<Incident> RunJudge::incidents() const
{
    std::vector<std::pair<Moment, Incident>> all;
    for (const IncidentDesk::Case& one : m_desk.cases())
        all.emplace_back(one.begins, one.incident);
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Incident> incidents;
    incidents.reserve(all.size());
    for (auto& [moment, incident] : all)
        incidents.push_back(std::move(incident));
    return incidents;
}

}
