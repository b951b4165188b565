// SPDX-License-Identifier: GPL-3.0-or-later
#include "timelinepainter.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <QCoreApplication>

#include <telltale/common/axispainter.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/labels.h>
#include <telltale/common/readout.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/items/guithread.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/items/ruletitles.h>

#include "timelinecanvas.h"

namespace telltale::views {

using items::IncidentsModel;
using judge::Incident;

namespace {

constexpr int kNames = 110; ///< px of the gutter for names, from its left, where they need no more
constexpr int kLeastNames = 90;
constexpr int kRules = 70; ///< px for what found something, at least
constexpr int kCount = 34; ///< of one severity's count
constexpr int kInset = 12;
constexpr int kGlyph = 10;
constexpr store::Severity kSeverities[] { store::Severity::Notice, store::Severity::Warning,
    store::Severity::Critical };

QColor faded(QColor color)
{
    color.setAlphaF(0.16F);
    return color;
}

QString words(const char* text)
{
    return QCoreApplication::translate("telltale::views::Timeline", text);
}

}

TimelinePainter::TimelinePainter(
    QPainter& painter, const ViewState& state, const std::vector<Lane>& lanes, const QRect& plot, int laneHeight)
    : m_painter(painter)
    , m_state(state)
    , m_lanes(lanes)
    , m_plot(plot)
    , m_laneHeight(laneHeight)
    , m_theme(Theme::current())
    , m_flags(flags(state, plot))
{
    items::assertGuiThread();
}

FlagPlaces TimelinePainter::flags(const ViewState& state, const QRect& plot)
{
    const StepRange visible = state.visibleRange();
    return { plot, visible, state.eventMarks(),
        [&](Step step) { return plot.left() + SharedAxis::xOfStep(visible, step, plot.width()); } };
}

double TimelinePainter::xOf(Step step) const
{
    return m_plot.left() + SharedAxis::xOfStep(m_state.visibleRange(), step, m_plot.width());
}

double TimelinePainter::signX(int lane, Step step) const
{
    return lane == 0 ? m_flags.beside(xOf(step)) : xOf(step);
}

QRect TimelinePainter::laneRect(int lane) const
{
    return { m_plot.left(), TimelineCanvas::kTop + lane * m_laneHeight, m_plot.width(), m_laneHeight };
}

QRect TimelinePainter::strip(const QRect& plot, int bottom)
{
    return { plot.left(), bottom + 7, plot.width(), 11 };
}

QRect TimelinePainter::frame(const QRect& strip, StepRange full, StepRange visible)
{
    const double perStep = strip.width() / std::max(1.0, static_cast<double>(full.count()));
    const double left = strip.left() + static_cast<double>(visible.first.value - full.first.value) * perStep;
    const double width = std::max(6.0, static_cast<double>(visible.count()) * perStep);
    const int x
        = std::min(static_cast<int>(std::lround(left)), strip.right() - static_cast<int>(std::lround(width)) + 1);
    return QRect(x, strip.top() - 2, static_cast<int>(std::lround(width)), strip.height() + 4);
}

Step TimelinePainter::stepIn(const QRect& strip, StepRange full, int x)
{
    const double place = std::clamp(static_cast<double>(x - strip.left()) / std::max(1, strip.width()), 0.0, 1.0);
    const auto offset = static_cast<std::int64_t>(place * static_cast<double>(full.count()));
    return Step { full.first.value + std::min(offset, full.count() - 1) };
}

void TimelinePainter::paint(const std::vector<StepRange>& gaps, int bottom) const
{
    const int lanes = static_cast<int>(m_lanes.size());
    for (int lane = 0; lane < lanes; ++lane) {
        const QRect rect = laneRect(lane);
        fillHair(m_painter, QPoint(rect.left(), rect.bottom()), rect.width(), Qt::Horizontal, m_theme.border);
        paintGutter(lane);
    }
    fillHair(
        m_painter, QPoint(m_plot.left() - 1, TimelineCanvas::kTop), lanes * m_laneHeight, Qt::Vertical, m_theme.border);
    m_painter.save();
    m_painter.setClipRect(m_plot.adjusted(-6, -TimelineCanvas::kTop, 6, 0));
    for (int lane = 0; lane < lanes; ++lane)
        paintReach(lane);
    paintRunMarks(gaps);
    for (int lane = 0; lane < lanes; ++lane)
        paintGlyphs(lane);
    m_painter.restore();
    paintStrip(bottom);
}

/// As wide as the longest; what found something stands beside it where both have room. 0: there is none.
int TimelinePainter::namesWidth(int room) const
{
    const QFontMetrics metrics(wordsFont(11, 500));
    int widest = kNames;
    for (const Lane& lane : m_lanes)
        widest = std::max(widest, lane.rules.isEmpty() ? 0 : metrics.horizontalAdvance(lane.name) + 10);
    const int names = std::min(widest, room - kRules);
    return names >= kLeastNames ? names : 0;
}

void TimelinePainter::paintGutter(int lane) const
{
    const Lane& one = m_lanes[static_cast<std::size_t>(lane)];
    const QRect rect = laneRect(lane);
    const int right = m_plot.left() - 10;
    int countsLeft = right;
    m_painter.setFont(numberFont(11));
    // Worst first from the left; only what is there, each always at the same place.
    for (const store::Severity severity : kSeverities) {
        const int place = right - (static_cast<int>(severity) + 1) * kCount;
        const int count = one.counts[static_cast<std::size_t>(severity)];
        if (count == 0 || place < kInset + 60)
            continue;
        glyphs::paintSeverity(
            m_painter, QPointF(place + 5, rect.center().y() + 0.5), 9, glyphs::severityOf(severity), m_theme);
        m_painter.setPen(m_theme.text2);
        m_painter.drawText(QRect(place + 13, rect.top(), kCount - 13, rect.height()), Qt::AlignLeft | Qt::AlignVCenter,
            count > 999 ? formatShort(count) : QString::number(count));
        countsLeft = std::min(countsLeft, place);
    }
    const int names = namesWidth(right - 3 * kCount - kInset);
    const bool hasRules = names > 0 && !one.rules.isEmpty();
    m_painter.setFont(wordsFont(11, 500));
    m_painter.setPen(m_theme.text);
    const QRect name(kInset, rect.top(), (hasRules ? names : countsLeft - kInset) - 8, rect.height());
    std::vector<QString> all;
    for (const Lane& each : m_lanes)
        all.push_back(each.name);
    m_painter.drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
        fitLabels(all, QFontMetricsF(m_painter.font()), name.width())[static_cast<std::size_t>(lane)]);
    if (!hasRules)
        return;
    m_painter.setFont(wordsFont(11));
    m_painter.setPen(m_theme.text3);
    const QRect rules(kInset + names, rect.top(), countsLeft - kInset - names - 6, rect.height());
    m_painter.drawText(rules, Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetrics(m_painter.font()).elidedText(one.rules, Qt::ElideRight, rules.width()));
}

