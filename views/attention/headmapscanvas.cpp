// SPDX-License-Identifier: GPL-3.0-or-later
#include "headmapscanvas.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QPainter>

#include <telltale/common/colormap.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/labels.h>
#include <telltale/common/readout.h>
#include <telltale/heatmap/colorindex.h>
#include <telltale/items/comma.h>
#include <telltale/items/guithread.h>

#include "attentionmap.h"

namespace telltale::views {

using analysis::HeadMaps;
using series::CellState;

namespace {

constexpr int kTileInset = 12;
constexpr double kTileTitle = 20;
constexpr double kTileGap = 14;
constexpr double kHalfNumber = 8; ///< px of a number of the scale
constexpr double kNanSign = 28; ///< px below the scale, with room for its lowest number
constexpr double kTileScale = 64; ///< px right of the tiles
constexpr double kLargestTile = 300; ///< px of a tile
constexpr double kSigned = 7; ///< px of a cell from which on it has a sign of its own

}

/// How the tiles stand, as large as they can be. Those of several steps are lines, each a head with its name before it,
/// of which some may stand beside each other.
struct HeadMapsCanvas::TileGrid {
    int columns = 1; ///< tiles, or lines, beside each other
    double size = 1; ///< px of a tile
    double across = 1; ///< px from one of the columns to the next, and from row to row
    double down = 1;

