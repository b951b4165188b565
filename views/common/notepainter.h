// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QRectF>

#include <telltale/store/stepnote.h>

#include "theme.h"

class QPainter;

namespace telltale::views {

/// Marks of notes on a step axis: a leaf in the lane above the plot, a line through it, a tint over a range. Thread:
/// its painter's.
class NotePainter {
public:
    static constexpr double kSide = 10; ///< of a leaf
    static constexpr double kAway = 11; ///< its middle, right of its step

    /// `xOf`: where a step stands, px in the painter's coordinates.
    NotePainter(QPainter& painter, const Theme& theme, const QRectF& plot, std::function<double(Step)> xOf);

    /// `areFilled`: the steps of a note are tinted, too.
    void marks(StepRange range, const std::vector<store::StepNote>& notes, bool areFilled);
    /// What one says, beside its mark.
    void text(const store::StepNote& note);

private:
    void leaf(double x);

    QPainter& m_painter;
    const Theme& m_theme;
    QRectF m_plot;
    std::function<double(Step)> m_xOf;
};

/// "step 150", "steps 150 to 180".
QString noteWhere(StepRange steps);

}
