// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <telltale/judge/baseline.h>
#include <telltale/judge/pace.h>
#include <telltale/judge/rules.h>
#include <telltale/judge/watchlist.h>
#include <telltale/store/catalog.h>

namespace telltale::judge {

/// Compares ranks that do the same with each other, step by step, as soon as all of them have come there: who computes
/// longer (Rule::Straggler), and who measures something else (Rule::Outlier) than most. About 1.5 KB a roll-up and
/// rank. Thread: any (a value).
class Peers {
public:
    explicit Peers(const Rules& rules)
        : m_rules(rules)
    {
    }

    struct Odd {
        Rule rule = Rule::Straggler;
        Step since;
        Step seen;
        std::optional<SourceId> source; ///< none: of two that differ, which is the odd one is not known
        Kind kind = Kind::Unspecified;
        std::string block; ///< of the roll-up
        double factor = 0; ///< against the others
        double z = 0;
        std::vector<SourceId> peers; ///< all of them
    };

    /// A newer directory: what is known goes on.
    void take(const store::Catalog& catalog, const std::vector<const Watchlist*>& lists);
    bool isEmpty() const { return m_groups.empty(); }
    /// What a rank's roll-ups are at a step, beside its watchlist's; NaN where that is not known.
    void add(SourceId source, Step step, const std::vector<float>& rollups);
    /// Judges the steps of an attempt up to `last`, and what has waited for too long.
    std::vector<Odd> judge(int attempt, Step last);

private:
    static constexpr std::size_t kMostWaiting = 4'000'000; ///< values

    struct Member {
        SourceId source;
        std::size_t rollup = 0; ///< of its watchlist
    };
    struct Group {
        Kind kind = Kind::Unspecified;
        std::string block;
        bool isTime = false;
        std::vector<Member> members;
    };
    struct State {
        Baseline ratio; ///< to the others
        double level = 0; ///< slow average of its own logarithm
        int seen = 0;
        int far = 0; ///< in a row, to the same side
        bool isAbove = false; ///< those
        Step since;
        Pace pace;
    };
    using Values = std::map<SourceId, std::vector<float>>;

    struct Now {
        SourceId source;
        double log = 0;
        double against = 0; ///< log(value / the others')
        double z = 0;
        State* state = nullptr;
    };

    void judge(const Group& group, const Values& values, Step step, std::vector<Odd>& out);
    bool judgeLikeness(Now& now, Step step) const; ///< true where it has been another for long enough

    const Rules m_rules;
    std::vector<Group> m_groups;
    std::map<std::tuple<SourceId, Kind, std::string>, State> m_states;
    std::map<SourceId, int> m_attempts; ///< of those that have peers
    std::map<std::pair<int, Step>, Values> m_waiting; ///< by attempt and step
    std::size_t m_waitingValues = 0;
};

}
