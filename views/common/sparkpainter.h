// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QRectF>

class QColor;
class QPainter;

namespace telltale::views {

/// One quiet line through evenly spaced values, from `low` at the bottom of `area` to `high` at its top; it breaks at
/// what is not finite. Returns where the last value stands; null if there is none. Thread: its painter's.
QPointF paintSpark(QPainter& painter, const QRectF& area, const std::vector<double>& values, double low, double high,
    const QColor& color);

}