    TileGrid(const HeadMapPicture& picture, double names, QSizeF room)
    {
        const bool hasLines = picture.hasSteps();
        const int count = hasLines ? picture.lines : static_cast<int>(picture.tiles.size());
        const int each = hasLines ? picture.stepsOfHead : 1;
        const double title = hasLines && picture.sharesSteps ? 0 : kTileTitle; // the first row has it always
        for (int beside = 1; beside <= count; ++beside) {
            const int high = (count + beside - 1) / beside;
            const double wide = (room.width() + kTileGap - (beside - 1) * names) / (beside * each) - kTileGap;
            const double side
                = std::floor(std::min(wide, (room.height() - kTileTitle + kTileGap + title) / high - kTileGap - title));
            if (side > size) {
                size = side;
                columns = beside;
            }
        }
        size = std::min(size, kLargestTile);
        across = each * (size + kTileGap) + names;
        down = size + kTileGap + title;
    }
};

HeadMapsCanvas::HeadMapsCanvas(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
    connect(state, &ViewState::selectionChanged, this, [this] { update(); });
}

void HeadMapsCanvas::setPicture(std::shared_ptr<const HeadMapPicture> picture)
{
    items::assertGuiThread();
    const auto before = std::exchange(m_picture, std::move(picture));
    m_names = 0;
    for (std::size_t i = 0; hasPicture() && m_picture->hasSteps() && i < m_picture->tiles.size(); ++i) {
        const QFontMetricsF metrics(codeFont(11, 500));
        m_names = std::max(m_names, std::ceil(metrics.horizontalAdvance(m_picture->tiles[i].title)) + 12);
    }
    if (m_near.tile >= 0) {
        const HeadMapTile& near = before->tiles[static_cast<std::size_t>(m_near.tile)];
        const bool isThere = hasPicture() && m_near.tile < static_cast<int>(m_picture->tiles.size());
        if (!isThere || tile(m_near.tile).key != near.key || tile(m_near.tile).step != near.step
            || m_picture->hasSteps() != before->hasSteps())
            m_near = {};
    }
    if (m_near.tile >= 0) {
        const HeadMaps& maps = *tile(m_near.tile).maps;
        m_near.row = std::min(m_near.row, maps.rows - 1);
        m_near.column = std::min(m_near.column, maps.columns - 1);
    }
    invalidate();
}

void HeadMapsCanvas::setEmptyText(const QString& text)
{
    m_emptyText = text;
    invalidate();
}

QRect HeadMapsCanvas::plotRect(QSize size) const
{
    const int left = kTileInset + static_cast<int>(m_names);
    return { left, 0, std::max(1, size.width() - left - kTileInset - static_cast<int>(kTileScale)),
        std::max(1, size.height() - kTileInset) };
}

QRectF HeadMapsCanvas::cellsRect(int number, QSize size) const
{
    const QRect plot = plotRect(size);
    const TileGrid grid(*m_picture, m_names, plot.size());
    const int line = m_picture->hasSteps() ? tile(number).line : number;
    const int row = line / grid.columns;
    return { std::round(
                 plot.left() + (line % grid.columns) * grid.across + tile(number).inLine * (grid.size + kTileGap)),
        std::round(plot.top() + kTileTitle + row * grid.down), grid.size, grid.size };
}

int HeadMapsCanvas::usedHeight(QSize size) const
{
    if (!hasPicture())
        return size.height();
    const QRectF last = cellsRect(static_cast<int>(m_picture->tiles.size()) - 1, size);
    return static_cast<int>(std::ceil(last.bottom())) + kTileInset;
}

QRectF HeadMapsCanvas::cellRect(const Place& place, QSize size) const
{
    const QRectF cells = cellsRect(place.tile, size);
    const HeadMaps& maps = *tile(place.tile).maps;
    const double left = cells.left() + cells.width() * place.column / maps.columns;
    const double top = cells.top() + cells.height() * place.row / maps.rows;
    return { left, top, cells.width() / maps.columns, cells.height() / maps.rows };
}

HeadMapsCanvas::Place HeadMapsCanvas::placeAt(QPoint position) const
{
    const auto count = hasPicture() ? static_cast<int>(m_picture->tiles.size()) : 0;
    for (int number = 0; number < count; ++number) {
        const QRectF cells = cellsRect(number, size());
        if (!cells.contains(position))
            continue;
        const HeadMaps& maps = *tile(number).maps;
        const auto at = [](double offset, double length, int many) {
            return std::clamp(static_cast<int>(offset / length * many), 0, many - 1);
        };
        return { number, at(position.y() + 0.5 - cells.top(), cells.height(), maps.rows),
            at(position.x() + 0.5 - cells.left(), cells.width(), maps.columns) };
    }
    return {};
}

void HeadMapsCanvas::hoveredAt(QPoint position)
{
    m_near = placeAt(position);
    update();
}

void HeadMapsCanvas::left()
{
    m_near = {};
}

void HeadMapsCanvas::clickedAt(QPoint position, Qt::KeyboardModifiers modifiers)
{
    m_near = placeAt(position);
    if (m_near.tile >= 0)
        Q_EMIT headPicked(tile(m_near.tile).key, m_picture->rank, modifiers.testFlag(Qt::ControlModifier));
}

void HeadMapsCanvas::moveBy(int tiles, int rows, int columns)
{
    if (m_near.tile < 0) {
        m_near = { 0, 0, 0 };
    } else {
        m_near.tile = std::clamp(m_near.tile + tiles, 0, static_cast<int>(m_picture->tiles.size()) - 1);
        const HeadMaps& maps = *tile(m_near.tile).maps;
        m_near.row = std::clamp(m_near.row + rows, 0, maps.rows - 1);
        m_near.column = std::clamp(m_near.column + columns, 0, maps.columns - 1);
    }
    update();
}

void HeadMapsCanvas::keyPressEvent(QKeyEvent* event)
{
    if (!hasPicture()) {
        PlotCanvas::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left:
        return moveBy(0, 0, -1);
    case Qt::Key_Right:
        return moveBy(0, 0, 1);
    case Qt::Key_Up:
        return moveBy(0, -1, 0);
    case Qt::Key_Down:
        return moveBy(0, 1, 0);
    case Qt::Key_PageUp:
        return moveBy(-1, 0, 0);
    case Qt::Key_PageDown:
        return moveBy(1, 0, 0);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_near.tile >= 0)
            Q_EMIT headPicked(tile(m_near.tile).key, m_picture->rank, event->modifiers().testFlag(Qt::ControlModifier));
        return;
    default:
        PlotCanvas::keyPressEvent(event);
    }
}

