// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/heatrows.h>

#include <algorithm>

namespace telltale::analysis {

Expected<series::HeatResult> readHeat(store::RunReader& reader, const series::RowIndex::Rows& rows, Stat stat,
    StepRange range, std::int64_t columns, const series::CancelToken& cancel)
{
    series::HeatQuery query;
    query.stat = stat;
    query.isScan = true;
    query.range = range;
    query.pixels = static_cast<int>(std::min(columns, range.count()));
    for (const series::RowIndex::Row* row : rows)
        query.rows.push_back(row->attempts);
    return reader.heatmap(query, cancel);
}

bool isNonFinite(const series::HeatResult& heat, int row, int column)
{
    return series::isNonFinite(heat.states[static_cast<std::size_t>(row) * static_cast<std::size_t>(heat.columns)
        + static_cast<std::size_t>(column)]);
}

}
