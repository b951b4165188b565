// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvetrace.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace telltale::views {

using series::Bucket;

namespace {

constexpr float kFar = 1e6F; ///< px; keeps float arithmetic exact enough for values far outside the plot

/// Where the left edges of columns stand among steps of which they have unequal numbers: a line that takes each column
/// for the same number has a tooth wherever there is one more.
class StepEdges {
public:
    /// As many steps as columns, or fewer, stand in the middles of columns.
    StepEdges(std::int64_t steps, std::size_t columns)
        : m_columns(static_cast<std::int64_t>(columns))
        , m_whole(steps > m_columns ? steps / m_columns : 0)
        , m_rest(steps > m_columns ? steps % m_columns : 0)
    {
    }
    /// From the column's left edge to its right one.
    void advance()
    {
        m_first = next();
        m_step += m_whole;
        m_over += m_rest;
        if (m_over >= m_columns) {
            m_over -= m_columns;
            ++m_step;
        }
    }
    /// Every step of the column that was passed has a sample.
    bool isFull(const Bucket& bucket) const { return m_whole > 0 && bucket.samples == next() - m_first; }
    /// Of the edge: 0 = at the last step before it, 1 = at the first one behind it.
    float share() const { return m_over > 0 ? static_cast<float>(m_over) / static_cast<float>(m_columns) : 1; }
    /// The last step before the edge, in columns.
    double last() const
    {
        return static_cast<double>(next() - 1) * static_cast<double>(m_columns)
            / static_cast<double>(m_whole * m_columns + m_rest);
    }

private:
    std::int64_t next() const { return m_step + (m_over > 0 ? 1 : 0); }

    std::int64_t m_columns;
    std::int64_t m_whole;
    std::int64_t m_rest;
    std::int64_t m_step = 0;
    std::int64_t m_over = 0;
    std::int64_t m_first = 0;
};

/// Where the line goes one way through a column it is that line: filled from its smallest to its largest value the
/// column would be a tooth. Where it is steep it stays filled, or its ends would fade. `first` and `last`: of the
/// column's own values.
inline void settle(ColumnSpan& column, float first, float last)
{
    const bool falls = column.top == column.left && column.bottom == column.right && column.left <= first
        && first <= last && last <= column.right;
    const bool rises = column.top == column.right && column.bottom == column.left && column.left >= first
        && first >= last && last >= column.right;
    constexpr float kSteep = 6; // px
    if ((!falls && !rises) || column.bottom - column.top > kSteep)
        return;
    column.middle = (column.left + column.right) / 2;
    column.single = true;
}

/// log2 within 1e-5, enough for a hundredth of a pixel over forty decades; 0 and less give -126.
inline float quickLog2(float value)
{
    if (!(value > 1.2e-38F))
        return -126;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto exponent = static_cast<float>(static_cast<int>(bits >> 23) - 127);
    const float m = std::bit_cast<float>((bits & 0x7FFFFFU) | 0x3F800000U);
    // atanh series around the middle of 1..2
    const float t = (m - 1.41421356F) / (m + 1.41421356F);
    const float t2 = t * t;
    return exponent + 0.5F + t * (2.88539008F + t2 * (0.961796694F + t2 * (0.577078F + t2 * 0.412198F)));
}

}

std::size_t longestJoin(std::span<const Bucket> buckets)
{
    // The common case first: every bucket has samples.
    if (std::all_of(buckets.begin(), buckets.end(), [](const Bucket& b) { return b.samples > 0; }))
        return 1;
    std::vector<std::size_t> strides;
    std::size_t last = buckets.size();
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        if (buckets[i].samples == 0)
            continue;
        if (last < buckets.size())
            strides.push_back(i - last);
        last = i;
    }
    // What is collected by the clock has strides that change with the speed of steps: the widest that held for a while,
    // as the median of a few in a row, which a hole among them does not change.
    std::array<std::size_t, 5> few {};
    const std::size_t count = std::min(few.size(), strides.size());
    std::size_t usual = 1;
    for (std::size_t i = 0; count > 0 && i + count <= strides.size(); ++i) {
        std::copy_n(strides.begin() + static_cast<std::ptrdiff_t>(i), count, few.begin());
        const auto middle = few.begin() + static_cast<std::ptrdiff_t>(count / 2);
        std::nth_element(few.begin(), middle, few.begin() + static_cast<std::ptrdiff_t>(count));
        usual = std::max(usual, *middle);
    }
    return usual == 1 ? 2 : usual * 5 / 2 + 1;
}

std::size_t CurveTrace::joinOf(std::span<const Bucket> buckets) const
{
    return m_join > 0 ? m_join : longestJoin(buckets);
}

CurveTrace::CurveTrace(int width, int height, const ValueScale& scale, std::size_t join, std::int64_t steps)
    : m_join(join)
    , m_steps(steps)
    , m_width(width)
    , m_height(height)
    , m_scale(scale)
    , m_log(scale.mode() == ValueScale::Mode::Log)
{
    const double low = m_log ? std::log2(scale.low()) : scale.low();
    const double high = m_log ? std::log2(scale.high()) : scale.high();
    m_factor = -height / (high - low);
    m_offset = height + low * height / (high - low);
}

