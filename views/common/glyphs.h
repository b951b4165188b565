// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QRectF>

#include <telltale/series/query.h>

#include "eventmark.h"
#include "theme.h"

class QPainter;

namespace telltale::views {

/// How everything that is not a value looks, in one place: heat map cells, legends, lanes and readouts.
/// Thread: gui.
namespace glyphs {

QString word(series::CellState state); ///< "NaN", "+Inf", "not collected", ...; empty for a value
QString leftOutText(series::CellState others); ///< "NaN left out": beside a value of the finite elements
/// Fill of a cell; base for the ways of having no value.
QColor fill(series::CellState state, const Theme& theme);
/// Color of the mark on that fill.
QColor ink(series::CellState state);
/// True where the pattern of a missing value has ink, in logical pixels from any origin.
bool patternInk(series::CellState state, int x, int y);
QColor patternColor(series::CellState state, const Theme& theme);

/// Filled cell with its sign: x, triangle up, triangle down, dots, hatch, cross hatch.
void paintCell(QPainter& painter, const QRectF& cell, series::CellState state, const Theme& theme);
/// The sign alone, centerd, about `size` px.
void paintSign(QPainter& painter, QPointF center, double size, series::CellState state, const QColor& color);
void paintPattern(QPainter& painter, const QRectF& area, series::CellState state, const Theme& theme);

enum class Severity { Critical, Warning, Notice, Good };
/// Of what is no incident: Notice.
Severity severityOf(EventMark::Shape shape);
Severity severityOf(store::Severity severity);
void paintSeverity(QPainter& painter, QPointF center, double size, Severity severity, const Theme& theme);
void paintFlag(QPainter& painter, QPointF top, const QColor& color, bool isToLeft);
/// "Not equal": what should be the same and is not, about `size` px.
void paintUnequal(QPainter& painter, QPointF center, double size, const QColor& color);

}

}