void TimelinePainter::paintReach(int lane) const
{
    const QRect rect = laneRect(lane);
    const StepRange visible = m_state.visibleRange();
    const double half = m_plot.width() / std::max(1.0, static_cast<double>(visible.count())) / 2;
    for (const store::Severity severity : kSeverities) {
        const QColor color = severity == store::Severity::Critical ? m_theme.criticalMark
            : severity == store::Severity::Warning                 ? m_theme.warnMark
                                                                   : m_theme.notice;
        int drawnTo = m_plot.left() - 1;
        for (const StepRange& range :
            m_lanes[static_cast<std::size_t>(lane)].reach[static_cast<std::size_t>(severity)]) {
            if (range.last < visible.first || visible.last < range.first)
                continue;
            const int left = std::max(m_plot.left(), static_cast<int>(std::lround(xOf(range.first) - half)));
            const int right = std::min(m_plot.right(), static_cast<int>(std::lround(xOf(range.last) + half)));
            if (right <= drawnTo)
                continue;
            const QRect bar(left, rect.top() + 4, std::max(2, right - left), rect.height() - 9);
            m_painter.setRenderHint(QPainter::Antialiasing, false);
            m_painter.fillRect(bar, faded(color));
            m_painter.setPen(QPen(color, 1));
            m_painter.setBrush(bar.width() > 4 ? QBrush(color, Qt::BDiagPattern) : QBrush(Qt::NoBrush));
            m_painter.drawRect(bar.adjusted(0, 0, -1, -1));
            drawnTo = right;
        }
    }
}

