// SPDX-License-Identifier: GPL-3.0-or-later
#include "glyphs.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QPainter>
#include <QPainterPath>

#include "svgpage.h"

namespace telltale::views::glyphs {

using series::CellState;

namespace {

QPolygonF triangle(QPointF center, double size, bool up)
{
    const double half = size / 2;
    const double sign = up ? 1 : -1;
    return QPolygonF({ center + QPointF(0, -half * 0.9 * sign), center + QPointF(half, half * 0.75 * sign),
        center + QPointF(-half, half * 0.75 * sign) });
}

}

QString word(CellState state)
{
    switch (state) {
    case CellState::NaN:
        return QStringLiteral("NaN");
    case CellState::PosInf:
        return QStringLiteral("+Inf");
    case CellState::NegInf:
        return QChar(0x2212) + QStringLiteral("Inf");
    case CellState::NotCollected:
        return QCoreApplication::translate("Glyphs", "not collected");
    case CellState::Gap:
        return QCoreApplication::translate("Glyphs", "gap");
    case CellState::Damaged:
        return QCoreApplication::translate("Glyphs", "damaged");
    case CellState::Absent:
        return QCoreApplication::translate("Glyphs", "no elements");
    case CellState::Value:
        break;
    }
    return {};
}

QString leftOutText(CellState others)
{
    return QCoreApplication::translate("Glyphs", "%1 left out", "of a value over the finite elements: the others")
        .arg(word(others));
}

QColor fill(CellState state, const Theme& theme)
{
    switch (state) {
    case CellState::NaN:
        return QColor(0xFD2D65);
    case CellState::PosInf:
        return QColor(0xFF8FBF);
    case CellState::NegInf:
        return QColor(0x8F45FF);
    default:
        return theme.base;
    }
}

QColor ink(CellState state)
{
    return state == CellState::PosInf ? QColor(0x3A0A1E) : QColor(Qt::white);
}

bool patternInk(CellState state, int x, int y)
{
    switch (state) {
    case CellState::NotCollected:
        return (x & 3) == 0 && (y & 3) == 0;
    case CellState::Gap:
        return ((x + y) & 3) == 0;
    case CellState::Damaged:
        return (x + y) % 6 == 0 || (x - y) % 6 == 0;
    default:
        return false;
    }
}

QColor patternColor(CellState state, const Theme& theme)
{
    return state == CellState::Damaged ? theme.warnMark : theme.text3;
}

void paintPattern(QPainter& painter, const QRectF& area, CellState state, const Theme& theme)
{
    const QRect cells = area.toAlignedRect();
    if (SvgPage::of(painter)) { // an image of dots, not a hundred thousand of them
        QImage dots(cells.size(), QImage::Format_ARGB32);
        dots.fill(Qt::transparent);
        for (int y = 0; y < cells.height(); ++y) {
            for (int x = 0; x < cells.width(); ++x) {
                if (patternInk(state, cells.left() + x, cells.top() + y))
                    dots.setPixelColor(x, y, patternColor(state, theme));
            }
        }
        painter.drawImage(cells.topLeft(), dots);
        return;
    }
    // Of whole pixels of the device, as in the cells of a map: at 1.5 of them lines would have steps of two lengths.
    const QTransform device = painter.combinedTransform();
    const int unit = std::max(1, static_cast<int>(std::lround(device.m11())));
    const QRect pixels = device.mapRect(QRectF(cells)).toRect();
    QList<QRect> dots;
    for (int y = pixels.top() / unit; y * unit <= pixels.bottom(); ++y) {
        for (int x = pixels.left() / unit; x * unit <= pixels.right(); ++x) {
            if (patternInk(state, x, y))
                dots.append(QRect(x * unit, y * unit, unit, unit).intersected(pixels));
        }
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setTransform(device.inverted() * painter.worldTransform());
    painter.setPen(Qt::NoPen);
    painter.setBrush(patternColor(state, theme));
    painter.drawRects(dots);
    painter.restore();
}

void paintSign(QPainter& painter, QPointF center, double size, CellState state, const QColor& color)
{
    painter.setRenderHint(QPainter::Antialiasing);
    if (state == CellState::NaN) {
        const double half = size * 0.38;
        painter.setPen(QPen(color, std::max(1.2, size / 6), Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(center + QPointF(-half, -half), center + QPointF(half, half));
        painter.drawLine(center + QPointF(-half, half), center + QPointF(half, -half));
    } else if (series::isNonFinite(state)) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        painter.drawPolygon(triangle(center, size, state == CellState::PosInf));
    }
}

void paintCell(QPainter& painter, const QRectF& cell, CellState state, const Theme& theme)
{
    painter.save();
    painter.fillRect(cell, fill(state, theme));
    if (series::isNonFinite(state))
        paintSign(painter, cell.center(), std::min(cell.width(), cell.height()) * 0.62, state, ink(state));
    else
        paintPattern(painter, cell.adjusted(1, 1, -1, -1), state, theme);
    painter.restore();
}

Severity severityOf(EventMark::Shape shape)
{
    return shape == EventMark::Shape::Critical ? Severity::Critical
        : shape == EventMark::Shape::Warning   ? Severity::Warning
                                               : Severity::Notice;
}

Severity severityOf(store::Severity severity)
{
    return severity == store::Severity::Critical ? Severity::Critical
        : severity == store::Severity::Warning   ? Severity::Warning
                                                 : Severity::Notice;
}

void paintSeverity(QPainter& painter, QPointF center, double size, Severity severity, const Theme& theme)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    const double half = size / 2;
    switch (severity) {
    case Severity::Critical:
        painter.setBrush(theme.criticalMark);
        painter.drawPolygon(QPolygonF({ center + QPointF(0, -half), center + QPointF(half, 0),
            center + QPointF(0, half), center + QPointF(-half, 0) }));
        break;
    case Severity::Warning:
        painter.setBrush(theme.warnMark);
        painter.drawPolygon(triangle(center, size, true));
        break;
    case Severity::Notice:
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme.notice, 1.5));
        painter.drawEllipse(center, half - 0.75, half - 0.75);
        break;
    case Severity::Good: {
        painter.setPen(QPen(theme.ok, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        const QPointF tick[] = { center + QPointF(-half * 0.8, 0), center + QPointF(-half * 0.2, half * 0.6),
            center + QPointF(half * 0.8, -half * 0.6) };
        painter.drawPolyline(tick, 3);
        break;
    }
    }
    painter.restore();
}

void paintFlag(QPainter& painter, QPointF top, const QColor& color, bool isToLeft)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.fillRect(QRectF(top, QSizeF(1, 11)), color);
    painter.fillRect(QRectF(top + QPointF(isToLeft ? -6 : 1, 0), QSizeF(6, 5)), color);
    painter.restore();
}

void paintUnequal(QPainter& painter, QPointF center, double size, const QColor& color)
{
    const double half = size / 2;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color, std::max(1.5, size / 6), Qt::SolidLine, Qt::FlatCap));
    for (const double y : { -half * 0.4, half * 0.4 })
        painter.drawLine(center + QPointF(-half, y), center + QPointF(half, y));
    painter.drawLine(center + QPointF(-half * 0.45, half), center + QPointF(half * 0.45, -half));
    painter.restore();
}

}
