// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvecanvas.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QCoreApplication>
#include <QKeyEvent>
#include <QPainter>
#include <QWheelEvent>

#include <telltale/common/axispainter.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/readout.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/items/comma.h>

#include "curvepainter.h"

namespace telltale::views {

using series::CellState;

namespace {

constexpr int kTop = 6;
constexpr int kStepLine
    = static_cast<int>(LegendLines::kShort); ///< height of what says above the legend of which step its values are
constexpr int kStepWords = 16; ///< px of it, as of every line below it
constexpr int kBelowLegend = 4;
constexpr double kNear = 24;
constexpr double kLegendInset = 14;
constexpr double kFp16Limit = 65504;

bool hasFp16Limit(const CurvePicture& picture)
{
    return std::any_of(picture.series.begin(), picture.series.end(), [](const CurveSeries& one) {
        const bool activation = one.row.kind == Kind::Actv || one.row.kind == Kind::ActvGrad;
        return activation && (one.stat == Stat::AbsMax || one.stat == Stat::Max);
    });
}

/// Of a band from where to where it goes, of the median of runs how many it is of.
QString bandText(const CurveSeries& one, int bucket)
{
    const series::Bucket& of = one.result.buckets[static_cast<std::size_t>(bucket)];
    if (!one.isGroup) {
        const int runs = one.runsIn[static_cast<std::size_t>(bucket)];
        return runsText(runs, runs, one.ofRuns);
    }
    return of.finite == 0 ? QString(QChar(0x2013))
                          : QCoreApplication::translate("CompareRuns", "%1 to %2", "the range of several runs")
                                .arg(statValueText(one.stat, of.min), statValueText(one.stat, of.max));
}

/// A step's own value, or what was last before, where a bucket is no more than one step.
series::CellValue cellAt(const CurveSeries& one, Step step)
{
    const series::CurveResult& result = one.result;
    series::CellValue cell;
    cell.step = step;
    const int index = lineBucketOf(one, step);
    if (index < 0 || stepsOf(result, index).count() > 1)
        return cell;
    cell.step = stepsOf(result, index).first;
    cell.state = result.buckets[static_cast<std::size_t>(index)].state;
    cell.value = result.buckets[static_cast<std::size_t>(index)].last;
    return cell;
}

}

CurveCanvas::CurveCanvas(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
}

void CurveCanvas::setPicture(std::shared_ptr<const CurvePicture> picture)
{
    const int before = legendWidth(size());
    const auto areSame = [](const CurveSeries& one, const CurveSeries& other) { return one.isSameAs(other); };
    if (!m_picture || !picture || !std::ranges::equal(m_picture->series, picture->series, areSame))
        m_firstLine = 0; // the legend of others is read from its top
    m_picture = std::move(picture);
    m_values.clear();
    if (m_picture)
        m_wish.reset();
    applyHidden();
    if (m_picture && m_near >= static_cast<int>(m_picture->series.size()))
        m_near = -1;
    hoverAgain();
    invalidate();
    if (legendWidth(size()) != before)
        Q_EMIT plotResized();
}

void CurveCanvas::applyHidden()
{
    const auto isHidden = [this](const CurveSeries& one) {
        return std::any_of(
            m_hidden.begin(), m_hidden.end(), [&](const CurveSeries& hidden) { return hidden.isSameAs(one); });
    };
    if (!m_picture || std::none_of(m_picture->series.begin(), m_picture->series.end(), [&](const CurveSeries& one) {
            return one.isHidden != isHidden(one);
        }))
        return;
    auto shown = std::make_shared<CurvePicture>(*m_picture);
    for (CurveSeries& one : shown->series)
        one.isHidden = isHidden(one);
    m_picture = std::move(shown);
}

void CurveCanvas::toggle(int series, bool alone)
{
    if (!m_picture || series < 0 || series >= static_cast<int>(m_picture->series.size()))
        return;
    const std::vector<CurveSeries>& all = m_picture->series;
    const CurveSeries& chosen = all[static_cast<std::size_t>(series)];
    const bool isAlone = !chosen.isHidden && std::all_of(all.begin(), all.end(), [&](const CurveSeries& one) {
        return one.isHidden || one.isSameAs(chosen);
    });
    const auto set = [this](const CurveSeries& one, bool hidden) {
        std::erase_if(m_hidden, [&](const CurveSeries& known) { return known.isSameAs(one); });
        if (!hidden)
            return;
        m_hidden.push_back(one);
        m_hidden.back().result = {};
    };
    if (alone) {
        for (const CurveSeries& one : all)
            set(one, !isAlone && !one.isSameAs(chosen));
    } else {
        set(chosen, !chosen.isHidden);
    }
    applyHidden();
    invalidate();
}

void CurveCanvas::setEmptyText(const QString& text)
{
    m_emptyText = text;
    invalidate();
}

void CurveCanvas::setStepUnit(const QString& unit)
{
    m_stepUnit = unit;
    update();
}

void CurveCanvas::setYMode(YMode mode)
{
    m_yMode = mode;
    invalidate();
}

void CurveCanvas::setSmoothing(double weight)
{
    m_smoothing = weight;
    invalidate();
}

void CurveCanvas::setLegendValues(std::vector<LegendValue> values)
{
    m_values = std::move(values);
    update();
}

StepRange CurveCanvas::shownRange() const
{
    return m_picture && !m_picture->isEmpty() ? m_picture->range : state().visibleRange();
}

QRect CurveCanvas::plotRect(QSize size) const
{
    const int top = kTop + AxisPainter::kLane + AxisPainter::kLaneGap;
    const auto [left, right] = m_margins.value_or(std::pair(gutterWithin(m_gutter, size.width()), 0));
    return { left, top, std::clamp(size.width() - left - right - legendWidth(size), 1, m_mostWidth),
        std::max(1, size.height() - top - AxisPainter::kStepBand) };
}

int CurveCanvas::laneBottom(QSize) const
{
    return kTop + AxisPainter::kLane;
}

void CurveCanvas::setGutter(int wish)
{
    if (std::exchange(m_gutter, wish) == wish)
        return;
    invalidate();
    Q_EMIT plotResized();
}

void CurveCanvas::setMargins(int left, int right)
{
    if (const std::pair margins(left, right); std::exchange(m_margins, margins) == margins)
        return;
    invalidate();
    Q_EMIT plotResized();
}

void CurveCanvas::setMostWidth(int plot)
{
    if (const int most = std::max(1, plot); std::exchange(m_mostWidth, most) == most)
        return;
    invalidate();
    Q_EMIT plotResized();
}

void CurveCanvas::setWideLegend(bool on)
{
    if (std::exchange(m_hasWideLegend, on) == on)
        return;
    invalidate();
    Q_EMIT plotResized();
}

void CurveCanvas::setHasLegend(bool on)
{
    if (std::exchange(m_hasLegend, on) == on)
        return;
    invalidate();
    Q_EMIT plotResized();
}

int CurveCanvas::heightFor(int lines)
{
    return kTop + kStepLine + lines * static_cast<int>(LegendLines::kShort) + kBelowLegend;
}

int CurveCanvas::legendWidth(QSize size) const
{
    if (!m_hasLegend)
        return 0;
    if (!m_hasWideLegend)
        return SharedAxis::kLegend;
    if (m_picture && (!m_wish || m_wish->first != size.height()))
        m_wish = { size.height(), static_cast<int>(CurveLegend::wishOf(*m_picture, size.height() - kTop - 12)) };
    const int wish = m_wish ? m_wish->second : 0;
    return std::clamp(wish, SharedAxis::kLegend, std::max(SharedAxis::kLegend, size.width() / 3));
}

QRectF CurveCanvas::legendRect(QSize size) const
{
    const int width = legendWidth(size);
    const int left = m_margins ? plotRect(size).right() + 1 : size.width() - width;
    const int top = kTop + (m_picture && m_picture->hasOneStep ? kStepLine : 8);
    return QRectF(left, top, width, size.height() - kBelowLegend - top);
}

void CurveCanvas::paintFrame(QImage& frame, QSize size)
{
    const Theme& theme = Theme::current();
    const QRect plot = plotRect(size);
    if (!m_picture || m_picture->isEmpty()) {
        QPainter painter(&frame);
        paintEmptyState(painter, QRectF(QPointF(), QSizeF(size)), m_emptyText, theme);
        return;
    }
    m_scale = m_picture->fit(m_yMode, false);
    const QRectF lane(plot.left(), kTop, plot.width(), AxisPainter::kLane);
    {
        QPainter painter(&frame);
        AxisPainter axis(painter, theme);
        if (m_picture->hasFinite()) // else there is nothing that a number could be of
            axis.values(plot, m_scale, m_picture->hasZeroOrLess());
        axis.laneCaption(lane, tr("events"));
        if (hasFp16Limit(*m_picture))
            axis.limit(plot, plot.bottom() - m_scale.unitOf(kFp16Limit) * plot.height(),
                tr("fp16 limit %1").arg(formatStep(65504)), false);
    }
    const std::shared_ptr<const CurvePicture> shown = placedPicture(frame, plot);
    paintCurves(frame, plot, *shown, m_scale, m_smoothing, theme);
    QPainter painter(&frame);
    const std::vector<CellState> states = shown->lane();
    AxisPainter marks(painter, theme);
    if (const auto warp = m_picture->warp)
        marks.setStepPlaces([warp](Step step) { return warp->unitOf(step); });
    const std::vector<bool> marked = paintNonFiniteLane(
        painter, lane, states, theme, marks.signs(plot, shownRange(), state().eventMarks(), state().incidentMarks()));
    marks.events(plot, lane, shownRange(), state().eventMarks(), state().incidentMarks(), marked);
    marks.incidents(plot, lane, shownRange(), state().incidentMarks());
}

/// With its buckets where its horizontal axis has them.
std::shared_ptr<const CurvePicture> CurveCanvas::placedPicture(const QImage& frame, const QRect& plot) const
{
    if (!m_picture->warp)
        return m_picture;
    return std::make_shared<CurvePicture>(
        m_picture->warpedTo(static_cast<int>(plot.width() * frame.devicePixelRatio())));
}

bool CurveCanvas::hasHighlight() const
{
    return m_near >= 0 && m_picture && !m_picture->isEmpty();
}

void CurveCanvas::paintHighlight(QImage& frame, QSize size)
{
    const QRect plot = plotRect(size);
    paintHighlightedCurve(frame, plot, *placedPicture(frame, plot), static_cast<std::size_t>(m_near), m_scale,
        m_smoothing, Theme::current());
}

int CurveCanvas::nearestSeries(QPoint position) const
{
    if (!m_picture || m_picture->isEmpty())
        return -1;
    const QRect plot = plotRect();
    if (!plot.contains(position))
        return m_hasLegend ? legend(size()).seriesAt(position) : -1;
    const Step step = stepAt(position.x());
    int nearest = -1;
    double best = kNear;
    for (std::size_t i = 0; i < m_picture->series.size(); ++i) {
        const CurveSeries& one = m_picture->series[i];
        const std::vector<series::Bucket>& buckets = one.result.buckets;
        const int here = bucketOf(one.result, step);
        const int bucket = one.isGroup || one.isHidden ? -1 : lineBucketOf(one, step);
        if (bucket < 0)
            continue;
        const series::Bucket& b = buckets[static_cast<std::size_t>(bucket)];
        if (b.finite == 0)
            continue;
        // Zero and less run along the bottom of a log scale.
        const auto yOf = [&](double value) {
            const double y = plot.bottom() - m_scale.unitOf(value) * plot.height();
            return std::min(y, static_cast<double>(plot.bottom()));
        };
        double top = yOf(b.max);
        double bottom = yOf(b.min);
        if (bucket < here) { // between two samples, where the line passes
            const auto next = std::find_if(
                buckets.begin() + here, buckets.end(), [](const series::Bucket& other) { return other.finite > 0; });
            const double way = (here - bucket) / static_cast<double>(next - buckets.begin() - bucket);
            const double y = yOf(b.last);
            top = bottom = next == buckets.end() ? y : y + way * (yOf(next->first) - y);
        }
        const double distance = std::max({ top - position.y(), position.y() - bottom, 0.0 });
        if (distance < best) {
            best = distance;
            nearest = static_cast<int>(i);
        }
    }
    return nearest;
}

Step CurveCanvas::stepAt(double x) const
{
    const QRect plot = plotRect();
    if (!m_picture || !m_picture->warp || plot.width() <= 0)
        return PlotCanvas::stepAt(x);
    return m_picture->warp->stepAt((x - plot.left()) / plot.width());
}

double CurveCanvas::xOf(Step step, const QRect& plot) const
{
    return m_picture && m_picture->warp ? plot.left() + m_picture->warp->unitOf(step) * plot.width()
                                        : PlotCanvas::xOf(step, plot);
}

void CurveCanvas::hoveredAt(QPoint position)
{
    const int near = nearestSeries(position);
    QString tip;
    if (near >= 0 && legendRect(size()).contains(position)) {
        const CurveSeries& one = m_picture->series[static_cast<std::size_t>(near)];
        tip = one.row.fullName() + u'\n' + (one.runName.isEmpty() ? QString() : one.runName + u'\n')
            + tr("Click: hide or show it (H). Ctrl+click: show it alone (I).");
    }
    setToolTip(tip);
    if (near != m_near) {
        m_near = near;
        highlightAgain();
    }
    PlotCanvas::hoveredAt(position);
}

void CurveCanvas::left()
{
    if (m_near >= 0) {
        m_near = -1;
        highlightAgain();
    }
    PlotCanvas::left();
}

void CurveCanvas::moveRow(int rows)
{
    if (!m_picture || m_picture->isEmpty())
        return;
    m_near = std::clamp(m_near + rows, 0, static_cast<int>(m_picture->series.size()) - 1);
    highlightAgain();
}

void CurveCanvas::clickedAt(QPoint position, Qt::KeyboardModifiers modifiers)
{
    const bool hasLegend = m_picture && m_hasLegend;
    if (hasLegend && legend(size()).isShowAll(position)) {
        Q_EMIT showAllWanted();
        return;
    }
    if (const int named = hasLegend ? legend(size()).seriesAt(position) : -1; named >= 0) {
        toggle(named, modifiers.testFlag(Qt::ControlModifier));
        return;
    }
    PlotCanvas::clickedAt(position, modifiers);
}

void CurveCanvas::keyPressEvent(QKeyEvent* event)
{
    if (event->modifiers() == Qt::NoModifier && (event->key() == Qt::Key_H || event->key() == Qt::Key_I))
        toggle(m_near, event->key() == Qt::Key_I);
    else
        PlotCanvas::keyPressEvent(event);
}

void CurveCanvas::wheelEvent(QWheelEvent* event)
{
    if (!m_picture || !legendRect(size()).contains(event->position())) {
        PlotCanvas::wheelEvent(event);
        return;
    }
    const int lines = event->angleDelta().y() > 0 ? -3 : 3;
    m_firstLine = std::clamp(m_firstLine + lines, 0, legend(size()).lastFirstLine());
    event->accept();
    update();
}

std::optional<Step> CurveCanvas::legendStep() const
{
    const std::optional<Step> at = state().hover() ? state().hover() : state().cursor();
    if (!m_picture->hasOneStep || (!at && state().markA() && state().markB()))
        return at;
    std::optional<Step> newest;
    for (const CurveSeries& one : m_picture->series) {
        const auto& buckets = one.result.buckets;
        auto last
            = at && *at <= one.result.range.last ? bucketOf(one.result, *at) : static_cast<int>(buckets.size()) - 1;
        while (last >= 0 && buckets[static_cast<std::size_t>(last)].state < CellState::Value)
            --last;
        if (last >= 0 && !one.isGroup && !one.isHidden)
            newest = std::max(newest.value_or(Step { -1 }), stepsOf(one.result, last).last);
    }
    return at && newest ? std::min(at, newest) : newest ? newest : at;
}

QString CurveCanvas::legendStepText(const std::vector<LegendValue>& values) const
{
    const bool compares = state().markA() && state().markB();
    const std::optional<Step> asked = legendStep();
    StepRange at, atA, atB;
    bool isOther = false;
    const auto widen = [&isOther](StepRange& all, StepRange one, Step wanted) {
        isOther = isOther || !(one == StepRange { wanted, wanted });
        all = all.isEmpty() ? one : StepRange { std::min(all.first, one.first), std::max(all.last, one.last) };
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
        const CurveSeries& one = m_picture->series[i];
        const LegendValue& value = values[i];
        if (one.isGroup || one.isHidden)
            continue;
        if (compares && value.difference) {
            widen(atA, value.atOfA, *state().markA());
            widen(atB, value.atOfB, *state().markB());
        } else if (!compares && asked && value.state >= CellState::Value) {
            widen(at, value.at.isEmpty() ? StepRange { *asked, *asked } : value.at, *asked);
        }
    }
    if (isOther && compares)
        return tr("at step %1").arg(formatSteps(atA) + QStringLiteral(" \u2192 ") + formatSteps(atB));
    if (compares || !asked || (!isOther && !m_picture->hasOneStep))
        return {};
    if (m_picture->warp)
        return m_picture->warp->placeText(isOther ? at.last : *asked);
    return tr("at step %1").arg(isOther ? formatSteps(at) : formatStep(asked->value));
}

QString CurveCanvas::legendCaption(const std::vector<LegendValue>& values, bool areRanksLast) const
{
    QStringList parts { legendStepText(values) };
    if (areRanksLast) // else each rank has a line that names it
        parts.append(tr("rank %1").arg(m_picture->series.front().row.rank.value));
    if (m_smoothing > 0)
        parts.append(tr("raw"));
    parts.removeAll(QString());
    return parts.join(items::comma());
}

std::vector<LegendValue> CurveCanvas::legendValues() const
{
    const std::optional<Step> at = legendStep();
    const bool known = m_values.size() == m_picture->series.size();
    std::vector<LegendValue> values;
    for (std::size_t i = 0; i < m_picture->series.size(); ++i) {
        const CurveSeries& one = m_picture->series[i];
        if (known && m_values[i].isExact) {
            values.push_back(m_values[i]);
            continue;
        }
        if (at || (state().markA() && state().markB())) {
            const Step asked = at ? *at : *state().markB();
            const int bucket = lineBucketOf(one, asked);
            values.push_back(LegendValue::of(one, bucket, asked));
            if (at && bucket >= 0 && (one.isGroup || !one.runsIn.empty()))
                values.back().where = bandText(one, bucket);
            if (state().markA() && state().markB() && !one.isGroup)
                values.back().compare(cellAt(one, *state().markA()), cellAt(one, *state().markB()));
            continue;
        }
        values.push_back(LegendValue::newestOf(*m_picture, one));
        if (const int newest = newestBucketOf(one.result); newest >= 0 && one.isGroup && one.runsIn.empty())
            values.back().where = bandText(one, newest);
    }
    return values;
}

void CurveCanvas::paintHover(QPainter& painter, const QRect& plot) const
{
    const std::optional<Step> step = state().hover();
    if (!mouse() || !plot.contains(*mouse()) || m_near < 0 || !step)
        return;
    const CurveSeries& one = m_picture->series[static_cast<std::size_t>(m_near)];
    const int index = lineBucketOf(one, *step);
    if (index < 0 || one.isHidden)
        return;
    const Theme& theme = Theme::current();
    const series::Bucket& bucket = one.result.buckets[static_cast<std::size_t>(index)];
    const StepRange steps = stepsOf(one.result, index);
    const double x = xOf(steps.contains(*step) ? *step : steps.last, plot);
    const double y = plot.bottom() - m_scale.unitOf(bucket.last) * plot.height();
    if (bucket.finite > 0) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(theme.base, 1.5));
        painter.setBrush(SeriesStyle::forSlot(one.slot, theme).color);
        painter.drawEllipse(QPointF(x, y), 4, 4);
    }
    Readout readout;
    readout.name = one.row.fullName();
    readout.where
        = (steps.count() <= 1 ? tr("step %1").arg(formatStep(steps.first.value))
                              : tr("steps %1 to %2").arg(formatStep(steps.first.value), formatStep(steps.last.value)))
        + items::comma() + whereText(one, index);
    readout.state = bucket.state >= CellState::Value ? bucket.state : CellState::Value;
    if (LegendValue::isPartOf(one.stat, bucket)) {
        readout.value = statValueText(one.stat, bucket.last);
        readout.detail = glyphs::leftOutText(bucket.state);
    } else if (series::isNonFinite(bucket.state)) {
        readout.value = glyphs::word(bucket.state);
        if (bucket.finite > 0)
            readout.detail = tr("last finite %1").arg(statValueText(one.stat, bucket.last));
    } else if (bucket.finite > 1 && bucket.min < bucket.max) {
        readout.value = statValueText(one.stat, bucket.mean);
        readout.detail
            = tr("mean; %1 to %2").arg(statValueText(one.stat, bucket.min), statValueText(one.stat, bucket.max));
    } else {
        readout.value = statValueText(one.stat, bucket.last);
    }
    paintReadout(painter, QRectF(plot).adjusted(4, -12, -4, 0), QRectF(x - 5, y - 5, 10, 10), readout, theme);
}

