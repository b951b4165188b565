// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <telltale/heatmap/heatpicture.h>
#include <telltale/plot/curvepicture.h>

namespace telltale::views {

enum class DistributionShape {
    Strip, ///< bins by steps, colored
    Ridges, ///< outlines of some steps
};
enum class BinColor { LogShare, Share, LogCount };
/// What is drawn below the strips.
enum class BelowStrips { Quantiles, Flushed, Subnormal, Overflowed };

/// The histograms of one tensor over the steps; a column adds up those of its steps.
struct DistributionStrip {
    Row row;
    std::shared_ptr<const std::vector<double>> edges;
    std::uint64_t numel = 0; ///< 0 = unknown
    int columns = 0;
    std::vector<double> counts; ///< column after column, each with all bins
    std::vector<double> totals; ///< of each column: elements in bins
    std::vector<std::uint32_t> samples; ///< of each column: histograms in it
    /// Of each column: the strongest of what the tensor's other statistics say, and of what the bins leave out.
    std::vector<series::CellState> states;
    /// Of each column: the least and the greatest element where each of its steps has them, infinite elsewhere. Empty
    /// where nobody asked.
    std::vector<std::pair<double, double>> reaches;
    int firstBin = 0; ///< that is shown
    int lastBin = 0;
    HeatPicture heat; ///< of the bins that are shown, the greatest values first

    int bins() const { return static_cast<int>(edges->size()) - 1; }
    std::span<const double> countsOf(int column) const
    {
        const auto width = static_cast<std::size_t>(bins());
        return { counts.data() + static_cast<std::size_t>(column) * width, width };
    }
    double shareOf(int column, int bin) const; ///< of the elements in bins; 0 without any
    /// Fills firstBin, lastBin and heat from the rest. Call once.
    void finish(BinColor color, StepRange range);
};

/// One answer of a distribution view. Immutable once built. Thread: any (a value).
struct DistributionPicture {
    StepRange range;
    Kind kind = Kind::Unspecified;
    Rank rank;
    std::vector<DistributionStrip> strips; ///< in order of selection
    int omitted = 0; ///< more tensors that are asked for and have no room
    bool isFiltered = false; ///< the strips are what a filter lets through, not what is selected
    bool isExample = false; ///< of what is selected nothing has a histogram
    std::shared_ptr<const CurvePicture> below; ///< of the first strip
    BelowStrips belowIs = BelowStrips::Quantiles; ///< what `below` is
    bool isLive = false;

    bool isEmpty() const { return strips.empty(); }
};

}
