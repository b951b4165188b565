// SPDX-License-Identifier: GPL-3.0-or-later
#include "valuescale.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "theme.h"

namespace telltale::views {

namespace {

bool isDecade(double value)
{
    const double exponent = std::log10(std::abs(value));
    return std::abs(exponent - std::round(exponent)) < 1e-9;
}

/// What one more of its last digit is: 0.01 of 0.35.
double lastDigitOf(double value)
{
    double digit = std::pow(10.0, std::floor(std::log10(std::abs(value))));
    for (int more = 0; more < 6 && std::abs(value / digit - std::round(value / digit)) > 1e-6; ++more)
        digit /= 10;
    return digit;
}

/// Values m x 10^k within [low, high] for each mantissa, ascending; both bounds positive.
std::vector<double> decadeValues(double low, double high, std::initializer_list<double> mantissas, int everyDecade)
{
    std::vector<double> values;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = static_cast<int>(std::ceil(std::log10(high)));
    for (int k = first; k <= last; ++k) {
        if (((k % everyDecade) + everyDecade) % everyDecade != 0)
            continue;
        for (const double m : mantissas) {
            const double value = m * std::pow(10.0, k);
            if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9))
                values.push_back(value);
        }
    }
    return values;
}

}

std::vector<double> niceValues(double low, double high, int count)
{
    std::vector<double> values;
    const double span = high - low;
    if (!(span > 0) || !std::isfinite(span) || count < 1)
        return values;
    const double rough = span / count;
    const double decade = std::pow(10.0, std::floor(std::log10(rough)));
    double stride = decade * 10;
    for (const double factor : { 1.0, 2.0, 5.0 }) {
        if (decade * factor >= rough * (1 - 1e-9)) {
            stride = decade * factor;
            break;
        }
    }
    if (stride <= std::abs(low) * std::numeric_limits<double>::epsilon() * 4)
        return values;
    const double begin = std::ceil(low / stride - 1e-9);
    const double end = std::floor(high / stride + 1e-9);
    for (double i = begin; i <= end; ++i)
        values.push_back(i == 0 ? 0.0 : i * stride);
    return values;
}

bool isBeyondDecimals(double value)
{
    const double magnitude = std::abs(value);
    return magnitude > 0 && (magnitude < 1e-3 * (1 - 1e-9) || magnitude >= 9999.5);
}

QString formatTick(double value, double distance)
{
    // Neighbors across 1e-3 are written alike: 1.2e-3, 1e-3, 8e-4; and so is it where it stands alone.
    return formatTick(value, distance, std::abs(value) < 1e-2 && distance < 1e-3 * (1 + 1e-9));
}

QString formatTick(double value, double distance, bool isPower)
{
    if (value == 0)
        return QStringLiteral("0");
    const double magnitude = std::abs(value);
    const double exponent = std::floor(std::log10(magnitude));
    const int needed = std::clamp(
        static_cast<int>(exponent - std::floor(std::log10(std::max(distance, magnitude * 1e-12)) + 1e-9)) + 1, 1, 12);
    if (isBeyondDecimals(value) || (isPower && (magnitude < 1 || magnitude >= 999.5)))
        return formatPower(value, needed);
    // A thousandth may be less by the last bit.
    return formatValue(magnitude < 1 ? value * (1 + 1e-12) : value, std::max(needed, static_cast<int>(exponent) + 1));
}

QString percentOf(const QString& number)
{
    return number + QChar(0x00A0) + u'%';
}

void alignDecimals(std::vector<ValueScale::Tick>& ticks, bool areShares)
{
    qsizetype most = 0;
    for (const ValueScale::Tick& tick : ticks) {
        if (tick.label.contains(u'e'))
            return;
        const QString number = tick.label.section(QChar(0x00A0), 0, 0);
        const qsizetype point = number.indexOf(u'.');
        most = std::max(most, point < 0 ? 0 : number.size() - point - 1);
    }
    const double digit = std::pow(10.0, -static_cast<double>(most));
    for (ValueScale::Tick& tick : ticks) {
        QString number = formatTick(areShares ? tick.value * 100 : tick.value, digit, false);
        if (most > 0 && tick.value != 0 && !number.contains(u'.')) // a whole one, which has none by itself
            number += u'.' + QString(most, u'0');
        tick.label = areShares ? percentOf(number) : number;
    }
}

