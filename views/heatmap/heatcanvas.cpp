// SPDX-License-Identifier: GPL-3.0-or-later
#include "heatcanvas.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/readout.h>
#include <telltale/items/comma.h>
#include <telltale/items/shownname.h>
#include <telltale/items/tooltiptext.h>

#include "heatimage.h"
#include "heatlegend.h"
#include "rankaxis.h"
#include "runends.h"

namespace telltale::views {

using series::CellState;

namespace {
constexpr int kTop = 8;
constexpr int kBottom = 8;
constexpr int kRank = 24; ///< px of a column in which its sign is seen well
constexpr int kLeastRanks = 120; ///< px of all of them
constexpr int kFigures = 4; ///< of a value, as everywhere
constexpr int kAllFigures = 9; ///< that tell any two values of a float apart
}

HeatCanvas::HeatCanvas(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
    connect(state, &ViewState::selectionChanged, this, [this] { update(); });
}

void HeatCanvas::setPicture(std::shared_ptr<const HeatPicture> picture)
{
    m_picture = std::move(picture);
    m_named = {};
    if (m_picture && !m_picture->rows.empty()) {
        m_gutterWish = HeatGutter::wishOf(*m_picture);
        m_groups = m_picture->bands.size();
    }
    tellGutter();
    m_layout = layoutFor(size());
    if (m_picture && m_hoverRow >= static_cast<int>(m_picture->rows.size()))
        m_hoverRow = -1;
    hoverAgain();
    invalidate();
}

void HeatCanvas::setOtherRanks(analysis::NonFiniteRanks ranks)
{
    m_otherRanks = std::move(ranks);
    invalidate();
}

void HeatCanvas::setNamedCell(const NamedCell& cell)
{
    if (std::exchange(m_named, cell) != cell)
        update();
}

QString HeatCanvas::otherRanksText(QPoint position) const
{
    const int column = position.y() <= kTop + AxisPainter::kLane ? columnAt(position.x()) : -1;
    if (column < 0 || m_picture->axes != HeatAxes::ModuleByStep)
        return {};
    QStringList ranks;
    for (const Rank rank : m_otherRanks.at(m_picture->stepsOf(column).first))
        ranks.append(QString::number(rank.value));
    return ranks.isEmpty() ? QString() : tr("not finite on rank %1").arg(ranks.join(items::comma()));
}

QString HeatCanvas::gutterText(QPoint position) const
{
    const QRect plot = plotRect();
    if (!hasPlot() || m_picture->axes == HeatAxes::RankByStep || position.x() >= plot.left())
        return {};
    const int row = m_layout.rowAt(position.y() - plot.top());
    return row < 0 ? QString() : items::toolTipText(m_picture->rows[static_cast<std::size_t>(row)].fullName());
}

bool HeatCanvas::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        QToolTip::showText(help->globalPos(), otherRanksText(help->pos()) + gutterText(help->pos()), this);
        return true;
    }
    return PlotCanvas::event(event);
}

void HeatCanvas::setEmptyText(const QString& text)
{
    m_emptyText = text;
    invalidate();
}

void HeatCanvas::setLegendVisible(bool on)
{
    m_legend = on;
    invalidate();
}

void HeatCanvas::setLeastGutter(int px)
{
    if (std::exchange(m_leastGutter, px) == px)
        return;
    tellGutter();
    invalidate();
}

void HeatCanvas::setMargins(int left, int right)
{
    m_margins.emplace(left, right);
    tellGutter();
    invalidate();
}

void HeatCanvas::setMostWidth(int plot)
{
    if (const int most = std::max(1, plot); std::exchange(m_mostWidth, most) == most)
        return;
    invalidate();
    Q_EMIT plotResized();
}

void HeatCanvas::setStepAxisVisible(bool on)
{
    m_stepAxis = on;
    invalidate();
}

bool HeatCanvas::hasStepAxis() const
{
    return !m_picture || m_picture->axes != HeatAxes::ModuleByRank;
}

