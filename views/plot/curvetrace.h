// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include <telltale/common/valuescale.h>
#include <telltale/series/query.h>

#include "spanpainter.h"

namespace telltale::views {

/// Turns the buckets of one answer into one span a pixel column. The line breaks where something non-finite, a gap or a
/// damaged tile stands, and where nothing was collected for much longer than usual. Zero and less, which a log scale
/// has no place for, run along the bottom. Thread: any.
class CurveTrace {
public:
    /// `join`: buckets between neighboring ones that the line is drawn through; 0: as longestJoin() says. `steps` that
    /// the buckets divide among themselves; 0: unknown.
    CurveTrace(int width, int height, const ValueScale& scale, std::size_t join = 0, std::int64_t steps = 0);

    /// The values as they are: from the smallest to the largest of each bucket.
    std::vector<ColumnSpan> raw(std::span<const series::Bucket> buckets) const;
    /// From the smallest to the largest of each bucket, filled across the columns between two buckets.
    std::vector<ColumnSpan> envelope(std::span<const series::Bucket> buckets) const;
    /// Exponential moving average of the samples; `weight` 0..1 is the share of the past at each sample, so that the
    /// line means the same at every zoom. Starts anew after every break. `lead`: buckets before the first one, which
    /// count but are not drawn.
    std::vector<ColumnSpan> smoothed(
        std::span<const series::Bucket> buckets, double weight, std::span<const series::Bucket> lead = {}) const;

    float yOf(double value) const;

private:
    struct Point {
        float x;
        float first;
        float last;
        float top;
        float bottom;
        bool single;
        bool joins; ///< the line comes from the point before
    };
    /// raw() where every bucket is one column: a single pass over the buckets, which are most of the memory that a plot
    /// with many curves reads. The first bucket without samples asks for longestJoin(), the only other pass.
    template <typename ToY> std::vector<ColumnSpan> dense(std::span<const series::Bucket> buckets, ToY toY) const;
    std::vector<ColumnSpan> columnsOf(std::span<const Point> points) const;

    std::size_t joinOf(std::span<const series::Bucket> buckets) const;

    std::size_t m_join;
    std::int64_t m_steps;
    int m_width;
    int m_height;
    ValueScale m_scale;
    double m_factor;
    double m_offset;
    bool m_log;
};

/// True where a bucket ends the line.
inline bool breaksLine(const series::Bucket& bucket)
{
    return series::isNonFinite(bucket.state) || bucket.state == series::CellState::Gap
        || bucket.state == series::CellState::Damaged;
}
/// Buckets between neighboring collected ones beyond which the line is not drawn through.
std::size_t longestJoin(std::span<const series::Bucket> buckets);

}
