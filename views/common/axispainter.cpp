// SPDX-License-Identifier: GPL-3.0-or-later
#include "axispainter.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>

#include "eventlane.h"
#include "glyphs.h"
#include "sharedaxis.h"
#include "viewstate.h"

namespace telltale::views {

namespace {

QColor withAlpha(QColor color, double alpha)
{
    color.setAlphaF(static_cast<float>(alpha));
    return color;
}

}

void fillHair(QPainter& painter, QPointF from, double length, Qt::Orientation orientation, const QColor& color)
{
    const QTransform device = painter.combinedTransform();
    const double scale = device.isRotating() ? 1 : device.m11();
    const bool isDown = orientation == Qt::Vertical;
    const double offset = device.isRotating() ? 0 : isDown ? device.dx() : device.dy();
    const double pixel = std::floor(std::floor(isDown ? from.x() : from.y()) * scale + offset + 1e-6);
    const double place = (pixel - offset) / scale;
    const double width = std::max(1.0, std::round(scale)) / scale;
    painter.fillRect(isDown ? QRectF(place, from.y(), width, length) : QRectF(from.x(), place, length, width), color);
}

StepMarks StepMarks::of(const ViewState& state)
{
    return { state.cursor(), state.hover(), state.markA(), state.markB() };
}

double AxisPainter::xIn(const QRectF& plot, StepRange range, Step step) const
{
    if (m_unitOf)
        return plot.left() + m_unitOf(step) * plot.width();
    return plot.left() + SharedAxis::xOfStep(range, step, static_cast<int>(std::lround(plot.width())));
}

void AxisPainter::steps(const QRectF& plot, StepRange range, const QString& unit, const StepMarks& marks)
{
    std::vector<Label> texts;
    for (const SharedAxis::Tick& tick : SharedAxis::ticksFor(range, static_cast<int>(std::lround(plot.width()))))
        texts.push_back({ tick.x, formatStep(tick.step) });
    labels(plot, range, texts, unit, marks);
}

void AxisPainter::labels(
    const QRectF& plot, StepRange range, const std::vector<Label>& labels, const QString& unit, const StepMarks& marks)
{
    m_painter.save();
    m_painter.setRenderHint(QPainter::Antialiasing, false);
    const double y = std::round(plot.bottom()) + 0.5;
    fillHair(m_painter, { plot.left(), y }, plot.width() + 1, Qt::Horizontal, m_theme.text3);
    m_painter.setFont(numberFont(11));
    const QFontMetricsF metrics(m_painter.font());
    const std::vector<Tag> covering = tags(plot, range, marks);
    for (const Label& tick : labels) {
        const double x = std::floor(plot.left() + tick.x) + 0.5;
        fillHair(m_painter, { x, y - 0.5 }, 5, Qt::Vertical, m_theme.text3);
        const QString& label = tick.text;
        // Not over the unit, which stands left of the axis.
        const double left = std::max(x - metrics.horizontalAdvance(label) / 2, plot.left() - 4);
        const QRectF box(left - 4, y + 4, metrics.horizontalAdvance(label) + 8, 16);
        if (std::any_of(covering.begin(), covering.end(), [&](const Tag& t) { return t.box.intersects(box); }))
            continue;
        m_painter.setPen(m_theme.text2);
        m_painter.drawText(QPointF(box.left() + 4, y + 17), label);
    }
    m_painter.setPen(m_theme.text3);
    m_painter.setFont(wordsFont(11));
    m_painter.drawText(QRectF(plot.left() - SharedAxis::kGutter, y + 4, SharedAxis::kGutter - 8, 17),
        Qt::AlignRight | Qt::AlignVCenter, unit);
    m_painter.restore();
}

void AxisPainter::values(const QRectF& plot, const ValueScale& scale, bool hasZeroOrLess, bool isNeverLess)
{
    m_painter.save();
    m_painter.setRenderHint(QPainter::Antialiasing, false);
    m_painter.setFont(numberFont(11));
    const bool saysZero = hasZeroOrLess && scale.mode() == ValueScale::Mode::Log;
    int length = static_cast<int>(plot.height());
    ValueScale numbered = scale;
    if (saysZero) {
        m_painter.setPen(m_theme.text2);
        m_painter.drawText(QRectF(plot.left() - SharedAxis::kGutter, plot.bottom() - 11, SharedAxis::kGutter - 8, 16),
            Qt::AlignRight | Qt::AlignVCenter, isNeverLess ? QStringLiteral("0") : QStringLiteral("\u2264 0"));
        // The rest has its own numbers: of a short axis those of the whole could all lie where zero stands.
        constexpr int kZero = 16;
        numbered = ValueScale(scale.mode(), scale.valueAt(std::min(kZero / plot.height(), 0.9)), scale.high())
                       .ofShares(scale.isOfShares());
        length = std::max(length - kZero, 1);
    }
    for (const ValueScale::Tick& tick : numbered.ticks(length)) {
        const double y = std::round(plot.bottom() - scale.unitOf(tick.value) * plot.height()) - 0.5;
        fillHair(m_painter, { plot.left(), y }, plot.width() + 1, Qt::Horizontal, withAlpha(m_theme.border, 0.75));
        fillHair(m_painter, { plot.left() - 4, y }, 5, Qt::Horizontal, m_theme.text3);
        m_painter.setPen(m_theme.text2);
        m_painter.drawText(QRectF(plot.left() - SharedAxis::kGutter, y - 8, SharedAxis::kGutter - 8, 16),
            Qt::AlignRight | Qt::AlignVCenter, tick.label);
    }
    m_painter.restore();
}

void AxisPainter::limit(const QRectF& plot, double y, const QString& text, bool textAtRight)
{
    if (y < plot.top() || y > plot.bottom())
        return;
    m_painter.save();
    m_painter.setRenderHint(QPainter::Antialiasing, false);
    QPen pen(m_theme.warnMark, 1);
    pen.setDashPattern({ 2, 3 });
    m_painter.setPen(pen);
    const double line = std::round(y) + 0.5;
    m_painter.drawLine(QPointF(plot.left(), line), QPointF(plot.right(), line));
    m_painter.setFont(wordsFont(11));
    m_painter.setPen(m_theme.warnText);
    const bool below = y - plot.top() < 18;
    const QRectF box(plot.left() + 6, below ? y + 2 : y - 17, plot.width() - 12, 15);
    m_painter.drawText(box, (textAtRight ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter, text);
    m_painter.restore();
}

void AxisPainter::cursorLines(const QRectF& plot, StepRange range, const StepMarks& marks)
{
    m_painter.save();
    m_painter.setRenderHint(QPainter::Antialiasing, false);
    const auto line = [&](std::optional<Step> step, double alpha) {
        if (!step || !range.contains(*step))
            return;
        fillHair(m_painter, { xIn(plot, range, *step), plot.top() }, plot.height() + 1, Qt::Vertical,
            withAlpha(m_theme.text, alpha));
    };
    if (marks.hover != marks.cursor)
        line(marks.hover, 0.4);
    line(marks.a, 0.6);
    line(marks.b, 0.6);
    line(marks.cursor, 0.8);
    m_painter.restore();
}

void AxisPainter::addTag(std::vector<Tag>& tags, const QRectF& plot, double x, Tag one, bool mayCover) const
{
    const double width = std::ceil(QFontMetricsF(numberFont(11, 500)).horizontalAdvance(one.text) + 16);
    // Left of the axis stands its unit; beyond the right edge stand legends, and the window may end there.
    const double lowest = plot.left() - 4;
    const double highest = std::max(lowest, plot.right() + 4 - width);
    one.box = QRectF(std::round(std::clamp(x - width / 2, lowest, highest)), std::round(plot.bottom()) + 4, width, 17);
    // Close together one would lie under the other: they share the row, in the order of their steps.
    const auto moveAside = [&](bool fromCursorAlone) {
        const auto under = [&](const QRectF& box) {
            return std::find_if(tags.begin(), tags.end(),
                [&](const Tag& other) { return (other.isCursor || !fromCursorAlone) && other.box.intersects(box); });
        };
        const auto hit = under(one.box);
        if (hit == tags.end())
            return;
        const bool isBefore = one.step < hit->step;
        const QRectF own = one.box;
        // Further away than beside one tag it would not be read as the line's.
        double least = mayCover && !fromCursorAlone ? (hit->box.width() + width) / 2 + 4 : HUGE_VAL;
        for (const bool toLeft : { isBefore, !isBefore }) {
            QRectF box = own;
            for (auto other = under(box); other != tags.end(); other = under(box))
                box.moveLeft(toLeft ? other->box.left() - width - 2 : other->box.right() + 2);
            const double away = std::abs(box.center().x() - x);
            if (box.left() < lowest - 1 || box.left() > highest + 1 || away >= least)
                continue;
            one.box = box;
            least = away;
        }
    };
    moveAside(false);
    if (mayCover)
        moveAside(true);
    tags.push_back(std::move(one));
}

QString AxisPainter::differenceOf(Step a, Step b) const
{
    if (m_differenceOf)
        return m_differenceOf(a, b);
    return (b > a ? QStringLiteral("+") : QString()) + formatStep(b.value - a.value);
}

std::vector<AxisPainter::Tag> AxisPainter::tags(const QRectF& plot, StepRange range, const StepMarks& marks) const
{
    std::vector<Tag> result;
    const auto at = [&](std::optional<Step> step, const QString& text, const QColor& fill, const QColor& ink,
                        bool mayCover = false) {
        if (step && range.contains(*step))
            addTag(
                result, plot, xIn(plot, range, *step), { {}, text, fill, ink, *step, step == marks.cursor }, mayCover);
    };
    // Where two are of one step, one tag says it, in the cursor's colors if it is one of them.
    const auto mark = [&](Step step, const QString& text) {
        const bool isCursor = marks.cursor == step;
        at(step, text, isCursor ? m_theme.text : m_theme.border, isCursor ? m_theme.base : m_theme.text);
    };
    if (marks.a)
        mark(*marks.a, QStringLiteral("A ") + nameOf(*marks.a));
    if (marks.b) {
        QString text = QStringLiteral("B ") + nameOf(*marks.b);
        if (marks.a)
            text += QStringLiteral("  ") + differenceOf(*marks.a, *marks.b);
        mark(*marks.b, text);
    }
    if (marks.cursor && marks.cursor != marks.a && marks.cursor != marks.b)
        at(marks.cursor, nameOf(*marks.cursor), m_theme.text, m_theme.base);
    if (marks.hover && marks.hover != marks.cursor && marks.hover != marks.a && marks.hover != marks.b)
        at(marks.hover, nameOf(*marks.hover), m_theme.raised, m_theme.text, true);
    return result;
}

void AxisPainter::cursorTags(const QRectF& plot, StepRange range, const StepMarks& marks)
{
    m_painter.save();
    m_painter.setFont(numberFont(11, 500));
    m_painter.setRenderHint(QPainter::Antialiasing);
    for (const Tag& one : tags(plot, range, marks)) {
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(one.fill);
        m_painter.drawRoundedRect(one.box, 3, 3);
        m_painter.setPen(one.ink);
        m_painter.drawText(one.box, Qt::AlignCenter, one.text);
    }
    m_painter.restore();
}

void AxisPainter::events(const QRectF& plot, const QRectF& lane, StepRange range, const std::vector<EventMark>& events,
    const std::vector<EventMark>& over, const std::vector<bool>& marked)
{
    EventLane drawn(m_painter, m_theme, plot, lane, range, flags(plot, range, events),
        [&](Step step) { return xIn(plot, range, step); });
    drawn.paint(events, over, marked);
}

const FlagPlaces& AxisPainter::flags(const QRectF& plot, StepRange range, const std::vector<EventMark>& events)
{
    if (!m_flags)
        m_flags.emplace(plot, range, events, [&](Step step) { return xIn(plot, range, step); });
    return *m_flags;
}

std::vector<IncidentSign> AxisPainter::signs(
    const QRectF& plot, StepRange range, const std::vector<EventMark>& events, const std::vector<EventMark>& incidents)
{
    return IncidentSign::of(
        flags(plot, range, events), range, incidents, [&](Step step) { return xIn(plot, range, step); });
}

std::vector<bool> AxisPainter::nonFinite(std::span<const series::CellState> columns)
{
    std::vector<bool> marked(columns.size());
    std::transform(columns.begin(), columns.end(), marked.begin(),
        [](series::CellState state) { return series::isNonFinite(state); });
    return marked;
}

void AxisPainter::incidents(
    const QRectF& plot, const QRectF& lane, StepRange range, const std::vector<EventMark>& marks)
{
    const std::vector<IncidentSign> all = signs(plot, range, {}, marks);
    m_flags.reset();
    for (const auto shape : { EventMark::Shape::Notice, EventMark::Shape::Warning, EventMark::Shape::Critical }) {
        for (const IncidentSign& sign : all) {
            if (sign.shape != shape)
                continue;
            const QPointF center(sign.x, lane.center().y());
            m_painter.setPen(Qt::NoPen);
            m_painter.setBrush(m_theme.base); // a rim: it stands over flags and marks of values
            m_painter.drawEllipse(center, 6, 6);
            glyphs::paintSeverity(m_painter, center, 9, glyphs::severityOf(shape), m_theme);
        }
    }
}

void AxisPainter::laneCaption(const QRectF& lane, const QString& text)
{
    m_painter.save();
    m_painter.setFont(wordsFont(10));
    m_painter.setPen(m_theme.text3);
    m_painter.drawText(QRectF(lane.left() - SharedAxis::kGutter, lane.top(), SharedAxis::kGutter - 8, lane.height()),
        Qt::AlignRight | Qt::AlignVCenter, text);
    m_painter.restore();
}

void AxisPainter::liveEdge(QPointF tip)
{
    m_painter.save();
    m_painter.setRenderHint(QPainter::Antialiasing);
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(m_theme.ok);
    m_painter.drawPolygon(QPolygonF({ tip, tip + QPointF(-6, -3.5), tip + QPointF(-6, 3.5) }));
    m_painter.restore();
}

}