ValueScale::ValueScale(Mode mode, double low, double high, double linear)
    : m_mode(mode)
{
    if (!std::isfinite(low) || !std::isfinite(high)) {
        low = mode == Mode::Log ? 0.1 : 0;
        high = 1;
    }
    if (low > high)
        std::swap(low, high);
    if (mode == Mode::Log) {
        if (high <= 0)
            high = 1;
        if (low <= 0)
            low = high / 1e6;
        if (high / low < 1.0001) {
            low /= 1.5;
            high *= 1.5;
        }
    } else if (high - low <= std::max(std::abs(low), std::abs(high)) * 1e-9) {
        const double margin = low == 0 ? 0.5 : std::abs(low) * 0.1;
        low -= margin;
        high += margin;
    }
    m_low = low;
    m_high = high;
    const double largest = std::max(std::abs(low), std::abs(high));
    m_linear = linear > 0 && linear < largest ? linear : std::max(largest * 1e-4, std::numeric_limits<double>::min());
    m_from = forward(low);
    m_to = forward(high);
}

double ValueScale::forward(double value) const
{
    switch (m_mode) {
    case Mode::Linear:
        return value;
    case Mode::Log:
        return value > 0 ? std::log10(value) : -std::numeric_limits<double>::infinity();
    case Mode::Symlog:
        return std::asinh(value / m_linear);
    }
    return value;
}

double ValueScale::backward(double position) const
{
    switch (m_mode) {
    case Mode::Linear:
        return position;
    case Mode::Log:
        return std::pow(10.0, position);
    case Mode::Symlog:
        return std::sinh(position) * m_linear;
    }
    return position;
}

double ValueScale::unitOf(double value) const
{
    return (forward(value) - m_from) / (m_to - m_from);
}

double ValueScale::valueAt(double unit) const
{
    return backward(m_from + unit * (m_to - m_from));
}

bool ValueScale::endsArePowers() const
{
    const double unit = m_isOfShares ? 100 : 1;
    return isBeyondDecimals(m_low * unit) || isBeyondDecimals(m_high * unit);
}

std::vector<double> ValueScale::candidates(int count) const
{
    if (m_mode == Mode::Linear)
        return niceValues(m_low, m_high, count);
    if (m_mode == Mode::Symlog) {
        std::vector<double> values;
        const double largest = std::max(std::abs(m_low), std::abs(m_high));
        // Both sides of zero have so many.
        const double decades = 2 * std::log10(largest / m_linear);
        const int every = std::max(1, static_cast<int>(std::ceil(decades / std::max(1, count - 1) - 1e-9)));
        // Without two whole decades a side they alone are no scale.
        const std::vector<double> side = decades < 4 ? decadeValues(m_linear, largest, { 1.0, 3.0 }, 1)
                                                     : decadeValues(m_linear, largest, { 1.0 }, every);
        for (const double v : side) {
            if (-v >= m_low)
                values.push_back(-v);
            if (v <= m_high)
                values.push_back(v);
        }
        if (m_low <= 0 && m_high >= 0)
            values.push_back(0);
        std::sort(values.begin(), values.end());
        return values;
    }
    const double decades = std::log10(m_high / m_low);
    if (decades < 1) {
        std::vector<double> values = niceValues(m_low, m_high, count);
        // A stride over the decade's own number would leave it out.
        if (const double decade = std::pow(10.0, std::ceil(std::log10(m_low) - 1e-9));
            decade <= m_high && (values.empty() || decade < values.front() * (1 - 1e-9)))
            values.insert(values.begin(), decade);
        // Nor is a third of the axis, which may be where the values are, left without a number.
        if (!values.empty() && unitOf(values.front()) > 1.0 / 3) {
            const std::vector<double> below = decadeValues(m_low, values.front() * (1 - 1e-6), { 1.0, 2.0, 5.0 }, 1);
            values.insert(values.begin(), below.begin(), below.end());
        }
        return values;
    }
    if (decades < 1.6 && count >= 4)
        return decadeValues(m_low, m_high, { 1.0, 2.0, 5.0 }, 1);
    if (decades * 2 <= count)
        return decadeValues(m_low, m_high, { 1.0, 3.0 }, 1);
    for (int every = 1;; ++every) {
        std::vector<double> values = decadeValues(m_low, m_high, { 1.0 }, every);
        if (static_cast<int>(values.size()) <= std::max(count, 1))
            return values;
    }
}

