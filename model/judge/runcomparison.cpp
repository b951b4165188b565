// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/runcomparison.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include <telltale/core/numberformats.h>
#include <telltale/judge/storedsigns.h>
#include <telltale/judge/watchlist.h>
#include <telltale/store/rowsof.h>

namespace telltale::judge {

using series::CellState;
using series::CellValue;

namespace {

constexpr std::int64_t kStepsAtOnce = 256;
constexpr std::size_t kRowsAtOnce = 4096; ///< both answers of so many rows and steps are 10 MB

/// The same tensor in both runs.
struct Pair {
    const series::RowIndex::Row* a = nullptr;
    const series::RowIndex::Row* b = nullptr;
};

/// When in a step a tensor is measured.
using Place = std::pair<Phase, std::int32_t>;
using Places = std::map<std::tuple<Rank, Kind, std::uint32_t>, Place>;

Places placesOf(const store::Catalog& catalog)
{
    Places places;
    for (const Watchlist& list : watchlistsOf(catalog)) {
        for (const Watched& row : list.rows)
            places[{ list.rank, row.kind, row.tensor }] = { row.phase, row.place };
    }
    return places;
}

using PairKey = std::tuple<Kind, Rank, series::SeriesKey>;
PairKey keyOf(const series::RowIndex& index, const series::RowIndex::Row& row)
{
    series::SeriesKey key = index.key(row);
    key.definition.clear();
    return { row.kind, row.rank, std::move(key) };
}

double relativeOf(const CellValue& a, const CellValue& b, Stat stat)
{
    if (isIdentity(stat))
        return a.identity == b.identity ? 0 : HUGE_VAL;
    if (a.state != b.state)
        return HUGE_VAL;
    if (a.state != CellState::Value || a.value == b.value)
        return 0;
    return std::abs(a.value - b.value) / std::max(std::abs(a.value), std::abs(b.value));
}

/// Of two checksums that differ nothing tells by how much: any other difference says more.
bool isLarger(const Deviation& one, const Deviation& other)
{
    const auto rank = [](const Deviation& of) { return std::tuple(!isIdentity(of.stat), of.relative); };
    return rank(one) > rank(other) || (rank(one) == rank(other) && one.step < other.step);
}

StepRange united(StepRange a, StepRange b)
{
    if (a.isEmpty() || b.isEmpty())
        return a.isEmpty() ? b : a;
    return { std::min(a.first, b.first), std::max(a.last, b.last) };
}

class Comparer {
public:
    Comparer(const ComparedRun& a, const ComparedRun& b, const ComparisonWish& wish)
        : m_a(a)
        , m_b(b)
        , m_wish(wish)
        , m_index(store::rowsOf(a.catalog))
        , m_places(placesOf(a.catalog))
    {
        m_result.tolerance = wish.tolerance;
    }

    Expected<Comparison> run();

private:
    bool isWanted(const series::RowIndex& index, const series::RowIndex::Row& row, const std::vector<bool>& chosen,
        std::size_t& histograms);
    void pairRows();
    Expected<void> compareHeats(Kind kind, Stat stat, const std::vector<Pair>& pairs);
    Expected<void> compareRaw(Kind kind, Stat stat, const Pair& pair);
    void take(const Pair& pair, Kind kind, Stat stat, Step step, const CellValue& a, const CellValue& b);
    bool isApart(Kind kind, Rank rank, double relative);
    void differ(Deviation deviation, const Place& place);
    Expected<void> compareStoredSigns();
    void note(Deviation deviation, const Place& place);
    bool isCanceled() const { return m_wish.cancel && m_wish.cancel->load(std::memory_order_relaxed); }
    void tellProgress(double pairsDone) const;
    Expected<void> judgeSigns();
    Expected<void> judgeSigns(Kind kind, Stat stat, const Pair& pair);

