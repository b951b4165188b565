// SPDX-License-Identifier: GPL-3.0-or-later
#include "attentionmap.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include <telltale/common/axispainter.h>
#include <telltale/common/colormap.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/heatmap/colorindex.h>

#include "headsign.h"

namespace telltale::views {

using series::CellState;

namespace {

constexpr double kTitle = 30; ///< px above the numbers of the heads
constexpr double kNumbers = 20;
constexpr double kBelow = 10;
constexpr int kWidest = 150; ///< px of a cell: a small model is no chess board
constexpr double kTallest = 84;

}

AttentionMap::AttentionMap(const AttentionPicture& picture, HeadValue value, const QRectF& area)
    : m_picture(picture)
    , m_value(value)
    , m_area(area)
    , m_scale(picture.scaleOf(value))
{
    // The cells end where the curves below them do, which have a legend there if the scale is not narrow.
    const double scale = area.width() < kNarrow ? kNarrowScale : SharedAxis::kLegend;
    const double width = std::max(1.0, area.width() - kLabels - scale);
    const double height = std::max(1.0, area.height() - kTitle - kNumbers - kBelow);
    const int columns = std::max(1, picture.columns);
    const int rows = std::max(1, static_cast<int>(picture.layers.size()));
    m_cells = QRectF(std::round(area.left() + kLabels), std::round(area.top() + kTitle + kNumbers),
        std::floor(std::min<double>(width, columns * kWidest)), std::floor(std::min(height, rows * kTallest)));
    m_gap = std::min(m_cells.width() / columns, m_cells.height() / rows) >= 8 ? 1 : 0;
}

int AttentionMap::mostWidth(const AttentionPicture& picture)
{
    return picture.columns * kWidest;
}

double AttentionMap::mostHeight(const AttentionPicture& picture)
{
    return kTitle + kNumbers + static_cast<double>(picture.layers.size()) * kTallest + kBelow;
}

double AttentionMap::leastHeight(const AttentionPicture& picture)
{
    constexpr double kLeastCell = 14;
    constexpr std::size_t kEnoughRows = 12; // of a deep model each gets less
    return kTitle + kNumbers + static_cast<double>(std::min(picture.layers.size(), kEnoughRows)) * kLeastCell + kBelow;
}

double AttentionMap::edge(int place, int count, double from, double length) const
{
    return from + std::floor(length * place / std::max(1, count));
}

double AttentionMap::leftOf(int column) const
{
    return edge(column, m_picture.columns, m_cells.left(), m_cells.width());
}

QRectF AttentionMap::cellRect(int layer, int column) const
{
    const int rows = static_cast<int>(m_picture.layers.size());
    const double left = leftOf(column);
    const double top = edge(layer, rows, m_cells.top(), m_cells.height());
    // Heads that share a key stand together.
    const bool endsGroup = m_picture.group > 1 && (column + 1) % m_picture.group == 0;
    const double gap = m_gap * (endsGroup ? 4 : 1);
    return { left, top, std::max(1.0, leftOf(column + 1) - left - gap),
        std::max(1.0, edge(layer + 1, rows, m_cells.top(), m_cells.height()) - top - m_gap) };
}

std::array<int, 2> AttentionMap::cellAt(QPointF position) const
{
    if (!m_cells.contains(position) || m_picture.isEmpty())
        return { -1, -1 };
    const int rows = static_cast<int>(m_picture.layers.size());
    const auto at = [](double offset, double length, int count) {
        return std::clamp(static_cast<int>(offset / length * count), 0, count - 1);
    };
    int layer = at(position.y() - m_cells.top(), m_cells.height(), rows);
    int column = at(position.x() - m_cells.left(), m_cells.width(), m_picture.columns);
    // Edges lie on whole pixels.
    if (layer + 1 < rows && edge(layer + 1, rows, m_cells.top(), m_cells.height()) <= position.y())
        ++layer;
    if (column + 1 < m_picture.columns && leftOf(column + 1) <= position.x())
        ++column;
    return m_picture.cell(layer, column) ? std::array { layer, column } : std::array { -1, -1 };
}

void AttentionMap::paint(QPainter& painter, std::array<int, 2> chosen, const Theme& theme) const
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    paintHead(painter, theme);
    paintNumbers(painter, chosen, theme);
    paintCells(painter, theme);
    paintColorScale(painter, m_scale, QRectF(m_cells.right() + 14, m_cells.top(), 11, m_cells.height()), theme);
    painter.restore();
}