ValueScale ValueScale::ofShares(bool areShares) const
{
    ValueScale scale = *this;
    scale.m_isOfShares = areShares;
    return scale;
}

std::vector<ValueScale::Tick> ValueScale::ticks(int length, int spacing, int most, bool besideEnds) const
{
    if (m_isOfShares) {
        std::vector<Tick> ticks
            = ValueScale(m_mode, m_low * 100, m_high * 100, m_linear * 100).ticks(length, spacing, most, besideEnds);
        for (Tick& tick : ticks)
            tick = { tick.value / 100, percentOf(tick.label) };
        return ticks;
    }
    // One alone tells no scale: where that is all, they stand closer.
    constexpr int kClosest = 14;
    const int count = std::clamp(length / std::max(1, spacing), 1, std::max(1, most));
    std::vector<Tick> ticks = placed(candidates(count), length, spacing * 0.8, most, besideEnds);
    for (int more = 1; more <= 6 && ticks.size() < 2; ++more)
        ticks = placed(
            candidates(count + more), length, std::min<double>(spacing * 0.8, kClosest), std::max(most, 2), besideEnds);
    // Its decades may all be out of sight, and zero between two ends looks like a linear scale.
    std::set<double> magnitudes;
    for (const Tick& tick : ticks)
        magnitudes.insert(std::abs(tick.value));
    magnitudes.erase(0);
    if (m_mode == Mode::Symlog && (ticks.size() < 3 || magnitudes.size() < 2)) {
        const double largest = std::max(std::abs(m_low), std::abs(m_high));
        const double least = m_low > 0 ? m_low : m_high < 0 ? -m_high : std::min(m_linear, largest / 5);
        std::vector<double> values { 0 };
        for (const double value : decadeValues(least, largest, { 1.0, 2.0, 5.0 }, 1)) {
            values.push_back(-value);
            values.push_back(value);
        }
        std::ranges::sort(values);
        ticks = placed(values, length, std::min<double>(spacing * 0.8, kClosest), std::max(most, 5), besideEnds);
    }
    return ticks;
}

std::vector<ValueScale::Tick> ValueScale::placed(
    const std::vector<double>& values, int length, double apart, int most, bool besideEnds) const
{
    // Where not all find room, zero comes first and then decades: on a log axis they are what the rest is read from.
    const bool isLog = m_mode == Mode::Log;
    const auto orderOf = [this](double value) {
        return m_mode == Mode::Linear ? 2 : value == 0 ? 0 : isDecade(value) ? 1 : 2;
    };
    std::vector<double> kept;
    for (const int order : { 0, 1, 2 }) {
        for (const double value : values) {
            const double at = unitOf(value) * length;
            const bool isFree = std::none_of(
                kept.begin(), kept.end(), [&](double other) { return std::abs(unitOf(other) * length - at) < apart; });
            if (orderOf(value) == order && at >= -0.5 && at <= length + 0.5 && isFree
                && static_cast<int>(kept.size()) < most)
                kept.push_back(value);
        }
    }
    std::sort(kept.begin(), kept.end());
    const bool isEvenly = m_mode == Mode::Linear || (isLog && m_high / m_low < 10);
    const bool arePowers = (besideEnds && endsArePowers()) || std::ranges::any_of(kept, isBeyondDecimals);
    std::vector<Tick> ticks;
    double previous = 0;
    for (const double value : kept) {
        const double distance = isEvenly       ? (values.size() > 1 ? values[1] - values[0] : lastDigitOf(value))
            : ticks.empty() || isDecade(value) ? std::abs(value)
                                               : std::abs(value - previous);
        ticks.push_back({ value, formatTick(value, distance, arePowers) });
        previous = value;
    }
    return ticks;
}

}
