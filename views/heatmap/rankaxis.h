// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRect>
#include <QRectF>

#include "heatpicture.h"

class QPainter;

namespace telltale::views {

/// The axis of ranks of a picture whose columns are ranks: their numbers below the plot, and in the lane above it the
/// signs of those that are odd, with the names of their groups or of which step the values are. Thread: gui.
void paintRankAxis(
    QPainter& painter, const QRect& plot, const QRectF& lane, const HeatPicture& picture, const Theme& theme);

}