StepRange HeatCanvas::shownRange() const
{
    return m_picture && hasStepAxis() && m_picture->columns() > 0 ? m_picture->result.range : state().visibleRange();
}

QRect HeatCanvas::plotRect(QSize size) const
{
    const int top = kTop + AxisPainter::kLane + 4;
    const int bottom = m_stepAxis || isStatic() || !hasStepAxis() ? AxisPainter::kStepBand : kBottom;
    const int height = std::max(1, size.height() - top - bottom);
    const int wish = !m_picture                               ? 0
        : HeatGutter::namesRows(*m_picture, m_groups, height) ? m_gutterWish.rows
                                                              : m_gutterWish.groups;
    // A few ranks leave more of the width than a quarter to the names.
    const bool isRoomy = m_picture && m_picture->axes == HeatAxes::ModuleByRank
        && size.width() - wish - right() >= std::max(kLeastRanks, kRank * m_picture->columns());
    const int gutter = isRoomy ? std::max(wish, SharedAxis::kGutter) : gutterWithin(wish, size.width());
    const auto [left, beside] = m_margins.value_or(std::pair(std::max(gutter, m_leastGutter), 0));
    return { left, top, std::clamp(size.width() - left - beside - right(), 1, m_mostWidth), height };
}

void HeatCanvas::tellGutter()
{
    const int gutter = plotRect().left();
    if (!m_picture || std::exchange(m_gutter, gutter) == gutter)
        return;
    Q_EMIT gutterChanged(gutter);
    Q_EMIT plotResized();
}

void HeatCanvas::resizeEvent(QResizeEvent* event)
{
    tellGutter();
    PlotCanvas::resizeEvent(event);
}

RowLayout HeatCanvas::layoutFor(QSize size) const
{
    if (!m_picture)
        return {};
    return HeatImage::layout(*m_picture, plotRect(size).height(), 1);
}

QRectF HeatCanvas::cellRect(int row, int column) const
{
    return cellRect(row, column, plotRect());
}

QRectF HeatCanvas::cellRect(int row, int column, const QRect& plot) const
{
    const auto [first, end] = drawnColumns(column, plot);
    const int left = HeatImage::columnLeft(first, m_picture->columns(), plot.width());
    const int right = HeatImage::columnLeft(end, m_picture->columns(), plot.width());
    return QRectF(plot.left() + left, plot.top() + m_layout.top(row), std::max(1, right - left),
        m_layout.bottom(row) - m_layout.top(row));
}

void HeatCanvas::paintFrame(QImage& frame, QSize size)
{
    const Theme& theme = Theme::current();
    const QRect plot = plotRect(size);
    if (!m_picture || m_picture->columns() == 0 || m_picture->rows.empty()) {
        QPainter painter(&frame);
        paintEmptyState(painter, QRectF(QPointF(), QSizeF(size)), m_emptyText, theme);
        return;
    }
    const double scale = frame.devicePixelRatio();
    m_layout = layoutFor(size);
    QPainter painter(&frame);
    painter.drawImage(plot.topLeft(), HeatImage::cells(*m_picture, plot.size(), scale, theme));
    const std::vector<RunEnd> ends = hasStepAxis() ? runEnds(*m_picture, plot, state()) : std::vector<RunEnd>();
    paintRunEnds(painter, ends);
    HeatGutter(*m_picture, m_layout, plot).paint(painter, theme);
    AxisPainter axis(painter, theme);
    const QRectF lane(plot.left(), kTop, plot.width(), AxisPainter::kLane);
    if (hasStepAxis()) {
        axis.laneCaption(lane, tr("events"));
        paintLane(painter, plot);
        std::vector<bool> marked(static_cast<std::size_t>(m_picture->columns()));
        for (int column = 0; column < m_picture->columns(); ++column)
            marked[static_cast<std::size_t>(column)] = isMarked(column);
        axis.events(plot, lane, shownRange(), state().eventMarks(), state().incidentMarks(), marked);
        axis.incidents(plot, lane, shownRange(), state().incidentMarks());
        if (m_picture->isLive && state().isNewest(m_picture->result.range))
            axis.liveEdge(QPointF(plot.right() + 10, lane.center().y() + 1));
    } else {
        paintRankAxis(painter, plot, lane, *m_picture, theme);
    }
    if (m_legend)
        paintHeatLegend(painter, QRectF(plot.right(), kTop, SharedAxis::kLegend, size.height() - kTop - kBottom),
            *m_picture, theme, true, plot.width());
}

