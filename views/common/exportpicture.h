// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRect>
#include <QString>

#include "viewstate.h"

class QPainter;

namespace telltale::views {

class PlotCanvas;

/// What an exported picture says of itself, since it leaves the window that knew: run, what is shown, rank and steps.
struct PictureCaption {
    QString run;
    QString what; ///< "gradient, reduced, norm"

    /// With the words that hold for every view behind `what`. Of one that draws the compared runs too the steps are
    /// those of all.
    static PictureCaption of(const ViewState& state, QStringList what, bool hasOneRank, bool hasAllRuns = false);
};

inline constexpr int kCaptionBand = 28; ///< px of that caption

/// The canvas with its caption above it, both inside `place`. Thread: gui.
void paintWithCaption(QPainter& painter, const QRect& place, PlotCanvas& canvas, const PictureCaption& caption);

}
