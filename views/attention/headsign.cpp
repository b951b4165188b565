// SPDX-License-Identifier: GPL-3.0-or-later
#include "headsign.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include <telltale/common/svgpage.h>

namespace telltale::views {

using analysis::HeadSign;

namespace {

constexpr double kSignFrom = 9; ///< px of a cell that has room for a sign
constexpr int kRim = 3; ///< px around a sign that its edges may reach

/// Of the device, that a sign's corner is on: all look alike.
QPoint pixelOf(const QPainter& painter, QPointF at)
{
    return painter.deviceTransform().map(at).toPoint();
}

QPointF pointOf(const QPainter& painter, QPoint pixel)
{
    return painter.deviceTransform().inverted().map(QPointF(pixel));
}

}

int headSignSize(QSizeF cell)
{
    const double room = std::min(cell.width(), cell.height());
    return room < kSignFrom ? 0 : std::clamp(static_cast<int>(room * 0.4), 5, 11);
}

void paintHeadSign(QPainter& painter, QPointF at, int size, HeadSign sign, const Theme& theme)
{
    if (sign == HeadSign::None || size == 0)
        return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QPointF corner = pointOf(painter, pixelOf(painter, at));
    if (sign == HeadSign::Collapsing || sign == HeadSign::Falling) {
        const auto triangle = [&](double inset, double side) {
            const QPointF tip = corner + QPointF(-inset, inset);
            return QPolygonF({ tip, tip - QPointF(side, 0), tip + QPointF(0, side) });
        };
        painter.setPen(Qt::NoPen);
        painter.setBrush(sign == HeadSign::Collapsing ? theme.criticalMark : theme.warnMark);
        painter.drawPolygon(triangle(0, size));
        if (sign == HeadSign::Falling) { // hollow, for who cannot tell the colors apart
            constexpr double kEdge = 1.7;
            painter.setBrush(theme.base);
            painter.drawPolygon(triangle(kEdge, std::max(1.0, size - (2 + M_SQRT2) * kEdge)));
        }
        painter.setPen(QPen(theme.base, 1));
        painter.drawLine(corner - QPointF(size, 0), corner + QPointF(0, size));
    } else {
        const double radius = size * 0.32;
        const QPointF center = corner + QPointF(-radius - 2.5, radius + 2.5);
        painter.setPen(QPen(theme.base, 3));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(center, radius, radius);
        painter.setPen(QPen(theme.text, 1.2));
        painter.setBrush(sign == HeadSign::OneHot ? QBrush(theme.text) : QBrush(theme.base));
        painter.drawEllipse(center, radius, radius);
    }
    painter.restore();
}

HeadSigns::HeadSigns(QPainter& painter, int size, const Theme& theme)
    : m_painter(painter)
    , m_size(size)
    , m_theme(theme)
    , m_ratio(painter.device()->devicePixelRatio())
    , m_corner(static_cast<int>(std::ceil((size + kRim) * m_ratio)), static_cast<int>(std::ceil(kRim * m_ratio)))
{
}

void HeadSigns::paint(QPointF corner, HeadSign sign)
{
    if (sign == HeadSign::None || m_size == 0)
        return;
    if (SvgPage::of(m_painter)) // lines stay lines
        return paintHeadSign(m_painter, corner, m_size, sign, m_theme);
    const auto [drawn, isNew] = m_drawn.try_emplace(sign);
    if (isNew)
        drawn->second = draw(sign);
    m_painter.drawImage(pointOf(m_painter, pixelOf(m_painter, corner) - m_corner), drawn->second);
}

QImage HeadSigns::draw(HeadSign sign) const
{
    QImage image(m_corner.x() + m_corner.y(), m_corner.x() + m_corner.y(), QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(m_ratio);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    paintHeadSign(painter, pointOf(painter, m_corner), m_size, sign, m_theme);
    return image;
}

}
