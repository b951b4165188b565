// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <QRectF>

#include "eventmark.h"

namespace telltale::views {

/// Where the flags of events stand in a lane above a plot, so that the sign of an incident covers none. Thread: any (a
/// value).
class FlagPlaces {
public:
    static constexpr double kFlag = 7; ///< px of a pole and its cloth

    FlagPlaces() = default;
    /// `xOf`: px of a step, like the plot.
    FlagPlaces(const QRectF& plot, StepRange range, const std::vector<EventMark>& events,
        const std::function<double(Step)>& xOf);

    /// The cloth of one there turns to the left, where the plot ends.
    static bool isAtEnd(const QRectF& plot, double x) { return x + kFlag > plot.right(); }
    /// Where the sign of what is at `x` stands: there, or beside what flags it would cover.
    double beside(double x) const;

private:
    QRectF m_plot;
    std::vector<std::pair<double, double>> m_flags; ///< px, from and to
};

}
