// SPDX-License-Identifier: GPL-3.0-or-later
// How a HeatPicture of two runs spreads what differs over its colors.
#include "heatpicture.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>

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

/// A small change is said in percent.
bool isPercent(double ratio)
{
    return std::abs(ratio - 1) < 0.1;
}

QString factorText(double ratio, int figures)
{
    if (ratio == 0 || ratio == 1)
        return QStringLiteral("\u00D7%1").arg(ratio);
    const double whole = ratio < 1 ? 1 / ratio : ratio; // a 256th is read more easily than 0.00391
    const bool isWhole = whole >= 10 || whole == std::round(whole);
    const QString text = figures > 0 ? formatValue(whole, figures)
        : isWhole                    ? formatStep(std::llround(whole))
                                     : formatTick(whole, 0.01);
    return (ratio < 1 ? QChar(0x00F7) : QChar(0x00D7)) + text;
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

/// Doublings up and down from the same, as far as nearly all of what differs goes: a few cells that are far apart must
/// not take the colors from the rest, nor must equal ones from the smallest difference.
void HeatPicture::spreadRatios()
{
    constexpr double kMost = 16; ///< doublings
    constexpr double kLeast = 1e-7; ///< what a float can tell from the same
    constexpr double kWithin = 0.99; ///< share of the differing cells
    std::vector<double> sizes;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (result.states[i] != CellState::Value)
            continue;
        const double ratio = static_cast<double>(shown[i]);
        const double doublings = ratio <= 0 ? -HUGE_VAL : std::log2(ratio);
        shown[i] = static_cast<float>(std::clamp(doublings, -1e6, 1e6));
        if (doublings != 0)
            sizes.push_back(std::abs(doublings));
    }
    double end = 1;
    if (!sizes.empty()) {
        const auto last = sizes.begin() + static_cast<std::ptrdiff_t>(kWithin * static_cast<double>(sizes.size() - 1));
        std::nth_element(sizes.begin(), last, sizes.end());
        end = std::clamp(*last, kLeast, kMost);
    }
    end = end > 1 ? 2 * std::ceil(end / 2) : std::exp2(std::ceil(std::log2(end)));
    scale = ValueScale(ValueScale::Mode::Linear, -end, end).ofShares(factsOf(stat).shown == Shown::Share);
    for (const double part : { 1.0, 0.5, 0.0, -0.5, -1.0 }) {
        const double ratio = std::exp2(part * end);
        // All in the words of the largest.
        ticks.push_back({ part * end, isPercent(std::exp2(end)) ? ratioText(ratio) : factorText(ratio, 0) });
    }
    markClipped();
}

QString ratioText(double ratio, int figures)
{
    if (ratio == 1 || !isPercent(ratio))
        return factorText(ratio, figures);
    return (ratio > 1 ? QStringLiteral("+") : QString())
        + QCoreApplication::translate("HeatLegend", "%1 %").arg(formatValue((ratio - 1) * 100, 2));
}

}
