// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/series/rowindex.h>
#include <telltale/store/runreader.h>

/// Where a run is not finite. Every function reads in the query thread that owns the reader.
namespace telltale::analysis {

/// What is searched: one statistic of all series of one kind, or of those among them with such a name.
struct Quantity {
    Kind kind = Kind::Unspecified;
    Stat stat = Stat::Unspecified;
    bool (*isNamed)(std::string_view name) = nullptr;
};

/// Where a series stops being finite: the first step of a stretch of NaN or Inf.
struct Onset {
    Step step;
    const series::RowIndex::Row* row = nullptr; ///< of the index that was searched
};

/// The onset of any of `quantities`, on any rank, that is nearest to the end of `range` from which it is searched;
/// `range.first` itself only says what was before. At one step the earlier of `quantities` counts, and in it what the
/// pass comes to first: gradients of activations begin at the end of the model. A quantity that cannot be read is left
/// out.
std::optional<Onset> findOnset(store::RunReader& reader, const series::RowIndex& index,
    std::span<const Quantity> quantities, StepRange range, bool forward, const series::CancelToken& cancel = {});

/// The lowest rank on which something of `quantities` is not finite.
std::optional<Rank> lowestNonFiniteRank(store::RunReader& reader, const series::RowIndex& index,
    std::span<const Quantity> quantities, StepRange range, const series::CancelToken& cancel = {});

/// Which ranks have non-finite values, column by column of equal parts of a range. Thread: any (a value).
struct NonFiniteRanks {
    StepRange range;
    std::vector<std::vector<Rank>> columns; ///< ranks ascending

    /// Of the column that holds `step`; empty where there are none.
    std::vector<Rank> at(Step step) const;
};

/// Of the tensors in `chosen` (as RowIndex::matching), over all ranks but one: what is broken on another rank must not
/// look healthy on that one. Asks one rank after the other, so that no answer is larger than one rank's picture.
Expected<NonFiniteRanks> findOtherRanks(store::RunReader& reader, const series::RowIndex& index, Quantity quantity,
    const std::vector<bool>& chosen, Rank rank, StepRange range, int pixels, const series::CancelToken& cancel = {});

}