bool HeatCanvas::isMarked(int column) const
{
    return series::isNonFinite(m_picture->strongest[static_cast<std::size_t>(column)])
        || (m_picture->axes == HeatAxes::ModuleByStep && !m_otherRanks.at(m_picture->stepsOf(column).first).empty());
}

void HeatCanvas::paintLane(QPainter& painter, const QRect& plot) const
{
    const HeatPicture& picture = *m_picture;
    const Theme& theme = Theme::current();
    const double middle = kTop + AxisPainter::kLane / 2.0 + 1;
    double triangleEnd = -1e9;
    for (int column = 0; column < picture.columns(); ++column) {
        const CellState state = picture.strongest[static_cast<std::size_t>(column)];
        if (!isMarked(column))
            continue;
        const double left = plot.left() + HeatImage::columnLeft(column, picture.columns(), plot.width());
        const double right = plot.left() + HeatImage::columnLeft(column + 1, picture.columns(), plot.width());
        const double width = std::max(1.0, right - left);
        if (!series::isNonFinite(state)) {
            painter.fillRect(QRectF(left, middle - 1, width, 2), theme.criticalMark); // thinner than the own ones
        } else if (state == CellState::NaN) {
            // Of all columns alike: of some alone it would look as if they did not follow each other.
            const double gap = plot.width() >= 5 * picture.columns() ? 1 : 0;
            painter.fillRect(QRectF(left, middle - 3, width - gap, 6), theme.criticalMark);
        } else if (left >= triangleEnd || width >= 6) {
            const double size = std::clamp(width, 7.0, 9.0);
            glyphs::paintSign(painter, QPointF(left + width / 2, middle), size, state, theme.criticalMark);
            triangleEnd = left + size - 1;
        } else {
            painter.fillRect(
                QRectF(left, middle + (state == CellState::PosInf ? 2 : -3), width, 1), theme.criticalMark);
        }
    }
}

int HeatCanvas::selectedRow() const
{
    if (!m_picture || state().selection().empty())
        return -1;
    const bool byRank = m_picture->axes == HeatAxes::RankByStep;
    for (std::size_t row = 0; row < m_picture->rows.size(); ++row) {
        const Row& r = m_picture->rows[row];
        if (byRank ? r.rank == state().rank() : r.key == state().selection().front())
            return static_cast<int>(row);
    }
    return -1;
}

void HeatCanvas::paintSelection(QPainter& painter, const QRect& plot, const std::vector<RunEnd>& ends) const
{
    const Theme& theme = Theme::current();
    const int row = selectedRow();
    if (row < 0 || row >= m_layout.rows())
        return;
    if (m_picture->axes != HeatAxes::RankByStep) { // over the labels of the frame
        painter.fillRect(QRect(0, plot.top() - 4, plot.left() - 2, plot.height() + 8), theme.base);
        HeatGutter(*m_picture, m_layout, plot).paint(painter, theme, row);
    }
    const double top = plot.top() + m_layout.top(row);
    const double bottom = plot.top() + m_layout.bottom(row);
    // Towards the legend, else not to the edge of what the map stands in; where the run is over, stand words.
    int right = plot.right() + (m_legend ? 17 : 3);
    for (const RunEnd& end : ends) {
        if (end.area.right() >= plot.right())
            right = std::min(right, end.area.left());
    }
    const int width = right + 1 - plot.left();
    for (const auto& [y, color] :
        { std::pair(top - 2, theme.base), { bottom + 1, theme.base }, { top - 1, theme.text }, { bottom, theme.text } })
        painter.fillRect(QRectF(plot.left() - 2, y, width, 1), color);
    painter.fillRect(QRectF(plot.left() - 8, top - 1, 2, bottom - top + 2), theme.accent);
}

