// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/rowsof.h>

#include <unordered_map>
#include <utility>

namespace telltale::store {

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
        stats.emplace(group.id, series::statBits(group.stats));
    const auto measured = [&](std::size_t added) -> series::RowIndex::Measured {
        const SeriesInfo& info = catalog.series[known + added];
        const auto source = sources.find(info.source);
        const auto group = stats.find(info.group);
        return { { info.desc->name, info.desc->slot.identity(), info.desc->microStep, info.desc->vppStage,
                     info.desc->definition, info.desc->form },
            info.id, info.kind, source == sources.end() ? Rank {} : source->second->rank,
            source == sources.end() ? 0 : source->second->attempt, group == stats.end() ? 0 : group->second };
    };
    return std::make_shared<const series::RowIndex>(
        earlier ? rowsOf(*earlier) : series::RowIndex(), catalog.series.size() - known, measured);
}

const series::RowIndex& rowsOf(const Catalog& catalog)
{
    static const series::RowIndex none;
    return catalog.rows ? *catalog.rows : none;
}

}
