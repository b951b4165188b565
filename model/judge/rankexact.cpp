// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of a rank that compare with no history: what is not finite, close to overflow, or set by the training.
#include <algorithm>
#include <cmath>
#include <optional>

#include <telltale/judge/rankjudge.h>

namespace telltale::judge {

using series::CellState;

void RankJudge::judgeFinite(const StepColumn& column, std::vector<Sighting>& out)
{
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const CellState state = column.states[i];
        RowState& row = m_rows[i];
        if (state < CellState::Absent)
            continue; // nothing was measured
        const bool isBad = series::isNonFinite(state);
        if (isBad == row.isNonFinite)
            continue;
        row.isNonFinite = isBad;
        m_nonFinite += isBad ? 1 : static_cast<std::size_t>(-1);
        // A mask is made of -Inf from the beginning on, and nothing is wrong with it.
        const bool isMask = state == CellState::NegInf && row.seen == 0 && m_list.rows[i].phase == Phase::Forward;
        if (!isBad || isMask || !isOn(Rule::NonFinite))
            continue;
        Sighting seen = sighting(Rule::NonFinite, i, column.step);
        seen.state = state;
        // A loss scaler tries scales until gradients are not finite, and gives such a step up.
        const Phase phase = m_list.rows[i].phase;
        const bool isScalers = m_lossScale > 1 && (phase == Phase::Gradient || phase == Phase::Backward);
        const bool isNorm = m_lossScale > 1 && m_list.rows[i].role == ScalarRole::GradNorm;
        seen.opens = !isScalers && !isNorm;
        seen.severity = seen.opens ? store::Severity::Critical : store::Severity::Notice;
        out.push_back(seen);
    }
}

void RankJudge::judgeMagnitudes(const StepColumn& column, std::vector<Sighting>& out)
{
    if (!isOn(Rule::Overflow))
        return;
    const double headroom = m_rules.value(Rule::Overflow, 0);
    for (const std::size_t i : m_places.limited) {
        if (i >= column.magnitudes.size())
            break;
        const double limit = m_list.rows[i].limit;
        const auto magnitude = static_cast<double>(column.magnitudes[i]);
        // Gradients are scaled up to there on purpose.
        const Phase phase = m_list.rows[i].phase;
        if (!std::isfinite(magnitude) || phase == Phase::Gradient || phase == Phase::Backward)
            continue;
        RowState& row = m_rows[i];
        const bool isClose = magnitude * headroom > limit;
        if (isClose && !row.isTold) {
            Sighting seen = sighting(Rule::Overflow, i, column.step);
            seen.value = magnitude;
            seen.expected = limit;
            out.push_back(seen);
        }
        row.isTold = isClose || (row.isTold && magnitude * headroom * 2 > limit);
    }
}

void RankJudge::judgeScalars(const StepColumn& column, std::vector<Sighting>& out)
{
    std::optional<double> highest;
    for (const std::size_t i : m_places.tuning) {
        const Watched& watched = m_list.rows[i];
        if (column.states[i] != CellState::Value)
            continue;
        const auto value = static_cast<double>(column.values[i]);
        if (watched.role == ScalarRole::LearningRate) {
            Rate& rate = m_rates[watched.tensor];
            if (rate.last > 0 && value > rate.last * m_rules.value(Rule::LearningRate, 0) && isOn(Rule::LearningRate)) {
                Sighting seen = sighting(Rule::LearningRate, i, column.step);
                seen.value = value;
                seen.expected = rate.last;
                seen.opens = value > rate.highest * m_rules.value(Rule::LearningRate, 0);
                seen.severity = seen.opens ? store::Severity::Warning : store::Severity::Notice;
                out.push_back(seen);
            }
            rate = { std::max(0.0, value), std::max(rate.highest, value) };
            highest = std::max(highest.value_or(0), rate.last);
        } else {
            if (m_lossScale > 0 && value < m_lossScale && isOn(Rule::LossScale)) {
                m_scaleFalls.push_back(column.step);
                while (column.step.value - m_scaleFalls.front().value
                    > static_cast<std::int64_t>(m_rules.value(Rule::LossScale, 1)))
                    m_scaleFalls.pop_front();
                const bool isTooLow = value < 1;
                Sighting seen = sighting(Rule::LossScale, i, column.step);
                seen.value = value;
                seen.expected = m_lossScale;
                seen.lasted = static_cast<std::int64_t>(m_scaleFalls.size());
                seen.opens = isTooLow || static_cast<double>(m_scaleFalls.size()) >= m_rules.value(Rule::LossScale, 0);
                if (seen.opens)
                    seen.moment.step = m_scaleFalls.front();
                seen.severity = isTooLow ? store::Severity::Critical
                    : seen.opens         ? store::Severity::Warning
                                         : store::Severity::Notice;
                out.push_back(seen);
            }
            // It grows by doubling: a larger jump is not the scaler's.
            if (m_lossScale > 0 && value > 2 * m_lossScale && isOn(Rule::LossScale)) {
                Sighting seen = sighting(Rule::LossScale, i, column.step);
                seen.value = value;
                seen.expected = m_lossScale;
                out.push_back(seen);
            }
            m_lossScale = value;
        }
    }
    m_learningRate = highest.value_or(m_learningRate);
    m_highestRate = std::max(m_highestRate, m_learningRate);
}

}