void HeatCanvas::paintNamed(QPainter& painter, const QRect& plot) const
{
    if (m_named.row >= 0 && m_named.row < m_layout.rows() && m_named.column >= 0
        && m_named.column < m_picture->columns())
        paintNamedCell(painter, plot, cellRect(m_named.row, m_named.column, plot), m_named.severity, Theme::current());
}

void HeatCanvas::paintColumnOutline(QPainter& painter, const QRect& plot, int column) const
{
    const Theme& theme = Theme::current();
    const auto [first, end] = drawnColumns(column, plot);
    const double left = plot.left() + HeatImage::columnLeft(first, m_picture->columns(), plot.width());
    const double right = plot.left() + HeatImage::columnLeft(end, m_picture->columns(), plot.width());
    const double width = std::max(1.0, right - left);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    // Cased in base, so that the line is seen on dark and bright cells alike.
    const QRectF box(left - 1.5, plot.top() - 3.5, width + 2, plot.height() + 6);
    painter.setPen(QPen(theme.base, 3));
    painter.drawRect(box);
    painter.setPen(QPen(theme.text, 1));
    painter.drawRect(box);
}

QString HeatCanvas::readoutPlace(int row, int column) const
{
    const Row& r = m_picture->rows[static_cast<std::size_t>(row)];
    const StepRange steps = m_picture->stepsOf(row, column);
    const Rank rank
        = m_picture->axes == HeatAxes::ModuleByRank ? m_picture->columnRanks[static_cast<std::size_t>(column)] : r.rank;
    QString text = steps.count() <= 1
        ? tr("step %1").arg(formatStep(steps.first.value))
        : tr("steps %1 to %2").arg(formatStep(steps.first.value), formatStep(steps.last.value));
    text += tr(", rank %1").arg(rank.value);
    if (const QString variant = r.variant(); !variant.isEmpty() && m_picture->title.isEmpty())
        text += items::comma() + variant;
    return text;
}

void HeatCanvas::tellSides(Readout& readout, const QString& stat) const
{
    const HeatSides& sides = *m_picture->sides;
    const auto columns = static_cast<std::size_t>(m_picture->columns());
    const std::size_t at
        = m_picture->sideRows[static_cast<std::size_t>(m_hoverRow)] * columns + static_cast<std::size_t>(m_hoverColumn);
    const StepRange steps = m_picture->stepsOf(m_hoverColumn);
    const bool isBefore = steps.last < sides.both.first;
    const bool isAfter = sides.both.last < steps.first;
    const auto text = [&](CellState state, float value, int figures) {
        if (state == CellState::Value)
            return statValueText(m_picture->stat, static_cast<double>(value), figures);
        return (isBefore || isAfter) && !series::isNonFinite(state) ? QString(QChar(0x2013)) : glyphs::word(state);
    };
    const bool areEqual = sides.statesA[at] == sides.statesB[at]
        && (sides.valuesA[at] == sides.valuesB[at] || series::isNonFinite(sides.statesA[at]));
    QString a;
    QString b;
    for (const int figures : { kFigures, kAllFigures }) {
        a = text(sides.statesA[at], sides.valuesA[at], figures);
        b = text(sides.statesB[at], sides.valuesB[at], figures);
        if (areEqual || a != b)
            break;
    }
    readout.detail = tr("%1   A %2   B %3").arg(stat, a, b);
    const CellState state = readout.state;
    const double value = m_picture->value(m_hoverRow, m_hoverColumn);
    if (isBefore || isAfter) {
        readout.value = isBefore ? sides.before : sides.after;
        readout.state = CellState::Value; // no sign of what would be missing
    } else if (areEqual && state == CellState::Value)
        readout.value = tr("equal");
    else if (state != CellState::Value)
        readout.value = series::isNonFinite(state) ? tr("apart") : glyphs::word(state);
    else if (m_picture->scaleMode == HeatScale::Ratio)
        readout.value = ratioText(value, kFigures);
    else
        readout.value = (value > 0 ? QStringLiteral("+") : QString()) + statValueText(m_picture->stat, value);
}

