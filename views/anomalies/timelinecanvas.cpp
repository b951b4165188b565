// SPDX-License-Identifier: GPL-3.0-or-later
#include "timelinecanvas.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>

#include <telltale/common/axispainter.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/items/tooltiptext.h>

#include "timelinepainter.h"

namespace telltale::views {

namespace {

constexpr int kGutter = 376; ///< lane names, rules and counts
constexpr int kLeastPlot = 240;
constexpr int kRight = 8;
constexpr int kStrip = 24; ///< of the whole run
constexpr int kLeastLanes = 3;
constexpr int kLowestLane = 14; ///< px of a lane
constexpr int kTakeMs = 60; ///< bursts of findings are shown once

}

TimelineCanvas::TimelineCanvas(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
    setObjectName(QStringLiteral("timelineCanvas"));
    setAccessibleName(tr("Anomaly timeline"));
    setMinimumSize(360, kTop + kLeastLanes * kLaneHeight + kStrip + AxisPainter::kStepBand);
    m_takeTimer.setSingleShot(true);
    m_takeTimer.setInterval(kTakeMs);
    connect(&m_takeTimer, &QTimer::timeout, this, &TimelineCanvas::takeIncidents);
    connect(state->incidents(), &items::IncidentsModel::changed, this, [this] {
        if (!m_takeTimer.isActive() && !m_isOfPicture)
            m_takeTimer.start();
    });
    for (const auto signal : { &ViewState::visibleRangeChanged, &ViewState::fullRangeChanged })
        connect(state, signal, this, &TimelineCanvas::invalidate);
    connect(state, &ViewState::incidentChanged, this, [this] { update(); });
    connect(state, &ViewState::runChanged, this, [this] {
        m_blocks.clear();
        m_gaps.clear();
        plan();
    });
    connect(state, &ViewState::catalogChanged, this, [this] {
        if (!m_isOfPicture)
            plan();
    });
    connect(state, &ViewState::logAppended, this, &TimelineCanvas::takeLog);
    plan();
}

void TimelineCanvas::setChoice(LaneChoice choice)
{
    if (std::exchange(m_choice, choice) != choice)
        plan();
}

void TimelineCanvas::setBlocks(std::vector<QString> blocks)
{
    m_blocks = std::move(blocks);
    plan();
}

int TimelineCanvas::mostLanes() const
{
    // As many with an axis as without: another view above does not put blocks into other lanes.
    const int room = height() - kTop - kStrip;
    return std::max(kLeastLanes, std::min(room / kLaneHeight, (room - AxisPainter::kStepBand) / kLowestLane));
}

int TimelineCanvas::laneHeight() const
{
    const int room = height() - kTop - kStrip - (m_hasAxis ? AxisPainter::kStepBand : 0);
    return std::clamp(room / std::max(static_cast<int>(m_lanes.size()), 1), kLowestLane,
        m_isOfPicture ? QWIDGETSIZE_MAX : kLaneHeight);
}

void TimelineCanvas::plan()
{
    const auto catalog = state().catalog();
    const std::vector<QString> ranks = catalog ? rankKeysOf(*catalog) : std::vector<QString>();
    m_plan = LanePlan(m_choice == LaneChoice::Block ? m_blocks : ranks, mostLanes(), m_choice);
    takeIncidents();
}

void TimelineCanvas::takeIncidents()
{
    m_lanes = lanesOf(m_plan, m_choice, *state().incidents());
    m_lanes.front().name = tr("Run");
    invalidate();
}

void TimelineCanvas::takeLog(const store::LogPage& page)
{
    const std::size_t before = m_gaps.size();
    for (const store::LogRecord& record : page.records) {
        if (record.isDrop && !record.steps.isEmpty())
            m_gaps.push_back(record.steps);
    }
    if (m_gaps.size() == before)
        return;
    joinRanges(m_gaps);
    invalidate();
}

void TimelineCanvas::alignWith(QWidget* view)
{
    for (const auto& plot : m_above) {
        if (plot)
            plot->removeEventFilter(this);
    }
    m_above.clear();
    for (PlotCanvas* plot : view ? view->findChildren<PlotCanvas*>() : QList<PlotCanvas*>()) {
        plot->installEventFilter(this);
        m_above.emplace_back(plot);
    }
    realign();
}

/// The plots above come, move and change their gutter without a word; that they paint says that they may have.
bool TimelineCanvas::eventFilter(QObject* watched, QEvent* event)
{
    const auto type = event->type();
    if (type == QEvent::Paint || type == QEvent::Show || type == QEvent::Hide)
        realign();
    return PlotCanvas::eventFilter(watched, event);
}

QRect TimelineCanvas::edgesAbove() const
{
    QRect edges;
    for (const auto& plot : m_above) {
        if (!plot || !plot->isVisible() || plot->window() != window() || !plot->hasEvenSteps())
            continue;
        const QRect other = plot->plotRect();
        const int left = mapFromGlobal(plot->mapToGlobal(other.topLeft())).x();
        const QRect one(left, 0, other.width(), 1);
        if (!edges.isEmpty() && one != edges)
            return {};
        edges = one;
    }
    return edges.left() >= 120 && edges.width() >= kLeastPlot ? edges : QRect();
}

void TimelineCanvas::realign()
{
    const QRect above = edgesAbove();
    if (const int end = above.isEmpty() ? 0 : above.right() + kRight; std::exchange(m_end, end) != end)
        Q_EMIT endChanged();
    const QRect edges = above.right() <= width() - 2 ? above : QRect();
    const bool hasAxis = edges.isEmpty();
    if (edges == m_shared && hasAxis == m_hasAxis)
        return;
    m_shared = edges;
    m_hasAxis = hasAxis;
    invalidate();
}

QRect TimelineCanvas::ownEdges(QSize size) const
{
    // Where there is little room most of it is for the steps.
    const int left = std::clamp(std::min(size.width() * 2 / 5, size.width() - kLeastPlot), 120, kGutter);
    return { left, kTop, std::max(1, size.width() - left - kRight),
        std::max(1, size.height() - kTop - kStrip - (m_hasAxis ? AxisPainter::kStepBand : 0)) };
}

QRect TimelineCanvas::plotRect(QSize size) const
{
    QRect plot = ownEdges(size);
    if (!m_hasAxis && size == this->size()) {
        plot.setLeft(m_shared.left());
        plot.setRight(m_shared.right());
    }
    return plot;
}

int TimelineCanvas::bottomOfLanes() const
{
    return kTop + static_cast<int>(m_lanes.size()) * laneHeight() + (m_hasAxis ? AxisPainter::kStepBand : 0);
}

QRect TimelineCanvas::laneRect(int lane) const
{
    const QRect plot = plotRect();
    return { plot.left(), kTop + lane * laneHeight(), plot.width(), laneHeight() };
}

QRect TimelineCanvas::stripRect() const
{
    return TimelinePainter::strip(plotRect(), bottomOfLanes());
}

int TimelineCanvas::laneAt(int y) const
{
    const int lane = (y - kTop) / laneHeight();
    return y < kTop || lane >= static_cast<int>(m_lanes.size()) ? -1 : lane;
}

std::int64_t TimelineCanvas::incidentAt(QPoint position) const
{
    constexpr int kReach = 8;
    const int lane = laneAt(position.y());
    const QRect plot = plotRect();
    if (lane < 0 || position.x() < plot.left() - kReach || position.x() > plot.right() + kReach)
        return 0;
    const FlagPlaces flags = lane == 0 ? TimelinePainter::flags(state(), plot) : FlagPlaces();
    const judge::Incident* best = nullptr;
    int nearest = kReach;
    for (const int row : m_lanes[static_cast<std::size_t>(lane)].rows) {
        const judge::Incident& one = state().incidents()->incident(row);
        const double x = plot.left() + SharedAxis::xOfStep(shownRange(), one.first.step, plot.width());
        const int away = std::abs(static_cast<int>(std::lround(flags.beside(x))) - position.x());
        if (away < nearest || (best && away == nearest && one.first.severity > best->first.severity)) {
            best = &one;
            nearest = away;
        }
    }
    return best ? best->id : 0;
}

/// The step of what is pointed at, of whose sign more steps than one may share a pixel.
void TimelineCanvas::hoveredAt(QPoint position)
{
    PlotCanvas::hoveredAt(position);
    if (const judge::Incident* pointed = m_grabbed ? nullptr : state().incidents()->find(incidentAt(position)))
        state().setHover(pointed->first.step);
}

void TimelineCanvas::clickedAt(QPoint position, Qt::KeyboardModifiers modifiers)
{
    PlotCanvas::clickedAt(position, modifiers);
    const int lane = laneAt(position.y());
    // The name of a lane stands for the first of the worst in it.
    if (lane < 0 || position.x() >= plotRect().left())
        return;
    const judge::Incident* worst = nullptr;
    for (const int row : m_lanes[static_cast<std::size_t>(lane)].rows) {
        const judge::Incident& one = state().incidents()->incident(row);
        if (!worst || one.first.severity > worst->first.severity)
            worst = &one;
    }
    if (worst)
        state().goToIncident(worst->id);
}

void TimelineCanvas::moveRow(int rows)
{
    state().goToIncidentBeside(rows > 0);
}

void TimelineCanvas::pin()
{
    if (state().hover())
        PlotCanvas::pin();
    else
        state().goToIncident(state().incident());
}

void TimelineCanvas::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_PageUp || event->key() == Qt::Key_PageDown) {
        const std::int64_t by = std::max<std::int64_t>(1, state().visibleRange().count() * 9 / 10);
        state().pan(event->key() == Qt::Key_PageUp ? -by : by);
    } else {
        PlotCanvas::keyPressEvent(event);
    }
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event)
{
    const QPoint at = event->position().toPoint();
    const QRect strip = stripRect();
    if (event->button() != Qt::LeftButton || !strip.adjusted(-4, -3, 4, 3).contains(at)
        || state().fullRange().isEmpty()) {
        PlotCanvas::mousePressEvent(event);
        return;
    }
    const StepRange visible = state().visibleRange();
    const Step pressed = TimelinePainter::stepIn(strip, state().fullRange(), at.x());
    const bool isInFrame
        = TimelinePainter::frame(strip, state().fullRange(), visible).adjusted(-3, -4, 3, 4).contains(at);
    m_grabbed = isInFrame ? pressed.value - visible.first.value : visible.count() / 2;
    m_isDragged = false;
    dragStrip(at.x());
}

