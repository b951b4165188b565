// SPDX-License-Identifier: GPL-3.0-or-later
#include "namedcell.h"

#include <algorithm>

#include <QPainter>

namespace telltale::views {

namespace {
constexpr double kNamedSign = 10; ///< px
constexpr double kNamedGround = 16; ///< of the disk below it: on the colors of a map no sign is seen by itself
constexpr double kNamedGap = 3; ///< between the cell and that
}

void outlineCell(QPainter& painter, const QRectF& cell, const Theme& theme)
{
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.base, 3));
    painter.drawRect(cell.adjusted(-1, -1, 1, 1));
    painter.setPen(QPen(theme.text, 1));
    painter.drawRect(cell.adjusted(-1, -1, 0, 0));
}

void paintNamedCell(
    QPainter& painter, const QRectF& plot, const QRectF& cell, glyphs::Severity severity, const Theme& theme)
{
    painter.save();
    outlineCell(painter, cell, theme);
    const bool hasRoom = cell.left() - kNamedGap - kNamedGround >= plot.left();
    const double x = hasRoom ? cell.left() - kNamedGap - kNamedGround / 2 : cell.right() + kNamedGap + kNamedGround / 2;
    const double highest = plot.top() + kNamedGround / 2;
    const double lowest = std::max(highest, plot.bottom() - kNamedGround / 2); // the plot may be less high than it
    const QPointF center(x, std::clamp(cell.center().y(), highest, lowest));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.text, 1));
    painter.setBrush(theme.base);
    painter.drawEllipse(center, kNamedGround / 2, kNamedGround / 2);
    glyphs::paintSeverity(
        painter, center - QPointF(0, severity == glyphs::Severity::Warning ? 0.5 : 0), kNamedSign, severity, theme);
    painter.restore();
}

}
