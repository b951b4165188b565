// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>

#include <telltale/store/archive.h>

class QPainter;

namespace telltale::views {

/// A run's state as a shape and a color, in a 16 px box: ring with a dot = live, square = finished, cross = failed,
/// clock = interrupted, triangle = damaged, lock = newer. At its lower right, by items::SeverityRole, the mark of its
/// worst incident. Thread: gui.
void paintRunState(QPainter* painter, const QRectF& box, store::RunState state, int loudness = 0);
/// The word for it, for tooltips and accessibility.
QString runStateText(store::RunState state);

}