    const ComparedRun& m_a;
    const ComparedRun& m_b;
    const ComparisonWish& m_wish;
    const series::RowIndex& m_index;
    Places m_places;
    std::map<std::pair<Kind, Stat>, std::vector<Pair>> m_pairs;
    std::map<Kind, Comparison::OfKind> m_kinds;
    std::map<Rank, Comparison::OfRank> m_ranks;
    std::map<Step, Comparison::OfStep> m_steps;
    std::size_t m_pairCount = 0; ///< of all kinds and statistics
    double m_pairsDone = 0;
    std::vector<std::pair<Place, Deviation>> m_first; ///< of the first step, in order
    std::map<std::tuple<Kind, Stat, Rank>, std::pair<Place, Deviation>> m_firstOfMaps;
    std::set<std::string> m_timings;
    StoredSigns m_signsOfA, m_signsOfB; ///< empty where the two are one run
    std::set<std::pair<Rank, std::string>> m_judged; ///< of what signs themselves tell
    Comparison m_result;
};

/// Counts what is of histograms alone, which nothing is read of but the shares of formats.
bool Comparer::isWanted(const series::RowIndex& index, const series::RowIndex::Row& row,
    const std::vector<bool>& chosen, std::size_t& histograms)
{
    const bool isOfRank
        = m_wish.ranks.empty() || std::find(m_wish.ranks.begin(), m_wish.ranks.end(), row.rank) != m_wish.ranks.end();
    if ((m_wish.kind && row.kind != *m_wish.kind) || !isOfRank || !chosen[row.tensor])
        return false;
    // Histograms have them, beside which the tensor's statistics have the same name.
    if (m_wish.stat && isFormatShare(*m_wish.stat))
        return row.answers(*m_wish.stat);
    const bool isOfHistograms
        = row.answers(Stat::Hist) && std::none_of(kStatTable.begin(), kStatTable.end(), [&](const StatFacts& facts) {
              return isStoredStat(facts.stat) && facts.stat != Stat::Hist && row.answers(facts.stat);
          });
    if (isOfHistograms) {
        ++histograms;
        return false;
    }
    const std::string& name = index.key(row).name;
    if (row.kind != Kind::Scalar || (!name.starts_with("telltale.") && !name.starts_with("system/") && !isTiming(name)))
        return true;
    m_timings.insert(name);
    return false;
}

void Comparer::pairRows()
{
    const series::RowIndex& other = store::rowsOf(m_b.catalog);
    const NamePattern pattern(m_wish.pattern);
    std::map<PairKey, const series::RowIndex::Row*> wanted;
    const std::vector<bool> chosenThere = other.matching(pattern);
    for (const series::RowIndex::Row& row : other.rows()) {
        if (isWanted(other, row, chosenThere, m_result.histogramsInB))
            wanted.emplace(keyOf(other, row), &row);
    }
    const std::vector<bool> chosen = m_index.matching(pattern);
    for (const series::RowIndex::Row& row : m_index.rows()) {
        if (!isWanted(m_index, row, chosen, m_result.histogramsInA))
            continue;
        const auto found = wanted.find(keyOf(m_index, row));
        if (found == wanted.end()) {
            ++m_result.onlyInA;
            continue;
        }
        ++m_result.rows;
        for (const StatFacts& facts : kStatTable) {
            // A checksum is the same or not: where something is tolerated it would say no to everything.
            const bool isAsked = m_wish.stat
                ? facts.stat == *m_wish.stat
                : isStoredStat(facts.stat) && (!isIdentity(facts.stat) || m_wish.tolerance == 0);
            if (isAsked && row.answers(facts.stat) && found->second->answers(facts.stat) && facts.stat != Stat::Hist)
                m_pairs[{ row.kind, facts.stat }].push_back({ &row, found->second });
        }
        wanted.erase(found);
    }
    m_result.onlyInB = wanted.size();
    for (const auto& [of, pairs] : m_pairs)
        m_pairCount += pairs.size();
}

void Comparer::tellProgress(double pairsDone) const
{
    if (m_wish.progress)
        m_wish.progress(pairsDone / static_cast<double>(std::max<std::size_t>(1, m_pairCount)));
}

void Comparer::note(Deviation deviation, const Place& place)
{
    if (m_result.firstCount > 0 && deviation.step > m_first.front().second.step)
        return;
    if (m_result.firstCount > 0 && deviation.step < m_first.front().second.step) {
        m_first.clear();
        m_result.firstCount = 0;
    }
    ++m_result.firstCount;
    deviation.phase = place.first;
    const auto before = [](const auto& one, const auto& another) {
        return std::tie(one.first, one.second.rank) < std::tie(another.first, another.second.rank);
    };
    std::pair<Place, Deviation> noted { place, std::move(deviation) };
    m_first.insert(std::upper_bound(m_first.begin(), m_first.end(), noted, before), std::move(noted));
    if (m_first.size() > Comparison::kFirst)
        m_first.pop_back();
}

void Comparer::take(const Pair& pair, Kind kind, Stat stat, Step step, const CellValue& a, const CellValue& b)
{
    // What was not collected, was lost, is damaged: nothing can be said of it.
    const bool hasA = a.state >= CellState::Absent;
    const bool hasB = b.state >= CellState::Absent;
    if (!hasA || !hasB) {
        m_result.unmatched += hasA != hasB ? 1 : 0;
        return;
    }
    const double relative = relativeOf(a, b, stat);
    if (!isApart(kind, pair.a->rank, relative))
        return;
    const auto known = m_places.find({ pair.a->rank, kind, pair.a->tensor });
    const Place place
        = known == m_places.end() ? Place { phaseOf(kind), std::numeric_limits<std::int32_t>::max() } : known->second;
    differ({ step, pair.a->rank, kind, m_index.key(*pair.a), stat, phaseOf(kind), a, b, relative }, place);
}

/// Counts two values; whether they are farther apart than is tolerated.
bool Comparer::isApart(Kind kind, Rank rank, double relative)
{
    ++m_kinds[kind].compared;
    ++m_ranks[rank].compared;
    return !(relative <= m_wish.tolerance && relative < HUGE_VAL);
}

void Comparer::differ(Deviation deviation, const Place& place)
{
    const Step step = deviation.step;
    Comparison::OfKind& of = m_kinds[deviation.kind];
    Comparison::OfRank& ofRank = m_ranks[deviation.rank];
    ++of.differing;
    ++ofRank.differing;
    ofRank.first = std::min(ofRank.first.value_or(step), step);
    Comparison::OfStep& ofStep = m_steps[step];
    ++ofStep.differing;
    const CellState a = deviation.a.state;
    const CellState b = deviation.b.state;
    ofStep.nonFinite += a != b && (series::isNonFinite(a) || series::isNonFinite(b)) ? 1 : 0;
    if (!of.largest || isLarger(deviation, *of.largest))
        of.largest = deviation;
    const auto [known, isNew]
        = m_firstOfMaps.try_emplace({ deviation.kind, deviation.stat, deviation.rank }, place, deviation);
    if (!isNew && std::tie(step, place) < std::tie(known->second.second.step, known->second.first))
        known->second = { place, deviation };
    note(std::move(deviation), place);
}

Expected<void> Comparer::compareHeats(Kind kind, Stat stat, const std::vector<Pair>& pairs)
{
    for (std::size_t from = 0; from < pairs.size(); from += kRowsAtOnce) {
        const std::size_t count = std::min(kRowsAtOnce, pairs.size() - from);
        series::HeatQuery left;
        left.stat = stat;
        left.memo = std::make_shared<series::RowsMemo>();
        series::HeatQuery right = left;
        right.memo = std::make_shared<series::RowsMemo>();
        for (std::size_t i = from; i < from + count; ++i) {
            left.rows.push_back(pairs[i].a->attempts);
            right.rows.push_back(pairs[i].b->attempts);
        }
        for (Step first = m_result.steps.first; first <= m_result.steps.last; first.value += kStepsAtOnce) {
            if (isCanceled())
                return failure(ErrorCode::Canceled, "the comparison was canceled");
            const double done = static_cast<double>(first.value - m_result.steps.first.value)
                / static_cast<double>(m_result.steps.count());
            tellProgress(m_pairsDone + static_cast<double>(from) + done * static_cast<double>(count));
            left.range = { first, std::min(Step { first.value + kStepsAtOnce - 1 }, m_result.steps.last) };
            right.range = left.range;
            left.pixels = right.pixels = static_cast<int>(left.range.count());
            const auto a = m_a.reader.heatmap(left, m_wish.cancel);
            if (!a)
                return tl::unexpected(a.error());
            const auto b = m_b.reader.heatmap(right, m_wish.cancel);
            if (!b)
                return tl::unexpected(b.error());
            for (std::size_t row = 0; row < count; ++row) {
                for (int column = 0; column < left.pixels; ++column) {
                    const std::size_t at
                        = row * static_cast<std::size_t>(left.pixels) + static_cast<std::size_t>(column);
                    // By far the most: equal bits, or nothing measured.
                    if (a->states[at] == b->states[at] && a->states[at] < CellState::Absent)
                        continue;
                    take(pairs[from + row], kind, stat, Step { first.value + column },
                        { static_cast<double>(a->values[at]), a->states[at] },
                        { static_cast<double>(b->values[at]), b->states[at] });
                }
            }
        }
    }
    return {};
}

Expected<void> Comparer::compareRaw(Kind kind, Stat stat, const Pair& pair)
{
    std::map<Step, CellValue> values;
    auto read = m_a.reader.raw(pair.a->attempts, stat, m_result.steps, [&](const series::RawValue& value) {
        values[value.step] = { value.value, value.state, 0, 0, 0, value.identity };
        return true;
    });
    if (!read)
        return read;
    std::uint64_t both = 0;
    auto other = m_b.reader.raw(pair.b->attempts, stat, m_result.steps, [&](const series::RawValue& value) {
        const auto found = values.find(value.step);
        if (found == values.end()) {
            ++m_result.unmatched;
            return true;
        }
        ++both;
        take(pair, kind, stat, value.step, found->second, { value.value, value.state, 0, 0, 0, value.identity });
        return true;
    });
    m_result.unmatched += values.size() - both;
    return other;
}

Expected<void> Comparer::judgeSigns(Kind kind, Stat stat, const Pair& pair)
{
    std::map<Step, double> values;
    auto read = m_b.reader.raw(pair.b->attempts, stat, m_result.steps, [&](const series::RawValue& value) {
        if (value.state == CellState::Value)
            values[value.step] = value.value;
        return true;
    });
    if (!read)
        return read;
    std::vector<SignSample> samples;
    if (stat == Stat::Similarity) {
        for (const auto& [step, value] : values)
            samples.push_back({ step, value });
    } else {
        read = m_a.reader.raw(pair.a->attempts, stat, m_result.steps, [&](const series::RawValue& value) {
            const auto other = values.find(value.step);
            if (value.state == CellState::Value && other != values.end())
                samples.push_back({ value.step, mostSimilar(value.value, other->second) });
            return true;
        });
        if (!read)
            return read;
    }
    if (!samples.empty()) {
        SignVerdict verdict = judgeSignSimilarity(samples);
        verdict.isAtMost = stat != Stat::Similarity;
        m_result.signs.push_back({ pair.a->rank, kind, m_index.key(*pair.a), verdict });
    }
    return {};
}

/// Those that both have, element by element: a similarity of 1 is what it would be in the same training.
Expected<void> Comparer::compareStoredSigns()
{
    const NamePattern pattern(m_wish.pattern);
    std::map<std::pair<Rank, std::string>, std::vector<SignSample>> samples;
    const auto isWanted = [&](const StoredSigns::Key& key) {
        return m_result.steps.contains(key.step) && pattern.matches(key.name)
            && (m_wish.ranks.empty()
                || std::find(m_wish.ranks.begin(), m_wish.ranks.end(), key.rank) != m_wish.ranks.end());
    };
    std::size_t both = 0;
    const auto& others = m_signsOfB.documents();
    for (const auto& [key, documents] : m_signsOfA.documents()) {
        if (!isWanted(key))
            continue;
        if (isCanceled())
            return failure(ErrorCode::Canceled, "the comparison was canceled");
        const auto other = others.find(key);
        const auto a = other == others.end() ? Expected<StoredSigns::Bits>() : StoredSigns::read(m_a.reader, documents);
        const auto b = other == others.end() || !a ? a : StoredSigns::read(m_b.reader, other->second);
        both += other == others.end() ? 0 : 1;
        if (other == others.end() || !a || !b || a->shape != b->shape) {
            ++m_result.unmatched; // damaged, or of another parameter by the same name
            continue;
        }
        if (a->count == 0)
            continue;
        const double similarity = signSimilarity(a->bytes, b->bytes, a->count);
        samples[{ key.rank, key.name }].push_back({ key.step, similarity });
        if (isApart(Kind::GradSign, key.rank, 1 - similarity)) {
            series::SeriesKey series;
            series.name = key.name;
            const Phase phase = phaseOf(Kind::GradSign);
            differ({ key.step, key.rank, Kind::GradSign, std::move(series), Stat::Similarity, phase,
                       { 1, CellState::Value }, { similarity, CellState::Value }, 1 - similarity },
                { phase, std::numeric_limits<std::int32_t>::max() });
        }
    }
    const auto wantedOfB
        = std::count_if(others.begin(), others.end(), [&](const auto& one) { return isWanted(one.first); });
    m_result.unmatched += static_cast<std::size_t>(wantedOfB) - both;
    for (const auto& [of, found] : samples) {
        series::SeriesKey key;
        key.name = of.second;
        m_result.signs.push_back({ of.first, Kind::GradSign, std::move(key), judgeSignSimilarity(found) });
        m_judged.insert(of);
    }
    return {};
}

Expected<void> Comparer::judgeSigns()
{
    for (const auto& [of, pairs] : m_pairs) {
        const auto& [kind, stat] = of;
        // What a router calls similarity is of its experts' directions.
        const bool isOfSigns = kind == Kind::GradSign && stat == Stat::Similarity;
        if (!isOfSigns && (kind != Kind::MgDirection || stat != Stat::Agreement))
            continue;
        for (const Pair& pair : pairs) {
            if (isCanceled())
                return failure(ErrorCode::Canceled, "the comparison was canceled");
            // A recorded similarity may be to a third run.
            if (stat == Stat::Similarity && m_judged.contains({ pair.a->rank, m_index.key(*pair.a).name }))
                continue;
            if (auto done = judgeSigns(kind, stat, pair); !done)
                return done;
        }
    }
    const auto when = [](const Comparison::OfSigns& one) {
        return one.verdict.suspicious.value_or(Step { std::numeric_limits<std::int64_t>::max() });
    };
    std::stable_sort(m_result.signs.begin(), m_result.signs.end(),
        [&](const Comparison::OfSigns& a, const Comparison::OfSigns& b) { return when(a) < when(b); });
    return {};
}

Expected<Comparison> Comparer::run()
{
    if (m_wish.stat == Stat::Hist)
        return failure(ErrorCode::BadInput, "histograms are not compared",
            "any other statistic is, and so are the shares of number formats that are read from histograms");
    if (m_a.catalog.storeId != m_b.catalog.storeId && (!m_wish.kind || *m_wish.kind == Kind::GradSign)
        && (!m_wish.stat || *m_wish.stat == Stat::Similarity)) {
        auto a = StoredSigns::of(m_a.reader);
        auto b = a ? StoredSigns::of(m_b.reader) : tl::unexpected(a.error());
        if (!b)
            return tl::unexpected(b.error());
        m_signsOfA = std::move(*a);
        m_signsOfB = std::move(*b);
    }
    const StepRange ofA = united(m_a.steps.value_or(m_a.catalog.steps), m_signsOfA.steps());
    const StepRange ofB = united(m_b.steps.value_or(m_b.catalog.steps), m_signsOfB.steps());
    const StepRange common { std::max(ofA.first, ofB.first), std::min(ofA.last, ofB.last) };
    m_result.steps = common;
    if (m_wish.steps)
        m_result.steps = { std::max(common.first, m_wish.steps->first), std::min(common.last, m_wish.steps->last) };
    if (m_result.steps.isEmpty())
        return failure(ErrorCode::NotFound, "the runs have no step in common",
            fmt::format("one has {} to {}, the other {} to {}", ofA.first.value, ofA.last.value, ofB.first.value,
                ofB.last.value));
    pairRows();
    if (const auto done = compareStoredSigns(); !done)
        return tl::unexpected(done.error());
    if (m_pairs.empty() && m_result.signs.empty())
        return failure(ErrorCode::NotFound, "the runs have nothing in common that could be compared",
            m_result.histogramsInA > 0 && m_result.histogramsInB > 0
                ? "both have histograms, which are not compared; 'telltale inspect' lists what each has"
                : "'telltale inspect' lists what each has");
    for (const auto& [of, pairs] : m_pairs) {
        const auto& [kind, stat] = of;
        // A float holds what most statistics are stored as, and neither metrics nor checksums.
        if (columnType(stat) == ColumnType::F64 || isIdentity(stat)) {
            for (const Pair& pair : pairs) {
                if (isCanceled())
                    return failure(ErrorCode::Canceled, "the comparison was canceled");
                if (const auto done = compareRaw(kind, stat, pair); !done)
                    return tl::unexpected(done.error());
            }
        } else if (const auto done = compareHeats(kind, stat, pairs); !done) {
            return tl::unexpected(done.error());
        }
        m_pairsDone += static_cast<double>(pairs.size());
        tellProgress(m_pairsDone);
    }
    if (const auto done = judgeSigns(); !done)
        return tl::unexpected(done.error());
    for (auto& [rank, of] : m_ranks) {
        of.rank = rank;
        m_result.ranks.push_back(of);
    }
    for (auto& [step, of] : m_steps) {
        of.step = step;
        m_result.stepsApart.push_back(of);
    }
    for (auto& [kind, of] : m_kinds) {
        of.kind = kind;
        m_result.compared += of.compared;
        m_result.differing += of.differing;
        m_result.kinds.push_back(std::move(of));
    }
    for (auto& [map, first] : m_firstOfMaps)
        m_result.firstOfMaps.emplace(map, std::move(first.second));
    for (auto& [place, deviation] : m_first)
        m_result.first.push_back(std::move(deviation));
    m_result.timings.assign(m_timings.begin(), m_timings.end());
    return std::move(m_result);
}

}

void Comparison::append(const Comparison& later)
{
    const auto add = [](auto& all, const auto& more, auto of, auto join) {
        for (const auto& one : more) {
            const auto at = std::lower_bound(all.begin(), all.end(), one,
                [of](const auto& left, const auto& right) { return of(left) < of(right); });
            if (at == all.end() || of(*at) != of(one)) {
                all.insert(at, one);
                continue;
            }
            at->compared += one.compared;
            at->differing += one.differing;
            join(*at, one);
        }
    };
    steps.last = std::max(steps.last, later.steps.last);
    add(
        kinds, later.kinds, [](const OfKind& of) { return of.kind; },
        [](OfKind& one, const OfKind& more) {
            if (more.largest && (!one.largest || isLarger(*more.largest, *one.largest)))
                one.largest = more.largest;
        });
    add(
        ranks, later.ranks, [](const OfRank& of) { return of.rank; },
        [](OfRank& one, const OfRank& more) { one.first = one.first ? one.first : more.first; });
    stepsApart.insert(stepsApart.end(), later.stepsApart.begin(), later.stepsApart.end());
    compared += later.compared;
    differing += later.differing;
    unmatched += later.unmatched;
    rows = later.rows;
    onlyInA = later.onlyInA;
    onlyInB = later.onlyInB;
    timings = later.timings;
    firstOfMaps.insert(later.firstOfMaps.begin(), later.firstOfMaps.end());
    if (!first.empty())
        return;
    first = later.first;
    firstCount = later.firstCount;
}

Expected<Comparison> compareRuns(const ComparedRun& a, const ComparedRun& b, const ComparisonWish& wish)
{
    return Comparer(a, b, wish).run();
}

}
