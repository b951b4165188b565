// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <QFontMetricsF>
#include <QRectF>

#include "eventmark.h"
#include "flagplaces.h"
#include "theme.h"

class QPainter;

namespace telltale::views {

/// Draws what happened into the lane above a plot: checkpoints, flags and what they say, where no other mark stands.
/// Thread: its painter's.
class EventLane {
public:
    /// `flags`: of the events that are drawn; `xOf`: px of a step of `range`.
    EventLane(QPainter& painter, const Theme& theme, const QRectF& plot, const QRectF& lane, StepRange range,
        const FlagPlaces& flags, std::function<double(Step)> xOf);

    /// Where the signs of `over` will stand, and above the columns, all of one width, that have a mark, is no word.
    void paint(
        const std::vector<EventMark>& events, const std::vector<EventMark>& over, const std::vector<bool>& marked);

private:
    double placeOf(const EventMark& mark) const; ///< far away where its step is not shown
    void keepOff(const std::vector<EventMark>& events, const std::vector<EventMark>& over);
    void keepOff(const std::vector<bool>& marked);
    void paintCheckpoint(double x);
    void paintFlag(const EventMark& event, double x);
    void name(const EventMark& event, double x);
    bool write(const QString& words, double left, const QColor& color);

    std::pair<std::vector<bool>::iterator, std::vector<bool>::iterator> pixels(double from, double to);
    void take(double from, double to);
    bool isFree(double from, double to);

    QPainter& m_painter;
    const Theme& m_theme;
    const QRectF m_plot;
    const QRectF m_lane;
    const StepRange m_range;
    const FlagPlaces& m_flags;
    const std::function<double(Step)> m_xOf;
    const QFontMetricsF m_metrics;
    std::vector<bool> m_taken; ///< by pixel: marks come in the order of their records, which is not that of their steps
    std::vector<double> m_moved; ///< px of the signs that stand beside flags
    std::vector<std::pair<QString, double>> m_named; ///< what was written, and the px of whose step
};

}
