// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <telltale/core/namepattern.h>
#include <telltale/judge/incident.h>
#include <telltale/judge/signrule.h>
#include <telltale/series/serieskey.h>
#include <telltale/store/catalog.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

/// A run that was opened to be compared.
struct ComparedRun {
    store::RunReader& reader;
    const store::Catalog& catalog;
    std::optional<StepRange> steps {}; ///< that it has by now; without: those that its directory told
};

/// What is held against each other; everything that both have where nothing is said.
struct ComparisonWish {
    std::optional<Kind> kind {};
    std::optional<Stat> stat {};
    std::vector<Rank> ranks {}; ///< empty: all
    std::string pattern {}; ///< of names, as NamePattern
    std::optional<StepRange> steps {};
    /// Two values are equal when |a - b| <= tolerance * max(|a|, |b|); 0: when they are the same number. A NaN equals a
    /// NaN, an infinity itself.
    double tolerance = 0;
    series::CancelToken cancel {}; ///< may be null; then compareRuns() fails with Canceled
    std::function<void(double)> progress {}; ///< told the share that is done, 0..1, on the readers' thread; may be none
};

/// Two values that should be equal and are not.
struct Deviation {
    Step step;
    Rank rank;
    Kind kind = Kind::Unspecified;
    series::SeriesKey key;
    Stat stat = Stat::Unspecified;
    Phase phase = Phase::Forward;
    series::CellValue a;
    series::CellValue b;
    /// |a - b| / max(|a|, |b|); infinite where only one is finite, or an identity differs.
    double relative = 0;
};

/// How far two runs are the same training. Thread: any (a value).
struct Comparison {
    struct OfKind {
        Kind kind = Kind::Unspecified;
        std::uint64_t compared = 0; ///< values that both have
        std::uint64_t differing = 0;
        std::optional<Deviation> largest; ///< with the largest `relative`, the earliest of equal ones
    };
    struct OfRank {
        Rank rank;
        std::uint64_t compared = 0;
        std::uint64_t differing = 0;
        std::optional<Step> first; ///< at which anything differs
    };
    /// A step at which something differs.
    struct OfStep {
        Step step;
        std::uint64_t differing = 0;
        std::uint64_t nonFinite = 0; ///< of them, where one is finite and the other is not, or both in different ways
    };
    struct OfSigns {
        Rank rank;
        Kind kind = Kind::Unspecified;
        series::SeriesKey key;
        SignVerdict verdict;
    };
    StepRange steps; ///< that both have
    double tolerance = 0;
    std::vector<OfKind> kinds; ///< in the order of their numbers
    std::vector<OfRank> ranks; ///< ascending
    std::vector<OfStep> stepsApart; ///< ascending
    /// How alike the signs are in both, where they tell: a similarity that is recorded itself, and what two agreements
    /// with the momentum leave at most (1 - |a - b|). Those that the rule finds suspicious come first.
    std::vector<OfSigns> signs;
    std::uint64_t compared = 0;
    std::uint64_t differing = 0;
    std::uint64_t unmatched = 0; ///< values that one has at a step and the other has not
    std::size_t rows = 0; ///< that both have
    std::size_t onlyInA = 0; ///< rows
    std::size_t onlyInB = 0;
    std::size_t histogramsInA = 0; ///< rows of histograms alone: left out, and counted nowhere else
    std::size_t histogramsInB = 0;
    std::vector<std::string> timings; ///< scalars that say how long something took: left out
    /// What deviates at the first step at which anything does, in the order in which a step comes to it; at most
    /// kFirst.
    std::vector<Deviation> first;
    std::uint64_t firstCount = 0; ///< all of them
    /// Of each kind, statistic and rank what deviates first, in the same order.
    std::map<std::tuple<Kind, Stat, Rank>, Deviation> firstOfMaps;

    static constexpr std::size_t kFirst = 20;

    bool isEqual() const { return first.empty(); }
    /// The same of the steps that came after these: what is still recorded is compared piece by piece. Of both the
    /// earlier one keeps what was first; the signs are judged again only by compareRuns().
    void append(const Comparison& later);
    /// "Equal to 1e-06 until step 412; first: step 413, rank 0, layers.3.mlp.fc2.weight, grad_reduced norm: ..."
    std::string sentence() const;
};

/// Compares tensor by tensor and step by step: the same name, slot, micro step and form on the same rank; definitions
/// are words, and may differ. Reads every value once. Histograms are left out. The error names what cannot be compared
/// at all: no common step, or nothing that both have. Thread: that of both readers.
Expected<Comparison> compareRuns(const ComparedRun& a, const ComparedRun& b, const ComparisonWish& wish);

}