void HeadMapsCanvas::paintFrame(QImage& frame, QSize size)
{
    const Theme& theme = Theme::current();
    QPainter painter(&frame);
    if (!hasPicture()) {
        paintEmptyState(painter, QRectF(QPointF(), QSizeF(size)), m_emptyText, theme);
        return;
    }
    const ValueScale scale = m_picture->scale();
    const auto count = static_cast<int>(m_picture->tiles.size());
    std::vector<QString> titles;
    const QFontMetricsF metrics(codeFont(11, 600));
    const double room = cellsRect(0, size).width() + kTileGap - 6;
    for (const HeadMapTile& one : m_picture->tiles)
        titles.push_back(m_picture->hasSteps() ? tr("step %1").arg(formatStep(one.step.value)) : one.title);
    if (m_picture->hasSteps()) {
        const bool fits = std::all_of(titles.begin(), titles.end(),
            [&](const QString& title) { return metrics.horizontalAdvance(title) <= room; });
        for (std::size_t i = 0; i < titles.size() && !fits; ++i)
            titles[i] = formatStep(m_picture->tiles[i].step.value);
    } else {
        titles = fitLabels(titles, metrics, cellsRect(0, size).width());
    }
    QRectF all;
    for (int number = 0; number < count; ++number) {
        const QRectF cells = cellsRect(number, size);
        const bool isTold
            = m_picture->hasSteps() && m_picture->sharesSteps && cells.top() > plotRect(size).top() + kTileTitle + 1;
        paintTile(painter, number, isTold ? QString() : titles[static_cast<std::size_t>(number)], scale, size, theme);
        all = all.united(cells);
        if (m_picture->hasSteps() && (number == 0 || tile(number - 1).key != tile(number).key)) {
            painter.setFont(codeFont(11, 500));
            painter.setPen(theme.text);
            painter.drawText(QRectF(cells.left() - m_names, cells.top(), m_names, cells.height()),
                Qt::AlignLeft | Qt::AlignVCenter, tile(number).title);
        }
    }
    const bool isBroken = std::any_of(m_picture->tiles.begin(), m_picture->tiles.end(), [](const HeadMapTile& one) {
        return std::any_of(
            one.maps->cells.begin(), one.maps->cells.end(), [](float cell) { return !std::isfinite(cell); });
    });
    const double sign = isBroken && all.height() > 4 * kTileTitle ? kNanSign : 0;
    // Below its title, with the upper half of its highest number between them.
    const QRectF bar(all.right() + 14, all.top() + kHalfNumber, 11, all.height() - kHalfNumber - sign);
    paintColorScale(painter, scale, bar, theme);
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    const QRectF above(bar.left(), all.top() - kTileTitle, size.width() - bar.left() - 2, kTileTitle - 4);
    const QString whole = tr("attention weight, log", "what a scale of colors is of");
    painter.drawText(above, Qt::AlignLeft | Qt::AlignBottom,
        painter.fontMetrics().horizontalAdvance(whole) <= above.width() ? whole : tr("weight, log"));
    if (sign > 0) {
        const QRectF cell(all.right() + 13, all.bottom() - 13, 13, 13);
        glyphs::paintCell(painter, cell, CellState::NaN, theme);
        painter.setFont(wordsFont(11));
        painter.setPen(theme.text2);
        painter.drawText(QRectF(cell.right() + 6, cell.top() - 2, 40, 17), Qt::AlignLeft | Qt::AlignVCenter,
            glyphs::word(CellState::NaN));
    }
}

void HeadMapsCanvas::paintTile(
    QPainter& painter, int number, const QString& title, const ValueScale& scale, QSize size, const Theme& theme) const
{
    const HeadMapTile& one = tile(number);
    const HeadMaps& maps = *one.maps;
    const QRectF cells = cellsRect(number, size);
    const ColorIndex colors(scale);
    QImage image(maps.columns, maps.rows, QImage::Format_RGB32);
    for (int row = 0; row < maps.rows; ++row) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(row));
        for (int column = 0; column < maps.columns; ++column) {
            const float cell = one.cell(row, column);
            line[column] = cell == HeadMaps::kUnseen ? theme.base.rgb()
                : std::isfinite(cell)                ? kSequentialTable[colors.indexOf(cell)]
                                                     : theme.criticalMark.rgb();
        }
    }
    painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
    painter.drawImage(cells, image);
    paintNonFinite(painter, number, size, theme);
    painter.setPen(theme.border);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(cells.adjusted(-0.5, -0.5, 0.5, 0.5));
    const QRectF line(cells.left(), cells.top() - kTileTitle, cells.width(), kTileTitle - 4);
    const bool isOther = m_picture->hasSteps() && !one.isAtCursor;
    painter.setFont(codeFont(11, isOther ? 400 : 600));
    painter.setPen(isOther ? theme.text2 : theme.text);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignBottom | Qt::TextDontClip, title);
    const double taken = painter.fontMetrics().horizontalAdvance(title) + 10;
    painter.setFont(numberFont(11));
    const QString shape = tr("%1 × %2", "queries and keys of an attention map")
                              .arg(formatStep(maps.shape.queries), formatStep(maps.shape.keys));
    painter.setPen(theme.text3);
    if (taken + painter.fontMetrics().horizontalAdvance(shape) <= line.width())
        painter.drawText(line, Qt::AlignRight | Qt::AlignBottom, shape);
}

