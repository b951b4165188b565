// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QRectF>

#include <telltale/common/theme.h>

#include "curvepicture.h"

class QPainter;

namespace telltale::views {

/// What the legend says beside one series.
struct LegendValue {
    series::CellState state = series::CellState::NotCollected;
    double value = 0;
    std::optional<double> difference; ///< value at B minus value at A
};

/// The column right of the curves: swatch, name, rank and the value at the cursor. Names are cut at the front, never in
/// the middle; what does not fit is counted in a last line. Thread: gui.
void paintCurveLegend(QPainter& painter, const QRectF& area, const CurvePicture& picture,
    const std::vector<LegendValue>& values, int emphasised, const Theme& theme);
/// Series under a point of that column, -1 when none.
int legendRowAt(const QRectF& area, const CurvePicture& picture, QPointF position);

}