void TimelineCanvas::dragStrip(int x)
{
    const Step at = TimelinePainter::stepIn(stripRect(), state().fullRange(), x);
    const StepRange before = state().visibleRange();
    state().pan(at.value - *m_grabbed - before.first.value, m_isDragged);
    m_isDragged = m_isDragged || state().visibleRange() != before;
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if (m_grabbed)
        dragStrip(event->position().toPoint().x());
    else
        PlotCanvas::mouseMoveEvent(event);
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    if (m_grabbed)
        m_grabbed.reset();
    else
        PlotCanvas::mouseReleaseEvent(event);
}

bool TimelineCanvas::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return PlotCanvas::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int lane = laneAt(help->pos().y());
    const bool isInGutter = lane >= 0 && help->pos().x() < plotRect().left();
    QToolTip::showText(help->globalPos(), isInGutter ? laneText(lane) : QString(), this, laneRect(std::max(0, lane)));
    return true;
}

QString TimelineCanvas::laneText(int lane) const
{
    const Lane& one = m_lanes[static_cast<std::size_t>(lane)];
    return items::toolTipText(one.rules.isEmpty() ? one.name : one.name + u'\n' + one.rules);
}

void TimelineCanvas::resizeEvent(QResizeEvent* event)
{
    PlotCanvas::resizeEvent(event);
    realign();
    if (static_cast<int>(m_lanes.size()) > mostLanes() || event->size().height() != event->oldSize().height())
        plan();
}

void TimelineCanvas::paintFrame(QImage& frame, QSize size)
{
    QPainter painter(&frame);
    TimelinePainter(painter, state(), m_lanes, plotRect(size), laneHeight()).paint(m_gaps, bottomOfLanes());
}

void TimelineCanvas::paintOverlay(QPainter& painter, QSize size)
{
    const TimelinePainter timeline(painter, state(), m_lanes, plotRect(size), laneHeight());
    timeline.paintMarks(m_hasAxis);
    if (const std::int64_t pointed = mouse() && !m_grabbed ? incidentAt(*mouse()) : 0)
        timeline.paintReadout(pointed, size);
}

}
