// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include <telltale/core/namepattern.h>
#include <telltale/exchange/measuredtable.h>

namespace telltale::exchange {

/// What of a run is exported or read; everything where nothing is said. Thread: any (a value).
struct Selection {
    std::vector<Kind> kinds;
    std::vector<Stat> stats;
    std::vector<Rank> ranks;
    std::optional<StepRange> steps;
    NamePattern modules { "" };

    bool wants(Kind kind) const;
    bool wants(Stat stat) const;
    bool wants(Rank rank) const;
    /// Whether any of them is wanted.
    bool wantsAnyOf(const std::vector<Stat>& some) const;
    /// What of the steps is wanted; empty where nothing is.
    StepRange wanted(StepRange of) const;
};

/// The tables of what is chosen, of at most `most` series each.
std::vector<MeasuredTable> chosenTables(const store::Catalog& catalog, const Selection& selection,
    std::size_t most = std::numeric_limits<std::size_t>::max());

/// The blocks of the statistics that are wanted of a table, shares of zeros as readouts say them; of histograms none.
Expected<std::vector<ValueBlock>> readChosen(
    store::RunReader& reader, const MeasuredTable& table, const Selection& selection, StepRange steps);

}
