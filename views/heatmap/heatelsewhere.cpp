// SPDX-License-Identifier: GPL-3.0-or-later
#include "heatelsewhere.h"

#include <algorithm>

namespace telltale::views {

std::vector<Rank> HeatElsewhere::at(Step step) const
{
    if (columns.empty() || !range.contains(step))
        return {};
    const std::int64_t column
        = (step.value - range.first.value) * static_cast<std::int64_t>(columns.size()) / range.count();
    return columns[static_cast<std::size_t>(column)];
}

Expected<HeatElsewhere> readElsewhere(
    store::RunReader& reader, const HeatRequest& request, const series::CancelToken& cancel)
{
    HeatElsewhere elsewhere;
    elsewhere.range = request.range;
    if (request.axes != HeatAxes::ModuleByStep || request.range.isEmpty() || request.pixels <= 0)
        return elsewhere;
    for (const Rank rank : ranksOf(*request.catalog, request.kind)) {
        if (rank == request.rank)
            continue;
        series::HeatQuery query;
        query.stat = request.stat;
        query.range = request.range;
        query.pixels = static_cast<int>(std::min<std::int64_t>(request.pixels, request.range.count()));
        for (Row& row : buildRows(*request.catalog, { request.kind, rank, request.filter, {}, request.stat }))
            query.rows.push_back(std::move(row.attempts));
        if (query.rows.empty())
            continue;
        const auto found = reader.heatmap(query, cancel);
        if (!found)
            return tl::unexpected(found.error());
        const auto columns = static_cast<std::size_t>(found->columns);
        elsewhere.columns.resize(std::max(elsewhere.columns.size(), columns));
        for (std::size_t i = 0; i < found->states.size(); ++i) {
            std::vector<Rank>& ranks = elsewhere.columns[i % columns];
            if (found->states[i] >= series::CellState::NegInf && (ranks.empty() || ranks.back() != rank))
                ranks.push_back(rank);
        }
    }
    return elsewhere;
}

}
