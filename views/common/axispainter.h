// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <QRectF>
#include <QString>

#include <telltale/core/ids.h>
#include <telltale/series/query.h>

#include "eventmark.h"
#include "flagplaces.h"
#include "incidentsigns.h"
#include "theme.h"
#include "valuescale.h"

class QPainter;

namespace telltale::views {

class ViewState;

/// A line across or down from a place, as wide in pixels of the screen as every other: at 150 % one would have one of
/// them and the next one two.
void fillHair(QPainter& painter, QPointF from, double length, Qt::Orientation orientation, const QColor& color);

/// The steps that are marked by the user, as every plot shows them.
struct StepMarks {
    std::optional<Step> cursor;
    std::optional<Step> hover;
    std::optional<Step> a;
    std::optional<Step> b;

    static StepMarks of(const ViewState& state);
};

/// The one way in which plots draw their axes, grids, cursors and marks. `plot` is the rectangle between the axes in
/// the painter's coordinates. Thread: its painter's.
class AxisPainter {
public:
    static constexpr int kStepBand = 26; ///< height of the step axis below a plot, px
    static constexpr int kLane = 17; ///< height of the lane above a plot, px
    static constexpr int kLaneGap = 4; ///< between the two, so that no sign lies on a value

    AxisPainter(QPainter& painter, const Theme& theme)
        : m_painter(painter)
        , m_theme(theme)
    {
    }

    /// Where a step stands, 0..1 from the left, on an axis that is not linear in steps.
    void setStepPlaces(std::function<double(Step)> unitOf) { m_unitOf = std::move(unitOf); }
    /// What the tag of a step says, on an axis of something else, and what B's says of the way from A.
    void setStepNames(std::function<QString(Step)> nameOf, std::function<QString(Step, Step)> differenceOf)
    {
        m_nameOf = std::move(nameOf);
        m_differenceOf = std::move(differenceOf);
    }
    struct Label {
        double x; ///< px from the plot's left edge
        QString text;
    };
    /// An axis of any quantity; labels that a tag of `marks` would cover are left out.
    void labels(const QRectF& plot, StepRange range, const std::vector<Label>& labels, const QString& unit,
        const StepMarks& marks);
    /// Labels that a tag of `marks` would cover are left out.
    void steps(const QRectF& plot, StepRange range, const QString& unit, const StepMarks& marks = {});
    /// `hasZeroOrLess`: there are values that a log scale has no place for; they run along its bottom, which says so;
    /// `isNeverLess`: that is zero alone.
    void values(const QRectF& plot, const ValueScale& scale, bool hasZeroOrLess = false, bool isNeverLess = false);
    /// A fixed line such as "fp16 limit 65 504".
    void limit(const QRectF& plot, double y, const QString& text, bool textAtRight);
    /// Lines of cursor, A and B through the plot; the hover line thinner.
    void cursorLines(const QRectF& plot, StepRange range, const StepMarks& marks);
    /// Step tags in the axis band; A and B with their difference.
    void cursorTags(const QRectF& plot, StepRange range, const StepMarks& marks);
    /// No word stands where another mark does, where one of `over` will be drawn, nor on the marks of values: `marked`
    /// says which of the lane's columns, all of one width, have one.
    void events(const QRectF& plot, const QRectF& lane, StepRange range, const std::vector<EventMark>& events,
        const std::vector<EventMark>& over, const std::vector<bool>& marked = {});
    static std::vector<bool> nonFinite(std::span<const series::CellState> columns);
    /// Where incidents() will draw its signs. What goes into the lane before events() and incidents() leaves them room.
    std::vector<IncidentSign> signs(const QRectF& plot, StepRange range, const std::vector<EventMark>& events,
        const std::vector<EventMark>& incidents);
    /// Incidents, of which the worst at a place is drawn, beside the flags of the events that were drawn before: the
    /// last marks of a lane.
    void incidents(const QRectF& plot, const QRectF& lane, StepRange range, const std::vector<EventMark>& marks);
    void laneCaption(const QRectF& lane, const QString& text);
    void liveEdge(QPointF tip);

private:
    struct Tag {
        QRectF box;
        QString text;
        QColor fill;
        QColor ink;
        Step step;
        bool isCursor;
    };
    double xIn(const QRectF& plot, StepRange range, Step step) const;
    std::vector<Tag> tags(const QRectF& plot, StepRange range, const StepMarks& marks) const;
    /// Below `x`, or beside others; one that may cover them goes no further than beside one, save the cursor's, which
    /// stays whole.
    void addTag(std::vector<Tag>& tags, const QRectF& plot, double x, Tag one, bool mayCover) const;

    /// Of the lane under way; placed by the first that asks.
    const FlagPlaces& flags(const QRectF& plot, StepRange range, const std::vector<EventMark>& events);

    QPainter& m_painter;
    const Theme& m_theme;
    std::optional<FlagPlaces> m_flags; ///< of the lane under way
    QString differenceOf(Step a, Step b) const;
    QString nameOf(Step step) const { return m_nameOf ? m_nameOf(step) : formatStep(step.value); }
    std::function<double(Step)> m_unitOf;
    std::function<QString(Step)> m_nameOf;
    std::function<QString(Step, Step)> m_differenceOf;
};

}
