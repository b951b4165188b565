// SPDX-License-Identifier: GPL-3.0-or-later
#include "rankbars.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/theme.h>

namespace telltale::views {

namespace {

using series::CellState;

constexpr int kLabel = 18;

/// The design's marks: cross for NaN, triangle up and down for the infinities.
void paintMark(QPainter& painter, QPointF c, CellState state)
{
    painter.setRenderHint(QPainter::Antialiasing);
    if (state == CellState::NaN) {
        painter.setPen(QPen(Qt::white, 1.5, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(c + QPointF(-3, -3), c + QPointF(3, 3));
        painter.drawLine(c + QPointF(-3, 3), c + QPointF(3, -3));
        return;
    }
    const double tip = state == CellState::PosInf ? -4 : 4;
    painter.setPen(Qt::NoPen);
    painter.setBrush(state == CellState::PosInf ? QColor(0x15171A) : QColor(Qt::white));
    const QPointF triangle[] = { c + QPointF(0, tip), c + QPointF(4.5, -tip), c + QPointF(-4.5, -tip) };
    painter.drawPolygon(triangle, 3);
}

QColor colourOf(CellState state)
{
    const Theme& theme = Theme::current();
    return glyphs::isNonFinite(state) ? glyphs::fill(state, theme) : theme.strong;
}

}

RankBars::RankBars(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(tr("Value by rank"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void RankBars::set(std::vector<Bar> bars, Rank current)
{
    m_bars = std::move(bars);
    m_current = current;
    update();
}

void RankBars::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    const int floor = height() - kLabel;
    painter.fillRect(0, floor, width(), 1, theme.border);
    if (m_bars.empty())
        return;
    double most = 0;
    for (const Bar& bar : m_bars)
        most = bar.value.state == CellState::Value ? std::max(most, std::abs(bar.value.value)) : most;
    const double slot = static_cast<double>(width()) / static_cast<double>(m_bars.size());
    const double barWidth = std::max(1.0, std::min(slot - 4, 24.0));
    const int labelEvery = std::max(1, static_cast<int>(std::ceil(22 / slot)));
    for (std::size_t i = 0; i < m_bars.size(); ++i) {
        const Bar& bar = m_bars[i];
        const double centre = slot * (static_cast<double>(i) + 0.5);
        const bool nonFinite = bar.value.state >= CellState::NegInf;
        if (bar.value.state >= CellState::Value) {
            const double share = nonFinite ? 1 : most > 0 ? 0.85 * std::abs(bar.value.value) / most : 0;
            const double tall = std::max(1.0, share * (floor - 4));
            painter.fillRect(QRectF(centre - barWidth / 2, floor - tall, barWidth, tall), colourOf(bar.value.state));
            if (nonFinite && barWidth >= 9)
                paintMark(painter, QPointF(centre, floor - tall / 2), bar.value.state);
        }
        if (i % static_cast<std::size_t>(labelEvery) != 0)
            continue;
        const bool isCurrent = bar.rank == m_current;
        painter.setFont(numberFont(11, isCurrent ? 600 : 400));
        painter.setPen(isCurrent ? theme.text : theme.text2);
        painter.drawText(QRectF(centre - 20, floor + 2, 40, kLabel - 2), static_cast<int>(Qt::AlignCenter),
            QString::number(bar.rank.value));
    }
    if (hasFocus()) {
        painter.setPen(theme.accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void RankBars::mousePressEvent(QMouseEvent* event)
{
    if (m_bars.empty())
        return;
    const auto count = static_cast<int>(m_bars.size());
    const int at = std::clamp(static_cast<int>(event->position().x()) * count / std::max(1, width()), 0, count - 1);
    Q_EMIT rankClicked(m_bars[static_cast<std::size_t>(at)].rank);
}

void RankBars::step(int by)
{
    const auto at
        = std::find_if(m_bars.begin(), m_bars.end(), [this](const Bar& bar) { return bar.rank == m_current; });
    const auto next = (at - m_bars.begin()) + by;
    if (next >= 0 && next < static_cast<std::ptrdiff_t>(m_bars.size()))
        Q_EMIT rankClicked(m_bars[static_cast<std::size_t>(next)].rank);
}

void RankBars::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)
        step(event->key() == Qt::Key_Left ? -1 : 1);
    else
        QWidget::keyPressEvent(event);
}

}
