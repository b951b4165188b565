// SPDX-License-Identifier: GPL-3.0-or-later
#include "rankbars.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QtCharts/QBarSet>
#include <QtCharts/QStackedBarSeries>
#include <QtCharts/QValueAxis>

#include <telltale/common/glyphs.h>
#include <telltale/common/theme.h>

namespace telltale::views {

namespace {

using series::CellState;

constexpr int kLabel = 18; ///< height of the line of ranks
constexpr int kLabelWidth = 22;
constexpr double kWidestBar = 24;
constexpr double kBetweenBars = 4;
constexpr double kSmallestSigned = 9; ///< a narrower bar has its color alone
constexpr double kLeastValue = 0.03; ///< a rank whose value is 0 was measured, and shows it
constexpr double kTallestValue = 0.85; ///< of the height, which is that of what is not finite

/// A bar is of one of these: Qt Charts colors by set, and stacks the sets of a rank, of which one is not zero.
constexpr std::array kStates { CellState::Value, CellState::NaN, CellState::PosInf, CellState::NegInf };

}

RankBars::RankBars(QWidget* parent)
    : QChartView(parent)
    , m_series(new QStackedBarSeries(this))
    , m_ranks(new QValueAxis(this))
    , m_values(new QValueAxis(this))
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(tr("Value by rank"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    QChart* own = chart();
    own->legend()->hide();
    own->setMargins({});
    own->setBackgroundVisible(false);
    for (const CellState state : kStates)
        m_series->append(new QBarSet(glyphs::word(state), m_series));
    own->addSeries(m_series);
    own->addAxis(m_ranks, Qt::AlignBottom);
    own->addAxis(m_values, Qt::AlignLeft);
    m_series->attachAxis(m_ranks);
    m_series->attachAxis(m_values);
    // An axis of Qt Charts sets no label in bold and keeps none inside its plot: drawForeground() does.
    m_ranks->setVisible(false);
    m_values->setVisible(false);
    m_values->setRange(0, 1);
}

void RankBars::set(std::vector<Bar> bars, Rank current)
{
    m_bars = std::move(bars);
    m_current = current;
    double most = 0;
    for (const Bar& bar : m_bars)
        most = bar.value.state == CellState::Value ? std::max(most, std::abs(bar.value.value)) : most;
    const QList<QBarSet*> sets = m_series->barSets();
    for (std::size_t i = 0; i < kStates.size(); ++i) {
        QList<qreal> heights;
        for (const Bar& bar : m_bars) {
            const double tall = series::isNonFinite(kStates[i]) ? 1
                : most > 0 ? std::max(kLeastValue, kTallestValue * std::abs(bar.value.value) / most)
                           : kLeastValue;
            heights.append(bar.value.state == kStates[i] ? tall : 0);
        }
        QBarSet* set = sets[static_cast<qsizetype>(i)];
        set->remove(0, set->count());
        set->append(heights);
    }
    arrange();
}

/// Lays the bars out for the size, in the colors of the theme in force.
void RankBars::arrange()
{
    const Theme& theme = Theme::current();
    const QList<QBarSet*> sets = m_series->barSets();
    for (std::size_t i = 0; i < kStates.size(); ++i) {
        QBarSet* set = sets[static_cast<qsizetype>(i)];
        set->setPen(Qt::NoPen);
        set->setColor(kStates[i] == CellState::Value ? theme.strong : glyphs::fill(kStates[i], theme));
    }
    setBackgroundBrush(theme.base);
    chart()->setPlotArea(QRectF(0, 0, width(), height() - kLabel));
    if (m_bars.empty())
        return;
    const auto count = static_cast<double>(m_bars.size());
    m_ranks->setRange(-0.5, count - 0.5);
    const double slot = width() / count;
    m_series->setBarWidth(std::max(1.0, std::min(slot - kBetweenBars, kWidestBar)) / slot);
}

/// The signs on the bars, as many ranks below them as there is room for (the current one bold), and the focus.
void RankBars::drawForeground(QPainter* painter, const QRectF& area)
{
    QChartView::drawForeground(painter, area);
    const Theme& theme = Theme::current();
    const auto count = static_cast<double>(m_bars.size());
    const double slot = width() / std::max(1.0, count);
    const int floor = height() - kLabel;
    const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(kLabelWidth / slot)));
    painter->fillRect(0, floor, width(), 1, theme.border);
    for (std::size_t i = 0; i < m_bars.size(); ++i) {
        const Bar& bar = m_bars[i];
        const double middle = slot * (static_cast<double>(i) + 0.5);
        if (series::isNonFinite(bar.value.state) && m_series->barWidth() * slot >= kSmallestSigned)
            glyphs::paintSign(*painter, QPointF(middle, floor / 2.0), 9, bar.value.state, glyphs::ink(bar.value.state));
        if (bar.grade != analysis::RankOddness::Grade::Like) {
            painter->setPen(Qt::NoPen);
            painter->setBrush(theme.base);
            painter->drawEllipse(QPointF(middle, 6), 6, 6);
            glyphs::paintSeverity(*painter, QPointF(middle, 6), 8,
                bar.grade == analysis::RankOddness::Grade::Odd ? glyphs::Severity::Warning : glyphs::Severity::Notice,
                theme);
        }
        if (bar.value.state < CellState::Value) {
            painter->setFont(numberFont(11));
            painter->setPen(theme.text3);
            painter->drawText(QRectF(middle - 8, floor - 16, 16, 16), Qt::AlignCenter, QString(QChar(0x2013)));
        }
        if (i % every != 0)
            continue;
        painter->setFont(numberFont(11, bar.rank == m_current ? 600 : 400));
        painter->setPen(bar.rank == m_current ? theme.text : theme.text2);
        const QString number = QString::number(bar.rank.value);
        const double half = painter->fontMetrics().horizontalAdvance(number) / 2.0;
        const double at = std::clamp(middle, half, std::max(half, width() - half));
        painter->drawText(
            QRectF(at - half, floor + 2, 2 * half, kLabel - 2), static_cast<int>(Qt::AlignCenter), number);
    }
    if (hasFocus()) {
        painter->setPen(theme.accent);
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(QRectF(rect().adjusted(0, 0, -1, -1)));
    }
}

bool RankBars::event(QEvent* event)
{
    const bool done = QChartView::event(event);
    if (event->type() == QEvent::PaletteChange)
        arrange();
    else if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut)
        viewport()->update();
    return done;
}

void RankBars::resizeEvent(QResizeEvent* event)
{
    QChartView::resizeEvent(event);
    arrange();
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
        event->ignore();
}

}
