// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/selection.h>

#include <algorithm>
#include <set>

#include <telltale/series/rowindex.h>
#include <telltale/store/rowsof.h>

namespace telltale::exchange {
namespace {

template <typename Value> bool isAmong(const std::vector<Value>& some, Value one)
{
    return some.empty() || std::find(some.begin(), some.end(), one) != some.end();
}

}

bool Selection::wants(Kind kind) const
{
    return isAmong(kinds, kind);
}

bool Selection::wants(Stat stat) const
{
    return isAmong(stats, stat);
}

bool Selection::wants(Rank rank) const
{
    return isAmong(ranks, rank);
}

bool Selection::wantsAnyOf(const std::vector<Stat>& some) const
{
    return std::any_of(some.begin(), some.end(), [this](Stat stat) { return wants(stat); });
}

StepRange Selection::wanted(StepRange of) const
{
    return steps ? StepRange { std::max(of.first, steps->first), std::min(of.last, steps->last) } : of;
}

std::vector<MeasuredTable> chosenTables(const store::Catalog& catalog, const Selection& selection, std::size_t most)
{
    const series::RowIndex& index = store::rowsOf(catalog);
    const std::vector<bool> hits = index.matching(selection.modules);
    std::set<SeriesId> chosen;
    for (const series::RowIndex::Row& row : index.rows()) {
        if ((selection.modules.matchesAll() || hits[row.tensor]) && selection.wants(row.kind)
            && selection.wants(row.rank))
            chosen.insert(row.attempts.series.begin(), row.attempts.series.end());
    }
    std::vector<MeasuredTable> tables = measuredTables(
        catalog, [&chosen](const store::SeriesInfo& series) { return chosen.contains(series.id); }, most);
    std::erase_if(tables, [&selection](const MeasuredTable& table) { return !selection.wantsAnyOf(table.stats); });
    return tables;
}

Expected<std::vector<ValueBlock>> readChosen(
    store::RunReader& reader, const MeasuredTable& table, const Selection& selection, StepRange steps)
{
    MeasuredTable read = table;
    std::erase_if(read.stats, [&](Stat stat) {
        return !selection.wants(stat)
            && !(selection.wants(Stat::Zeros) && factsOf(stat).nonFinite == NonFinite::Counts);
    });
    auto blocks = readBlocks(reader, read, steps);
    if (!blocks)
        return blocks;
    settleZeros(read, *blocks);
    std::erase_if(*blocks, [&selection](const ValueBlock& block) { return !selection.wants(block.stat); });
    return blocks;
}

}
