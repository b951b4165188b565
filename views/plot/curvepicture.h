// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <telltale/common/rowlist.h>
#include <telltale/common/valuescale.h>
#include <telltale/series/query.h>

namespace telltale::views {

enum class YMode { Linear, Log, Symlog };

struct CurveSeries {
    Row row;
    Stat stat = Stat::Norm;
    int slot = 0; ///< colour
    series::CurveResult result;
    /// Another curve stands for a group: its envelope is filled, it has no line of its own.
    bool isGroup = false;
    QString groupText; ///< "7 other ranks"
};

/// One answer of a plot. Immutable once built. Thread: any (a value).
struct CurvePicture {
    StepRange range;
    std::vector<CurveSeries> series;
    bool isLive = false;

    bool isEmpty() const { return series.empty(); }
    /// Fits the finite values; `robust` lets a few extreme buckets leave the plot.
    ValueScale fit(YMode mode, bool robust) const;
    /// Strongest state of any series for each bucket: what the lane above the plot shows.
    std::vector<series::CellState> lane() const;
    /// Buckets in which some series has a gap and none has a value.
    std::vector<bool> gaps() const;
};

/// Bucket of a step, -1 outside.
int bucketOf(const series::CurveResult& result, Step step);
/// Steps of a bucket.
StepRange stepsOf(const series::CurveResult& result, int bucket);

}
