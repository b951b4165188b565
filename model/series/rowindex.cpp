// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/series/rowindex.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include <telltale/core/blockname.h>
#include <telltale/core/numberformats.h>

namespace telltale::series {

namespace {

constexpr std::uint32_t bitOf(Stat stat)
{
    return std::uint32_t { 1 } << static_cast<unsigned>(stat);
}
constexpr std::uint32_t kOctaves = std::uint32_t { 1 } << 31U;
static_assert(kStoredStatCount <= 31);

std::uint32_t bitsNeeded(Stat stat)
{
    if (stat == Stat::AbsMax)
        return bitOf(Stat::Min) | bitOf(Stat::Max);
    return isFormatShare(stat) ? bitOf(Stat::Hist) | kOctaves : bitOf(stat);
}

}

std::uint32_t statBits(std::span<const Stat> stats, std::span<const double> edges)
{
    std::uint32_t bits = !edges.empty() && hasOctaves(edges) ? kOctaves : 0;
    for (const Stat stat : stats)
        bits |= static_cast<int>(stat) < kStoredStatCount ? bitOf(stat) : 0;
    return bits;
}

bool answers(std::uint32_t statBits, Stat stat)
{
    const std::uint32_t needed = bitsNeeded(stat);
    return (statBits & needed) == needed;
}

void RowIndex::Tensors::reserve(std::size_t more)
{
    for (auto* numbers : { &nameOf, &nextOfName, &above, &firstOfName })
        numbers->reserve(numbers->size() + more);
    keys.reserve(keys.size() + more);
    byKey.reserve(more);
    byName.reserve(more);
}

std::uint32_t RowIndex::Tensors::find(const SeriesKey& key, std::size_t hash, bool scalar) const
{
    return byKey.find(hash, [&](std::uint32_t tensor) { return isScalar[tensor] == scalar && keys[tensor] == key; });
}

std::uint32_t RowIndex::Tensors::add(SeriesKey key, std::size_t hash, bool scalar)
{
    const auto tensor = static_cast<std::uint32_t>(keys.size());
    const std::uint32_t name = addName(key.name);
    nextOfName.push_back(std::exchange(firstOfName[name], tensor));
    if (!key.slot.hasText()) {
        nameOf.push_back(name);
    } else {
        const std::string text = key.text();
        const std::size_t textHash = std::hash<std::string_view> {}(text) + 1; // apart from a name that reads the same
        const std::uint32_t known = byName.find(
            textHash, [&](std::uint32_t place) { return above[place] == name && names.at(place) == text; });
        nameOf.push_back(known == HashPlaces::kNone ? addText(text, textHash, name) : known);
    }
    byKey.add(hash, tensor);
    isScalar.push_back(scalar);
    keys.push_back(std::move(key));
    return tensor;
}

std::uint32_t RowIndex::Tensors::placeOf(std::string_view name, std::size_t hash) const
{
    return byName.find(hash, [&](std::uint32_t place) { return names.at(place) == name; });
}

std::uint32_t RowIndex::Tensors::addName(std::string_view name)
{
    const std::size_t hash = std::hash<std::string_view> {}(name);
    if (const std::uint32_t known = placeOf(name, hash); known != HashPlaces::kNone)
        return known;
    const auto dot = name.substr(0, dottedBytes(name)).rfind('.');
    const bool isInModule = dot != std::string_view::npos && dot > 0;
    const std::uint32_t module = isInModule ? addName(name.substr(0, dot)) : HashPlaces::kNone;
    return addText(name, hash, module);
}

std::uint32_t RowIndex::Tensors::addText(std::string_view text, std::size_t hash, std::uint32_t module)
{
    const auto place = static_cast<std::uint32_t>(above.size());
    names.add(text);
    above.push_back(std::min(module, place));
    firstOfName.push_back(HashPlaces::kNone);
    byName.add(hash, place);
    return place;
}

RowIndex::RowIndex()
    : m_tensors(std::make_shared<const Tensors>())
{
}

RowIndex::RowIndex(const RowIndex& before, std::size_t added, const std::function<Measured(std::size_t)>& measured)
    : m_tensors(before.m_tensors)
{
    std::shared_ptr<Tensors> more; // made when a tensor is new
    m_series.reserve(before.m_series.size() + added);
    m_series = before.m_series;
    for (std::size_t i = 0; i < added; ++i) {
        Measured one = measured(i);
        const bool scalar = one.kind == Kind::Scalar;
        const std::size_t hash = std::hash<SeriesKey> {}(one.key);
        std::uint32_t tensor = m_tensors->find(one.key, hash, scalar);
        if (tensor == HashPlaces::kNone) {
            if (!more) {
                m_tensors = more = std::make_shared<Tensors>(*m_tensors);
                more->reserve(added - i);
            }
            tensor = more->add(std::move(one.key), hash, scalar);
        }
        m_series.push_back({ one.id, one.kind, one.rank, one.attempt, one.stats, tensor });
    }
    layOut();
}

void RowIndex::layOut()
{
    std::vector<std::uint32_t> order(m_series.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
        const auto place = [](const Series& one) { return std::tuple(one.kind, -one.attempt, one.rank); };
        return place(m_series[a]) < place(m_series[b]);
    });