void CurveCanvas::paintOverlay(QPainter& painter, QSize size)
{
    if (!m_picture || m_picture->isEmpty())
        return;
    const Theme& theme = Theme::current();
    const QRect plot = plotRect(size);
    AxisPainter axis(painter, theme);
    const StepMarks marks = StepMarks::of(state());
    if (const auto warp = m_picture->warp) {
        axis.setStepPlaces([warp](Step step) { return warp->unitOf(step); });
        axis.setStepNames([warp](Step step) { return warp->textOf(step); },
            [warp](Step a, Step b) { return warp->differenceText(a, b); });
    }
    axis.cursorLines(
        QRectF(plot).adjusted(0, -AxisPainter::kLane - AxisPainter::kLaneGap, 0, 0), m_picture->range, marks);
    if (const auto warp = m_picture->warp) {
        std::vector<AxisPainter::Label> labels;
        for (const XWarp::Tick& tick : warp->ticks(plot.width()))
            labels.push_back({ tick.unit * plot.width(), tick.label });
        axis.labels(plot, m_picture->range, labels,
            warp->axis() == XAxis::Time         ? tr("time")
                : warp->axis() == XAxis::Tokens ? tr("tokens")
                                                : tr("samples"),
            marks);
    } else {
        axis.steps(plot, m_picture->range, m_stepUnit, marks);
    }
    axis.cursorTags(plot, m_picture->range, marks);
    if (m_hasLegend) {
        const CurveLegend names = legend(size);
        const std::vector<LegendValue> values = legendValues();
        names.paint(painter, values, m_near, theme, isStatic());
        painter.setFont(wordsFont(11));
        painter.setPen(theme.text3);
        const QRectF area = legendRect(size);
        if (names.hasValues())
            painter.drawText(
                QRectF(area.left() + kLegendInset, std::max(area.top() - kStepLine, 0.0), area.width(), kStepWords),
                Qt::AlignLeft | Qt::AlignVCenter, legendCaption(values, names.areRanksLast()));
    }
    paintHover(painter, plot);
}

}