void AttentionMap::paintHead(QPainter& painter, const Theme& theme) const
{
    const QRectF line(m_cells.left(), m_area.top() + 4, m_cells.width(), 18);
    painter.setFont(wordsFont(12, 600));
    painter.setPen(theme.text);
    const QString title = headValueText(m_value);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, title);
    const double taken = QFontMetricsF(painter.font()).horizontalAdvance(title) + 12;
    QString unit;
    QString more; ///< where there is room
    if (m_value == HeadValue::Entropy) {
        unit = tr("nats");
        if (const double uniform = m_picture.uniformEntropy(); uniform > 0)
            more = tr(", ln n = %1").arg(formatValue(uniform));
    } else if (m_value == HeadValue::EntropyShare) {
        unit = tr("of what n keys can have");
    } else if (m_value == HeadValue::SoftmaxMax) {
        unit = tr("one-hot = 1");
    } else {
        unit = tr("before the softmax");
    }
    if (m_picture.isSpread) {
        more.clear();
        unit = tr("largest less smallest of %n ranks", nullptr, m_picture.ranks);
    }
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    if (taken + QFontMetricsF(painter.font()).horizontalAdvance(unit + more) <= line.width())
        unit += more;
    // At the cells' end, or where they are narrower than the words, beside the title up to the map's own end.
    const double wide = QFontMetricsF(painter.font()).horizontalAdvance(unit) + 1;
    const double right = std::min(std::max(line.right(), line.left() + taken + wide), m_area.right());
    const QRectF room(line.left() + taken, line.top(), right - line.left() - taken, line.height());
    painter.drawText(room, Qt::AlignRight | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(unit, Qt::ElideRight, static_cast<int>(std::ceil(room.width()))));
}

void AttentionMap::paintNumbers(QPainter& painter, std::array<int, 2> chosen, const Theme& theme) const
{
    const QFontMetricsF metrics(numberFont(11));
    const auto setPen = [&](bool isChosen) {
        painter.setFont(numberFont(11, isChosen ? 600 : 400));
        painter.setPen(isChosen ? theme.text : theme.text2);
    };
    const bool isByValue = m_picture.order == HeadOrder::Value;
    double end = m_cells.left() - 100;
    for (int column = 0; column < m_picture.columns && !isByValue; ++column) {
        const QString text = QString::number(column);
        const double width = metrics.horizontalAdvance(text);
        const double middle = (leftOf(column) + leftOf(column + 1)) / 2;
        if (middle - width / 2 < end + 6)
            continue;
        setPen(column == chosen[1]);
        painter.drawText(QPointF(middle - width / 2, m_cells.top() - 7), text);
        end = middle + width / 2;
    }
    const int rows = static_cast<int>(m_picture.layers.size());
    end = m_cells.top() - 100;
    for (int layer = 0; layer < rows; ++layer) {
        const QRectF cell = cellRect(layer, 0);
        if (cell.center().y() - 6 < end)
            continue;
        setPen(layer == chosen[0]);
        painter.drawText(QRectF(m_area.left() + 2, cell.center().y() - 8, kLabels - 12, 16),
            Qt::AlignRight | Qt::AlignVCenter,
            metrics.elidedText(m_picture.layers[static_cast<std::size_t>(layer)].label, Qt::ElideLeft, kLabels - 12));
        end = cell.center().y() + 6;
    }
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    const auto title = [&](double y, const QString& word) {
        painter.drawText(QRectF(m_area.left() + 2, y, kLabels - 12, 16), Qt::AlignRight | Qt::AlignVCenter, word);
    };
    title(m_cells.top() - 34,
        (m_picture.axes == HeadAxes::RankByHead ? tr("rank") : tr("layer")) + QStringLiteral(" \u2193"));
    if (!isByValue)
        title(m_cells.top() - 20, tr("head") + QStringLiteral(" \u2192"));
    // Heads that share a key.
    for (int first = 0; m_picture.group > 1 && m_gap > 0 && first < m_picture.columns;
         first += static_cast<int>(m_picture.group)) {
        const int last = std::min(m_picture.columns, first + static_cast<int>(m_picture.group)) - 1;
        const double left = leftOf(first);
        painter.fillRect(QRectF(left, m_cells.top() - 4, cellRect(0, last).right() - left, 2), theme.text3);
    }
    if (isByValue) {
        const QString value = headValueText(m_picture.orderedBy);
        const QString by = m_picture.isSpread ? tr("spread of %1").arg(value) : value;
        const QString whole
            = (m_picture.isHighestFirst() ? tr("heads by %1, the highest first") : tr("heads by %1, the lowest first"))
                  .arg(by);
        const bool fits = QFontMetricsF(painter.font()).horizontalAdvance(whole) <= m_cells.width();
        painter.drawText(QRectF(m_cells.left(), m_cells.top() - 20, m_cells.width(), 16), Qt::AlignLeft,
            fits ? whole : tr("heads by %1").arg(by));
    }
}

