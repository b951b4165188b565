// SPDX-License-Identifier: GPL-3.0-or-later
// HeatCanvas under the pointer and the arrow keys: what is hovered, clicked, brushed and walked to.
#include "heatcanvas.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "heatimage.h"
#include "runends.h"

namespace telltale::views {
namespace {

constexpr std::size_t kMostBrushed = 100;

}

int HeatCanvas::columnAt(int x) const
{
    const QRect plot = plotRect();
    if (!m_picture || x < plot.left() || x > plot.right())
        return -1;
    const int columns = m_picture->columns();
    int column = static_cast<int>(static_cast<std::int64_t>(x - plot.left()) * columns / plot.width());
    if (column + 1 < columns && HeatImage::columnLeft(column + 1, columns, plot.width()) <= x - plot.left())
        ++column;
    return std::clamp(column, 0, columns - 1);
}

std::pair<int, int> HeatCanvas::drawnColumns(int column, const QRect& plot) const
{
    const auto [first, end] = runColumns(*m_picture, state()); // beyond them stand words
    return column < first ? std::pair(column, column + 1) : m_picture->drawnColumns(column, plot.width(), end);
}

void HeatCanvas::hoveredAt(QPoint position)
{
    m_hoverColumn = columnAt(position.x());
    m_hoverRow = m_hoverColumn >= 0 ? m_layout.rowAt(position.y() - plotRect().top()) : -1;
    // The panel that a click opens moves the rows away from under the pointer: while that rests, what was clicked is
    // what is pointed at.
    if (m_clicked && (m_clicked->at != position || m_clicked->shown != shownRange()))
        m_clicked.reset();
    if (m_clicked && m_picture) {
        const bool isRank = m_picture->axes == HeatAxes::RankByStep;
        const auto row = std::ranges::find_if(m_picture->rows, [&](const Row& one) {
            return one.tensor == m_clicked->tensor && one.key == m_clicked->key
                && (!isRank || one.rank == m_clicked->rank);
        });
        const int column = m_picture->columnOf(m_clicked->step);
        if (row != m_picture->rows.end() && column >= 0) {
            m_hoverRow = static_cast<int>(row - m_picture->rows.begin());
            m_hoverColumn = column;
        }
    }
    if (m_hoverColumn >= 0)
        m_hoverColumn = drawnColumns(m_hoverColumn, plotRect()).first;
    PlotCanvas::hoveredAt(position);
}

void HeatCanvas::clickedAt(QPoint position, Qt::KeyboardModifiers modifiers)
{
    PlotCanvas::clickedAt(position, modifiers);
    if (!m_picture)
        return;
    const int row = m_layout.rowAt(position.y() - plotRect().top());
    if (row < 0 || position.x() > plotRect().right())
        return;
    const int column = columnAt(position.x());
    const Row& r = m_picture->rows[static_cast<std::size_t>(row)];
    if (column >= 0)
        m_clicked = { position, r.key, r.tensor, r.rank, pointedAt(position), shownRange() };
    if (m_picture->axes == HeatAxes::RankByStep)
        Q_EMIT rankPicked(r.rank);
    else if (modifiers.testFlag(Qt::ControlModifier))
        state().toggleSelected(r.key);
    else
        state().setSelection({ r.key });
    if (m_picture->axes == HeatAxes::ModuleByRank && column >= 0)
        Q_EMIT rankPicked(m_picture->columnRanks[static_cast<std::size_t>(column)]);
}

void HeatCanvas::brushed(const QRect& area)
{
    const QRect plot = plotRect();
    std::vector<ModuleKey> keys;
    std::set<ModuleKey> known;
    if (m_picture && m_picture->axes != HeatAxes::RankByStep) {
        for (int row = 0; row < m_layout.rows(); ++row) {
            const bool covered
                = m_layout.bottom(row) > area.top() - plot.top() && m_layout.top(row) <= area.bottom() - plot.top();
            const ModuleKey& key = m_picture->rows[static_cast<std::size_t>(row)].key;
            if (covered && known.insert(key).second)
                keys.push_back(key);
        }
    }
    // A stroke along one row means its steps, not the row.
    if (keys.size() > 1) {
        const auto most = keys.begin() + static_cast<std::ptrdiff_t>(std::min(keys.size(), kMostBrushed));
        state().setSelection({ keys.begin(), most }, { most, keys.end() });
        Q_EMIT curvesWanted();
    }
    PlotCanvas::brushed(area);
}

/// Of the column that is drawn under the mouse: columns begin at whole pixels, so a click pins what the readout names.
Step HeatCanvas::stepAt(double x) const
{
    const Step step = PlotCanvas::stepAt(x);
    const int column = hasStepAxis() ? columnAt(static_cast<int>(x)) : -1;
    if (column < 0)
        return step;
    const StepRange drawn = m_picture->stepsOf(column);
    return std::clamp(step, drawn.first, drawn.last);
}

/// Of what is drawn, that step which was collected.
Step HeatCanvas::pointedAt(QPoint position) const
{
    const Step step = stepAt(position.x());
    const QRect plot = plotRect();
    const bool isBeside = position.y() < plot.top() || position.y() > plot.bottom();
    const int column = hasStepAxis() && !isBeside ? columnAt(position.x()) : -1;
    if (column < 0)
        return step;
    const StepRange shown = m_picture->collectedSteps(drawnColumns(column, plot).first);
    return std::clamp(step, shown.first, shown.last);
}

void HeatCanvas::left()
{
    m_hoverRow = -1;
    m_hoverColumn = -1;
    m_clicked.reset();
    PlotCanvas::left();
}

void HeatCanvas::moveRow(int rows)
{
    if (!m_picture || m_picture->rows.empty())
        return;
    const int count = static_cast<int>(m_picture->rows.size());
    const int from = selectedRow();
    const int to = from < 0 ? 0 : std::clamp(from + rows, 0, count - 1);
    const Row& row = m_picture->rows[static_cast<std::size_t>(to)];
    if (m_picture->axes == HeatAxes::RankByStep)
        Q_EMIT rankPicked(row.rank);
    else
        state().setSelection({ row.key });
}

}
