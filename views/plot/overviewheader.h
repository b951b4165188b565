// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRect>

#include "scalarpanels.h"

class QPainter;

namespace telltale::views {

inline constexpr int kPanelHeader = 32; ///< its height

/// Where captions begin behind the panels' titles, for all of them: at the plots' left edge, or where the gutter is too
/// narrow for one of the titles, behind the widest. Thread: any.
double panelCaptionLeft(const std::vector<ScalarPanel>& panels, const QRect& plot);
/// The line above a plot of the Overview: what it shows at the left, the last values at the right, of a shared plot
/// beside the colors of its lines. Thread: any.
void paintPanelHeader(
    QPainter& painter, const QRect& plot, const ScalarPanel& panel, double smoothing, double captionLeft);

/// A learning rate is set, not measured: a smoothed one would be a rate that no step had.
bool isSmoothable(const CurveSeries& one);
/// The lines that a shared plot's legend names: the chosen rank's, of the run that is shown.
std::vector<const CurveSeries*> ownLines(const CurvePicture& picture);

/// "last finite 2.613 at 31 189" and "NaN" when the newest sample is not finite, else the value alone.
struct LastValue {
    QString value;
    QString before; ///< what stands left of it in a quiet color
    bool critical = false;
};
LastValue lastValueOf(const CurveSeries& one);

}
