// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>

#include "heatpicture.h"

class QPainter;
class QString;

namespace telltale::views {

/// The column right of a heat map: the colors with their values, what several steps in one pixel became, and the signs
/// for everything that is not a value, unless somebody else draws these; where there is no room for all, those of what
/// the picture shows in a plot of `plotWidth` px. Thread: gui.
void paintHeatLegend(QPainter& painter, const QRectF& area, const HeatPicture& picture, const Theme& theme,
    bool hasSigns = true, double plotWidth = 0);
/// What the steps of a column became; where each column is one step, how many of the steps were collected. Empty where
/// the columns are ranks, or the steps that were collected are not equally far apart.
QString columnStepsText(const HeatPicture& picture);
/// px that paintHeatStrip needs.
double heatStripWidth(const HeatPicture& picture);
/// The colors alone, in a line between the smallest and the largest value, at its right end; nothing where they have no
/// room.
void paintHeatStrip(QPainter& painter, const QRectF& line, const HeatPicture& picture, const Theme& theme);

}
