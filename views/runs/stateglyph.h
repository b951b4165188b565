// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>

#include <telltale/store/archive.h>

class QPainter;

namespace telltale::views {

/// A run's state as a shape and a color, in a 16 px box: ring with a dot = live, tick = finished, cross = failed,
/// clock = interrupted, triangle = damaged, lock = newer. Thread: gui.
void paintRunState(QPainter* painter, const QRectF& box, store::RunState state);
/// The word for it, for tooltips and accessibility.
QString runStateText(store::RunState state);

}
