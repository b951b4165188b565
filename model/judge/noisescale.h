// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <telltale/judge/rules.h>
#include <telltale/judge/watchlist.h>
#include <telltale/store/catalog.h>

namespace telltale::judge {

/// How much the gradients of one training differ from batch to batch: McCandlish et al. 2018 (arXiv 1812.06162),
/// appendix A.1, from batches of two sizes, b on each of N ranks and N b of all. Both parts are averaged before they
/// are divided, since their quotient is no unbiased estimate. Thread: any (a value).
class NoiseEstimate {
public:
    static constexpr int kAveraged = 64; ///< steps, about

    /// Squared norms: the mean of the ranks' own gradients', and their mean gradient's.
    void take(std::size_t ranks, double small, double big);
    /// B_simple in local batches; nothing before kAveraged steps, or where noise hides the gradient.
    std::optional<double> value() const;

private:
    double m_gradient = 0; ///< |G|²
    double m_noise = 0; ///< S / b
    int m_seen = 0;
};

/// The gradient noise scale of each data-parallel group, and Rule::NoiseScale over it. From squared norms of unreduced
/// and of reduced gradients, all parameters together; steps where these are no mean of those (clipped, scaled, summed)
/// are left out, groups whose gradients are sharded or of micro steps altogether. Thread: any (a value).
class NoiseScale {
public:
    explicit NoiseScale(const Rules& rules)
        : m_rules(rules)
    {
    }

    struct Odd {
        Step since;
        Step seen;
        std::vector<Rank> ranks; ///< of the group
        double noise = 0; ///< in local batches
        double usual = 0; ///< its own slow average; 0: the batch is too small for it
    };

    /// A newer directory: what is known goes on.
    void take(const store::Catalog& catalog, const std::vector<const Watchlist*>& lists);
    /// What a rank's roll-ups are at a step, beside its watchlist's; NaN where that is not known.
    void add(SourceId source, Step step, const std::vector<float>& rollups);
    /// Judges the steps of an attempt up to `last`.
    std::vector<Odd> judge(int attempt, Step last);
    /// Of the group that a source is in.
    std::optional<double> valueOf(SourceId source) const;

private:
    using Squares = std::pair<double, double>; ///< of what is not reduced, and of what is
    struct Member {
        std::vector<std::size_t> unreduced {}, reduced {}; ///< of its watchlist's roll-ups
        std::optional<std::size_t> gradNorm {};
    };
    struct Group {
        std::map<SourceId, Rank> ranks;
        NoiseEstimate estimate {};
        double highest = 0; ///< squared norm of what is reduced: gradients that are clipped have it again and again
        double level = 0; ///< slow average of the estimate's logarithm
        int known = 0; ///< estimates
        struct Lasting {
            int steps = 0;
            Step since {};
        };
        Lasting other {}, above {}; ///< far from its average; too large for the batch
    };

    static std::optional<Member> memberOf(const store::Catalog& catalog, const Watchlist& list);
    void judge(Group& group, const std::map<SourceId, Squares>& values, Step step, std::vector<Odd>& out) const;

    const Rules m_rules;
    std::map<SourceId, Member> m_members;
    std::map<SourceId, std::size_t> m_groupOf;
    std::map<SourceId, int> m_attempts;
    std::vector<Group> m_groups; ///< kept while their ranks are the same
    std::map<std::pair<int, Step>, std::map<SourceId, Squares>> m_waiting; ///< by attempt and step
};

}