float CurveTrace::yOf(double value) const
{
    double y = 0;
    if (m_log)
        y = value > 0 ? static_cast<double>(quickLog2(static_cast<float>(value))) * m_factor + m_offset : m_height - 1;
    else if (m_scale.mode() == ValueScale::Mode::Linear)
        y = value * m_factor + m_offset;
    else
        y = m_height - m_scale.unitOf(value) * m_height;
    return std::clamp(static_cast<float>(y), -kFar, kFar);
}

template <typename ToY> std::vector<ColumnSpan> CurveTrace::dense(std::span<const Bucket> buckets, ToY toY) const
{
    std::vector<ColumnSpan> columns(static_cast<std::size_t>(m_width));
    std::size_t join = 0; // not asked yet
    ColumnSpan* before = nullptr;
    std::size_t lastAt = 0;
    float first = 0; // of the column before, and its last
    float last = 0;
    StepEdges edges(m_steps, buckets.size());
    bool wasFull = false;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        const Bucket& bucket = buckets[i];
        const float reached = edges.share();
        edges.advance();
        const bool isFull = edges.isFull(bucket);
        if (bucket.finite > 0) {
            ColumnSpan& column = columns[i];
            column.present = true;
            column.single = bucket.min == bucket.max;
            column.left = toY(bucket.first);
            column.right = column.single ? column.left : toY(bucket.last);
            column.top = column.single ? column.left : toY(bucket.max);
            column.bottom = column.single ? column.left : toY(bucket.min);
            column.middle = (column.left + column.right) / 2;
            const float ownFirst = column.left;
            const float ownLast = column.right;
            if (before && i - lastAt == 1) {
                const float edge = last + (ownFirst - last) * (wasFull && isFull ? reached : 0.5F);
                before->right = column.left = edge;
                before->top = std::min(before->top, edge);
                before->bottom = std::max(before->bottom, edge);
                column.top = std::min(column.top, edge);
                column.bottom = std::max(column.bottom, edge);
            } else if (before && i - lastAt <= (join = join > 0 ? join : joinOf(buckets))) {
                const float slope = (ownFirst - last) / static_cast<float>(i - lastAt);
                for (std::size_t x = lastAt + 1; x < i; ++x) {
                    const float y = last + slope * static_cast<float>(x - lastAt);
                    columns[x] = { y - slope / 2, y, y + slope / 2, y - std::abs(slope) / 2, y + std::abs(slope) / 2,
                        true, true };
                }
            }
            if (before)
                settle(*before, first, last);
            before = &column;
            lastAt = i;
            first = ownFirst;
            last = ownLast;
        }
        wasFull = isFull;
        if (breaksLine(bucket)) {
            if (before)
                settle(*before, first, last);
            before = nullptr;
        }
    }
    if (before)
        settle(*before, first, last);
    return columns;
}

std::vector<ColumnSpan> CurveTrace::raw(std::span<const Bucket> buckets) const
{
    if (buckets.size() == static_cast<std::size_t>(m_width)) {
        // The scale's arithmetic is spelled out here, because it is most of the work of a plot with many curves.
        const double factor = m_factor;
        const double offset = m_offset;
        if (m_log) {
            const double floor = m_height - 1;
            return dense(buckets, [=](double value) {
                const double y
                    = value > 0 ? static_cast<double>(quickLog2(static_cast<float>(value))) * factor + offset : floor;
                return std::clamp(static_cast<float>(y), -kFar, kFar);
            });
        }
        if (m_scale.mode() == ValueScale::Mode::Linear) {
            return dense(buckets,
                [=](double value) { return std::clamp(static_cast<float>(value * factor + offset), -kFar, kFar); });
        }
        return dense(buckets, [this](double value) { return yOf(value); });
    }
    const std::size_t join = joinOf(buckets);
    std::vector<Point> points;
    points.reserve(buckets.size());
    const float pitch = static_cast<float>(m_width) / static_cast<float>(std::max<std::size_t>(buckets.size(), 1));
    std::size_t lastAt = 0;
    bool canJoin = false;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        const Bucket& bucket = buckets[i];
        if (bucket.finite > 0) {
            const float x = (static_cast<float>(i) + 0.5F) * pitch;
            const bool joins = canJoin && i - lastAt <= join;
            if (bucket.finite == 1 || bucket.min == bucket.max) {
                const float y = yOf(bucket.mean);
                points.push_back({ x, y, y, y, y, true, joins });
            } else {
                points.push_back(
                    { x, yOf(bucket.first), yOf(bucket.last), yOf(bucket.max), yOf(bucket.min), false, joins });
            }
            lastAt = i;
            canJoin = true;
        }
        if (breaksLine(bucket))
            canJoin = false;
    }
    return columnsOf(points);
}