void AttentionMap::paintCells(QPainter& painter, const Theme& theme) const
{
    const ColorIndex colors(m_scale);
    const int rows = static_cast<int>(m_picture.layers.size());
    // One size for all, though some cells are a pixel larger than others.
    const double gap = m_gap + 1;
    HeadSigns signs(painter,
        headSignSize(
            { m_cells.width() / std::max(1, m_picture.columns) - gap, m_cells.height() / std::max(1, rows) - gap }),
        theme);
    // Where cells are smaller than a pixel, what is not finite is painted last: nothing may hide it.
    for (const bool nonFinite : { false, true }) {
        for (int layer = 0; layer < rows; ++layer) {
            for (int column = 0; column < m_picture.columns; ++column) {
                if (!m_picture.cell(layer, column))
                    continue;
                const series::CellValue value = m_picture.valueOf(layer, column, m_value);
                if (series::isNonFinite(value.state) != nonFinite)
                    continue;
                const QRectF cell = cellRect(layer, column);
                if (value.state == CellState::Value)
                    painter.fillRect(
                        cell, QColor::fromRgb(kSequentialTable[colors.indexOf(static_cast<float>(value.value))]));
                else if (m_gap > 0)
                    glyphs::paintCell(painter, cell, value.state, theme);
                else // no room for a sign on it
                    painter.fillRect(cell, glyphs::fill(value.state, theme));
                signs.paint(cell.topRight(), m_picture.cell(layer, column)->sign);
            }
        }
    }
}

void AttentionMap::paintOutline(QPainter& painter, int layer, int column, bool isChosen, const Theme& theme) const
{
    if (!m_picture.cell(layer, column))
        return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    // Cased in base, so that the line is seen on dark and bright cells alike.
    const QRectF box = cellRect(layer, column).adjusted(-1.5, -1.5, 0.5, 0.5);
    painter.setPen(QPen(theme.base, isChosen ? 4 : 3));
    painter.drawRect(box);
    painter.setPen(QPen(theme.text, isChosen ? 2 : 1));
    painter.drawRect(box);
    painter.restore();
}

void AttentionMap::paintSample(QPainter& painter, int layer, int column, const QColor& color, const Theme& theme) const
{
    if (!m_picture.cell(layer, column))
        return;
    const QRectF cell = cellRect(layer, column);
    double wide = std::min(18.0, cell.width() - 2);
    // The sign of what is no value stands in the middle: in a low cell there is room beside it alone.
    const double sign = std::min(cell.width(), cell.height()) / 3 + 1;
    if (series::isNonFinite(m_picture.valueOf(layer, column, m_value).state) && cell.height() / 2 - sign < 6)
        wide = std::clamp(cell.width() / 2 - sign - 2, 4.0, wide);
    const QRectF box(cell.left() + 1, cell.bottom() - 6, wide, 5);
    painter.fillRect(box, theme.base); // a rim, as all colors of the map are under it
    painter.fillRect(box.adjusted(1, 1, -1, -1), color);
}

void paintColorScale(QPainter& painter, const ValueScale& scale, const QRectF& bar, const Theme& theme)
{
    const int height = static_cast<int>(bar.height());
    for (int y = 0; y < height; ++y) {
        const auto index = static_cast<std::size_t>(std::clamp((height - 1 - y) * 256 / height, 0, 255));
        painter.fillRect(QRectF(bar.left(), bar.top() + y, bar.width(), 1), QColor::fromRgb(kSequentialTable[index]));
    }
    painter.setFont(numberFont(11));
    for (const ValueScale::Tick& tick : scale.ticks(height, 26)) {
        const double y = std::round(bar.bottom() - scale.unitOf(tick.value) * height);
        fillHair(painter, QPointF(bar.right() + 1, y), 4, Qt::Horizontal, theme.text3);
        painter.setPen(theme.text2);
        painter.drawText(QRectF(bar.right() + 8, y - 8, 40, 16), Qt::AlignLeft | Qt::AlignVCenter, tick.label);
    }
}

}
