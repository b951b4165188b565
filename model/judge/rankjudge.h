// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <telltale/judge/baseline.h>
#include <telltale/judge/growth.h>
#include <telltale/judge/rowplaces.h>
#include <telltale/judge/rules.h>
#include <telltale/judge/watchlist.h>
#include <telltale/series/query.h>

namespace telltale::judge {

/// When something happened: steps first, then what a step does one after the other.
struct Moment {
    Step step;
    Phase phase = Phase::Forward;
    std::int32_t place = 0;

    auto operator<=>(const Moment&) const = default;
};

/// What a rule says of a rank, before it has words. Thread: any (a value).
struct Sighting {
    Rule rule = Rule::NonFinite;
    store::Severity severity = store::Severity::Warning;
    Moment moment; ///< where it began
    std::int32_t row = -1; ///< of the watchlist
    std::int32_t rollup = -1; ///< that made it known; -1: the row by itself
    series::CellState state = series::CellState::Value;
    double value = 0;
    double expected = 0; ///< 0: nothing to compare with
    double z = 0;
    double growth = 0; ///< of a step, a logarithm
    std::int64_t lasted = 0; ///< steps in a row
    bool opens = true; ///< false: noted, and told as evidence when something else opens an incident
    bool isToTheBit = false; ///< checksums say what the norm does
};

/// One rank's column of one step: beside the rows of its watchlist.
struct StepColumn {
    Step step;
    std::span<const float> values;
    std::span<const series::CellState> states;
    std::span<const float> magnitudes; ///< of rows with a limit; NaN where it is not known
    std::span<const float> extras {}; ///< of rows that ask for one; NaN where it is not known
};

/// The rules over what one rank measures, step by step. About 20 B a row beside the roll-ups. Thread: any (a value).
class RankJudge {
public:
    explicit RankJudge(const Rules& rules)
        : m_rules(rules)
    {
    }

    /// A newer directory: what is known of rows and roll-ups goes on.
    void take(Watchlist list);
    const Watchlist& list() const { return m_list; }
    /// `out`: what is seen, in the order of moments.
    void judge(const StepColumn& column, std::vector<Sighting>& out);
    /// What each roll-up was at the last step; NaN where a part of it was not known.
    const std::vector<float>& rollupValues() const { return m_rollupValues; }
    /// The highest of those that were measured last; 0 = not known.
    double learningRate() const { return m_learningRate; }
    /// Rows that are not finite now.
    std::size_t nonFinite() const { return m_nonFinite; }
    bool isNonFinite(std::size_t row) const { return m_rows[row].isNonFinite; }
    /// How far a row is from its slow average, as a logarithm; nothing where that is not known yet.
    std::optional<double> distance(std::size_t row, float value) const;

private:
    static constexpr int kKnown = 16; ///< values before a row's average means anything
    template <typename Number> static void countUp(Number& number)
    {
        if (number < std::numeric_limits<Number>::max())
            ++number;
    }

    struct RowState {
        float last = 0;
        float share = 0; ///< slow average of an output's share of zeros
        float level = 0; ///< slow average of the logarithm, or of the entropy itself
        std::uint16_t seen = 0;
        std::uint16_t zeros = 0; ///< in a row
        std::uint16_t same = 0; ///< in a row
        std::uint16_t moved = 0;
        std::uint16_t low = 0; ///< far from its level, in a row
        bool isNonFinite = false;
        bool isTold = false; ///< of what lasts
    };
    struct Rate { ///< of a learning rate
        double last = 0;
        double highest = 0;
    };
    struct Growing {
        std::int32_t row = -1;
        int lasted = 0; ///< steps
        Moment moment;
    };
    struct Logits { ///< of an attention head
        float level = 0; ///< slow average of the logarithm
        std::uint16_t seen = 0;
        std::uint16_t grown = 0; ///< far above it, in a row
        std::uint16_t high = 0; ///< as well as large, in a row
        std::uint8_t told = 0; ///< 1: that it is large, 2: that it is where trainings diverge
    };
    struct RollupState {
        Baseline baseline;
        Growth growth;
        std::optional<Growing> growing {};
        int far = 0; ///< in a row
        double enough = 0; ///< of those, to be more than what passes
        bool isOfBatch = false; ///< those began as what a batch may do
        std::optional<Sighting> first; ///< of those
    };

    /// Roll-ups of two kinds over the same tensors, and what one is to the other.
    struct Pair {
        std::string block {};
        std::int32_t upper = -1;
        std::int32_t lower = -1;
        double level = 0; ///< slow average of the logarithm
        double highest = -HUGE_VAL; ///< that it has ever been
        int seen = 0;
        int far = 0; ///< in a row
    };
    /// Takes what one is to the other; its slow average is of what is not far.
    static void takeRatio(Pair& pair, double log, bool isFar);
    void pairUp(std::vector<Pair>& pairs, Kind upper, Kind lower) const;

    void judgeFinite(const StepColumn& column, std::vector<Sighting>& out);
    void judgeMagnitudes(const StepColumn& column, std::vector<Sighting>& out);
    void judgeRollups(const StepColumn& column, std::vector<Sighting>& out);
    void judgeStaleness(const StepColumn& column, std::vector<Sighting>& out);
    void judgeUpdates(const StepColumn& column, std::vector<Sighting>& out);
    void judgeDead(const StepColumn& column, std::vector<Sighting>& out);
    void judgeGrowth(const StepColumn& column, std::vector<Sighting>& out);
    void judgeScalars(const StepColumn& column, std::vector<Sighting>& out);
    void judgeStill(const StepColumn& column, std::vector<Sighting>& out);
    void judgeDrift(const StepColumn& column, std::vector<Sighting>& out);
    void judgeEntropies(const StepColumn& column, std::vector<Sighting>& out);
    std::map<std::uint32_t, Logits> knownLogits() const; ///< by tensor
    void takeLogits(const std::map<std::uint32_t, Logits>& known);
    void judgeLogits(const StepColumn& column, std::vector<Sighting>& out);
    void learn(const StepColumn& column);
    /// Of a roll-up's values, or of their squares; nothing where one is not known, or all are zero.
    std::optional<double> sumOf(std::int32_t rollup, const StepColumn& column) const;
    bool mayBeABatch(const Sighting& seen) const;
    std::int32_t sourceIn(std::int32_t rollup, const StepColumn& column) const;
    Sighting sighting(Rule rule, std::size_t row, Step step) const;
    Step stepBefore(int steps) const;
    bool isOn(Rule rule) const { return m_rules.isOn(rule); }

    const Rules m_rules;
    Watchlist m_list;
    RowPlaces m_places; ///< of the list
    std::vector<RowState> m_rows; ///< beside the list's
    std::vector<RollupState> m_rollups; ///< beside the list's
    std::vector<Logits> m_logits; ///< beside the rows whose logits are known
    std::vector<Pair> m_stale; ///< gradients to second moments
    std::vector<Pair> m_updates; ///< updates to weights
    std::vector<float> m_rollupValues; ///< beside the list's
    std::vector<std::int32_t> m_far; ///< roll-ups that are far at this step
    std::vector<std::size_t> m_still; ///< rows that are zero, or do not change, for as long as a rule says
    std::deque<Step> m_steps; ///< the last that were judged
    std::deque<Step> m_scaleFalls;
    std::size_t m_nonFinite = 0;
    std::map<std::uint32_t, Rate> m_rates; ///< by tensor: groups of parameters have their own
    double m_learningRate = 0;
    double m_highestRate = 0; ///< learning rate of all steps
    double m_lossScale = 0;
};

}
