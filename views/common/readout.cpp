// SPDX-License-Identifier: GPL-3.0-or-later
#include "readout.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QPainter>

#include "glyphs.h"

namespace telltale::views {

namespace {
constexpr double kReadoutHeight = 64;
constexpr double kReadoutOff = 12;
}

QRectF readoutRoom(const QRectF& usual, const QRectF& whole, const QRectF& avoid)
{
    const bool hasRoom
        = std::max(avoid.top() - usual.top(), usual.bottom() - avoid.bottom()) >= kReadoutHeight + kReadoutOff;
    return hasRoom ? usual : whole;
}

void paintReadout(
    QPainter& painter, const QRectF& bounds, const QRectF& avoid, const Readout& readout, const Theme& theme)
{
    const QFont nameFont = codeFont(12, 600);
    const QFont plain = wordsFont(12);
    const QFont strong = numberFont(12, 600);
    const bool swatch = readout.state != series::CellState::Value;
    const double valueLeft = swatch ? 20 : 0;
    const double valueWidth = QFontMetricsF(strong).horizontalAdvance(readout.value);
    const double detailWidth
        = readout.detail.isEmpty() ? 0 : QFontMetricsF(plain).horizontalAdvance(readout.detail) + 8;
    const double secondLeft = valueLeft + valueWidth + detailWidth + 14;
    const double secondWidth = QFontMetricsF(strong).horizontalAdvance(readout.secondValue);
    const double secondEnd = readout.secondValue.isEmpty()
        ? 0
        : secondLeft + secondWidth + 8 + QFontMetricsF(plain).horizontalAdvance(readout.secondDetail);
    const double width
        = std::max({ QFontMetricsF(nameFont).horizontalAdvance(readout.name),
              QFontMetricsF(plain).horizontalAdvance(readout.where), valueLeft + valueWidth + detailWidth, secondEnd })
        + 22;

    double left = avoid.right() + kReadoutOff;
    if (left + width > bounds.right())
        left = avoid.left() - kReadoutOff - width;
    double top = avoid.top() - kReadoutOff - kReadoutHeight;
    if (top < bounds.top())
        top = avoid.bottom() + kReadoutOff;
    left = std::clamp(left, bounds.left(), std::max(bounds.left(), bounds.right() - width));
    top = std::clamp(top, bounds.top(), std::max(bounds.top(), bounds.bottom() - kReadoutHeight));

    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box(std::round(left) + 0.5, std::round(top) + 0.5, std::ceil(width), kReadoutHeight);
    painter.setPen(QPen(theme.controlBorder, 1));
    painter.setBrush(theme.raised);
    painter.drawRoundedRect(box, 4, 4);
    const double x = box.left() + 11;
    painter.setFont(nameFont);
    painter.setPen(theme.text);
    painter.drawText(QPointF(x, box.top() + 19), readout.name);
    painter.setFont(plain);
    painter.setPen(theme.text2);
    painter.drawText(QPointF(x, box.top() + 36), readout.where);
    const double line = box.top() + 54;
    if (swatch)
        glyphs::paintCell(painter, QRectF(x, line - 11, 13, 13), readout.state, theme);
    painter.setFont(strong);
    painter.setPen(theme.text);
    painter.drawText(QPointF(x + valueLeft, line), readout.value);
    painter.setFont(plain);
    painter.setPen(theme.text2);
    painter.drawText(QPointF(x + valueLeft + valueWidth + 8, line), readout.detail);
    painter.drawText(QPointF(x + secondLeft + secondWidth + 8, line), readout.secondDetail);
    painter.setFont(strong);
    painter.setPen(theme.text);
    painter.drawText(QPointF(x + secondLeft, line), readout.secondValue);
    painter.restore();
}

void paintEmptyState(QPainter& painter, const QRectF& area, const QString& sentence, const Theme& theme)
{
    painter.save();
    painter.setFont(wordsFont(13));
    painter.setPen(theme.text3);
    painter.drawText(area.adjusted(20, 20, -20, -20), Qt::AlignCenter | Qt::TextWordWrap, sentence);
    painter.restore();
}

}
