// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include <telltale/store/runreader.h>

namespace telltale::exchange {

/// Series of one process and kind that were told with the same statistics, in the order in which they were told: what
/// is read at once. Thread: any (a value; points into the catalog that it was made from).
struct MeasuredTable {
    const store::SourceInfo* source = nullptr;
    Kind kind = Kind::Unspecified;
    std::vector<Stat> stats;
    std::shared_ptr<const std::vector<double>> edges; ///< of the histograms that its series are; null: they are none
    std::vector<const store::SeriesInfo*> series;
};

/// Everything in a run that is chosen, by attempt, rank and kind. What was told in parts is one table again, of at most
/// `most` series.
std::vector<MeasuredTable> measuredTables(const store::Catalog& catalog,
    const std::function<bool(const store::SeriesInfo&)>& isChosen,
    std::size_t most = std::numeric_limits<std::size_t>::max());

/// The values of one statistic over consecutive steps, a series of its table after the other. What is not finite stands
/// in the states; beside it the value is that of the finite elements. Thread: any (a value).
struct ValueBlock {
    Stat stat = Stat::Unspecified;
    StepRange steps;
    std::vector<float> narrow; ///< what the statistic's column says, where float32 is what it is made of
    std::vector<double> wide; ///< else
    std::vector<std::uint64_t> identities; ///< of a statistic that is one; then there is nothing else
    std::vector<series::CellState> states;

    std::size_t at(std::size_t series, Step step) const
    {
        return series * static_cast<std::size_t>(steps.count())
            + static_cast<std::size_t>(step.value - steps.first.value);
    }
    double value(std::size_t at) const { return wide.empty() ? static_cast<double>(narrow[at]) : wide[at]; }
    /// NaN, an infinity or a number, as a readout shows it.
    double shown(std::size_t at) const
    {
        return states[at] == series::CellState::Value ? value(at) : notFinite(states[at]);
    }
    bool hasValue(std::size_t at) const { return states[at] >= series::CellState::Value; }
    bool hasAny() const;

private:
    static double notFinite(series::CellState state);
};

/// The blocks of a table's statistics, in their order; of histograms there are none.
Expected<std::vector<ValueBlock>> readBlocks(store::RunReader& reader, const MeasuredTable& table, StepRange steps);

/// Shares of zeros as readouts say them: over all elements, and NaN only where nothing is finite. In stored blocks a
/// share beside any non-finite element is marked as one.
void settleZeros(const MeasuredTable& table, std::vector<ValueBlock>& blocks);

}
