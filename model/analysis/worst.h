// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include <telltale/analysis/nonfinite.h>
#include <telltale/core/expected.h>
#include <telltale/series/rowindex.h>
#include <telltale/store/runreader.h>

namespace telltale::analysis {

/// The worst that a module, or a subtree of modules, shows. Thread: any (a value).
struct WorstValue {
    bool known = false; ///< false: nothing measured, no bar
    double deviation = 0; ///< as largestDeviation; finite
    series::CellState nonFinite = series::CellState::Value; ///< NegInf, PosInf or NaN when one was seen
    bool isSource = false; ///< non-finite at the run's first non-finite step; the others came later
    Step step { -1 }; ///< where it is worst
    Rank rank { -1 }; ///< where it is worst

    bool isNonFinite() const { return series::isNonFinite(nonFinite); }
    /// The louder of both: source, then non-finite, then the larger deviation.
    static const WorstValue& worse(const WorstValue& a, const WorstValue& b);
};

/// The worst of each tensor of a kind, by its number in the index, over all ranks: what is broken on one must not look
/// healthy because another is shown. Each row in its own terms: its largest deviation over kWorstColumns equal parts of
/// the range, and its strongest non-finite state. The earliest non-finite row is the source (where several are in one
/// step: in the order of execution the first, else all of them). Thread: query. Cost: rows x kWorstColumns, and a few
/// refinements of the non-finite rows.
Expected<std::vector<WorstValue>> findWorst(store::RunReader& reader, const series::RowIndex& index, Kind kind,
    Stat stat, StepRange range, const series::CancelToken& cancel = {});

/// Of what worstOfNames() says only the place where it began is the source, and what is above it: the tensor of
/// `origin`, which findOnset found over all kinds.
void markOrigin(const series::RowIndex& index, const Onset& origin, std::vector<WorstValue>& worst);

/// By place in the index's names: of each tensor, and of each module with all that is below it.
std::vector<WorstValue> worstOfNames(const series::RowIndex& index, std::span<const WorstValue> byTensor);

inline constexpr int kWorstColumns = 64;

}
