// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/rankjudge.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace telltale::judge {
namespace {

using series::CellState;

constexpr float kSlow = 0.05F; ///< of slow averages
constexpr std::size_t kStepsKept = 1024;

}

void RankJudge::take(Watchlist list)
{
    std::map<std::pair<Kind, std::uint32_t>, RowState> rows;
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        rows.emplace(std::pair(m_list.rows[i].kind, m_list.rows[i].tensor), m_rows[i]);
    std::map<std::pair<Kind, std::string>, RollupState> rollups;
    for (std::size_t i = 0; i < m_rollups.size(); ++i)
        rollups.emplace(std::pair(m_list.rollups[i].kind, m_list.rollups[i].block), m_rollups[i]);
    m_rows.assign(list.rows.size(), {});
    m_nonFinite = 0;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        if (const auto known = rows.find({ list.rows[i].kind, list.rows[i].tensor }); known != rows.end())
            m_rows[i] = known->second;
        m_nonFinite += m_rows[i].isNonFinite ? 1 : 0;
    }
    std::vector<RollupState> newer(list.rollups.size());
    for (std::size_t i = 0; i < newer.size(); ++i) {
        const Rollup& rollup = list.rollups[i];
        const auto known = rollups.find({ rollup.kind, rollup.block });
        if (known == rollups.end())
            continue;
        newer[i] = known->second;
        newer[i].first.reset(); // it names a row of the former list
        newer[i].growing.reset();
        // A sum over other tensors is another quantity.
        const auto before = std::find_if(m_list.rollups.begin(), m_list.rollups.end(),
            [&](const Rollup& one) { return one.kind == rollup.kind && one.block == rollup.block; });
        if (before->members != rollup.members)
            newer[i].baseline.rearm(), newer[i].growth = {};
    }
    m_rollups = std::move(newer);
    const auto logits = knownLogits();
    m_list = std::move(list);
    m_places = RowPlaces(m_list);
    takeLogits(logits);
    pairUp(m_stale, Kind::GradReduced, Kind::ExpAvgSq);
    pairUp(m_updates, Kind::Update, Kind::ParamOrigin);
}

std::optional<double> RankJudge::distance(std::size_t row, float value) const
{
    const RowState& state = m_rows[row];
    if (state.seen < kKnown || !(value > 0))
        return {};
    return std::log(static_cast<double>(value)) - static_cast<double>(state.level);
}

Step RankJudge::stepBefore(int steps) const
{
    const auto back = std::min(static_cast<std::size_t>(steps), m_steps.size() - 1);
    return m_steps[m_steps.size() - 1 - back];
}

Sighting RankJudge::sighting(Rule rule, std::size_t row, Step step) const
{
    const Watched& watched = m_list.rows[row];
    Sighting seen;
    seen.rule = rule;
    seen.moment = { step, watched.phase, watched.place };
    seen.row = static_cast<std::int32_t>(row);
    return seen;
}

void RankJudge::judge(const StepColumn& column, std::vector<Sighting>& out)
{
    m_steps.push_back(column.step);
    if (m_steps.size() > kStepsKept)
        m_steps.pop_front();
    out.clear();
    judgeScalars(column, out);
    judgeFinite(column, out);
    judgeMagnitudes(column, out);
    judgeRollups(column, out);
    judgeGrowth(column, out);
    judgeStill(column, out);
    judgeDrift(column, out);
    judgeEntropies(column, out);
    judgeLogits(column, out);
    judgeStaleness(column, out);
    judgeUpdates(column, out);
    judgeDead(column, out);
    learn(column);
    std::stable_sort(out.begin(), out.end(), [](const Sighting& a, const Sighting& b) { return a.moment < b.moment; });
}

void RankJudge::learn(const StepColumn& column)
{
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        if (column.states[i] != CellState::Value)
            continue;
        RowState& row = m_rows[i];
        const float value = column.values[i];
        const std::int32_t rollup = m_places.rollups[i];
        const bool isHeld = (row.low > 0 && !isParameter(m_places.kinds[i]))
            || (rollup >= 0 && std::find(m_far.begin(), m_far.end(), rollup) != m_far.end());
        if (value > 0 && !isHeld) {
            const float y = std::log(value);
            // The first values count as much as all before them.
            const float weight = std::max(kSlow, 1.0F / static_cast<float>(row.seen + 1));
            row.level += (y - row.level) * weight;
        }
        row.last = value;
        countUp(row.seen);
    }
}

}
