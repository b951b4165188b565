// SPDX-License-Identifier: GPL-3.0-or-later
#include "flagplaces.h"

#include <algorithm>
#include <cmath>

namespace telltale::views {

namespace {

constexpr double kHalfSign = 8; ///< px of the largest, that of the current incident

}

FlagPlaces::FlagPlaces(
    const QRectF& plot, StepRange range, const std::vector<EventMark>& events, const std::function<double(Step)>& xOf)
    : m_plot(plot)
{
    for (const EventMark& event : events) {
        if (event.shape == EventMark::Shape::Checkpoint || !range.contains(event.step))
            continue;
        const double x = std::floor(xOf(event.step));
        m_flags.emplace_back(isAtEnd(plot, x) ? std::pair(x - kFlag + 1, x + 1) : std::pair(x, x + kFlag));
    }
}

double FlagPlaces::beside(double x) const
{
    const auto covered = [this](double at) {
        return std::ranges::find_if(
            m_flags, [at](const auto& flag) { return flag.first < at + kHalfSign && at - kHalfSign < flag.second; });
    };
    double left = x;
    double right = x;
    for (auto flag = covered(left); flag != m_flags.end(); flag = covered(left))
        left = flag->first - kHalfSign;
    for (auto flag = covered(right); flag != m_flags.end(); flag = covered(right))
        right = flag->second + kHalfSign;
    const bool isToRight = left < m_plot.left() || (right - x < x - left && right <= m_plot.right());
    return isToRight ? right : left;
}

}