std::vector<ColumnSpan> CurveTrace::envelope(std::span<const Bucket> buckets) const
{
    std::vector<ColumnSpan> columns(static_cast<std::size_t>(m_width));
    const std::size_t join = joinOf(buckets);
    const float pitch = static_cast<float>(m_width) / static_cast<float>(std::max<std::size_t>(buckets.size(), 1));
    const auto center = [&](std::size_t i) { return (static_cast<float>(i) + 0.5F) * pitch; };
    std::size_t last = buckets.size();
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        if (buckets[i].finite == 0)
            continue;
        const float top = yOf(buckets[i].max);
        const float bottom = yOf(buckets[i].min);
        const bool joins = last < i && i - last <= join;
        const float lastTop = joins ? yOf(buckets[last].max) : top;
        const float lastBottom = joins ? yOf(buckets[last].min) : bottom;
        const float from = joins ? center(last) : center(i);
        const float length = std::max(center(i) - from, 1e-6F);
        for (int x = static_cast<int>(from); x <= std::min(static_cast<int>(center(i)), m_width - 1); ++x) {
            const float share = std::clamp((static_cast<float>(x) + 0.5F - from) / length, 0.0F, 1.0F);
            ColumnSpan& column = columns[static_cast<std::size_t>(x)];
            column.top = lastTop + (top - lastTop) * share;
            column.bottom = lastBottom + (bottom - lastBottom) * share;
            column.present = true;
        }
        last = i;
    }
    return columns;
}

std::vector<ColumnSpan> CurveTrace::smoothed(
    std::span<const Bucket> buckets, double weight, std::span<const Bucket> lead) const
{
    std::vector<Point> points;
    points.reserve(buckets.size());
    const std::size_t join = joinOf(buckets);
    const float pitch = static_cast<float>(m_width) / static_cast<float>(std::max<std::size_t>(buckets.size(), 1));
    StepEdges edges(m_steps, buckets.size());
    double sum = 0;
    double share = 0;
    std::size_t lastAt = 0;
    bool canJoin = false;
    for (std::size_t i = 0; i < lead.size() + buckets.size(); ++i) {
        const bool isDrawn = i >= lead.size();
        const Bucket& bucket = isDrawn ? buckets[i - lead.size()] : lead[i];
        if (isDrawn)
            edges.advance();
        if (bucket.finite > 0) {
            const bool joins = canJoin && i - lastAt <= join;
            if (!joins) {
                sum = 0;
                share = 0;
            }
            const double past = std::pow(weight, bucket.finite);
            sum = past * sum + (1 - past) * bucket.mean;
            share = past * share + (1 - past);
            if (isDrawn) {
                const float y = yOf(share > 0 ? sum / share : bucket.mean);
                const auto place = static_cast<float>(i - lead.size());
                // What the last step has made of it stands where that step does.
                const float inside
                    = edges.isFull(bucket) ? std::clamp(static_cast<float>(edges.last()) - place, 0.0F, 0.99F) : 0.5F;
                points.push_back({ (place + inside) * pitch, y, y, y, y, true, joins && !points.empty() });
            }
            lastAt = i;
            canJoin = true;
        }
        if (breaksLine(bucket))
            canJoin = false;
    }
    return columnsOf(points);
}

std::vector<ColumnSpan> CurveTrace::columnsOf(std::span<const Point> points) const
{
    std::vector<ColumnSpan> columns(static_cast<std::size_t>(m_width));
    const auto at = [&](float x) { return std::clamp(static_cast<int>(x), 0, m_width - 1); };
    const auto cover = [](ColumnSpan& column, float y) {
        column.top = std::min(column.top, y);
        column.bottom = std::max(column.bottom, y);
    };
    // Points first, so that joins between them can find both ends.
    for (const Point& point : points) {
        ColumnSpan& column = columns[static_cast<std::size_t>(at(point.x))];
        if (!column.present) {
            column = { point.first, (point.first + point.last) / 2, point.last, point.top, point.bottom, true,
                point.single };
        } else {
            column.right = point.last;
            column.single = false;
            cover(column, point.top);
            cover(column, point.bottom);
        }
    }
    for (std::size_t i = 1; i < points.size(); ++i) {
        if (!points[i].joins)
            continue;
        const Point& a = points[i - 1];
        const Point& b = points[i];
        const int from = at(a.x);
        const int to = at(b.x);
        if (from == to)
            continue;
        const float slope = (b.first - a.last) / (b.x - a.x);
        const auto lineAt = [&](float x) { return a.last + (x - a.x) * slope; };
        for (int x = from; x <= to; ++x) {
            ColumnSpan& column = columns[static_cast<std::size_t>(x)];
            const auto edge = static_cast<float>(x);
            const float enter = x == from ? a.last : lineAt(edge);
            const float leave = x == to ? b.first : lineAt(edge + 1);
            if (!column.present) {
                column
                    = { enter, (enter + leave) / 2, leave, std::min(enter, leave), std::max(enter, leave), true, true };
                continue;
            }
            if (x == from)
                column.right = leave;
            else
                column.left = enter;
            // The point may stand anywhere in its column: what the line does at the center decides the middle.
            const float center = edge + 0.5F;
            if (column.single && center >= a.x && center <= b.x)
                column.middle = lineAt(center);
            cover(column, enter);
            cover(column, leave);
        }
    }
    return columns;
}

}
