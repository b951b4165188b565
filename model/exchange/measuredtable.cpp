// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/measuredtable.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

namespace telltale::exchange {
namespace {

using series::CellState;

/// What begins the name of who brought a run of another tool: its statistics may be doubles.
constexpr std::string_view kImportedAgent = "import/";
constexpr float kWholeFloats = 16'777'216.0f; ///< from here on a float is no longer every whole number

/// The values of one row that a float does not hold.
Expected<void> readExact(store::RunReader& reader, SeriesId row, ValueBlock& block, std::size_t place)
{
    return reader.raw({ row }, block.stat, block.steps, [&block, place](const series::RawValue& value) {
        block.wide[block.at(place, value.step)] = value.value;
        return true;
    });
}

Expected<ValueBlock> readIdentities(store::RunReader& reader, const MeasuredTable& table, Stat stat, StepRange steps)
{
    ValueBlock block { stat, steps, {}, {}, {}, {} };
    const std::size_t cells = table.series.size() * static_cast<std::size_t>(steps.count());
    block.identities.resize(cells);
    block.states.resize(cells);
    for (std::size_t place = 0; place < table.series.size(); ++place) {
        auto read = reader.raw({ table.series[place]->id }, stat, steps, [&](const series::RawValue& value) {
            block.identities[block.at(place, value.step)] = value.identity;
            block.states[block.at(place, value.step)] = value.state;
            return true;
        });
        if (!read)
            return tl::unexpected<Error>(std::move(read.error()));
    }
    return block;
}

Expected<ValueBlock> readValues(store::RunReader& reader, const MeasuredTable& table, const series::HeatQuery& query)
{
    auto read = reader.heatmap(query);
    if (!read)
        return tl::unexpected<Error>(std::move(read.error()));
    ValueBlock block { query.stat, query.range, std::move(read->values), {}, {}, std::move(read->states) };
    const bool isNarrow = columnType(query.stat) == ColumnType::F32;
    if (isNarrow && !table.source->agentId.starts_with(kImportedAgent))
        return block;
    block.wide.assign(block.narrow.begin(), block.narrow.end());
    const auto columns = static_cast<std::size_t>(query.range.count());
    for (std::size_t place = 0; place < table.series.size(); ++place) {
        const float* first = block.narrow.data() + place * columns;
        const bool isExact = !isNarrow && isWhole(query.stat)
            && std::none_of(first, first + columns, [](float value) { return value >= kWholeFloats; });
        if (isExact)
            continue;
        if (auto ok = readExact(reader, table.series[place]->id, block, place); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    block.narrow.clear();
    return block;
}

}

double ValueBlock::notFinite(CellState state)
{
    switch (state) {
    case CellState::PosInf:
        return std::numeric_limits<double>::infinity();
    case CellState::NegInf:
        return -std::numeric_limits<double>::infinity();
    default:
        return std::nan("");
    }
}

bool ValueBlock::hasAny() const
{
    return std::any_of(states.begin(), states.end(), [](CellState state) { return state > CellState::Gap; });
}

std::vector<MeasuredTable> measuredTables(
    const store::Catalog& catalog, const std::function<bool(const store::SeriesInfo&)>& isChosen, std::size_t most)
{
    std::map<GroupId, const store::GroupInfo*> groups;
    for (const store::GroupInfo& group : catalog.groups)
        groups.emplace(group.id, &group);
    std::map<SourceId, const store::SourceInfo*> sources;
    for (const store::SourceInfo& source : catalog.sources)
        sources.emplace(source.id, &source);
    using Key = std::tuple<int, Rank, SourceId, Kind, std::vector<Stat>, std::vector<double>>;
    std::map<Key, std::vector<MeasuredTable>> found;
    for (const store::SeriesInfo& info : catalog.series) {
        const auto group = groups.find(info.group);
        const auto source = sources.find(info.source);
        if (group == groups.end() || source == sources.end() || !isChosen(info))
            continue;
        const auto& edges = group->second->edges;
        std::vector<MeasuredTable>& parts = found[{ source->second->attempt, source->second->rank, info.source,
            info.kind, group->second->stats, edges ? *edges : std::vector<double>() }];
        if (parts.empty() || parts.back().series.size() >= most)
            parts.push_back({ source->second, info.kind, group->second->stats, edges, {} });
        parts.back().series.push_back(&info);
    }
    std::vector<MeasuredTable> tables;
    for (auto& [key, parts] : found)
        std::move(parts.begin(), parts.end(), std::back_inserter(tables));
    return tables;
}

Expected<std::vector<ValueBlock>> readBlocks(store::RunReader& reader, const MeasuredTable& table, StepRange steps)
{
    std::vector<ValueBlock> blocks;
    if (table.edges)
        return blocks;
    series::HeatQuery query;
    query.range = steps;
    query.pixels = static_cast<int>(steps.count());
    for (const store::SeriesInfo* info : table.series)
        query.rows.push_back({ info->id });
    for (const Stat stat : table.stats) {
        query.stat = stat;
        auto block = isIdentity(stat) ? readIdentities(reader, table, stat, steps) : readValues(reader, table, query);
        if (!block)
            return tl::unexpected<Error>(std::move(block.error()));
        blocks.push_back(std::move(*block));
    }
    return blocks;
}

void settleZeros(const MeasuredTable& table, std::vector<ValueBlock>& blocks)
{
    const auto blockOf = [&blocks](Stat stat) -> ValueBlock* {
        const auto found
            = std::find_if(blocks.begin(), blocks.end(), [stat](const ValueBlock& one) { return one.stat == stat; });
        return found == blocks.end() ? nullptr : &*found;
    };
    ValueBlock* zeros = blockOf(Stat::Zeros);
    if (!zeros)
        return;
    const auto columns = static_cast<std::size_t>(zeros->steps.count());
    for (std::size_t at = 0; at < zeros->states.size(); ++at) {
        if (!series::isNonFinite(zeros->states[at]))
            continue;
        series::CellValue cell { zeros->value(at), zeros->states[at], 0, 0, 0 };
        for (const Stat stat : { Stat::Nans, Stat::PosInfs, Stat::NegInfs }) {
            if (const ValueBlock* counts = blockOf(stat); counts && counts->hasValue(at))
                cell.nans += static_cast<std::uint64_t>(counts->value(at));
        }
        zeros->states[at] = series::readoutState(Stat::Zeros, cell, table.series[at / columns]->desc->numel);
    }
}

}
