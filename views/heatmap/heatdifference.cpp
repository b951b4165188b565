// SPDX-License-Identifier: GPL-3.0-or-later
// How a HeatPicture of two runs spreads what differs over its colors.
#include "heatpicture.h"

#include <algorithm>
#include <cmath>

#include <telltale/common/theme.h>

namespace telltale::views {

using series::CellState;

namespace {

constexpr double kMostDecades = 12;
constexpr double kFirst = 0.2; ///< of the way to the end: where the smallest difference stands, beside none at all

QString signedTick(double value, bool isAbove)
{
    return (isAbove ? QStringLiteral("+") : QString(QChar(0x2212))) + formatTick(value, value);
}

}

/// No difference is the middle. Where most cells are equal, the smallest difference is seen beside it, however large
/// the largest; where most differ, the colors begin a decade below the usual difference, so that noise does not shine.
void HeatPicture::spreadDifferences()
{
    scale = ValueScale(ValueScale::Mode::Linear, -1, 1);
    std::vector<double> sizes;
    std::size_t compared = 0;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (result.states[i] != CellState::Value)
            continue;
        ++compared;
        const double size = std::abs(static_cast<double>(shown[i]));
        if (size > 0 && std::isfinite(size))
            sizes.push_back(size);
    }
    if (sizes.empty()) {
        ticks = { { 0, QStringLiteral("0") } };
        return;
    }
    const bool mostDiffer = sizes.size() * 2 > compared;
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    const double high = std::ceil(std::log10(*most));
    double low = std::max(std::min(std::floor(std::log10(*least)), high - 1), high - kMostDecades);
    if (mostDiffer) {
        const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
        std::nth_element(sizes.begin(), middle, sizes.end());
        low = std::clamp(std::floor(std::log10(*middle)) - 1, low, high - 1);
    }
    const double begin = mostDiffer ? 0.0 : kFirst;
    const auto placeOf = [=](double size) {
        const double unit = (std::log10(size) - low) / (high - low);
        return static_cast<float>(begin + (1 - begin) * std::clamp(unit, 0.0, 1.0));
    };
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const double size = std::abs(static_cast<double>(shown[i]));
        if (result.states[i] == CellState::Value && size > 0)
            shown[i] = std::copysign(std::isfinite(size) ? placeOf(size) : 1.0F, shown[i]);
    }
    const int stride = std::max(1, static_cast<int>(std::ceil((high - low) / 3)));
    for (int decade = static_cast<int>(high); decade >= static_cast<int>(low) + (mostDiffer ? 1 : 0);
         decade -= stride) {
        const double size = std::pow(10.0, decade);
        const auto place = static_cast<double>(placeOf(size));
        ticks.push_back({ place, signedTick(size, true) });
        ticks.push_back({ -place, signedTick(size, false) });
    }
    ticks.push_back({ 0, QStringLiteral("0") });
}

/// Doublings up and down from the same.
void HeatPicture::spreadRatios()
{
    constexpr double kMost = 10; ///< doublings
    constexpr double kLeast = 1.0 / 64;
    double largest = 0;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (result.states[i] != CellState::Value)
            continue;
        const double ratio = static_cast<double>(shown[i]);
        const double doublings = ratio <= 0 ? -HUGE_VAL : std::log2(ratio);
        shown[i] = static_cast<float>(std::clamp(doublings, -1e6, 1e6));
        largest = std::max(largest, std::min(std::abs(doublings), kMost));
        clippedHigh = clippedHigh || doublings > kMost;
        clippedLow = clippedLow || doublings < -kMost;
    }
    const double end = std::exp2(std::ceil(std::log2(std::max(largest, kLeast))));
    scale = ValueScale(ValueScale::Mode::Linear, -end, end);
    for (const double part : { 1.0, 0.5, 0.0, -0.5, -1.0 }) {
        const QChar sign(part < 0 ? 0x00F7 : 0x00D7); // a 256th is read more easily than 0.00391
        ticks.push_back({ part * end, sign + formatTick(std::exp2(std::abs(part) * end), 1) });
    }
}

}
