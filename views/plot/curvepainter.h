// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include <QImage>
#include <QRect>

#include <telltale/common/incidentsigns.h>
#include <telltale/common/theme.h>

#include "curvepicture.h"

class QPainter;

namespace telltale::views {

/// The lines of a plot: gaps hatched, then every curve, the first selected on top. `plot` in logical pixels of `frame`;
/// `smoothing`: weight of the past, 0 = off. Thread: any.
void paintCurves(QImage& frame, const QRect& plot, const CurvePicture& picture, const ValueScale& scale,
    double smoothing, const Theme& theme);

/// One of them once more, over all others and wider. Thread: any.
void paintHighlightedCurve(QImage& frame, const QRect& plot, const CurvePicture& picture, std::size_t series,
    const ValueScale& scale, double smoothing, const Theme& theme);

/// A small triangle over what a scale cuts off, of the lines that are not thin.
void paintClips(
    QPainter& painter, const QRect& plot, const CurvePicture& picture, const ValueScale& scale, const Theme& theme);

/// The signs of everything non-finite, at least one mark for every pixel that has any; a sign that one of `over`, from
/// left to right, would hide stands right of it. Gives the columns in which words have no room.
std::vector<bool> paintNonFiniteLane(QPainter& painter, const QRectF& lane, std::span<const series::CellState> states,
    const Theme& theme, const std::vector<IncidentSign>& over = {});

}
