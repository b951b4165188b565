// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <telltale/core/namepattern.h>
#include <telltale/judge/incident.h>
#include <telltale/series/serieskey.h>
#include <telltale/store/catalog.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

/// A run that was opened to be compared.
struct ComparedRun {
    store::RunReader& reader;
    const store::Catalog& catalog;
};

/// What is held against each other; everything that both have where nothing is said.
struct ComparisonWish {
    std::optional<Kind> kind {};
    std::optional<Stat> stat {};
    std::optional<Rank> rank {};
    std::string pattern {}; ///< of names, as NamePattern
    std::optional<StepRange> steps {};
    /// Two values are equal when |a - b| <= tolerance * max(|a|, |b|); 0: when they are the same number. A NaN equals a
    /// NaN, an infinity itself.
    double tolerance = 0;
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
    StepRange steps; ///< that both have
    double tolerance = 0;
    std::vector<OfKind> kinds; ///< in the order of their numbers
    std::uint64_t compared = 0;
    std::uint64_t differing = 0;
    std::uint64_t unmatched = 0; ///< values that one has at a step and the other has not
    std::size_t rows = 0; ///< that both have
    std::size_t onlyInA = 0; ///< rows
    std::size_t onlyInB = 0;
    std::vector<std::string> timings; ///< scalars that say how long something took: left out
    /// What deviates at the first step at which anything does, in the order in which a step comes to it; at most
    /// kFirst.
    std::vector<Deviation> first;
    std::uint64_t firstCount = 0; ///< all of them

    static constexpr std::size_t kFirst = 20;

    bool isEqual() const { return first.empty(); }
    /// "Equal to 1e-06 until step 412; first: step 413, rank 0, layers.3.mlp.fc2.weight, grad_reduced norm: ..."
    std::string sentence() const;
};

/// Compares tensor by tensor and step by step: the same name, slot, micro step and form on the same rank; definitions
/// are words, and may differ. Reads every value once. The error names what cannot be compared at all: no common step,
/// or nothing that both have. Thread: that of both readers.
Expected<Comparison> compareRuns(const ComparedRun& a, const ComparedRun& b, const ComparisonWish& wish);

}
