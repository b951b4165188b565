// SPDX-License-Identifier: GPL-3.0-or-later
#include "eventlane.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include "axispainter.h"
#include "glyphs.h"

namespace telltale::views {

namespace {

constexpr double kFlag = FlagPlaces::kFlag;
constexpr double kNear = 20; ///< px from a flag in which the sign of an incident stands beside it
constexpr double kLeastLabel = 48; ///< px of a label that is cut
constexpr double kLongestLabel = 400;

}

EventLane::EventLane(QPainter& painter, const Theme& theme, const QRectF& plot, const QRectF& lane, StepRange range,
    const FlagPlaces& flags, std::function<double(Step)> xOf)
    : m_painter(painter)
    , m_theme(theme)
    , m_plot(plot)
    , m_lane(lane)
    , m_range(range)
    , m_flags(flags)
    , m_xOf(std::move(xOf))
    , m_metrics(wordsFont(10))
    , m_taken(static_cast<std::size_t>(std::max(1.0, plot.width())))
{
}

void EventLane::paint(
    const std::vector<EventMark>& events, const std::vector<EventMark>& over, const std::vector<bool>& marked)
{
    keepOff(events, over);
    keepOff(marked);
    std::vector<const EventMark*> inTurn; // with room for one word it is that of a revision
    for (const EventMark& event : events) {
        if (m_range.contains(event.step))
            inTurn.push_back(&event);
    }
    std::stable_partition(inTurn.begin(), inTurn.end(), [](const EventMark* mark) { return mark->rev > 0; });
    m_painter.save();
    m_painter.setFont(wordsFont(10));
    for (const EventMark* event : inTurn) {
        const double x = placeOf(*event);
        if (event->shape == EventMark::Shape::Checkpoint)
            paintCheckpoint(x);
        else
            paintFlag(*event, x);
    }
    m_painter.restore();
}

double EventLane::placeOf(const EventMark& mark) const
{
    return m_range.contains(mark.step) ? std::floor(m_xOf(mark.step)) : -1e9;
}

void EventLane::keepOff(const std::vector<EventMark>& events, const std::vector<EventMark>& over)
{
    for (const EventMark& event : events) {
        const double x = placeOf(event);
        if (event.shape == EventMark::Shape::Checkpoint)
            take(x - 6, x + 7);
        else
            take(FlagPlaces::isAtEnd(m_plot, x) ? x - kFlag : x, x + 10);
    }
    for (const EventMark& mark : over) {
        if (!m_range.contains(mark.step))
            continue;
        const double x = placeOf(mark);
        const double sign = m_flags.beside(x);
        take(sign - 8, sign + 9);
        if (sign != x)
            m_moved.push_back(sign);
    }
}

void EventLane::keepOff(const std::vector<bool>& marked)
{
    constexpr double kHalfSign = 4; ///< px that the sign of a narrow column goes beyond it
    const double column = m_plot.width() / std::max(1.0, static_cast<double>(marked.size()));
    for (std::size_t i = 0; i < marked.size(); ++i) {
        const double left = m_plot.left() + static_cast<double>(i) * column;
        if (marked[i])
            take(left - kHalfSign, left + column + kHalfSign);
    }
}

void EventLane::paintCheckpoint(double x)
{
    m_painter.setRenderHint(QPainter::Antialiasing, false);
    m_painter.setBrush(Qt::NoBrush);
    m_painter.setPen(QPen(m_theme.text3, 1));
    m_painter.drawRect(QRectF(x - 2.5, m_lane.center().y() - 3, 6, 6));
}

void EventLane::paintFlag(const EventMark& event, double x)
{
    const QColor color = event.shape == EventMark::Shape::Flag ? m_theme.accent : m_theme.text3;
    QColor pole = color;
    pole.setAlphaF(0.7F);
    fillHair(m_painter, { x, m_lane.top() + 3 }, m_plot.bottom() - m_lane.top() - 3, Qt::Vertical, pole);
    glyphs::paintFlag(m_painter, QPointF(x, m_lane.top() + 3), color, FlagPlaces::isAtEnd(m_plot, x));
    // Ranks may begin to run a revision some steps apart: flags that touch need its number once.
    const auto isSame = [&](const auto& one) { return one.first == event.label && std::abs(one.second - x) < kNear; };
    if (!event.label.isEmpty() && std::ranges::none_of(m_named, isSame))
        name(event, x);
}

/// Behind its flag; before it at the end, where a legend stands behind the plot; a sentence without its reason, or cut.
void EventLane::name(const EventMark& event, double x)
{
    double before = x - (FlagPlaces::isAtEnd(m_plot, x) ? kFlag : 0) - 4;
    double behind = x + 10;
    for (const double sign : m_moved) {
        if (sign < x && x - sign < kNear)
            before = std::min(before, sign - 9);
        else if (sign > x && sign - x < kNear)
            behind = std::max(behind, sign + 10);
    }
    const QColor color = event.shape == EventMark::Shape::Flag ? m_theme.accent : m_theme.text2;
    const QString& brief = event.brief.isEmpty() ? event.label : event.brief;
    bool isWritten = false;
    for (const QString& words : { event.label, brief }) {
        isWritten = isWritten || write(words, behind, color)
            || write(words, before - m_metrics.horizontalAdvance(words), color);
    }
    double room = 0;
    while (!isWritten && room < kLongestLabel && behind + room < m_plot.right()
        && isFree(behind + room, behind + room + 1))
        ++room;
    if (isWritten
        || (room >= kLeastLabel && write(m_metrics.elidedText(brief, Qt::ElideRight, room - 1), behind, color)))
        m_named.emplace_back(event.label, x);
}

bool EventLane::write(const QString& words, double left, const QColor& color)
{
    const double right = left + m_metrics.horizontalAdvance(words);
    if (left <= m_plot.left() || right > m_plot.right() || !isFree(left, right))
        return false;
    m_painter.setPen(color);
    m_painter.drawText(QPointF(left, m_lane.top() + 12), words);
    take(left, right + 8);
    return true;
}

std::pair<std::vector<bool>::iterator, std::vector<bool>::iterator> EventLane::pixels(double from, double to)
{
    const auto at = [this](double x) {
        return m_taken.begin()
            + static_cast<std::ptrdiff_t>(std::clamp(x - m_plot.left(), 0.0, static_cast<double>(m_taken.size())));
    };
    return { at(from), at(to) };
}

void EventLane::take(double from, double to)
{
    const auto [first, last] = pixels(from, to);
    std::fill(first, last, true);
}

bool EventLane::isFree(double from, double to)
{
    const auto [first, last] = pixels(from, to);
    return std::find(first, last, true) == last;
}

}
