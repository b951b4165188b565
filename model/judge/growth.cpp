// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/growth.h>

#include <algorithm>
#include <cmath>

namespace telltale::judge {

std::optional<Growth::Rate> Growth::take(double x, double least, int settled)
{
    const auto y = static_cast<float>(std::log(x));
    const float oldest = m_ring[static_cast<std::size_t>(m_seen % kWindow)];
    m_ring[static_cast<std::size_t>(m_seen++ % kWindow)] = y;
    if (m_seen >= kGradientsSettled + kWindow)
        m_seen -= kWindow; // it has settled for good
    // Nearly all values end here, by one comparison.
    if (m_seen < settled || static_cast<double>(y - oldest) < least)
        return {};
    std::array<float, 4> medians {};
    for (int i = 0; i < 4; ++i)
        medians[static_cast<std::size_t>(i)] = quarter(i);
    const auto risen = [&medians](std::size_t i) { return static_cast<double>(medians[i] - medians[i - 1]); };
    const double total = risen(1) + risen(2) + risen(3);
    for (std::size_t i = 1; i < medians.size(); ++i) {
        // Most of it between two quarters is a new level.
        if (risen(i) < least / 6 || risen(i) > 0.7 * total)
            return {};
    }
    if (total < least || risen(3) < total / 6)
        return {};
    // Not since the window began: what made it grow may have come in the midst of it.
    const auto left = static_cast<float>(static_cast<double>(medians[0]) + total / 4);
    int steps = 1;
    while (steps < kWindow && m_ring[static_cast<std::size_t>((m_seen + kWindow - 1 - steps) % kWindow)] > left)
        ++steps;
    return Rate { total, risen(3) / kQuarter, steps };
}

float Growth::quarter(int number) const
{
    std::array<float, kQuarter> values {};
    for (int i = 0; i < kQuarter; ++i)
        values[static_cast<std::size_t>(i)]
            = m_ring[static_cast<std::size_t>((m_seen + number * kQuarter + i) % kWindow)];
    std::sort(values.begin(), values.end());
    return values[kQuarter / 2];
}

}