void TimelinePainter::paintRunMarks(const std::vector<StepRange>& gaps) const
{
    if (m_lanes.empty())
        return;
    const QRect rect = laneRect(0);
    const StepRange visible = m_state.visibleRange();
    const double half = m_plot.width() / std::max(1.0, static_cast<double>(visible.count())) / 2;
    double drawnTo = m_plot.left();
    for (const StepRange& gap : gaps) {
        if (gap.last < visible.first || visible.last < gap.first)
            continue;
        const double left = std::max(drawnTo, xOf(gap.first) - half);
        const double right = std::min<double>(m_plot.right(), std::max(left + 4, xOf(gap.last) + half));
        if (right > left)
            glyphs::paintPattern(m_painter, QRectF(left, rect.top() + 2, right - left, rect.height() - 5),
                series::CellState::Gap, m_theme);
        drawnTo = right;
    }
    std::vector<EventMark> incidents;
    for (const int row : m_lanes.front().rows)
        incidents.push_back(EventMark::of(m_state.incidents()->incident(row)));
    const QRectF lane(m_plot.left(), rect.top(), m_plot.width(), rect.height());
    std::vector<bool> isAbnormal(static_cast<std::size_t>(m_plot.width()));
    for (const auto& ranges : m_lanes.front().reach) {
        for (const StepRange& range : ranges) {
            const auto at = [&](double x) {
                return isAbnormal.begin() + std::lround(std::clamp<double>(x - m_plot.left(), 0, m_plot.width()));
            };
            std::fill(at(xOf(range.first) - half), at(xOf(range.last) + half), true);
        }
    }
    AxisPainter(m_painter, m_theme).events(lane, lane, visible, m_state.eventMarks(), incidents, isAbnormal);
}

void TimelinePainter::paintGlyphs(int lane) const
{
    const QRect rect = laneRect(lane);
    const IncidentsModel& incidents = *m_state.incidents();
    // The worst of what shares three pixels; the worst of all on top.
    std::map<int, const Incident*> shown;
    for (const int row : m_lanes[static_cast<std::size_t>(lane)].rows) {
        const Incident& one = incidents.incident(row);
        if (!m_state.visibleRange().contains(one.first.step))
            continue;
        const Incident*& known = shown[static_cast<int>(xOf(one.first.step) / 3)];
        if (!known || one.first.severity > known->first.severity)
            known = &one;
    }
    for (const store::Severity severity : kSeverities) {
        for (const auto& [place, one] : shown) {
            if (one->first.severity == severity)
                glyphs::paintSeverity(m_painter, QPointF(signX(lane, one->first.step), rect.center().y() + 0.5), kGlyph,
                    glyphs::severityOf(severity), m_theme);
        }
    }
}