/// Where cells are smaller than a pixel, what is not finite is painted last: nothing may hide it. Where they are too
/// small for a sign each, as many share one as have the room.
void HeadMapsCanvas::paintNonFinite(QPainter& painter, int number, QSize size, const Theme& theme) const
{
    const HeadMapTile& one = tile(number);
    const HeadMaps& maps = *one.maps;
    const QRectF cells = cellsRect(number, size);
    const QRectF first = cellRect({ number, 0, 0 }, size);
    const bool haveSigns = first.width() >= kSigned && first.height() >= kSigned;
    for (int row = 0; row < maps.rows; ++row) {
        for (int column = 0; column < maps.columns; ++column) {
            if (std::isfinite(one.cell(row, column)))
                continue;
            const QRectF cell = cellRect({ number, row, column }, size);
            if (haveSigns)
                glyphs::paintCell(painter, cell, CellState::NaN, theme);
            else
                painter.fillRect(QRectF(std::floor(cell.left()), std::floor(cell.top()),
                                     std::max(1.0, std::ceil(cell.width())), std::max(1.0, std::ceil(cell.height()))),
                    theme.criticalMark);
        }
    }
    const auto isBroken = [&](QPointF at) {
        const auto row = static_cast<int>((at.y() - cells.top()) / first.height());
        const auto column = static_cast<int>((at.x() - cells.left()) / first.width());
        return row >= 0 && column >= 0 && row < maps.rows && column < maps.columns
            && !std::isfinite(one.cell(row, column));
    };
    painter.setRenderHint(QPainter::Antialiasing);
    for (double y = kSigned; !haveSigns && y < cells.height(); y += 2 * kSigned) {
        for (double x = kSigned; x < cells.width(); x += 2 * kSigned) {
            const QPointF middle(cells.left() + x, cells.top() + y);
            const double reach = kSigned / 2;
            const QPointF corners[] { middle, middle + QPointF(-reach, -reach), middle + QPointF(reach, -reach),
                middle + QPointF(-reach, reach), middle + QPointF(reach, reach) };
            if (std::all_of(std::begin(corners), std::end(corners), isBroken))
                glyphs::paintSign(painter, middle, kSigned - 2, CellState::NaN, glyphs::ink(CellState::NaN));
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

QString HeadMapsCanvas::cellText(const HeadMaps& maps, int row, int column)
{
    const auto [firstQuery, lastQuery] = maps.queriesOf(row);
    const auto [firstKey, lastKey] = maps.keysOf(column);
    const QString query = firstQuery == lastQuery
        ? tr("query %1").arg(formatStep(firstQuery))
        : tr("queries %1 to %2").arg(formatStep(firstQuery), formatStep(lastQuery));
    const QString key = firstKey == lastKey ? tr("key %1").arg(formatStep(firstKey))
                                            : tr("keys %1 to %2").arg(formatStep(firstKey), formatStep(lastKey));
    return query + items::comma() + key;
}

void HeadMapsCanvas::paintOverlay(QPainter& painter, QSize size)
{
    if (!hasPicture())
        return;
    const Theme& theme = Theme::current();
    if (isStatic() || m_near.tile < 0)
        return;
    const QRectF cell = cellRect(m_near, size);
    painter.setPen(QPen(theme.base, 3));
    painter.drawRect(cell.adjusted(-1.5, -1.5, 1.5, 1.5));
    painter.setPen(QPen(theme.text, 1));
    painter.drawRect(cell.adjusted(-1.5, -1.5, 1.5, 1.5));
    const HeadMapTile& one = tile(m_near.tile);
    const HeadMaps& maps = *one.maps;
    const float value = one.cell(m_near.row, m_near.column);
    Readout readout;
    readout.name = tr("%1 head %2").arg(one.key.name).arg(one.key.slot.head);
    readout.where
        = tr("step %1").arg(formatStep(one.step.value)) + items::comma() + cellText(maps, m_near.row, m_near.column);
    readout.state = std::isfinite(value) ? CellState::Value : CellState::NaN;
    if (value == HeadMaps::kUnseen)
        readout.value = tr("masked");
    else
        readout.value = std::isfinite(value) ? formatValue(static_cast<double>(value)) : glyphs::word(CellState::NaN);
    readout.detail = value != HeadMaps::kUnseen              ? tr("of a query's attention")
        : maps.queriesPerRow == 1 && maps.keysPerColumn == 1 ? tr("this query may not attend to this key")
                                                             : tr("none of these queries may attend to these keys");
    paintReadout(painter, QRectF(4, 4, size.width() - 8, size.height() - 8), cell, readout, theme);
}

}
