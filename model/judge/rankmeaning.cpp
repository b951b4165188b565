// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of a rank that know what a value means.
#include <algorithm>
#include <cmath>

#include <telltale/judge/rankjudge.h>

namespace telltale::judge {
namespace {

using series::CellState;

constexpr int kSettledSteps = 100; ///< that a training needs to find its sizes

}

void RankJudge::pairUp(std::vector<Pair>& pairs, Kind upper, Kind lower) const
{
    std::vector<Pair> newer;
    for (std::size_t i = 0; i < m_list.rollups.size(); ++i) {
        const Rollup& one = m_list.rollups[i];
        const auto other = std::find_if(m_list.rollups.begin(), m_list.rollups.end(), [&](const Rollup& rollup) {
            return rollup.kind == lower && rollup.block == one.block && rollup.members == one.members;
        });
        if (one.kind != upper || other == m_list.rollups.end())
            continue;
        const auto known
            = std::find_if(pairs.begin(), pairs.end(), [&one](const Pair& pair) { return pair.block == one.block; });
        Pair pair = known == pairs.end() ? Pair {} : *known;
        pair.block = one.block;
        pair.upper = static_cast<std::int32_t>(i);
        pair.lower = static_cast<std::int32_t>(other - m_list.rollups.begin());
        newer.push_back(pair);
    }
    pairs = std::move(newer);
}

void RankJudge::takeRatio(Pair& pair, double log, bool isFar)
{
    pair.far = isFar ? pair.far + 1 : 0;
    ++pair.seen;
    if (!isFar)
        pair.level += (log - pair.level) * std::max(0.05, 1.0 / pair.seen);
    if (pair.seen >= 16)
        pair.highest = std::max(pair.highest, pair.level);
}

void RankJudge::judgeStaleness(const StepColumn& column, std::vector<Sighting>& out)
{
    if (m_stale.empty() || column.extras.empty() || !isOn(Rule::Staleness))
        return;
    // Of a roll-up the sum of second moments, which a mean times its elements is.
    std::vector<double> sums(m_rollups.size(), 0);
    for (const std::size_t i : m_places.moments)
        sums[static_cast<std::size_t>(m_places.rollups[i])]
            += static_cast<double>(column.extras[i]) * static_cast<double>(m_list.rows[i].numel);
    for (Pair& pair : m_stale) {
        const auto gradient = static_cast<double>(m_rollupValues[static_cast<std::size_t>(pair.upper)]);
        const double second = sums[static_cast<std::size_t>(pair.lower)];
        if (!(gradient > 0) || !(second > 0) || !std::isfinite(gradient))
            continue;
        const double log = 2 * std::log(gradient) - std::log(second);
        const bool isFar = pair.seen >= kSettledSteps && log >= std::log(m_rules.value(Rule::Staleness, 0));
        takeRatio(pair, log, isFar);
        if (pair.far != 1)
            continue;
        const std::int32_t source = sourceIn(pair.lower, column);
        if (source < 0)
            continue;
        Sighting seen = sighting(Rule::Staleness, static_cast<std::size_t>(source), column.step);
        seen.rollup = pair.upper;
        seen.value = std::exp(log);
        seen.expected = std::exp(pair.level);
        out.push_back(seen);
    }
}

void RankJudge::judgeUpdates(const StepColumn& column, std::vector<Sighting>& out)
{
    if (m_learningRate <= 0 || !isOn(Rule::UpdateRatio))
        return;
    for (Pair& pair : m_updates) {
        const auto update = static_cast<double>(m_rollupValues[static_cast<std::size_t>(pair.upper)]);
        const auto weight = static_cast<double>(m_rollupValues[static_cast<std::size_t>(pair.lower)]);
        const double ratio = m_learningRate * update / weight;
        if (!(ratio > 0) || !std::isfinite(ratio))
            continue;
        const bool isFar = pair.seen >= kSettledSteps && ratio >= m_rules.value(Rule::UpdateRatio, 0)
            && std::log(ratio) >= pair.highest + std::log(m_rules.value(Rule::UpdateRatio, 1));
        takeRatio(pair, std::log(ratio), isFar);
        const auto lasting = static_cast<int>(m_rules.value(Rule::UpdateRatio, 2));
        if (pair.far != lasting)
            continue;
        const std::int32_t source = sourceIn(pair.upper, column);
        if (source < 0)
            continue;
        Sighting seen = sighting(Rule::UpdateRatio, static_cast<std::size_t>(source), stepBefore(lasting - 1));
        seen.rollup = pair.upper;
        seen.value = ratio;
        seen.expected = std::exp(pair.highest);
        out.push_back(seen);
    }
}

void RankJudge::judgeDead(const StepColumn& column, std::vector<Sighting>& out)
{
    constexpr float kAlive = 0.8F; ///< a share of zeros that is none of the rule's yet
    if (column.extras.empty() || !isOn(Rule::DeadUnits))
        return;
    const double least = m_rules.value(Rule::DeadUnits, 0);
    const auto lasting = static_cast<int>(m_rules.value(Rule::DeadUnits, 1));
    for (const std::size_t i : m_places.outputs) {
        if (column.states[i] != CellState::Value)
            continue;
        RowState& row = m_rows[i];
        const float share = column.extras[i];
        if (!(static_cast<double>(share) >= least)) {
            row.low = 0;
            if (share >= 0)
                row.share += (share - row.share) * std::max(0.05F, 1.0F / static_cast<float>(row.seen + 1));
            continue;
        }
        if (row.low < kSettledSteps * 100)
            ++row.low;
        if (row.low != lasting || row.seen < kSettledSteps || row.share > kAlive)
            continue;
        Sighting seen = sighting(Rule::DeadUnits, i, stepBefore(lasting - 1));
        seen.value = static_cast<double>(share);
        seen.expected = static_cast<double>(row.share);
        seen.lasted = lasting;
        out.push_back(seen);
    }
}

}
