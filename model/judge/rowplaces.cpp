// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/rowplaces.h>

#include <numeric>

namespace telltale::judge {

RowPlaces::RowPlaces(const Watchlist& list)
    : m_ends(list.rollups.size())
{
    rollups.reserve(list.rows.size());
    kinds.reserve(list.rows.size());
    for (std::size_t i = 0; i < list.rows.size(); ++i) {
        const Watched& row = list.rows[i];
        const auto take = [i](bool isOne, Rows& rows) {
            if (isOne)
                rows.push_back(static_cast<std::uint32_t>(i));
        };
        take(row.role == ScalarRole::LearningRate || row.role == ScalarRole::LossScale, tuning);
        take(row.limit > 0, limited);
        take(isParameter(row.kind) && row.isMatrix, matrices);
        take(row.stat == Stat::Entropy, entropies);
        take(row.extra == Stat::MaxLogit, logits);
        take(row.extra == Stat::Zeros, outputs);
        take(row.extra == Stat::Mean && row.rollup >= 0, moments);
        rollups.push_back(row.rollup);
        kinds.push_back(row.kind);
        if (row.rollup >= 0)
            ++m_ends[static_cast<std::size_t>(row.rollup)];
    }
    std::partial_sum(m_ends.begin(), m_ends.end(), m_ends.begin());
    m_members.resize(m_ends.empty() ? 0 : m_ends.back());
    std::vector<std::size_t> next(m_ends.size(), 0);
    for (std::size_t i = 1; i < next.size(); ++i)
        next[i] = m_ends[i - 1];
    for (std::size_t i = 0; i < list.rows.size(); ++i) {
        if (rollups[i] >= 0)
            m_members[next[static_cast<std::size_t>(rollups[i])]++] = static_cast<std::uint32_t>(i);
    }
}

std::span<const std::uint32_t> RowPlaces::membersOf(std::int32_t rollup) const
{
    const auto at = static_cast<std::size_t>(rollup);
    const std::size_t begin = at == 0 ? 0 : m_ends[at - 1];
    return std::span(m_members).subspan(begin, m_ends[at] - begin);
}

}
