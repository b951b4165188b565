// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include <QString>

namespace telltale::views {

/// The axis of the values across bins of equal height. Bins by powers of two make it a logarithm on both sides of zero,
/// with powers of ten as labels, the same ones below zero as above; equal bins make it linear. Thread: any (a value).
class BinAxis {
public:
    /// `edges` outlive it; of their bins `first` to `last` are shown.
    BinAxis(std::span<const double> edges, int first, int last);

    /// 0 = the lower end, 1 = the upper one; beyond them what is not shown.
    double unitOf(double value) const;

    struct Tick {
        double value;
        double unit;
        QString label;
    };
    /// From below, `distance` px apart at least, for an axis `height` px long. Zero is among them where it is shown.
    std::vector<Tick> ticks(int height, double distance) const;

private:
    std::vector<double> candidates(int height, double distance) const;

    std::span<const double> m_edges;
    int m_first;
    int m_shown;
    bool m_isLog;
};

}
