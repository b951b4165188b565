// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QStringList>

#include <telltale/common/rowlist.h>
#include <telltale/common/valuescale.h>
#include <telltale/series/query.h>

#include "xwarp.h"

namespace telltale::views {

enum class YMode { Linear, Log, Symlog };

struct CurveSeries {
    Row row;
    Stat stat = Stat::Norm;
    double whole = 1; ///< of which its values are shares: the run has them `whole` times as large
    int slot = 0; ///< color
    series::CurveResult result;
    std::size_t join = 0; ///< longestJoin() of its buckets; 0: not known, as after they have changed
    std::vector<series::Bucket> lead; ///< before the range: what smoothing still remembers at its first step
    /// A band from the smallest to the largest of several ranks: filled between two edges, without a line of its own.
    bool isGroup = false;
    std::vector<Rank> ranks; ///< of a band, ascending
    bool isOfOneRank = false; ///< its run has no other, or all are of one that is chosen: a legend need not name it
    bool isOtherRank = false; ///< of a series whose selected rank has the bold line: thin
    QString runName; ///< empty where only one run is drawn
    QString where; ///< what is said in place of its rank, where it is more than that
    bool isOtherRun = false; ///< of a run that is held against the one that is shown
    int run = 0; ///< the shown one, or its number among those that are compared with it
    int ofRuns = 0; ///< of a band of runs and its median: how many have it
    QStringList ofRunNames; ///< and which
    std::vector<int> runsIn; ///< and how many have a finite value in each bucket
    bool isMoved = false; ///< what it says of a step was measured at others, or in several runs
    bool hasRunColor = false; ///< its color says of which run it is, its dash of which row
    bool hasRankColor = false; ///< its color says of which rank it is, alike in all plots of a canvas
    bool isHidden = false; ///< stands in the legend alone
    std::optional<std::pair<Step, double>> lastFinite; ///< of a scalar that ends in what is not finite
    std::optional<series::CellValue> newestOfAll; ///< of a live scalar: at the newest step that all of its ranks have
    bool hasLateRank = false; ///< that is long ago, because one of them is late
    std::optional<Step> newest; ///< that an archived scalar has; none where all of its ranks end at one step

    /// Buckets between neighboring ones that its line is drawn through.
    std::size_t longestLine() const;
    /// Whether both are the same series, of whatever steps.
    bool isSameAs(const CurveSeries& other) const;
    /// A step has a value of its own there.
    bool isMeasuredIn(int which) const { return run == which && !isGroup && !isMoved; }
};

/// One answer of a plot. Immutable once built. Thread: any (a value).
struct CurvePicture {
    StepRange range;
    std::vector<CurveSeries> series; ///< what belongs to one selected row stands together, its own rank first
    QStringList runs; ///< whole names of them by CurveSeries::run, where several are compared
    QStringList lacking; ///< those that have none of the series
    int omitted = 0; ///< selected rows that would be too much to draw
    std::shared_ptr<const XWarp> warp; ///< null where x is the step
    bool isLive = false;
    /// What the legend says is of one step, which stands above it: the newest by the cursor at which there is
    /// something.
    bool hasOneStep = false;
    double linear = 0; ///< a symlog scale is linear within +-this; 0: as it likes

    /// With the buckets where `warp` puts them in `width` columns: for painting alone.
    CurvePicture warpedTo(int width) const;
    bool isEmpty() const { return series.empty(); }
    bool hasFinite() const; ///< there is a value that a scale can be made for
    bool hasZeroOrLess() const; ///< among the shown values
    /// Fits the finite values; `robust` lets a few extreme buckets leave the plot.
    ValueScale fit(YMode mode, bool robust) const;
    /// Strongest state of any series for each bucket: what the lane above the plot shows.
    std::vector<series::CellState> lane() const;
    /// Buckets in which some series has a gap and none has a value.
    std::vector<bool> gaps() const;
};

/// "0..3 7" for ascending ranks, with `to` between the ends: how a band names its own.
QString rankListText(const std::vector<Rank>& ranks, const QString& to);
/// "of 3 runs", "2 of 3 runs", "2 to 3 of 4 runs": how many of them have a value.
QString runsText(int least, int most, int count);
/// "rank 1", "ranks 0–7".
QString rankText(const CurveSeries& one);
/// "rank 1", "ranks 0–7", and the run's name before it where two runs are compared.
QString whereText(const CurveSeries& one);
QString whereText(const CurveSeries& one, int bucket); ///< of a band of runs and its median, of how many there
/// Bucket of a step, -1 outside.
int bucketOf(const series::CurveResult& result, Step step);
/// Bucket of a step; where nothing was collected and a line is drawn through it, the one that the line comes from. -1
/// outside.
int lineBucketOf(const CurveSeries& one, Step step);
/// Of the last bucket that was measured, -1 when none.
int newestBucketOf(const series::CurveResult& result);
/// Steps of a bucket.
StepRange stepsOf(const series::CurveResult& result, int bucket);

}