void TimelinePainter::paintStrip(int bottom) const
{
    const StepRange full = m_state.fullRange();
    const QRect rect = strip(m_plot, bottom);
    m_painter.setFont(wordsFont(11));
    m_painter.setPen(m_theme.text2);
    const QRect caption(kInset, rect.top() - 3, m_plot.left() - kInset - 10, rect.height() + 6);
    m_painter.drawText(caption, Qt::AlignLeft | Qt::AlignVCenter,
        full == m_state.ownRange()              ? words(QT_TRANSLATE_NOOP("telltale::views::Timeline", "Whole run"))
            : m_state.comparedRuns().size() > 1 ? words(QT_TRANSLATE_NOOP("telltale::views::Timeline", "All runs"))
                                                : words(QT_TRANSLATE_NOOP("telltale::views::Timeline", "Both runs")));
    if (full.isEmpty())
        return;
    const QString steps = formatStep(full.first.value) + QStringLiteral(" \u2013 ") + formatStep(full.last.value);
    m_painter.setFont(numberFont(11));
    if (QFontMetrics(m_painter.font()).horizontalAdvance(steps) < caption.width() - 70)
        m_painter.drawText(caption, Qt::AlignRight | Qt::AlignVCenter, steps);
    m_painter.setRenderHint(QPainter::Antialiasing, false);
    m_painter.fillRect(rect, m_theme.alt);
    m_painter.setPen(m_theme.border);
    m_painter.drawRect(rect.adjusted(0, 0, -1, -1));
    std::map<int, store::Severity> worst; // by pixel
    const IncidentsModel& incidents = *m_state.incidents();
    for (int row = 0; row < incidents.rowCount(); ++row) {
        const judge::Finding& first = incidents.incident(row).first;
        const int x = rect.left() + static_cast<int>(SharedAxis::xOfStep(full, first.step, rect.width()));
        const auto [known, isNew] = worst.emplace(x, first.severity);
        known->second = std::max(known->second, first.severity);
    }
    for (const auto& [x, severity] : worst) {
        const bool isCritical = severity == store::Severity::Critical;
        const QColor& color = isCritical           ? m_theme.criticalMark
            : severity == store::Severity::Warning ? m_theme.warnMark
                                                   : m_theme.notice;
        m_painter.fillRect(
            QRect(x, rect.top() + (isCritical ? 1 : 3), isCritical ? 2 : 1, rect.height() - (isCritical ? 2 : 6)),
            color);
    }
    m_painter.setBrush(Qt::NoBrush);
    m_painter.setPen(m_theme.text);
    m_painter.drawRect(frame(rect, full, m_state.visibleRange()).adjusted(0, 0, -1, -1));
}

void TimelinePainter::paintMarks(bool hasAxis) const
{
    const QRectF lanes(
        m_plot.left(), TimelineCanvas::kTop, m_plot.width(), static_cast<double>(m_lanes.size()) * m_laneHeight);
    AxisPainter axis(m_painter, m_theme);
    const StepMarks marks = StepMarks::of(m_state);
    axis.cursorLines(lanes, m_state.visibleRange(), marks);
    if (hasAxis && !m_state.visibleRange().isEmpty()) {
        axis.steps(lanes, m_state.visibleRange(), words(QT_TRANSLATE_NOOP("telltale::views::Timeline", "step")), marks);
        axis.cursorTags(lanes, m_state.visibleRange(), marks);
    }
    const int row = m_state.incidents()->rowOf(m_state.incident());
    if (row < 0 || !m_state.visibleRange().contains(m_state.incidents()->incident(row).first.step))
        return;
    for (std::size_t lane = 0; lane < m_lanes.size(); ++lane) {
        if (!std::binary_search(m_lanes[lane].rows.begin(), m_lanes[lane].rows.end(), row))
            continue;
        const Incident& one = m_state.incidents()->incident(row);
        const int at = static_cast<int>(lane);
        const QPointF center(signX(at, one.first.step), laneRect(at).center().y() + 0.5);
        m_painter.save();
        m_painter.setRenderHint(QPainter::Antialiasing);
        m_painter.setPen(QPen(m_theme.text, 1));
        m_painter.setBrush(m_theme.base);
        m_painter.drawRoundedRect(QRectF(center - QPointF(7.5, 7.5), QSizeF(15, 15)), 4, 4);
        m_painter.restore();
        glyphs::paintSeverity(m_painter, center, kGlyph, glyphs::severityOf(one.first.severity), m_theme);
    }
}

void TimelinePainter::paintReadout(std::int64_t incident, QSize size) const
{
    const Incident* one = m_state.incidents()->find(incident);
    if (!one)
        return;
    Readout readout;
    readout.name = IncidentsModel::placeOf(*one);
    readout.where = one->first.rank.value < 0
        ? words(QT_TRANSLATE_NOOP("telltale::views::Timeline", "step %1")).arg(formatStep(one->first.step.value))
        : words(QT_TRANSLATE_NOOP("telltale::views::Timeline", "step %1, rank %2"))
              .arg(formatStep(one->first.step.value))
              .arg(one->first.rank.value);
    readout.value = items::ruleTitle(one->first.rule);
    readout.detail = IncidentsModel::severityWord(one->first.severity);
    const double x = xOf(one->first.step);
    views::paintReadout(m_painter, QRectF(QPointF(), QSizeF(size)), QRectF(x - 8, 0, 16, 1), readout, m_theme);
}

}
