// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvelegend.h"

#include <algorithm>

#include <QCoreApplication>
#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/seriesstyle.h>

namespace telltale::views {

namespace {

constexpr double kTall = 33;
constexpr double kShort = 18;

/// In the context that lupdate gives to calls in this namespace.
double pitchFor(const QRectF& area, std::size_t count)
{
    return static_cast<double>(count) * kTall <= area.height() ? kTall : kShort;
}

std::size_t fitting(const QRectF& area, std::size_t count, double pitch)
{
    const auto room = static_cast<std::size_t>(std::max(0.0, area.height() / pitch));
    return count <= room ? count : (room > 0 ? room - 1 : 0);
}

void paintSwatch(QPainter& painter, QPointF left, const CurveSeries& one, const Theme& theme)
{
    const SeriesStyle style = SeriesStyle::forSlot(one.slot, theme);
    painter.setRenderHint(QPainter::Antialiasing, false);
    if (one.isGroup) {
        QColor fill = style.colour;
        fill.setAlphaF(0.45F);
        painter.fillRect(QRectF(left.x(), left.y() - 4, 11, 8), fill);
        return;
    }
    QPen pen(style.colour, 2);
    pen.setCapStyle(Qt::FlatCap);
    if (style.dashOn > 0)
        pen.setDashPattern({ style.dashOn / 2.0, style.dashOff / 2.0 });
    painter.setPen(pen);
    painter.drawLine(left, left + QPointF(11, 0));
}

QString valueText(const LegendValue& value)
{
    if (value.state == series::CellState::Value)
        return formatValue(value.value);
    return glyphs::isNonFinite(value.state) ? glyphs::word(value.state) : QString();
}

}

void paintCurveLegend(QPainter& painter, const QRectF& area, const CurvePicture& picture,
    const std::vector<LegendValue>& values, int emphasised, const Theme& theme)
{
    painter.save();
    const double pitch = pitchFor(area, picture.series.size());
    const bool tall = pitch > kShort;
    const std::size_t count = fitting(area, picture.series.size(), pitch);
    const double left = area.left() + 14;
    const double right = area.right() - 10;
    for (std::size_t i = 0; i < count; ++i) {
        const CurveSeries& one = picture.series[i];
        const double top = area.top() + static_cast<double>(i) * pitch;
        const LegendValue value = i < values.size() ? values[i] : LegendValue {};
        const QString text = one.isGroup ? QString() : valueText(value);
        paintSwatch(painter, QPointF(left, top + 8), one, theme);
        const QFont font = numberFont(12, 500);
        const double valueWidth = text.isEmpty() ? 0 : QFontMetricsF(font).horizontalAdvance(text) + 6;
        painter.setFont(codeFont(11, emphasised == static_cast<int>(i) ? 600 : 400));
        painter.setPen(theme.text);
        const double nameRoom = right - left - 18 - (tall ? 0 : valueWidth);
        painter.drawText(QRectF(left + 18, top, nameRoom, 16), Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(one.row.label, Qt::ElideLeft, static_cast<int>(nameRoom)));
        if (tall) {
            painter.setFont(wordsFont(11));
            painter.setPen(theme.text3);
            QString where = one.isGroup
                ? QCoreApplication::translate("CurveLegend", "%1 other ranks").arg(one.groupText)
                : QCoreApplication::translate("CurveLegend", "rank %1").arg(one.row.rank.value);
            if (value.difference)
                where = QStringLiteral("B − A ") + (*value.difference > 0 ? QStringLiteral("+") : QString())
                    + formatValue(*value.difference);
            painter.drawText(QRectF(left + 18, top + 15, right - left - 18 - valueWidth, 15),
                Qt::AlignLeft | Qt::AlignVCenter, where);
        }
        painter.setFont(font);
        painter.setPen(glyphs::isNonFinite(value.state) ? theme.criticalText : theme.text);
        painter.drawText(
            QRectF(left, top + (tall ? 14 : 0), right - left, 16), Qt::AlignRight | Qt::AlignVCenter, text);
    }
    if (count < picture.series.size()) {
        painter.setFont(wordsFont(11));
        painter.setPen(theme.text3);
        painter.drawText(QRectF(left, area.top() + static_cast<double>(count) * pitch, right - left, 16),
            Qt::AlignLeft | Qt::AlignVCenter,
            QCoreApplication::translate("CurveLegend", "%1 more").arg(picture.series.size() - count));
    }
    painter.restore();
}

int legendRowAt(const QRectF& area, const CurvePicture& picture, QPointF position)
{
    if (!area.contains(position))
        return -1;
    const double pitch = pitchFor(area, picture.series.size());
    const auto row = static_cast<std::size_t>((position.y() - area.top()) / pitch);
    return row < fitting(area, picture.series.size(), pitch) ? static_cast<int>(row) : -1;
}

}
