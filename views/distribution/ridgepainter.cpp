// SPDX-License-Identifier: GPL-3.0-or-later
#include "ridgepainter.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/heatmap/heatimage.h>

namespace telltale::views {
namespace {

constexpr int kDistance = 44; ///< px between ridges, at least
constexpr double kReach = 1.7; ///< of the largest, in distances

double middleOf(int column, int columns, const QRect& plot)
{
    return plot.left()
        + (HeatImage::columnLeft(column, columns, plot.width())
              + HeatImage::columnLeft(column + 1, columns, plot.width()))
        / 2.0;
}

/// None is left out: a pixel at least for each, and a sign wherever there is room for one.
void paintNonFiniteColumns(QPainter& painter, const QRect& plot, const DistributionStrip& strip, const Theme& theme)
{
    constexpr double kSide = 13;
    constexpr int kClosest = 4; ///< px between lines; closer ones make a pattern that no value has and are one area
    std::vector<std::pair<double, series::CellState>> signs; // and their middles
    const auto leftOf
        = [&](int column) { return plot.left() + HeatImage::columnLeft(column, strip.columns, plot.width()); };
    for (int column = 0, end = 1; column < strip.columns; column = end++) {
        const series::CellState state = strip.heat.state(0, column);
        if (!series::isNonFinite(state))
            continue;
        if (leftOf(column + 1) - leftOf(column) >= kClosest) {
            const double x = std::floor(middleOf(column, strip.columns, plot));
            painter.fillRect(QRectF(x, plot.top(), 1, plot.height()), theme.criticalMark);
            if (signs.empty() || x - signs.back().first > kSide)
                signs.emplace_back(x, state);
            continue;
        }
        while (end < strip.columns && strip.heat.state(0, end) == state)
            ++end;
        const int left = leftOf(column);
        const int right = std::max(left + 1, leftOf(end));
        painter.fillRect(QRect(left, plot.top(), right - left, plot.height()), theme.criticalMark);
        // Signs stay inside their area; one without room for any has it over its middle.
        const double inset = std::min(kSide, static_cast<double>(right - left)) / 2;
        for (double x = left + inset; x <= right - inset; x += kSide + 1) {
            if (signs.empty() || x - signs.back().first > kSide)
                signs.emplace_back(std::floor(x), state);
        }
    }
    const double top = std::round(plot.center().y() - kSide / 2);
    for (const auto& [x, state] : signs)
        glyphs::paintCell(painter, QRectF(x - std::floor(kSide / 2), top, kSide, kSide), state, theme);
}

double largestOf(const DistributionStrip& strip, int column)
{
    double largest = 0;
    for (int bin = strip.firstBin; bin <= strip.lastBin; ++bin)
        largest = std::max(largest, strip.shareOf(column, bin));
    return largest;
}

}

std::vector<int> ridgeColumns(const DistributionStrip& strip, int width)
{
    std::vector<int> chosen;
    const int most = std::max(1, width / kDistance);
    const int stride = std::max(1, (strip.columns + most - 1) / most);
    for (int column = strip.columns - 1; column >= 0; column -= stride) {
        // The nearest column with elements answers for its neighbors.
        int full = column;
        while (full > std::max(-1, column - stride) && !(strip.totals[static_cast<std::size_t>(full)] > 0))
            --full;
        if (full > column - stride && full >= 0)
            chosen.push_back(full);
    }
    std::reverse(chosen.begin(), chosen.end());
    return chosen;
}

void paintRidges(QPainter& painter, const QRect& plot, const DistributionStrip& strip, const Theme& theme)
{
    const std::vector<int> columns = ridgeColumns(strip, plot.width());
    double largest = 0;
    for (const int column : columns)
        largest = std::max(largest, largestOf(strip, column));
    const int stride
        = columns.size() > 1 ? (columns.back() - columns.front()) / static_cast<int>(columns.size() - 1) : 1;
    const double distance = std::max<double>(kDistance, static_cast<double>(plot.width()) * stride / strip.columns);
    const double reach = kReach * std::min<double>(distance, 3 * kDistance);
    const int shown = strip.lastBin - strip.firstBin + 1;
    const double height = static_cast<double>(plot.height()) / shown;
    const QColor line = SeriesStyle::forSlot(0, theme).color;
    QColor fill = line;
    fill.setAlphaF(0.22F);
    QColor back = theme.base;
    back.setAlphaF(0.9F);
    painter.save();
    painter.setClipRect(plot.adjusted(0, 0, 1, 0));
    painter.setRenderHint(QPainter::Antialiasing);
    for (const int column : columns) {
        const double foot = middleOf(column, strip.columns, plot);
        // A ridge that the left edge would cut says something else than it is.
        if (foot - reach * largestOf(strip, column) / largest < plot.left() && columns.size() > 1)
            continue;
        QPolygonF outline;
        outline << QPointF(foot, plot.bottom() + 1);
        for (int bin = strip.firstBin; bin <= strip.lastBin; ++bin) {
            const double y = plot.bottom() + 1 - (bin - strip.firstBin + 0.5) * height;
            outline << QPointF(foot - reach * strip.shareOf(column, bin) / largest, y);
        }
        outline << QPointF(foot, plot.top());
        painter.setPen(Qt::NoPen);
        painter.setBrush(back);
        painter.drawPolygon(outline);
        painter.setBrush(fill);
        painter.drawPolygon(outline);
        painter.setPen(QPen(line, 1.2));
        painter.setBrush(Qt::NoBrush);
        painter.drawPolyline(outline);
    }
    painter.restore();
    paintNonFiniteColumns(painter, plot, strip, theme);
}

}