    HashPlaces known; // of m_rows, by rank, kind and tensor
    known.reserve(m_series.size());
    m_rows.reserve(m_series.size());
    struct Added {
        int attempt = 0;
        std::ptrdiff_t series = 0;
    };
    std::vector<Added> added; // beside m_rows: the attempt that was added last, and how many series of it
    for (const std::uint32_t i : order) {
        const Series& one = m_series[i];
        const std::size_t identity = (static_cast<std::size_t>(one.rank.value) << 40U)
            | (static_cast<std::size_t>(one.kind) << 32U) | one.tensor;
        const std::uint32_t place = known.find(identity, [&](std::uint32_t row) {
            return m_rows[row].kind == one.kind && m_rows[row].rank == one.rank && m_rows[row].tensor == one.tensor;
        });
        if (place == HashPlaces::kNone) {
            known.add(identity, static_cast<std::uint32_t>(m_rows.size()));
            m_rows.push_back({ one.kind, one.rank, one.tensor, one.stats, i, { one.id } });
            added.push_back({ one.attempt, 1 });
            continue;
        }
        // A config that changes while the training runs gives an attempt several layouts, one after the other.
        Row& row = m_rows[place];
        Added& last = added[place];
        if (last.attempt != one.attempt)
            last = { one.attempt, 0 };
        row.stats |= one.stats;
        row.attempts.series.insert(row.attempts.series.begin() + last.series++, one.id);
    }

    m_firstOf.assign(tensorCount() + 1, 0);
    for (const Row& row : m_rows)
        ++m_firstOf[row.tensor + 1];
    std::partial_sum(m_firstOf.begin(), m_firstOf.end(), m_firstOf.begin());
    m_byTensor.resize(m_rows.size());
    std::vector<std::uint32_t> next(m_firstOf.begin(), m_firstOf.end() - 1);
    for (std::uint32_t row = 0; row < m_rows.size(); ++row)
        m_byTensor[next[m_rows[row].tensor]++] = row;
}

RowIndex::Rows RowIndex::select(Kind kind, std::optional<Rank> rank, std::optional<Stat> stat) const
{
    const auto first = std::lower_bound(
        m_rows.begin(), m_rows.end(), kind, [](const Row& row, Kind wanted) { return row.kind < wanted; });
    Rows found;
    for (auto row = first; row != m_rows.end() && row->kind == kind; ++row) {
        if ((!rank || row->rank == *rank) && (!stat || row->answers(*stat)))
            found.push_back(&*row);
    }
    return found;
}

