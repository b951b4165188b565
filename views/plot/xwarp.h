// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QString>

#include <telltale/core/ids.h>
#include <telltale/series/query.h>

namespace telltale::views {

enum class XAxis { Step, Samples, Tokens, Time };

/// Puts the steps of a plot along another quantity that grows with them: samples seen, or time since the first step.
/// Thread: any (immutable).
class XWarp {
public:
    /// From the quantity's own curve over the same buckets as the plot's. Null where it was not recorded at two buckets
    /// at least. Holes are filled in a straight line, a value that falls back keeps the one before. `start`: what the
    /// run's first step has, from which time counts; without it, from the first bucket on.
    static std::shared_ptr<const XWarp> of(
        XAxis axis, const series::CurveResult& quantity, std::optional<double> start = std::nullopt);

    XAxis axis() const { return m_axis; }
    /// Left to right, 0..1.
    double unitOf(Step step) const;
    Step stepAt(double unit) const;
    /// What the axis says of a step: "1:05 min". All of them have one form.
    QString textOf(Step step) const { return quantityText(quantityAt(step)); }
    QString placeText(Step step) const; ///< "at 1:05 min", "at 2,048 samples"
    /// How far `b` is behind `a`, as the two read: "+0:44 min".
    QString differenceText(Step a, Step b) const;
    /// The buckets of a curve over the same steps, at their new places in `width` columns. What lies between two of
    /// them is empty, however slow the steps were; a hole in the curve has a gap in its middle.
    std::vector<series::Bucket> warped(const std::vector<series::Bucket>& buckets, int width) const;

    struct Tick {
        double unit;
        QString label;
    };
    /// Labels at least `spacing` px apart on an axis of `width` px.
    std::vector<Tick> ticks(int width, int spacing = 90) const;

private:
    XWarp() = default;
    double longest() const; ///< s, to the right end
    int decimals() const; ///< of a second
    double quantityAt(Step step) const; ///< as precise as it is written
    QString quantityText(double value) const;
    double edge(std::size_t index) const { return (m_edges[index] - m_edges.front()) / m_span; }

    XAxis m_axis = XAxis::Samples;
    StepRange m_range;
    std::vector<double> m_edges; ///< quantity where each bucket begins, and where the last ends
    double m_span = 1;
    double m_origin = 0; ///< quantity that the labels count from
};

/// Name of the reserved scalar that records the quantity.
QString scalarOf(XAxis axis);

}
