// SPDX-License-Identifier: GPL-3.0-or-later
#include "rankaxis.h"

#include <algorithm>

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>

#include "heatimage.h"
#include "rankmark.h"

namespace telltale::views {

namespace {

/// A line below each group of ranks, and its name where there is room.
void paintRankBands(
    QPainter& painter, const QRect& plot, const QRectF& lane, const HeatPicture& picture, const Theme& theme)
{
    const int columns = picture.columns();
    int from = 0;
    double end = -1e9;
    for (const RankBand& band : picture.rankBands) {
        int to = from;
        const auto& ranks = picture.columnRanks;
        while (to < columns
            && std::find(band.ranks.begin(), band.ranks.end(), ranks[static_cast<std::size_t>(to)]) != band.ranks.end())
            ++to;
        if (to == from)
            continue;
        const double left = plot.left() + HeatImage::columnLeft(from, columns, plot.width());
        const double right = plot.left() + HeatImage::columnLeft(to, columns, plot.width());
        painter.fillRect(QRectF(left + 1, plot.bottom() + 4, std::max(1.0, right - left - 2), 2), theme.strong);
        const double width = painter.fontMetrics().horizontalAdvance(band.label);
        if (from > 0)
            painter.fillRect(QRectF(left - 1, plot.top(), 2, plot.height()), theme.base);
        if (left >= end + 6 && width <= right - left) {
            painter.drawText(QPointF(left + 2, lane.top() + 7), band.label);
            end = left + 2 + width;
        }
        from = to;
    }
}

}

void paintRankAxis(
    QPainter& painter, const QRect& plot, const QRectF& lane, const HeatPicture& picture, const Theme& theme)
{
    const int columns = picture.columns();
    painter.setFont(numberFont(11));
    painter.setRenderHint(QPainter::Antialiasing, false);
    const QFontMetricsF metrics(painter.font());
    double end = -1e9;
    for (int column = 0; column < columns; ++column) {
        const QString label = formatStep(picture.columnRanks[static_cast<std::size_t>(column)].value);
        const double x = plot.left()
            + (HeatImage::columnLeft(column, columns, plot.width())
                  + HeatImage::columnLeft(column + 1, columns, plot.width()))
                / 2.0;
        const double width = metrics.horizontalAdvance(label);
        paintRankMark(painter, QPointF(x, lane.bottom() - 1),
            picture.gradeOf(picture.columnRanks[static_cast<std::size_t>(column)]), theme);
        if (x - width / 2 < end + 6)
            continue;
        painter.setPen(theme.text2);
        painter.drawText(QPointF(x - width / 2, plot.bottom() + 18), label);
        end = x + width / 2;
    }
    painter.setPen(theme.text3);
    painter.setFont(wordsFont(11));
    painter.drawText(QRectF(0, plot.bottom() + 5, plot.left() - 8, 17), Qt::AlignRight | Qt::AlignVCenter,
        QCoreApplication::translate("telltale::views::HeatCanvas", "rank"));
    if (!picture.rankBands.empty())
        paintRankBands(painter, plot, lane, picture, theme);
    else if (picture.odd.empty())
        painter.drawText(lane, Qt::AlignLeft | Qt::AlignVCenter,
            QCoreApplication::translate("telltale::views::HeatCanvas", "at step %1")
                .arg(formatStep(picture.atStep.value)));
}

}
