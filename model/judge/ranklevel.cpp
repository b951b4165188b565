// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of a rank that compare a roll-up with its own history.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <telltale/judge/rankjudge.h>

namespace telltale::judge {
namespace {

using series::CellState;

constexpr double kFindingFactor = 10; ///< what counts of gradients while a training finds its sizes
/// Steps in a row that gradients must be large in, so that it counts, while a training finds its sizes: for about as
/// long Adam's first moment (1 / (1 - 0.9) steps) goes on where one batch has pushed the weights.
constexpr double kAftermath = 10;
constexpr double kNoBatch = 1000; ///< a gradient that is as many times its usual size is no batch's
/// Of n positions that pull at random the mean is 1 / sqrt(n) of what it is where all pull one way: 256 of them, fewer
/// than any batch has that trains something, may make a gradient as many times larger for once.
constexpr double kOneWay = 16;

/// What becomes small as a training goes well.
bool mayFall(Kind kind)
{
    return kind == Kind::Scalar || kind == Kind::ActvGrad || kind == Kind::GradReduced || kind == Kind::GradUnreduced
        || kind == Kind::ExpAvg || kind == Kind::ExpAvgSq || kind == Kind::Update;
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
        const bool isOfGradients = info.kind != Kind::Scalar || info.role == ScalarRole::GradNorm;
        const bool isFinding = !rollup.baseline.isSettled() && mayFall(info.kind) && isOfGradients;
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
        rollup.enough = isFinding && verdict.logFactor > 0 ? std::max(lasting, kAftermath) : lasting;
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
        seen.opens = mayOpen && (isHuge || static_cast<double>(rollup.far) >= rollup.enough);
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
        RollupState& rollup = m_rollups[static_cast<std::size_t>(seen.rollup)];
        // What a batch began may go on elsewhere: it has moved the weights.
        rollup.isOfBatch
            = mayBeABatch(seen) || (seen.lasted > 1 && rollup.isOfBatch && seen.value <= kNoBatch * seen.expected);
        if (static_cast<double>(seen.lasted) < rollup.enough && rollup.isOfBatch)
            seen.opens = false;
        else if (judged >= 3 && farNow * 2 >= judged)
            seen.opens = true;
        seen.severity = seen.opens ? store::Severity::Warning : store::Severity::Notice;
    }
}

/// Whether a gradient that jumps for a step may be what one batch does. Gradients of batches have heavy tails (Zhang et
/// al. 2020, arXiv 1912.03194), which is what clipping is for; one of them is nothing that went wrong.
bool RankJudge::mayBeABatch(const Sighting& seen) const
{
    const Rollup& rollup = m_list.rollups[static_cast<std::size_t>(seen.rollup)];
    const bool isWeights = rollup.kind == Kind::GradUnreduced || rollup.kind == Kind::GradReduced;
    const bool isOfAll = rollup.role == ScalarRole::GradNorm;
    if ((!isWeights && rollup.kind != Kind::ActvGrad && !isOfAll) || seen.value < seen.expected)
        return false;
    // It is a mean over the batch's positions. Of n that pull at random it is 1 / sqrt(n) of what it is where all pull
    // one way: even of a million positions, no batch makes more of it than this.
    if (seen.value > kNoBatch * seen.expected)
        return false;
    const Baseline& own = m_rollups[static_cast<std::size_t>(seen.rollup)].baseline;
    // A weight's gradient is what came in times what flows back. Where most of the jump flowed back into the block, a
    // batch made it, or something behind, which is judged by itself; where nothing did, it arose right there, or the
    // batch's positions pull one way for once. Both are measured by the steps right before, since one may have begun
    // anew while the other did not.
    const bool isSmall = seen.value < kOneWay * seen.expected;
    const auto behind = std::find_if(m_list.rollups.begin(), m_list.rollups.end(),
        [&rollup](const Rollup& one) { return one.kind == Kind::ActvGrad && one.block == rollup.block; });
    const auto place = static_cast<std::size_t>(behind - m_list.rollups.begin());
    if (isWeights && behind != m_list.rollups.end() && std::isfinite(m_rollupValues[place])) {
        const auto flowed = m_rollups[place].baseline.lastJump();
        const auto jump = own.lastJump();
        if (flowed && jump) // both may be: it flowed back, and the positions pull one way
            return isSmall || *flowed >= std::min(*jump / 2, *jump - std::log(kOneWay));
    }
    // Fewer steps than a window has do not say how large the largest of as many batches is.
    return isSmall || !own.isSettled();
}

void RankJudge::judgeGrowth(const StepColumn& column, std::vector<Sighting>& out)
{
    constexpr int kSaidAgain = 8; // steps
    const double least = std::log(m_rules.value(Rule::Explosion, 0));
    for (std::size_t i = 0; i < m_rollups.size() && isOn(Rule::Explosion); ++i) {
        RollupState& rollup = m_rollups[i];
        const auto value = static_cast<double>(m_rollupValues[i]);
        const Rollup& info = m_list.rollups[i];
        // Moments follow from gradients, and a loss scaler doubles those that it has scaled.
        const bool isScaled = m_lossScale > 1 && (info.kind == Kind::ActvGrad || info.kind == Kind::GradUnreduced);
        if (isScaled || !(value > 0) || !std::isfinite(value) || info.kind == Kind::ExpAvg
            || info.kind == Kind::ExpAvgSq || info.kind == Kind::Update || info.role == ScalarRole::ComputeTime)
            continue;
        const bool isGradient
            = info.kind == Kind::ActvGrad || info.kind == Kind::GradUnreduced || info.kind == Kind::GradReduced;
        const auto rate = rollup.growth.take(value, least, isGradient ? Growth::kGradientsSettled : Growth::kSettled);
        if (!rate) {
            rollup.growing.reset();
            continue;
        }
        if (rollup.growing && ++rollup.growing->lasted % kSaidAgain != 0)
            continue;
        const std::int32_t source
            = rollup.growing ? rollup.growing->row : sourceIn(static_cast<std::int32_t>(i), column);
        if (source < 0)
            continue;
        Sighting seen = sighting(Rule::Explosion, static_cast<std::size_t>(source), stepBefore(rate->steps - 1));
        seen.rollup = static_cast<std::int32_t>(i);
        seen.value = value;
        seen.expected = value / std::exp(rate->total);
        seen.growth = rate->now;
        seen.lasted = Growth::kWindow - Growth::kQuarter;
        if (rollup.growing)
            seen.moment = rollup.growing->moment;
        else
            rollup.growing = Growing { seen.row, 0, seen.moment };
        out.push_back(seen);
    }
}

}
