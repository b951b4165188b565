// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainter>
#include <QRect>

#include <telltale/common/flagplaces.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>

#include "lanes.h"

namespace telltale::views {

/// Draws the lanes of a timeline. Thread: gui.
class TimelinePainter {
public:
    TimelinePainter(
        QPainter& painter, const ViewState& state, const std::vector<Lane>& lanes, const QRect& plot, int laneHeight);

    /// What changes with the data. `bottom`: where the lanes, and an axis below them, end.
    void paint(const std::vector<StepRange>& gaps, int bottom) const;
    void paintMarks(bool hasAxis) const; ///< cursor, the current incident, and the axis of the steps
    void paintReadout(std::int64_t incident, QSize size) const;

    static QRect strip(const QRect& plot, int bottom);
    /// The visible steps in the strip.
    static QRect frame(const QRect& strip, StepRange full, StepRange visible);
    static Step stepIn(const QRect& strip, StepRange full, int x);
    static FlagPlaces flags(const ViewState& state, const QRect& plot); ///< of the first lane

private:
    QRect laneRect(int lane) const;
    int namesWidth(int room) const; ///< of what the lanes are called
    void paintGutter(int lane) const;
    void paintReach(int lane) const;
    void paintRunMarks(const std::vector<StepRange>& gaps) const;
    void paintGlyphs(int lane) const;
    void paintStrip(int bottom) const;
    double xOf(Step step) const;
    double signX(int lane, Step step) const; ///< of an incident: beside a flag of the first lane

    QPainter& m_painter;
    const ViewState& m_state;
    const std::vector<Lane>& m_lanes;
    const QRect m_plot;
    const int m_laneHeight;
    const Theme& m_theme;
    const FlagPlaces m_flags;
};

}
