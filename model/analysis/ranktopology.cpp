// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/ranktopology.h>

#include <algorithm>
#include <set>

namespace telltale::analysis {

namespace {

constexpr std::size_t at(Parallel way)
{
    return static_cast<std::size_t>(way);
}

/// What ranks that hold the same have in common.
RankTopology::Place partOf(RankTopology::Place place)
{
    place[at(Parallel::Data)] = 0;
    return place;
}

}

std::string_view parallelName(Parallel way)
{
    constexpr std::array<std::string_view, kParallels.size()> kNames { "dp", "tp", "pp", "ep" };
    return kNames[at(way)];
}

RankTopology::RankTopology(const store::Catalog& catalog)
{
    std::map<Rank, int> attempts;
    for (const store::SourceInfo& source : catalog.sources) {
        const auto [known, isNew] = attempts.try_emplace(source.rank, source.attempt);
        if (!isNew && known->second > source.attempt)
            continue;
        known->second = source.attempt;
        // A second agent of the rank may not say where it stands.
        const Place place { source.dp, source.tp, source.pp, source.ep };
        const bool isKnown = std::any_of(place.begin(), place.end(), [](int one) { return one >= 0; });
        if (isKnown || !m_places.contains(source.rank))
            m_places[source.rank] = place;
    }
}

std::vector<Rank> RankTopology::ranks() const
{
    std::vector<Rank> all;
    for (const auto& [rank, place] : m_places)
        all.push_back(rank);
    return all;
}

int RankTopology::coordinate(Rank rank, Parallel way) const
{
    const auto known = m_places.find(rank);
    return known == m_places.end() ? -1 : known->second[at(way)];
}

std::vector<Parallel> RankTopology::ways() const
{
    std::vector<Parallel> found;
    for (const Parallel way : kParallels) {
        std::set<int> seen;
        for (const auto& [rank, place] : m_places)
            seen.insert(place[at(way)]);
        if (seen.size() > 1)
            found.push_back(way);
    }
    return found;
}

std::vector<RankGroup> RankTopology::groups(Parallel way) const
{
    std::map<int, std::vector<Rank>> by;
    for (const auto& [rank, place] : m_places)
        by[place[at(way)]].push_back(rank);
    std::vector<RankGroup> found;
    found.reserve(by.size());
    for (auto& [coordinate, ranks] : by)
        found.push_back({ coordinate, std::move(ranks) });
    return found;
}

std::vector<Rank> RankTopology::replicasOf(Rank rank) const
{
    const auto own = m_places.find(rank);
    std::vector<Rank> found;
    for (const auto& [other, place] : m_places) {
        if (own != m_places.end() && partOf(place) == partOf(own->second))
            found.push_back(other);
    }
    return found;
}

std::vector<std::vector<Rank>> RankTopology::replicas() const
{
    std::map<Place, std::vector<Rank>> parts;
    for (const auto& [rank, place] : m_places)
        parts[partOf(place)].push_back(rank);
    std::vector<std::vector<Rank>> found;
    found.reserve(parts.size());
    for (auto& [part, ranks] : parts)
        found.push_back(std::move(ranks));
    return found;
}

}
