// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QFontMetricsF>
#include <QString>

#include "curvepicture.h"

namespace telltale::views {

/// What the legend says beside one series.
struct LegendValue {
    series::CellState state = series::CellState::NotCollected;
    double value = 0;
    Stat stat = Stat::Norm;
    bool isPart = false; ///< the value is over the finite elements, beside others that the state names
    std::optional<double> difference; ///< value at B minus value at A
    QString atA, atB; ///< "56.30", "71.20" while both marks stand
    QString where; ///< said in place of the series' own: of how many runs, "0.12 to 0.34" of a band
    StepRange at; ///< its steps, where they are not the one that was asked for
    StepRange atOfA, atOfB; ///< those of the values at the marks
    bool saysAt = false; ///< before the value, where no line above the legend does
    bool isExact = false; ///< the reader was asked; else the picture's own bucket answers

    static constexpr double kSign = 11; ///< px of a sign
    static constexpr double kBeforeSign = 4; ///< px between it and the value

    /// Of a bucket, and of which steps where these are not in `asked`'s; nothing of -1.
    static LegendValue of(const CurveSeries& one, int bucket, Step asked);
    /// As series::isPartOf; never of several samples.
    static bool isPartOf(Stat stat, const series::Bucket& bucket);
    /// Without a cursor: what a series was last. Ended longer ago than its line would be drawn through, a compared
    /// run's says at which step, and another has none.
    static LegendValue newestOf(const CurvePicture& picture, const CurveSeries& one);
    /// Says what it was at both marks, and the difference where both are values.
    void compare(const series::CellValue& a, const series::CellValue& b);
    /// Of the difference where there are marks, else of the value: "-8.580e-4", with as many digits as every other, or
    /// "at 149 2.595" of a run that ended there. A dash where nothing was measured, so that an old value is never taken
    /// for this one.
    QString text() const;
    /// The same with what it is only a part of, as there is room: "2.798, NaN left out", "2.798, NaN" or "2.798", which
    /// hasSignIn() then.
    QString textIn(const QFontMetricsF& metrics, double room) const;
    /// The sign of what is not finite stands beside textIn(), for want of room for the word.
    bool hasSignIn(const QFontMetricsF& metrics, double room) const;
};

/// "at 309", "at 309–312".
QString stepsText(StepRange steps);

}
