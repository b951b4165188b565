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
#include <telltale/items/guithread.h>

#include "attentionmap.h"

namespace telltale::views {

using analysis::HeadMaps;
using series::CellState;

namespace {

constexpr int kTileInset = 12;
constexpr double kTileTitle = 20;
constexpr double kTileGap = 14;
constexpr double kTileScale = 64; ///< px right of the tiles
constexpr double kLargestTile = 300; ///< px of a tile

/// How many tiles stand beside each other, and how large they are: as large as they can be.
struct TileGrid {
    int columns = 1;
    double size = 1;

    /// `each`: tiles that belong together begin a line; up to 1: there are none.
    TileGrid(std::size_t count, int each, QSizeF room)
    {
        const bool hasLines = each > 1 && static_cast<int>(count) > each;
        for (int wide = hasLines ? each : 1; wide <= (hasLines ? each : static_cast<int>(count)); ++wide) {
            const int high = (static_cast<int>(count) + wide - 1) / wide;
            const double side = std::min(
                (room.width() + kTileGap) / wide - kTileGap, (room.height() + kTileGap) / high - kTileGap - kTileTitle);
            if (std::floor(side) > size) {
                size = std::floor(side);
                columns = wide;
            }
        }
        size = std::min(size, kLargestTile);
    }
};

}

HeadMapsCanvas::HeadMapsCanvas(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
    connect(state, &ViewState::selectionChanged, this, [this] { update(); });
}

void HeadMapsCanvas::setPicture(std::shared_ptr<const HeadMapPicture> picture)
{
    items::assertGuiThread();
    const QString near = hasPicture() && m_near.tile >= 0 ? tile(m_near.tile).title : QString();
    m_picture = std::move(picture);
    const bool isThere = hasPicture() && m_near.tile < static_cast<int>(m_picture->tiles.size());
    if (m_near.tile >= 0 && (!isThere || tile(m_near.tile).title != near))
        m_near = {}; // another head, or another step of it
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
    return { kTileInset, 0, std::max(1, size.width() - 2 * kTileInset - static_cast<int>(kTileScale)),
        std::max(1, size.height() - kTileInset) };
}

QRectF HeadMapsCanvas::cellsRect(int number, QSize size) const
{
    const QRect plot = plotRect(size);
    const TileGrid grid(m_picture->tiles.size(), m_picture->stepsOfHead, plot.size());
    const double pitch = grid.size + kTileGap;
    const int row = number / grid.columns;
    return { std::round(plot.left() + (number % grid.columns) * pitch),
        std::round(plot.top() + kTileTitle + row * (pitch + kTileTitle)), grid.size, grid.size };
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
    for (const HeadMapTile& one : m_picture->tiles)
        titles.push_back(one.title);
    titles = fitLabels(titles, QFontMetricsF(codeFont(11, 500)), cellsRect(0, size).width());
    QRectF all;
    for (int number = 0; number < count; ++number) {
        paintTile(painter, number, titles[static_cast<std::size_t>(number)], scale, size, theme);
        all = all.united(cellsRect(number, size));
    }
    paintColorScale(painter, scale, QRectF(all.right() + 14, all.top(), 11, all.height()), theme);
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
    // Where cells are smaller than a pixel, what is not finite is painted last: nothing may hide it.
    for (int row = 0; row < maps.rows; ++row) {
        for (int column = 0; column < maps.columns; ++column) {
            if (std::isfinite(one.cell(row, column)))
                continue;
            const QRectF cell = cellRect({ number, row, column }, size);
            if (cell.width() >= 7 && cell.height() >= 7)
                glyphs::paintCell(painter, cell, CellState::NaN, theme);
            else
                painter.fillRect(QRectF(std::floor(cell.left()), std::floor(cell.top()),
                                     std::max(1.0, std::ceil(cell.width())), std::max(1.0, std::ceil(cell.height()))),
                    theme.criticalMark);
        }
    }
    painter.setPen(theme.border);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(cells.adjusted(-0.5, -0.5, 0.5, 0.5));
    const QRectF line(cells.left(), cells.top() - kTileTitle, cells.width(), kTileTitle - 4);
    painter.setFont(codeFont(11, 500));
    painter.setPen(theme.text);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignBottom, title);
    const double taken = painter.fontMetrics().horizontalAdvance(title) + 10;
    painter.setFont(numberFont(11));
    const QString shape = tr("%1 × %2", "queries and keys of an attention map")
                              .arg(formatStep(maps.shape.queries), formatStep(maps.shape.keys));
    painter.setPen(theme.text3);
    if (taken + painter.fontMetrics().horizontalAdvance(shape) <= line.width())
        painter.drawText(line, Qt::AlignRight | Qt::AlignBottom, shape);
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
    const auto [firstQuery, lastQuery] = maps.queriesOf(m_near.row);
    const auto [firstKey, lastKey] = maps.keysOf(m_near.column);
    const auto span = [](std::int64_t first, std::int64_t last) {
        return first == last ? formatStep(first) : formatStep(first) + QChar(0x2013) + formatStep(last);
    };
    Readout readout;
    readout.name = tr("%1 head %2").arg(one.key.name).arg(one.key.slot.head);
    readout.where = tr("step %1, queries %2, keys %3")
                        .arg(formatStep(one.step.value), span(firstQuery, lastQuery), span(firstKey, lastKey));
    readout.state = std::isfinite(value) ? CellState::Value : CellState::NaN;
    if (value == HeadMaps::kUnseen)
        readout.value = tr("masked");
    else
        readout.value = std::isfinite(value) ? formatValue(static_cast<double>(value)) : glyphs::word(CellState::NaN);
    readout.detail = value == HeadMaps::kUnseen ? tr("none of these queries may attend to these keys")
                                                : tr("of a query's attention");
    paintReadout(painter, QRectF(4, 4, size.width() - 8, size.height() - 8), cell, readout, theme);
}

}
