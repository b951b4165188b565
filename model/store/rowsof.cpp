// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/rowsof.h>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace telltale::store {

namespace {

series::SeriesKey keyOf(const SeriesInfo& info)
{
    const SeriesDesc& desc = *info.desc;
    return { desc.name, desc.slot.identity(), desc.microStep, desc.vppStage, desc.definition, desc.form };
}

}

std::shared_ptr<const series::RowIndex> indexRows(const Catalog& catalog, const Catalog* earlier)
{
    const std::size_t known = earlier ? earlier->series.size() : 0;
    if (earlier && known == catalog.series.size())
        return earlier->rows;
    std::unordered_map<SourceId, const SourceInfo*> sources;
    for (const SourceInfo& source : catalog.sources)
        sources.emplace(source.id, &source);
    std::unordered_map<GroupId, std::uint32_t> stats;
    for (const GroupInfo& group : catalog.groups)
        stats.emplace(group.id, statBits(group));
    const auto measured = [&](std::size_t added) -> series::RowIndex::Measured {
        const SeriesInfo& info = catalog.series[known + added];
        const auto source = sources.find(info.source);
        const auto group = stats.find(info.group);
        return { keyOf(info), info.id, info.kind, source == sources.end() ? Rank {} : source->second->rank,
            source == sources.end() ? 0 : source->second->attempt, group == stats.end() ? 0 : group->second };
    };
    return std::make_shared<const series::RowIndex>(
        earlier ? rowsOf(*earlier) : series::RowIndex(), catalog.series.size() - known, measured);
}

std::uint32_t statBits(const GroupInfo& group)
{
    return series::statBits(group.stats, group.edges ? *group.edges : std::span<const double>());
}

std::shared_ptr<const std::vector<double>> edgesOf(const Catalog& catalog, const series::RowIndex::Row& row)
{
    const GroupId id = catalog.series[row.newest].group;
    const auto group = std::lower_bound(catalog.groups.begin(), catalog.groups.end(), id,
        [](const GroupInfo& info, GroupId wanted) { return info.id < wanted; });
    return group == catalog.groups.end() || group->id != id ? nullptr : group->edges;
}

Beside statisticsBeside(const Catalog& catalog, const SeriesInfo& histogram, Rank rank)
{
    const series::RowIndex& index = rowsOf(catalog);
    const series::SeriesKey key = keyOf(histogram);
    for (const series::RowIndex::Row* row : index.named(key.name)) {
        const series::SeriesKey& other = index.key(*row);
        if (row->kind != histogram.kind || row->rank != rank || other.slot != key.slot
            || other.microStep != key.microStep || other.chunk != key.chunk)
            continue;
        for (const Stat stat : { Stat::Norm, Stat::Mean, Stat::Max, Stat::Min, Stat::Zeros }) {
            if (row->answers(stat))
                return { row, stat };
        }
    }
    return {};
}

const series::RowIndex& rowsOf(const Catalog& catalog)
{
    static const series::RowIndex none;
    return catalog.rows ? *catalog.rows : none;
}

}
