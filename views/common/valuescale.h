// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QString>

namespace telltale::views {

/// Maps values to 0..1 along an axis or a legend, and gives its labels. Monotonic. Thread: any (a value).
class ValueScale {
public:
    enum class Mode { Linear, Log, Symlog };

    ValueScale() = default;
    /// `low` < `high` after repair: equal ends are widened, a log scale moves a low end <= 0 to `high` / 1e6.
    /// `linear`: of a symlog scale, which is linear within +-this; 0: four decades below its largest value.
    ValueScale(Mode mode, double low, double high, double linear = 0);

    /// The same of shares, whose labels are percent.
    ValueScale ofShares(bool areShares = true) const;
    bool isOfShares() const { return m_isOfShares; }

    Mode mode() const { return m_mode; }
    double low() const { return m_low; }
    double high() const { return m_high; }
    /// Not clamped. -infinity for values <= 0 on a log scale.
    double unitOf(double value) const;
    double valueAt(double unit) const;

    struct Tick {
        double value;
        QString label;
    };
    /// At most `most` labels, at least `spacing` px apart on an axis of `length` px. All are powers where one of them
    /// has to be, or, with `besideEnds`, an end of the scale, which is labeled beside them.
    std::vector<Tick> ticks(int length, int spacing = 22, int most = 6, bool besideEnds = false) const;
    bool endsArePowers() const;

private:
    double forward(double value) const;
    double backward(double position) const;
    std::vector<Tick> placed(
        const std::vector<double>& values, int length, double apart, int most, bool besideEnds) const;
    std::vector<double> candidates(int count) const;

    Mode m_mode = Mode::Linear;
    double m_low = 0;
    double m_high = 1;
    bool m_isOfShares = false;
    double m_linear = 1; ///< symlog: linear within +-this
    double m_from = 0;
    double m_to = 1;
};

/// Nice values (1, 2, 5 x 10^k) inside [low, high], at most `count` of them.
std::vector<double> niceValues(double low, double high, int count);
/// Outside 1e-3..9 999, where axes write powers.
bool isBeyondDecimals(double value);
/// As on axes: 1e-4 outside 1e-3..9 999, decimals as the distance between two labels needs.
QString formatTick(double value, double distance);
/// Beside others: with `isPower` 1e-1 for 0.1; 1, 10 and 100 stand beside both.
QString formatTick(double value, double distance, bool isPower);
QString percentOf(const QString& number); ///< "25 %"
/// All but zero get as many decimals as the label that has most, "0.75" and "0.60"; as they are where one is a power.
void alignDecimals(std::vector<ValueScale::Tick>& ticks, bool areShares);

}
