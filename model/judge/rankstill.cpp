// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of a rank that look at each tensor by itself, over some steps: what stops, drifts or collapses.
#include <array>
#include <cmath>
#include <optional>

#include <telltale/judge/rankjudge.h>

namespace telltale::judge {
namespace {

using series::CellState;

/// Whose zeros mean that something has died: what others of its kind are not.
bool mayVanish(const Watched& row)
{
    return row.kind == Kind::Actv || row.kind == Kind::ActvGrad || row.kind == Kind::GradReduced
        || row.kind == Kind::GradUnreduced;
}

}

void RankJudge::judgeStill(const StepColumn& column, std::vector<Sighting>& out)
{
    // By kind: rows that are zero or do not change, and all.
    struct Share {
        int still = 0;
        int zero = 0;
        int all = 0;
    };
    std::array<Share, kKindCount> shares {};
    const auto frozenAfter = static_cast<int>(m_rules.value(Rule::Frozen, 0));
    const auto zeroAfter = static_cast<int>(m_rules.value(Rule::Vanished, 0));
    // What a step did not use has no gradient in it, and does not change: an expert that was given no token. Of its
    // module nothing was measured, while something was of others.
    std::optional<bool> isForwardKnown;
    const auto isIdle = [&](std::size_t row) {
        const std::int32_t use = m_list.rows[row].use;
        if (use < 0 || column.states[static_cast<std::size_t>(use)] >= CellState::Absent)
            return false;
        for (std::size_t i = 0; !isForwardKnown && i < m_rows.size(); ++i) {
            if (m_places.kinds[i] == Kind::Actv && column.states[i] >= CellState::Absent)
                isForwardKnown = true;
        }
        isForwardKnown = isForwardKnown.value_or(false);
        return *isForwardKnown;
    };
    // A schedule that ends near zero leaves weights as they are: their updates are less than a last digit.
    constexpr double kResting = 0.01; ///< of the highest rate
    const bool isResting = m_learningRate < kResting * m_highestRate;
    m_still.clear();
    for (std::size_t i = 0; i < m_rows.size();) {
        const Kind kind = m_places.kinds[i];
        const bool mayStop = isResting && isParameter(kind);
        Share share = shares[static_cast<std::size_t>(kind)]; // here, while rows of one kind follow each other
        for (; i < m_rows.size() && m_places.kinds[i] == kind; ++i) {
            if (column.states[i] != CellState::Value)
                continue;
            RowState& row = m_rows[i];
            bool isZero = column.values[i] == 0;
            bool isSame = row.seen > 0 && column.values[i] == row.last;
            if ((isZero || isSame) && (mayStop || isIdle(i)))
                isZero = isSame = false;
            ++share.all;
            share.zero += isZero ? 1 : 0;
            share.still += isSame ? 1 : 0;
            if (isSame)
                countUp(row.same);
            else
                row.same = 0, countUp(row.moved);
            if (isZero)
                countUp(row.zeros);
            else
                row.zeros = 0;
            if (row.same == frozenAfter || row.zeros == zeroAfter)
                m_still.push_back(i);
        }
        shares[static_cast<std::size_t>(kind)] = share;
    }
    for (const std::size_t i : m_still) {
        RowState& row = m_rows[i];
        const Watched& watched = m_list.rows[i];
        const Share& share = shares[static_cast<std::size_t>(watched.kind)];
        const auto say = [&](Rule rule, int lasted) {
            Sighting seen = sighting(rule, i, stepBefore(lasted - 1));
            seen.lasted = lasted;
            if (watched.kind == Kind::Actv) // what comes after it sees nothing of the input
                seen.severity = store::Severity::Critical;
            seen.expected
                = rule == Rule::Frozen ? static_cast<double>(row.last) : std::exp(static_cast<double>(row.level));
            out.push_back(seen);
        };
        if (isOn(Rule::Frozen) && isParameter(watched.kind) && row.same == frozenAfter && row.moved >= kKnown
            && share.still * 2 <= share.all && column.values[i] != 0)
            say(Rule::Frozen, frozenAfter);
        if (isOn(Rule::Vanished) && mayVanish(watched) && row.zeros == zeroAfter && row.seen >= kKnown + zeroAfter
            && share.zero * 2 <= share.all)
            say(Rule::Vanished, zeroAfter);
    }
}

void RankJudge::judgeDrift(const StepColumn& column, std::vector<Sighting>& out)
{
    constexpr int kSettled = 100; ///< steps that weights need to find their size
    if (!isOn(Rule::Drift))
        return;
    const double least = std::log(m_rules.value(Rule::Drift, 0));
    const auto lasting = static_cast<int>(m_rules.value(Rule::Drift, 1));
    // What is no matrix often begins at 0, and grows far.
    for (const std::size_t i : m_places.matrices) {
        if (column.states[i] != CellState::Value)
            continue;
        RowState& row = m_rows[i];
        const auto far = distance(i, column.values[i]);
        if (row.seen < kSettled || !far || std::abs(*far) < least) {
            row.low = 0;
            continue;
        }
        countUp(row.low);
        if (row.low != lasting)
            continue;
        Sighting seen = sighting(Rule::Drift, i, stepBefore(lasting - 1));
        seen.value = static_cast<double>(column.values[i]);
        seen.expected = std::exp(static_cast<double>(row.level));
        seen.lasted = lasting;
        out.push_back(seen);
    }
}

void RankJudge::judgeEntropies(const StepColumn& column, std::vector<Sighting>& out)
{
    if (!isOn(Rule::EntropyCollapse))
        return;
    const double share = m_rules.value(Rule::EntropyCollapse, 0);
    const auto lasting = static_cast<int>(m_rules.value(Rule::EntropyCollapse, 1));
    for (const std::size_t i : m_places.entropies) {
        if (column.states[i] != CellState::Value)
            continue;
        RowState& row = m_rows[i];
        const auto entropy = static_cast<double>(column.values[i]);
        const double before = std::exp(static_cast<double>(row.level));
        if (row.seen < 2 * kKnown || entropy >= share * before) {
            row.low = 0;
            continue;
        }
        countUp(row.low);
        if (row.low != lasting)
            continue;
        Sighting seen = sighting(Rule::EntropyCollapse, i, stepBefore(lasting - 1));
        seen.value = entropy;
        seen.expected = before;
        if (entropy < before / 100) // nothing is left to choose from
            seen.severity = store::Severity::Critical;
        seen.lasted = lasting;
        out.push_back(seen);
    }
}

}
