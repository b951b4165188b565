// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/series/rowindex.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace telltale::series {

namespace {

constexpr std::uint32_t bitOf(Stat stat)
{
    return std::uint32_t { 1 } << static_cast<unsigned>(stat);
}
static_assert(kStoredStatCount <= 32);

}

std::uint32_t statBits(std::span<const Stat> stats)
{
    std::uint32_t bits = 0;
    for (const Stat stat : stats)
        bits |= static_cast<int>(stat) < kStoredStatCount ? bitOf(stat) : 0;
    return bits;
}

bool RowIndex::Row::answers(Stat stat) const
{
    const std::uint32_t needed = stat == Stat::AbsMax ? bitOf(Stat::Min) | bitOf(Stat::Max) : bitOf(stat);
    return (stats & needed) == needed;
}

RowIndex::RowIndex(std::vector<Measured> series)
{
    std::vector<std::uint32_t> order(series.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&series](std::uint32_t a, std::uint32_t b) {
        const auto place = [](const Measured& one) { return std::tuple(one.kind, -one.attempt, one.rank); };
        return place(series[a]) < place(series[b]);
    });

    std::unordered_map<SeriesKey, std::uint32_t> tensors;
    std::unordered_map<std::uint64_t, std::uint32_t> known; // rows of one kind, by rank and tensor
    struct Added {
        int attempt = 0;
        std::ptrdiff_t series = 0;
    };
    std::vector<Added> added; // beside m_rows: the attempt that was added last, and how many series of it
    for (const std::uint32_t i : order) {
        Measured& one = series[i];
        if (!m_rows.empty() && m_rows.back().kind != one.kind)
            known.clear();
        const auto [tensor, isNewTensor]
            = tensors.try_emplace(std::move(one.key), static_cast<std::uint32_t>(m_keys.size()));
        if (isNewTensor)
            m_keys.push_back(tensor->first);
        const std::uint64_t identity
            = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(one.rank.value)) << 32U) | tensor->second;
        const auto [place, isNew] = known.try_emplace(identity, static_cast<std::uint32_t>(m_rows.size()));
        if (isNew) {
            m_rows.push_back({ one.kind, one.rank, tensor->second, one.stats, i, { one.id } });
            added.push_back({ one.attempt, 1 });
            continue;
        }
        // A config that changes while the training runs gives an attempt several layouts, one after the other.
        Row& row = m_rows[place->second];
        Added& last = added[place->second];
        if (last.attempt != one.attempt)
            last = { one.attempt, 0 };
        row.stats |= one.stats;
        row.attempts.insert(row.attempts.begin() + last.series++, one.id);
    }
    m_byName.resize(m_rows.size());
    std::iota(m_byName.begin(), m_byName.end(), 0u);
    std::stable_sort(m_byName.begin(), m_byName.end(),
        [this](std::uint32_t a, std::uint32_t b) { return key(m_rows[a]).name < key(m_rows[b]).name; });
    addNames();
}

void RowIndex::addNames()
{
    std::unordered_map<std::string, std::uint32_t> places;
    const auto add = [this](std::string_view name, std::uint32_t above) {
        const auto place = static_cast<std::uint32_t>(m_above.size());
        m_names.add(name);
        m_above.push_back(std::min(above, place));
        return place;
    };
    const auto placeOf = [&](const auto& self, const std::string& name) -> std::uint32_t {
        if (const auto it = places.find(name); it != places.end())
            return it->second;
        const auto dot = name.rfind('.');
        const bool isInModule = dot != std::string::npos && dot > 0;
        const std::uint32_t above = isInModule ? self(self, name.substr(0, dot)) : UINT32_MAX;
        return places.emplace(name, add(name, above)).first->second;
    };
    std::unordered_map<std::string, std::uint32_t> withSlots;
    for (const SeriesKey& key : m_keys) {
        std::uint32_t place = placeOf(placeOf, key.name);
        if (!key.slot.empty()) {
            const auto [slot, isNew] = withSlots.try_emplace(key.text(), 0);
            if (isNew)
                slot->second = add(slot->first, place);
            place = slot->second;
        }
        m_nameOf.push_back(place);
    }
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

RowIndex::Rows RowIndex::named(std::string_view name) const
{
    Rows found;
    const auto first = std::lower_bound(m_byName.begin(), m_byName.end(), name,
        [this](std::uint32_t row, std::string_view wanted) { return key(m_rows[row]).name < wanted; });
    for (auto row = first; row != m_byName.end() && key(m_rows[*row]).name == name; ++row)
        found.push_back(&m_rows[*row]);
    return found;
}

std::vector<bool> RowIndex::matching(const NamePattern& pattern) const
{
    std::vector<bool> hits = pattern.matchEach(m_names);
    for (std::size_t i = 0; i < hits.size(); ++i)
        hits[i] = hits[i] || hits[m_above[i]];
    std::vector<bool> tensors(m_keys.size());
    for (std::size_t i = 0; i < tensors.size(); ++i)
        tensors[i] = hits[m_nameOf[i]];
    return tensors;
}

}