void HeatCanvas::paintHover(QPainter& painter, const QRect& plot) const
{
    if (m_hoverRow < 0 || m_hoverColumn < 0 || m_hoverRow >= m_layout.rows() || m_hoverColumn >= m_picture->columns())
        return;
    const Theme& theme = Theme::current();
    const QRectF cell = cellRect(m_hoverRow, m_hoverColumn);
    outlineCell(painter, cell, theme);

    const CellState cellState = m_picture->state(m_hoverRow, m_hoverColumn);
    Readout readout;
    // What has a title of its own is no statistic of a tensor, and names its rows itself.
    const bool isTitled = !m_picture->title.isEmpty();
    const Row& row = m_picture->rows[static_cast<std::size_t>(m_hoverRow)];
    readout.name = isTitled ? row.label : items::shownName(row.key.name);
    readout.where = readoutPlace(m_hoverRow, m_hoverColumn);
    readout.state = cellState;
    const QString stat = isTitled ? m_picture->title : statText(m_picture->stat);
    const double value = m_picture->value(m_hoverRow, m_hoverColumn);
    if (m_picture->sides) {
        tellSides(readout, stat);
    } else if (cellState == CellState::Value) {
        readout.value = statValueText(m_picture->stat, value);
        readout.detail = stat;
        if (m_picture->scaleMode == HeatScale::Deviation) {
            const std::size_t at = static_cast<std::size_t>(m_hoverRow) * static_cast<std::size_t>(m_picture->columns())
                + static_cast<std::size_t>(m_hoverColumn);
            const double deviation = static_cast<double>(m_picture->shown[at]);
            readout.detail = m_picture->spreadOf(m_hoverRow).second == 0
                ? tr("%1, MAD of its row 0").arg(stat)
                : tr("%1, %2 MAD")
                      .arg(stat, (deviation > 0 ? QStringLiteral("+") : QString()) + formatValue(deviation));
        }
    } else {
        readout.value = glyphs::word(cellState);
        if (series::isNonFinite(cellState) && std::isfinite(value))
            readout.detail = tr("%1, finite part %2").arg(stat, statValueText(m_picture->stat, value));
    }
    const QRectF around = selectedRow() == m_hoverRow || m_layout.isCrowded()
        ? cell
        : QRectF(cell.left(), cell.top() - 2, cell.width(), cell.height() + 4);
    const QRectF room(plot.left(), 4, plot.width(), height() - 8);
    const double under = hasStepAxis() ? room.top() : plot.top(); // what stands above says which step they are of
    paintReadout(painter, readoutRoom(QRectF(room.left(), under, room.width(), room.bottom() - under), room, around),
        around, readout, theme);
}

void HeatCanvas::paintOverlay(QPainter& painter, QSize size)
{
    if (!m_picture || m_picture->columns() == 0 || m_picture->rows.empty())
        return;
    const Theme& theme = Theme::current();
    const QRect plot = plotRect(size);
    m_layout = layoutFor(size);
    const std::vector<RunEnd> ends = hasStepAxis() ? runEnds(*m_picture, plot, state()) : std::vector<RunEnd>();
    paintSelection(painter, plot, ends);
    if (hasStepAxis()) {
        AxisPainter axis(painter, theme);
        StepMarks marks = StepMarks::of(state());
        const int column = marks.cursor ? m_picture->columnOf(*marks.cursor) : -1;
        if (column >= 0)
            paintColumnOutline(painter, plot, column);
        StepMarks lines = marks;
        lines.cursor.reset();
        axis.cursorLines(plot, shownRange(), lines);
        paintRunEndWords(painter, ends, *m_picture, state());
        if (m_stepAxis || isStatic()) {
            axis.steps(plot, shownRange(), tr("step"), marks);
            axis.cursorTags(plot, shownRange(), marks);
        }
    }
    paintNamed(painter, plot);
    paintHover(painter, plot);
}

}
