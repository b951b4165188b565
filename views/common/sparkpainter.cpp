// SPDX-License-Identifier: GPL-3.0-or-later
#include "sparkpainter.h"

#include <algorithm>
#include <cmath>

#include <QPainter>
#include <QPainterPath>

namespace telltale::views {

QPointF paintSpark(QPainter& painter, const QRectF& area, const std::vector<double>& values, double low, double high,
    const QColor& color)
{
    if (values.size() < 2)
        return {};
    const double span = std::max(high - low, 1e-9);
    const double dx = area.width() / static_cast<double>(values.size() - 1);
    QPainterPath path;
    QPointF last;
    bool isDown = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) {
            isDown = false;
            continue;
        }
        const double unit = std::clamp((values[i] - low) / span, 0.0, 1.0);
        last = { area.left() + dx * static_cast<double>(i), area.bottom() - unit * area.height() };
        if (std::exchange(isDown, true))
            path.lineTo(last);
        else
            path.moveTo(last);
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color, 1, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPath(path);
    painter.restore();
    return last;
}

}
