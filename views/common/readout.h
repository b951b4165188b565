// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>
#include <QString>

#include <telltale/series/query.h>

#include "theme.h"

class QPainter;

namespace telltale::views {

/// What the mouse points at, in three lines: name / step, rank, slot / statistic and value.
struct Readout {
    QString name;
    QString where;
    series::CellState state = series::CellState::Value;
    QString value; ///< in 600
    QString detail; ///< after the value
    QString secondValue; ///< of the same weight, behind the detail
    QString secondDetail;
};

/// Draws it 12 px off `avoid`, inside `bounds`, where its lines wrap if they are wider; wider than these where it would
/// lie over `avoid` else. Thread: gui.
void paintReadout(
    QPainter& painter, const QRectF& bounds, const QRectF& avoid, const Readout& readout, const Theme& theme);

/// `usual`, or `whole` where one has no room above or below `avoid`.
QRectF readoutRoom(const QRectF& usual, const QRectF& whole, const QRectF& avoid);

/// One sentence in the middle of a view that has nothing to show.
void paintEmptyState(QPainter& painter, const QRectF& area, const QString& sentence, const Theme& theme);

}
