// SPDX-License-Identifier: GPL-3.0-or-later
#include "binaxis.h"

#include <algorithm>
#include <cmath>

#include <telltale/common/valuescale.h>
#include <telltale/core/histogram.h>
#include <telltale/core/numberformats.h>

namespace telltale::views {

namespace {

constexpr double kMostLabels = 9; ///< of powers of ten, over both sides

}

BinAxis::BinAxis(std::span<const double> edges, int first, int last)
    : m_edges(edges)
    , m_first(first)
    , m_shown(std::max(1, last - first + 1))
    , m_isLog(hasOctaves(edges))
{
}

double BinAxis::unitOf(double value) const
{
    const std::size_t bin = binOf(m_edges, value);
    if (bin + 1 >= m_edges.size())
        return std::nan("");
    const double low = m_edges[bin];
    const double high = m_edges[bin + 1];
    double inside = 0.5; // of a bin without an end, and of the one for zero alone
    if (m_isLog && low * high > 0 && std::isfinite(low * high))
        inside = std::log2(std::abs(value / low)) / std::log2(high / low);
    else if (!m_isLog && std::isfinite(low) && std::isfinite(high))
        inside = (value - low) / (high - low);
    return (static_cast<double>(bin) + std::clamp(inside, 0.0, 1.0) - m_first) / m_shown;
}

std::vector<double> BinAxis::candidates(int height, double distance) const
{
    const auto edge = [this](int at) { return m_edges[static_cast<std::size_t>(at)]; };
    const double low = std::isfinite(edge(m_first)) ? edge(m_first) : edge(m_first + 1);
    const double high = std::isfinite(edge(m_first + m_shown)) ? edge(m_first + m_shown) : edge(m_first + m_shown - 1);
    if (!m_isLog)
        return niceValues(low, high, std::max(1, static_cast<int>(height / distance)));
    constexpr double kOctaves = 3.3219280948873623; // of a decade
    const double decade = kOctaves * height / m_shown;
    int every = 1;
    for (const int wish : { 1, 2, 3, 5, 10, 20 }) {
        every = wish;
        if (every * decade >= std::max(distance, height / kMostLabels))
            break;
    }
    // Zero first, then from the ends inward: what has no room then is the smallest, where a bin spans more.
    std::vector<double> values { 0 };
    const double largest = std::max(std::abs(low), std::abs(high));
    for (int power = static_cast<int>(std::floor(std::log10(largest))); power >= -38; --power) {
        if (power % every != 0)
            continue;
        values.push_back(std::pow(10.0, power));
        values.push_back(-values.back());
    }
    return values;
}

std::vector<BinAxis::Tick> BinAxis::ticks(int height, double distance) const
{
    std::vector<Tick> ticks;
    const std::vector<double> values = candidates(height, distance);
    // Bins that span more than an octave would have decades closer together than the others, as if of another axis.
    const auto isWide = [this](double value) {
        const std::size_t bin = binOf(m_edges, value);
        return m_isLog && value != 0 && bin + 1 < m_edges.size()
            && std::abs(std::log2(m_edges[bin + 1] / m_edges[bin])) > 1.5;
    };
    const auto isShown = [this](double value) { return unitOf(value) >= 0 && unitOf(value) <= 1; };
    const auto isNamed = [&](double value) { return value != 0 && !isWide(value) && isShown(value); };
    const bool skipsWide = std::count_if(values.begin(), values.end(), isNamed) >= 4; // a scale without them
    for (const double value : values) {
        const double unit = unitOf(value);
        if (!isShown(value) || (skipsWide && isWide(value)))
            continue;
        const bool hasRoom = std::all_of(ticks.begin(), ticks.end(),
            [&](const Tick& other) { return std::abs(other.unit - unit) * height >= distance; });
        if (hasRoom)
            ticks.push_back({ value, unit, {} });
    }
    std::sort(ticks.begin(), ticks.end(), [](const Tick& a, const Tick& b) { return a.unit < b.unit; });
    const double stride = values.size() > 1 ? values[1] - values[0] : 0.1;
    const bool arePowers = std::ranges::any_of(ticks, isBeyondDecimals, &Tick::value);
    for (Tick& tick : ticks)
        tick.label = formatTick(tick.value, m_isLog ? std::abs(tick.value) : stride, arePowers);
    return ticks;
}

}
