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
constexpr int kKnown = 16; ///< values before a row's average means anything
constexpr std::size_t kStepsKept = 1024;

template <typename Number> void countUp(Number& number)
{
    if (number < std::numeric_limits<Number>::max())
        ++number;
}

/// What becomes small as a training goes well.
bool mayFall(Kind kind)
{
    return kind == Kind::Scalar || kind == Kind::ActvGrad || kind == Kind::GradReduced || kind == Kind::GradUnreduced
        || kind == Kind::ExpAvg || kind == Kind::ExpAvgSq || kind == Kind::Update;
}

constexpr double kFindingFactor = 10; ///< what counts of gradients while a training finds its sizes

/// Whose zeros mean that something has died: what others of its kind are not.
bool mayVanish(const Watched& row)
{
    return row.kind == Kind::Actv || row.kind == Kind::ActvGrad || row.kind == Kind::GradReduced
        || row.kind == Kind::GradUnreduced;
}

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
    for (const std::size_t i : m_places.tuning) {
        const Watched& watched = m_list.rows[i];
        if (column.states[i] != CellState::Value)
            continue;
        const auto value = static_cast<double>(column.values[i]);
        if (watched.role == ScalarRole::LearningRate) {
            if (m_learningRate > 0 && value > m_learningRate * m_rules.value(Rule::LearningRate, 0)
                && isOn(Rule::LearningRate)) {
                Sighting seen = sighting(Rule::LearningRate, i, column.step);
                seen.value = value;
                seen.expected = m_learningRate;
                seen.opens = value > m_highestRate * m_rules.value(Rule::LearningRate, 0);
                seen.severity = seen.opens ? store::Severity::Warning : store::Severity::Notice;
                out.push_back(seen);
            }
            m_learningRate = std::max(0.0, value);
            m_highestRate = std::max(m_highestRate, value);
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
}

std::int32_t RankJudge::sourceIn(std::int32_t rollup, const StepColumn& column) const
{
    double farthest = 0;
    for (int pass = 0; pass < 2; ++pass) {
        std::int32_t best = -1;
        for (const std::size_t i : m_places.membersOf(rollup)) {
            if (column.states[i] != CellState::Value)
                continue;
            const double far = std::abs(distance(i, column.values[i]).value_or(0));
            // The first of those that are about as far as the farthest: what followed from it may be farther.
            if (pass == 0)
                farthest = std::max(farthest, far);
            else if (far >= farthest / 2
                && (best < 0 || m_list.rows[i].place < m_list.rows[static_cast<std::size_t>(best)].place))
                best = static_cast<std::int32_t>(i);
        }
        if (pass == 1)
            return best;
    }
    return -1;
}

std::optional<double> RankJudge::sumOf(std::int32_t rollup, const StepColumn& column) const
{
    const bool isScalar = m_list.rollups[static_cast<std::size_t>(rollup)].kind == Kind::Scalar;
    double sum = 0;
    for (const std::size_t i : m_places.membersOf(rollup)) {
        if (column.states[i] != CellState::Value)
            return {}; // part of a sum is another sum
        const auto value = static_cast<double>(column.values[i]);
        sum += isScalar ? value : value * value;
    }
    return sum > 0 ? std::optional(sum) : std::nullopt; // what is zero has no logarithm
}

void RankJudge::judgeRollups(const StepColumn& column, std::vector<Sighting>& out)
{
    m_far.clear();
    m_rollupValues.assign(m_rollups.size(), std::numeric_limits<float>::quiet_NaN());
    const double lasting = m_rules.value(Rule::Level, 2);
    const double fall = std::log(m_rules.value(Rule::Level, 3));
    std::array<std::pair<int, int>, kKindCount> breadth {}; // by kind: far, judged
    for (std::size_t i = 0; i < m_rollups.size(); ++i) {
        RollupState& rollup = m_rollups[i];
        const Rollup& info = m_list.rollups[i];
        const std::optional<double> sum = sumOf(static_cast<std::int32_t>(i), column);
        if (!sum)
            continue;
        double value = info.kind == Kind::Scalar ? *sum : std::sqrt(*sum);
        m_rollupValues[i] = static_cast<float>(value);
        if (info.role == ScalarRole::ComputeTime)
            continue; // other ranks are its measure
        if (info.kind == Kind::ExpAvgSq)
            value = std::sqrt(value); // as gradients are
        const Rule rule = info.role == ScalarRole::Loss ? Rule::Loss : Rule::Level;
        const double far = m_rules.value(rule, 0);
        // While a training finds its sizes, gradients of some batches are several times as large as those before.
        const bool isFinding = !rollup.baseline.isSettled() && mayFall(info.kind) && info.kind != Kind::Scalar;
        const double least = std::max(std::log(m_rules.value(rule, 1)), isFinding ? std::log(kFindingFactor) : 0);
        const Baseline::Verdict verdict = rollup.baseline.judge(value, far);
        if (!isOn(rule))
            continue;
        auto& [farNow, judged] = breadth[static_cast<std::size_t>(info.kind)];
        ++judged;
        // What goes on being far, after it jumped there, is as far; what went there evenly never jumped.
        const bool isJump = verdict.jump * verdict.logFactor > 0 && std::abs(verdict.jump) >= least;
        const double enough = verdict.logFactor >= 0 || !mayFall(info.kind) ? least
            : rule == Rule::Loss                                            ? HUGE_VAL
                                                                            : fall;
        const bool isFar = std::abs(verdict.z) > far && std::abs(verdict.logFactor) >= enough;
        if (!isFar || (!isJump && rollup.far == 0)) {
            rollup.far = 0;
            rollup.first.reset();
            continue;
        }
        ++farNow;
        ++rollup.far;
        const std::int32_t source = sourceIn(static_cast<std::int32_t>(i), column);
        if (source < 0)
            continue;
        Sighting seen = sighting(rule, static_cast<std::size_t>(source), column.step);
        seen.rollup = static_cast<std::int32_t>(i);
        seen.value = value;
        seen.expected = verdict.median;
        seen.z = verdict.z;
        seen.lasted = rollup.far;
        if (!rollup.first)
            rollup.first = seen;
        m_far.push_back(static_cast<std::int32_t>(i));
        seen.moment = rollup.first->moment;
        seen.row = rollup.first->row;
        const bool isHuge
            = rule == Rule::Loss || (std::abs(verdict.z) > 1.5 * far && std::abs(verdict.logFactor) > 1.5 * least);
        // Moments follow from gradients, which are judged themselves.
        const bool mayOpen = info.kind != Kind::ExpAvg && info.kind != Kind::ExpAvgSq;
        seen.opens = mayOpen && (isHuge || static_cast<double>(rollup.far) >= lasting);
        seen.severity = seen.opens ? store::Severity::Warning : store::Severity::Notice;
        out.push_back(seen);
    }
    // What happens to much of the model at once needs no more steps. What one batch may do does: its gradients come
    // from one loss, so that much of the model has them.
    for (Sighting& seen : out) {
        if (seen.rule != Rule::Level || seen.rollup < 0 || seen.moment.phase == Phase::Optimizer)
            continue;
        const Kind kind = m_list.rollups[static_cast<std::size_t>(seen.rollup)].kind;
        const auto& [farNow, judged] = breadth[static_cast<std::size_t>(kind)];
        if (static_cast<double>(seen.lasted) < lasting && mayBeABatch(seen))
            seen.opens = false;
        else if (judged >= 3 && farNow * 2 >= judged)
            seen.opens = true;
        seen.severity = seen.opens ? store::Severity::Warning : store::Severity::Notice;
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
    m_still.clear();
    for (std::size_t i = 0; i < m_rows.size();) {
        const Kind kind = m_places.kinds[i];
        Share share = shares[static_cast<std::size_t>(kind)]; // here, while rows of one kind follow each other
        for (; i < m_rows.size() && m_places.kinds[i] == kind; ++i) {
            if (column.states[i] != CellState::Value)
                continue;
            RowState& row = m_rows[i];
            bool isZero = column.values[i] == 0;
            bool isSame = row.seen > 0 && column.values[i] == row.last;
            if ((isZero || isSame) && isIdle(i))
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