std::vector<std::uint32_t> RowIndex::namesInModelOrder() const
{
    // Rows stand by kind: stretches of them, the longest first.
    std::vector<std::span<const Row>> kinds;
    for (auto first = m_rows.begin(); first != m_rows.end();) {
        const auto end = std::find_if(first, m_rows.end(), [&](const Row& row) { return row.kind != first->kind; });
        if (first->kind != Kind::Scalar)
            kinds.emplace_back(first, end);
        first = end;
    }
    std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::vector<std::uint32_t> places;
    std::vector<bool> seen(names().size());
    for (const std::span<const Row> kind : kinds) {
        std::vector<std::uint32_t> own;
        bool hasNew = false;
        std::vector<bool> isOwn(seen.size());
        for (const Row& row : kind) {
            const std::uint32_t place = placeOfName(row.tensor);
            if (!isOwn[place])
                own.push_back(place);
            isOwn[place] = true;
            hasNew = hasNew || !seen[place];
        }
        if (hasNew)
            places = places.empty() ? std::move(own) : merged(places, own);
        for (const std::uint32_t place : places)
            seen[place] = true;
    }
    return places;
}

/// Both orders: what only `more` has stands before what follows it there below the same module, else at the end.
std::vector<std::uint32_t> RowIndex::merged(
    const std::vector<std::uint32_t>& places, const std::vector<std::uint32_t>& more) const
{
    const auto end = static_cast<std::uint32_t>(places.size());
    constexpr std::uint32_t kUnknown = UINT32_MAX;
    std::vector<std::uint32_t> first(names().size(), kUnknown); // in `places`, of a name or a part of it
    for (std::uint32_t i = 0; i < end; ++i) {
        for (std::uint32_t up = places[i]; first[up] == kUnknown; up = above(up))
            first[up] = i;
    }
    // By the module above, and at the end for what has none: where the next below it stands.
    std::vector<std::uint32_t> next(names().size() + 1, end);
    const auto nextBeside = [&](std::uint32_t place) -> std::uint32_t& {
        return next[above(place) == place ? names().size() : above(place)];
    };
    std::vector<std::pair<std::uint32_t, std::uint32_t>> added; // before which of `places`, the last first
    std::vector<bool> isKnown(names().size());
    for (const std::uint32_t place : places)
        isKnown[place] = true;
    for (auto name = more.rbegin(); name != more.rend(); ++name) {
        std::uint32_t highest = *name;
        while (first[highest] == kUnknown && above(highest) != highest && first[above(highest)] == kUnknown)
            highest = above(highest);
        if (!isKnown[*name])
            added.emplace_back(nextBeside(highest), *name);
        for (std::uint32_t up = *name;; up = above(up)) {
            if (first[up] != kUnknown)
                nextBeside(up) = first[up];
            if (above(up) == up)
                break;
        }
    }
    std::reverse(added.begin(), added.end());
    std::stable_sort(added.begin(), added.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::uint32_t> both;
    auto one = added.begin();
    for (std::uint32_t i = 0; i <= end; ++i) {
        for (; one != added.end() && one->first == i; ++one)
            both.push_back(one->second);
        if (i < end)
            both.push_back(places[i]);
    }
    return both;
}

RowIndex::Rows RowIndex::named(std::string_view name) const
{
    Rows found;
    const std::uint32_t place = placeOf(name);
    if (place == HashPlaces::kNone)
        return found;
    for (std::uint32_t tensor = m_tensors->firstOfName[place]; tensor != HashPlaces::kNone;
         tensor = m_tensors->nextOfName[tensor]) {
        for (std::uint32_t i = m_firstOf[tensor]; i < m_firstOf[tensor + 1]; ++i)
            found.push_back(&m_rows[m_byTensor[i]]);
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<bool> RowIndex::matching(const NamePattern& pattern) const
{
    std::vector<bool> hits = pattern.matchEach(m_tensors->names);
    for (std::size_t i = 0; i < hits.size(); ++i)
        hits[i] = hits[i] || hits[m_tensors->above[i]];
    std::vector<bool> tensors(tensorCount());
    for (std::size_t i = 0; i < tensors.size(); ++i)
        tensors[i] = hits[m_tensors->nameOf[i]];
    return tensors;
}

bool RowIndex::chooses(const NamePattern& pattern, std::uint32_t tensor) const
{
    for (std::uint32_t place = m_tensors->nameOf[tensor];; place = m_tensors->above[place]) {
        if (pattern.matches(m_tensors->names.at(place)))
            return true;
        if (m_tensors->above[place] == place)
            return false;
    }
}

}
