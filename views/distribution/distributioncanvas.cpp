// SPDX-License-Identifier: GPL-3.0-or-later
#include "distributioncanvas.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QPainter>

#include <telltale/common/axispainter.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/readout.h>
#include <telltale/core/histogram.h>
#include <telltale/heatmap/heatimage.h>
#include <telltale/heatmap/heatlegend.h>
#include <telltale/heatmap/runends.h>
#include <telltale/items/comma.h>
#include <telltale/items/guithread.h>
#include <telltale/plot/curvepainter.h>

#include "binaxis.h"
#include "ridgepainter.h"

namespace telltale::views {

using series::CellState;

namespace {

constexpr int kTop = 4;
constexpr int kCaption = 18; ///< px of the tensor's name
constexpr int kEnd = 8;
constexpr double kLabelDistance = 17;

/// As of a heat map; below several strips it has no room for every sign, and keeps those that are in view. Ridges have
/// no colors, but the same signs.
void paintLegend(QPainter& painter, const QRectF& area, const DistributionStrip& strip, std::pair<int, int> columns,
    DistributionShape shape, const Theme& theme)
{
    constexpr double kWhole = 237;
    constexpr double kLine = 19;
    const bool hasColors = shape == DistributionShape::Strip;
    // The title, and the least of the bar; without them the signs begin where the plot does.
    const double colors = hasColors ? 82 : kCaption + AxisPainter::kLane + AxisPainter::kLaneGap + 6;
    if (hasColors && area.height() >= kWhole)
        return paintHeatLegend(painter, area, strip.heat, theme);
    std::vector<CellState> signs;
    for (const CellState state : { CellState::NaN, CellState::PosInf, CellState::NegInf, CellState::NotCollected,
             CellState::Gap, CellState::Damaged }) {
        const bool hasRoom = signs.empty() || colors + kLine * static_cast<double>(signs.size() + 1) <= area.height();
        if (hasRoom && (hasColors || series::isNonFinite(state))
            && std::find(strip.states.begin() + columns.first, strip.states.begin() + columns.second, state)
                != strip.states.begin() + columns.second)
            signs.push_back(state);
    }
    const double height = hasColors ? area.height() - kLine * static_cast<double>(signs.size()) : colors;
    if (hasColors)
        paintHeatLegend(painter, QRectF(area.left(), area.top(), area.width(), height), strip.heat, theme, false);
    painter.setFont(wordsFont(11));
    double y = area.top() + height - 6;
    for (const CellState state : signs) {
        const double x = std::round(area.left() + (hasColors ? 24 : kRidgeRoom + 8));
        glyphs::paintCell(painter, QRectF(x, std::round(y), 13, 13), state, theme);
        painter.setPen(theme.text2);
        painter.drawText(
            QRectF(x + 22, y - 2, area.right() - x - 22, 17), Qt::AlignLeft | Qt::AlignVCenter, glyphs::word(state));
        y += kLine;
    }
}

}

DistributionCanvas::DistributionCanvas(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
}

void DistributionCanvas::setPicture(std::shared_ptr<const DistributionPicture> picture)
{
    items::assertGuiThread();
    m_picture = std::move(picture);
    m_hoverStrip = -1;
    hoverAgain();
    invalidate();
}

void DistributionCanvas::setShape(DistributionShape shape)
{
    m_shape = shape;
    invalidate();
}

void DistributionCanvas::setEmptyText(const QString& text)
{
    m_emptyText = text;
    invalidate();
}

void DistributionCanvas::setStepAxisVisible(bool on)
{
    m_stepAxis = on;
    invalidate();
}

int DistributionCanvas::room() const
{
    return std::clamp(height() / kLeastStrip, 1, 4);
}

StepRange DistributionCanvas::shownRange() const
{
    return isEmpty() ? state().visibleRange() : m_picture->range;
}

QRect DistributionCanvas::stripRect(int index, QSize size) const
{
    const int count = isEmpty() ? 1 : static_cast<int>(m_picture->strips.size());
    const int height = size.height() - kTop - (m_stepAxis ? AxisPainter::kStepBand : kEnd);
    const int top = kTop + height * index / count;
    const int bottom = kTop + height * (index + 1) / count;
    const int head = kCaption + AxisPainter::kLane + AxisPainter::kLaneGap;
    const int gutter = gutterWithin(0, size.width());
    return { gutter, top + head, std::max(1, size.width() - gutter - SharedAxis::kLegend),
        std::max(1, bottom - top - head - (index + 1 < count ? 6 : 0)) };
}

QRect DistributionCanvas::laneOf(const QRect& strip)
{
    return { strip.left(), strip.top() - AxisPainter::kLane - AxisPainter::kLaneGap, strip.width(),
        AxisPainter::kLane };
}

QRect DistributionCanvas::plotRect(QSize size) const
{
    const int last = isEmpty() ? 0 : static_cast<int>(m_picture->strips.size()) - 1;
    return stripRect(0, size).united(stripRect(last, size));
}

QRectF DistributionCanvas::cellRect(int index, int bin, int column) const
{
    const QRect plot = stripRect(index);
    const DistributionStrip& one = strip(index);
    const int shown = one.lastBin - one.firstBin + 1;
    const int row = one.lastBin - bin;
    const int top = plot.height() * row / shown;
    const int bottom = plot.height() * (row + 1) / shown;
    const int from = HeatImage::columnLeft(column, one.columns, plot.width());
    const int to = HeatImage::columnLeft(column + 1, one.columns, plot.width());
    return QRectF(plot.left() + from, plot.top() + top, std::max(1, to - from), std::max(1, bottom - top));
}

void DistributionCanvas::paintEdges(QPainter& painter, const QRect& plot, const DistributionStrip& strip) const
{
    const Theme& theme = Theme::current();
    painter.setFont(numberFont(11));
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (const BinAxis::Tick& tick :
        BinAxis(*strip.edges, strip.firstBin, strip.lastBin).ticks(plot.height(), kLabelDistance)) {
        const double y = std::round(plot.bottom() + 1 - tick.unit * plot.height());
        fillHair(painter, QPointF(plot.left() - 5, y), 4, Qt::Horizontal, theme.text3);
        painter.setPen(tick.value == 0 ? theme.text : theme.text2);
        painter.drawText(QRectF(0, y - 8, plot.left() - 9, 16), Qt::AlignRight | Qt::AlignVCenter, tick.label);
        if (m_shape == DistributionShape::Ridges) {
            QColor grid = theme.border;
            grid.setAlphaF(0.75F);
            fillHair(painter, QPointF(plot.left(), y), plot.width(), Qt::Horizontal, grid);
        }
    }
}

void DistributionCanvas::paintFrame(QImage& frame, QSize size)
{
    const Theme& theme = Theme::current();
    QPainter painter(&frame);
    if (isEmpty()) {
        paintEmptyState(painter, QRectF(QPointF(), QSizeF(size)), m_emptyText, theme);
        return;
    }
    AxisPainter axis(painter, theme);
    for (int i = 0; i < static_cast<int>(m_picture->strips.size()); ++i) {
        const DistributionStrip& one = strip(i);
        const QRect plot = stripRect(i, size);
        const QRectF lane = laneOf(plot);
        painter.setFont(codeFont(11, 500));
        painter.setPen(theme.text);
        const QRectF caption(plot.left(), lane.top() - kCaption, plot.width(), kCaption);
        painter.drawText(caption, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(one.row.fullName(), Qt::ElideLeft, plot.width()));
        paintEdges(painter, plot, one);
        if (m_shape == DistributionShape::Strip)
            painter.drawImage(plot.topLeft(), HeatImage::cells(one.heat, plot.size(), frame.devicePixelRatio(), theme));
        paintRunEnds(painter, runEnds(one.heat, plot, state()));
        if (m_shape == DistributionShape::Ridges)
            paintRidges(painter, plot, one, theme); // whose last ones reach beyond their run's end
        axis.laneCaption(lane, tr("events"));
        const std::vector<bool> marked = paintNonFiniteLane(painter, lane, one.states, theme,
            axis.signs(plot, shownRange(), state().eventMarks(), state().incidentMarks()));
        axis.events(plot, lane, shownRange(), state().eventMarks(), state().incidentMarks(), marked);
        axis.incidents(plot, lane, shownRange(), state().incidentMarks());
        if (m_picture->isLive && state().isNewest(m_picture->range))
            axis.liveEdge(QPointF(plot.right() + 10, lane.center().y() + 1));
        paintLegend(painter,
            QRectF(plot.right(), lane.top() - kCaption, SharedAxis::kLegend, plot.bottom() - lane.top() + kCaption),
            one, runColumns(one.heat, state()), m_shape, theme);
    }
}

void DistributionCanvas::hoveredAt(QPoint position)
{
    m_hoverStrip = -1;
    for (int i = 0; !isEmpty() && i < static_cast<int>(m_picture->strips.size()); ++i) {
        const QRect plot = stripRect(i);
        if (!plot.contains(position))
            continue;
        const DistributionStrip& one = strip(i);
        const int shown = one.lastBin - one.firstBin + 1;
        m_hoverStrip = i;
        m_hoverColumn = drawnColumns(one, state(), stepAt(position.x()), plot).first;
        m_hoverBin = one.lastBin - std::clamp((position.y() - plot.top()) * shown / plot.height(), 0, shown - 1);
    }
    PlotCanvas::hoveredAt(position);
}

std::pair<int, int> DistributionCanvas::drawnColumns(
    const DistributionStrip& one, const ViewState& state, Step step, const QRect& plot)
{
    const int end = runColumns(one.heat, state).second;
    return one.heat.drawnColumns(std::max(0, one.heat.columnOf(step)), plot.width(), end);
}

/// Of what is drawn, that step which was collected.
Step DistributionCanvas::pointedAt(QPoint position) const
{
    const Step step = stepAt(position.x());
    for (int i = 0; !isEmpty() && i < static_cast<int>(m_picture->strips.size()); ++i) {
        const QRect plot = stripRect(i);
        if (!plot.contains(position))
            continue;
        const HeatPicture& heat = strip(i).heat;
        const StepRange shown = heat.collectedSteps(drawnColumns(strip(i), state(), step, plot).first);
        return std::clamp(step, shown.first, shown.last);
    }
    return step;
}

void DistributionCanvas::left()
{
    m_hoverStrip = -1;
    PlotCanvas::left();
}

void DistributionCanvas::moveRow(int rows)
{
    Q_EMIT tensorStepped(rows);
}

QString DistributionCanvas::placeText(const DistributionStrip& one, int bin, int column) const
{
    const StepRange steps = one.heat.stepsOf(column);
    const QString when = steps.count() <= 1
        ? tr("step %1").arg(formatStep(steps.first.value))
        : tr("steps %1 to %2").arg(formatStep(steps.first.value), formatStep(steps.last.value));
    // The least number above zero divides zero from all others, and nobody needs to know it.
    const auto edgeOf = [&one](int at) {
        const double edge = (*one.edges)[static_cast<std::size_t>(at)];
        return edge == std::numeric_limits<double>::denorm_min() ? 0 : edge;
    };
    const double low = edgeOf(bin), high = edgeOf(bin + 1);
    return when + tr(", rank %1").arg(one.row.rank.value) + items::comma()
        + (low == high ? formatValue(low)
                       : tr("%1 to %2", "the edges of a bin").arg(formatValue(low), formatValue(high)));
}

QString DistributionCanvas::amountText(const DistributionStrip& one, int bin, int column) const
{
    const double count = one.countsOf(column)[static_cast<std::size_t>(bin)];
    return tr("%1 of %2 elements")
        .arg(formatStep(static_cast<qint64>(count)),
            formatStep(static_cast<qint64>(one.totals[static_cast<std::size_t>(column)])));
}

QString DistributionCanvas::cellText(int index, int bin, int column) const
{
    const DistributionStrip& one = strip(index);
    return placeText(one, bin, column) + QLatin1Char('\n') + amountText(one, bin, column);
}

void DistributionCanvas::paintHover(QPainter& painter) const
{
    if (m_hoverStrip < 0 || isEmpty() || m_hoverStrip >= static_cast<int>(m_picture->strips.size()))
        return;
    const Theme& theme = Theme::current();
    const DistributionStrip& one = strip(m_hoverStrip);
    const auto [first, end] = runColumns(one.heat, state());
    if (m_hoverColumn < first || m_hoverColumn >= end)
        return;
    const int last
        = one.heat.drawnColumns(m_hoverColumn, stripRect(m_hoverStrip).width(), end).second - 1; // looks like it
    const QRectF cell
        = cellRect(m_hoverStrip, m_hoverBin, m_hoverColumn).united(cellRect(m_hoverStrip, m_hoverBin, last));
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.base, 3));
    painter.drawRect(cell.adjusted(-1, -1, 1, 1));
    painter.setPen(QPen(theme.text, 1));
    painter.drawRect(cell.adjusted(-1, -1, 0, 0));
    const auto column = static_cast<std::size_t>(m_hoverColumn);
    Readout readout;
    readout.name = one.row.fullName();
    readout.where = placeText(one, m_hoverBin, m_hoverColumn);
    const CellState cellState = one.heat.state(one.lastBin - m_hoverBin, m_hoverColumn);
    const bool hasElements = one.samples[column] > 0 && !series::isNonFinite(cellState);
    readout.state = hasElements ? CellState::Value : one.states[column];
    if (hasElements) {
        readout.value = formatFraction(one.shareOf(m_hoverColumn, m_hoverBin));
        readout.detail = amountText(one, m_hoverBin, m_hoverColumn);
        if (series::isNonFinite(one.states[column]))
            readout.detail += items::comma() + glyphs::word(one.states[column]);
    } else {
        readout.value = glyphs::word(one.states[column]);
    }
    const QRect plot = stripRect(m_hoverStrip);
    paintReadout(painter, QRectF(plot.left(), 4, plot.width(), height() - 8), cell, readout, theme);
}

void DistributionCanvas::paintOverlay(QPainter& painter, QSize size)
{
    if (isEmpty())
        return;
    AxisPainter axis(painter, Theme::current());
    const StepMarks marks = StepMarks::of(state());
    for (int i = 0; i < static_cast<int>(m_picture->strips.size()); ++i) {
        const QRect plot = stripRect(i, size);
        axis.cursorLines(plot, shownRange(), marks);
        paintRunEndWords(painter, runEnds(strip(i).heat, plot, state()), strip(i).heat, state());
    }
    if (m_stepAxis) {
        const QRect plot = plotRect(size);
        axis.steps(plot, shownRange(), tr("step"), marks);
        axis.cursorTags(plot, shownRange(), marks);
    }
    if (!isStatic())
        paintHover(painter);
}

}
