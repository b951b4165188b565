// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <QImage>
#include <QStringList>

#include <telltale/analysis/oddranks.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/theme.h>
#include <telltale/common/valuescale.h>
#include <telltale/series/query.h>

#include "rowlayout.h"

namespace telltale::views {

enum class HeatAxes { ModuleByStep, RankByStep, ModuleByRank };
enum class HeatScale { Linear, Log, Symlog, Deviation, Difference, Ratio };
enum class RowOrder { Model, Value, Clustered };

/// Ranks that stand together on an axis of ranks.
struct RankBand {
    QString label;
    std::vector<Rank> ranks;
};

/// What two runs have in the cells of a picture that shows how they differ.
struct HeatSides {
    QString nameA;
    QString nameB;
    StepRange both; ///< that both runs have: beyond them is nothing to compare
    QString before; ///< why, before these steps
    QString after;
    std::vector<float> valuesA; ///< row-major, in the order in which the rows were before they were ordered
    std::vector<float> valuesB;
    std::vector<series::CellState> statesA;
    std::vector<series::CellState> statesB;
};

/// One answer with everything needed to paint it. Immutable once built. Thread: any (a value).
struct HeatPicture {
    HeatAxes axes = HeatAxes::ModuleByStep;
    HeatScale scaleMode = HeatScale::Log;
    RowOrder order = RowOrder::Model;
    Kind kind = Kind::Unspecified;
    Stat stat = Stat::Norm;
    std::vector<Row> rows; ///< in the order of the result's rows
    QString title; ///< of the legend; empty: the statistic's name
    std::vector<Rank> columnRanks; ///< ModuleByRank: one a column
    std::vector<RankBand> rankBands; ///< in the order of the axis of ranks; empty: they are in no groups
    std::map<Rank, analysis::RankOddness> odd; ///< ranks that are marked on the axis of ranks
    Step atStep { 0 }; ///< ModuleByRank: the newest step of a cell, else the one that was asked for
    std::vector<Step> cellSteps; ///< ModuleByRank: of each cell's value
    series::HeatResult result;
    std::vector<float> shown; ///< what the color says: the values, or deviations in MAD
    ValueScale scale;
    bool hasScale = true; ///< some cell has a color of it, here or in a picture beside it
    bool isZero = false; ///< each finite value is, here and in a picture beside it: the scale is of nothing
    std::vector<series::CellState> strongest; ///< of each column
    std::vector<std::uint8_t> seen; ///< of each column, the bitOf() of each state that its cells have
    std::vector<int> collected; ///< columns of which something was
    std::vector<int> held; ///< of each column the one that it looks like where it is narrow; empty: each like itself
    std::int64_t interval = 0; ///< steps from each sample to the next; 0 where it is not known to be always the same
    StepRange firstSample; ///< where an interval is known: in which of these steps they begin
    QString longestLabel; ///< of the rows
    QString longestGroup;
    std::vector<RowLayout::Band> bands; ///< neighbors of one group; all rows when they are not in model order
    bool clippedLow = false; ///< some value is beyond the colors, here or in a picture beside it
    bool clippedHigh = false;
    bool isLive = false;
    std::shared_ptr<const HeatSides> sides; ///< null where one run is shown alone
    std::vector<std::size_t> sideRows; ///< of each row, its row in `sides`
    std::vector<ValueScale::Tick> ticks; ///< of the legend, where those of `scale` are not the values'
    QImage cells; ///< as painted for the plot that they were asked for, in `cellsTheme`; null when they were not
    const Theme* cellsTheme = nullptr;

    int columns() const { return result.columns; }
    /// Its colors go from a middle to both sides.
    bool isDiverging() const
    {
        return scaleMode >= HeatScale::Deviation
            || (scale.mode() != ValueScale::Mode::Log && scale.low() == -scale.high());
    }
    series::CellState state(int row, int column) const { return result.states[at(row, column)]; }
    float value(int row, int column) const { return result.values[at(row, column)]; }
    static constexpr unsigned bitOf(series::CellState state) { return 1U << static_cast<unsigned>(state); }
    /// The steps of a column, those of them that were collected as far as is known, and those of one cell of it.
    StepRange stepsOf(int column) const;
    StepRange collectedSteps(int column) const;
    StepRange stepsOf(int row, int column) const;
    /// Median of a row's values, and their median distance from it in their unit (MAD): 0 where nothing is a multiple.
    std::pair<float, float> spreadOf(int row) const;
    int columnOf(Step step) const; ///< -1 outside
    /// Whether steps that were not collected look like the last one before them, in a plot of so many logical px. Where
    /// columns are wide they have dots.
    bool holds(double plotWidth) const { return !held.empty() && plotWidth < kDotted * columns(); }
    /// The columns, before `end`, that look like the first of them there, which was collected: from, and behind.
    std::pair<int, int> drawnColumns(int column, double plotWidth, int end) const;
    analysis::RankOddness::Grade gradeOf(Rank rank) const;

    /// Fills what follows from rows and result: `shown`, `scale`, the clip marks, the strongest states, what was
    /// collected, the longest words and the bands; and orders the rows. Call once.
    void finish();
    /// The clip marks, again where another `scale` was given.
    void markClipped();

private:
    static constexpr int kDotted = 9; ///< px of a column

    std::size_t at(int row, int column) const
    {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(result.columns)
            + static_cast<std::size_t>(column);
    }
    std::pair<std::size_t, std::size_t> signs() const;
    void findCollected();
    void findInterval();
    void holdCollected();
    void orderByValue();
    void orderByLikeness();
    void permute(const std::vector<std::size_t>& order);
    std::vector<float> likenessFeatures(std::size_t bins) const;
    void computeDeviations();
    void chooseScale();
    void spreadDifferences();
    void spreadRatios();
};

/// "×2.5", "÷65 536", and near the same "+0.012 %"; `figures`: in so many, as a value. Thread: any.
QString ratioText(double ratio, int figures = 0);

}
