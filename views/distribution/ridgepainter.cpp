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
    const auto isFull = [](double total) { return total > 0; };
    const auto begin = std::find_if(strip.totals.begin(), strip.totals.end(), isFull);
    if (begin == strip.totals.end())
        return {};
    const int first = static_cast<int>(begin - strip.totals.begin());
    const int last
        = static_cast<int>(strip.totals.rend() - std::find_if(strip.totals.rbegin(), strip.totals.rend(), isFull)) - 1;
    const int between = std::clamp((last - first) * width / (strip.columns * kDistance), 0, last - first);
    std::vector<int> chosen { first };
    for (int i = 1; i <= between; ++i) {
        // The nearest column with elements answers for its neighbors.
        const int before = first + (last - first) * (i - 1) / between;
        int full = first + (last - first) * i / between;
        while (full > before && !isFull(strip.totals[static_cast<std::size_t>(full)]))
            --full;
        if (full > before)
            chosen.push_back(full);
    }
    if (chosen.back() < last)
        chosen.back() = last; // of which there is room for one
    return chosen;
}

void paintRidges(QPainter& painter, const QRect& plot, const DistributionStrip& strip, const Theme& theme)
{
    const std::vector<int> columns = ridgeColumns(strip, plot.width());
    double largest = 0;
    for (const int column : columns)
        largest = std::max(largest, largestOf(strip, column));
    const double between = columns.size() > 1 ? static_cast<double>(columns.size() - 1) : 1;
    const double distance = std::max<double>(kDistance,
        static_cast<double>(plot.width()) * (columns.empty() ? 0 : columns.back() - columns.front()) / strip.columns
            / between);
    // One measure for all, and none is cut: what is cut says something else than it is.
    double reach = kReach * std::min<double>(distance, 3 * kDistance);
    const double end = plot.right() + 1 + kRidgeRoom;
    for (const int column : columns)
        reach = std::min(reach, (end - middleOf(column, strip.columns, plot)) * largest / largestOf(strip, column));
    const int shown = strip.lastBin - strip.firstBin + 1;
    const double height = static_cast<double>(plot.height()) / shown;
    const QColor line = SeriesStyle::forSlot(0, theme).color;
    QColor fill = line;
    fill.setAlphaF(0.22F);
    QColor back = theme.base;
    back.setAlphaF(0.9F);
    painter.save();
    painter.setClipRect(plot.adjusted(0, 0, kRidgeRoom, 0));
    painter.setRenderHint(QPainter::Antialiasing);
    for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
        const double foot = middleOf(*column, strip.columns, plot);
        QPolygonF outline;
        outline << QPointF(foot, plot.bottom() + 1);
        for (int bin = strip.firstBin; bin <= strip.lastBin; ++bin) {
            const double y = plot.bottom() + 1 - (bin - strip.firstBin + 0.5) * height;
            outline << QPointF(foot + reach * strip.shareOf(*column, bin) / largest, y);
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
