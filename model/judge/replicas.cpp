// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/replicas.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include <telltale/analysis/replicadrift.h>

namespace telltale::judge {

void Replicas::take(const store::Catalog& catalog)
{
    // Ranks that differ in anything but their place in data parallelism hold other parts of the model.
    std::map<Rank, int> partOf;
    std::map<std::tuple<int, int, int>, int> parts;
    for (const store::SourceInfo& source : catalog.sources) {
        const int next = static_cast<int>(parts.size());
        const int part = parts.try_emplace({ source.tp, source.pp, source.ep }, next).first->second;
        partOf[source.rank] = source.dp < 0 ? -1 : part;
    }
    std::map<std::pair<Kind, std::uint32_t>, Group> groups;
    m_rows.clear();
    m_groups.clear();
    for (const series::RowIndex::Row& row : catalog.rows->rows()) {
        if (!analysis::isReplicated(row.kind) || !row.answers(Stat::Checksum))
            continue;
        Group& group = groups[{ row.kind, row.tensor }];
        const store::SeriesInfo& info = catalog.series[row.newest];
        group.kind = row.kind;
        group.tensor = row.tensor;
        group.isMatrix = info.desc->shape.size() >= 2;
        group.members.push_back({ row.rank, m_rows.size(), partOf[row.rank], info.desc->shardOffset });
        m_rows.push_back(row.attempts);
    }
    for (auto& [key, group] : groups) {
        if (group.members.size() > 1)
            m_groups.push_back(std::move(group));
    }
}

std::optional<Replicas::Divergence> Replicas::judge(
    const Group& group, Learned& learned, const std::vector<std::uint64_t>& bits) const
{
    std::optional<Divergence> found;
    const auto say = [&](std::vector<Rank> minority, std::size_t ranks, bool areParts) {
        if (!found)
            found = Divergence { {}, group.kind, group.tensor, std::move(minority), ranks, areParts };
    };
    // Replicas that are none any more.
    std::map<std::uint64_t, std::map<std::uint64_t, std::vector<Rank>>> classes; // class, bits, ranks
    for (std::size_t i = 0; i < bits.size(); ++i) {
        const auto known = learned.classOf.find(group.members[i].rank);
        if (known != learned.classOf.end())
            classes[known->second][bits[i]].push_back(group.members[i].rank);
    }
    for (const auto& [number, byBits] : classes) {
        if (byBits.size() < 2)
            continue;
        std::size_t all = 0;
        std::size_t most = 0;
        for (const auto& [value, ranks] : byBits) {
            all += ranks.size();
            most = std::max(most, ranks.size());
        }
        std::vector<Rank> minority;
        for (const auto& [value, ranks] : byBits) {
            if (most * 2 <= all || ranks.size() < most)
                minority.insert(minority.end(), ranks.begin(), ranks.end());
        }
        std::sort(minority.begin(), minority.end());
        say(std::move(minority), all, false);
    }
    // Parts of a matrix are drawn by different random numbers.
    if (learned.steps == 0 && group.isMatrix && group.kind == Kind::ParamOrigin) {
        for (std::size_t i = 1; i < bits.size(); ++i) {
            const Member& member = group.members[i];
            const bool isOtherPart = member.shard >= 0 && group.members[0].shard >= 0
                && (member.shard != group.members[0].shard || member.part != group.members[0].part);
            if (isOtherPart && bits[i] == bits[0] && bits[0] != 0)
                say({ group.members[0].rank, member.rank }, bits.size(), true);
        }
    }
    ++learned.steps;
    const bool isLearned = learned.steps >= kLearned;
    learned.classOf.clear();
    for (std::size_t i = 0; i < bits.size(); ++i) {
        const Member& member = group.members[i];
        if (isLearned)
            learned.classOf[member.rank] = bits[i];
        else if (member.part >= 0)
            learned.classOf[member.rank] = bits[i] + static_cast<std::uint64_t>(member.part) * 0x9E3779B97F4A7C15u;
    }
    return found;
}

Expected<std::vector<Replicas::Divergence>> Replicas::judge(store::RunReader& reader, Step step)
{
    std::vector<Divergence> found;
    if (m_groups.empty())
        return found;
    const auto cells = reader.column(step, Stat::Checksum, m_rows);
    if (!cells)
        return tl::unexpected<Error>(cells.error());
    std::vector<std::uint64_t> bits;
    for (const Group& group : m_groups) {
        bits.clear();
        for (const Member& member : group.members) {
            if ((*cells)[member.row].state == series::CellState::Value)
                bits.push_back((*cells)[member.row].identity);
        }
        if (bits.size() < group.members.size())
            continue;
        if (auto divergence = judge(group, m_learned[{ group.kind, group.tensor }], bits)) {
            divergence->step = step;
            found.push_back(std::move(*divergence));
        }
    }
    return found;
}

}
