// SPDX-License-Identifier: GPL-3.0-or-later
#include "overviewcanvas.h"

#include <algorithm>
#include <cmath>

#include <QPainter>
#include <QWheelEvent>

#include <telltale/common/axispainter.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/readout.h>
#include <telltale/items/comma.h>

#include "curvepainter.h"
#include "overviewheader.h"

namespace telltale::views {

using series::CellState;

namespace {

constexpr int kTopMargin = 6; ///< as in plots of curves
constexpr int kAbovePlots = kTopMargin + AxisPainter::kLane; ///< of events and incidents
constexpr int kSmallest = 72; ///< height of one plot without its header
constexpr int kRight = 24;
constexpr int kPanelSigns = 11; ///< height of what is not finite, below a plot's name

/// A quantity that spans more than two decades without leaving the positive numbers is read on a log axis.
YMode modeFor(const std::vector<CurveSeries>& all)
{
    const QString& name = all.front().row.key.name;
    const bool norm = name.contains(QLatin1String("norm"), Qt::CaseInsensitive);
    if (!norm)
        return YMode::Linear;
    for (const CurveSeries& one : all) {
        // Its ranks and the other runs' may leave the axis.
        if (one.isOtherRank || one.isOtherRun)
            continue;
        for (const series::Bucket& bucket : one.result.buckets) {
            if (bucket.finite > 0 && bucket.min <= 0)
                return YMode::Linear;
        }
    }
    return YMode::Log;
}

}

OverviewCanvas::OverviewCanvas(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
    connect(state, &ViewState::runChanged, this, [this] {
        const store::RunRef run = this->state().run();
        if (run && m_scrolledRun != run->locator.text()) {
            m_scrolledRun = run->locator.text();
            setFirstPlot(0);
        }
    });
}

void OverviewCanvas::setPicture(std::shared_ptr<const CurvePicture> picture)
{
    const int before = plots();
    m_picture = std::move(picture);
    m_scales.clear();
    m_values.clear();
    m_plots = m_picture ? panelsOf(*m_picture) : std::vector<ScalarPanel>();
    for (const ScalarPanel& panel : m_plots)
        m_scales.push_back(panel.picture.fit(modeFor(panel.picture.series), true));
    invalidate();
    if (before != plots())
        Q_EMIT shownPlotsChanged();
}

void OverviewCanvas::setEmptyText(const QString& text)
{
    m_emptyText = text;
    invalidate();
}

void OverviewCanvas::endAsOthers(bool on)
{
    if (std::exchange(m_endsAsOthers, on) == on)
        return;
    invalidate();
    Q_EMIT plotResized();
}

void OverviewCanvas::setLegendValues(std::vector<LegendValue> values)
{
    m_values = std::move(values);
    update();
}

void OverviewCanvas::setSmoothing(double weight)
{
    m_smoothing = weight;
    invalidate();
}

QSize OverviewCanvas::minimumSizeHint() const
{
    return { SharedAxis::kGutter + 200, kAbovePlots + kPanelHeader + kSmallest + AxisPainter::kStepBand + 4 };
}

int OverviewCanvas::shownPlots(QSize size) const
{
    const int room = (size.height() - kAbovePlots - AxisPainter::kStepBand - 4) / (kPanelHeader + kSmallest);
    return isStatic() ? plots() : std::min(std::max(1, room), plots());
}

int OverviewCanvas::firstPlot(QSize size) const
{
    return std::clamp(m_first, 0, plots() - shownPlots(size));
}

void OverviewCanvas::setFirstPlot(int index)
{
    const int before = firstPlot(size());
    m_first = std::max(0, index);
    if (firstPlot(size()) == before)
        return;
    invalidate();
    Q_EMIT shownPlotsChanged();
}

void OverviewCanvas::moveRow(int rows)
{
    setFirstPlot(firstPlot(size()) + rows);
}

void OverviewCanvas::resizeEvent(QResizeEvent* event)
{
    PlotCanvas::resizeEvent(event);
    Q_EMIT shownPlotsChanged();
}

/// Over a plot the wheel zooms; over a title and beside the plots it scrolls, as over the bar.
void OverviewCanvas::wheelEvent(QWheelEvent* event)
{
    bool isOverPlot = false;
    const int first = firstPlot(size());
    for (int i = first; i < first + shownPlots(size()); ++i)
        isOverPlot = isOverPlot || plotOf(i, size()).contains(event->position().toPoint());
    if (isOverPlot || shownPlots(size()) == plots() || event->angleDelta().y() == 0)
        return PlotCanvas::wheelEvent(event);
    constexpr int kNotch = 120;
    m_turned += event->angleDelta().y();
    moveRow(-(m_turned / kNotch));
    m_turned %= kNotch;
    event->accept();
}

StepRange OverviewCanvas::shownRange() const
{
    return m_picture && !m_picture->isEmpty() ? m_picture->range : state().visibleRange();
}

int OverviewCanvas::laneBottom(QSize) const
{
    return kAbovePlots;
}

QRect OverviewCanvas::plotRect(QSize size) const
{
    const int right = m_endsAsOthers && !isStatic() ? SharedAxis::kLegend : kRight;
    return { SharedAxis::kGutter, kAbovePlots + kPanelHeader, std::max(1, size.width() - SharedAxis::kGutter - right),
        std::max(1, size.height() - kAbovePlots - kPanelHeader - AxisPainter::kStepBand - 4) };
}

QRect OverviewCanvas::plotOf(int index, QSize size) const
{
    const QRect all = plotRect(size);
    // The first two, loss and gradient norm, get more room than the rest, and so does what holds many lines.
    const auto weight = [this](int i) { return i < 2 || panelAt(i).isShared ? 1.35 : 1.0; };
    double total = 0;
    double before = 0;
    const int first = firstPlot(size);
    const int shown = shownPlots(size);
    for (int i = first; i < first + shown; ++i) {
        total += weight(i);
        before += i < index ? weight(i) : 0;
    }
    const double room = all.height() - (shown - 1) * kPanelHeader;
    const int top = all.top() + (index - first) * kPanelHeader + static_cast<int>(room * before / total);
    return { all.left(), top, all.width(), std::max(8, static_cast<int>(room * weight(index) / total) - 4) };
}

double OverviewCanvas::smoothingOf(const CurvePicture& scalar) const
{
    return isSmoothable(scalar.series.front()) ? m_smoothing : 0;
}

void OverviewCanvas::paintFrame(QImage& frame, QSize size)
{
    const Theme& theme = Theme::current();
    if (plots() == 0) {
        QPainter painter(&frame);
        paintEmptyState(painter, QRectF(QPointF(), QSizeF(size)), m_emptyText, theme);
        return;
    }
    const int first = firstPlot(size);
    for (int i = first; i < first + shownPlots(size); ++i) {
        const QRect plot = plotOf(i, size);
        const CurvePicture& scalar = panelAt(i).picture;
        const ValueScale& scale = m_scales[static_cast<std::size_t>(i)];
        if (scalar.hasFinite()) {
            QPainter painter(&frame);
            AxisPainter(painter, theme).values(plot, scale, scalar.hasZeroOrLess());
        }
        paintCurves(frame, plot, scalar, scale, smoothingOf(scalar), theme);
        QPainter painter(&frame);
        paintClips(painter, plot, scalar, scale, theme);
        const std::vector<CellState> states = scalar.lane();
        paintNonFiniteLane(painter,
            QRectF(plot.left(), plot.top() - AxisPainter::kLaneGap - kPanelSigns, plot.width(), kPanelSigns), states,
            theme);
        AxisPainter axis(painter, theme);
        const QRect lane(plot.left(), kTopMargin, plot.width(), AxisPainter::kLane);
        // Flags in the lane, their lines in the plots: between them stand the headers.
        painter.setClipRegion(i == first ? QRegion(plot) + QRect(0, 0, size.width(), kAbovePlots) : QRegion(plot));
        axis.events(plot, lane, m_picture->range, state().eventMarks(), state().incidentMarks());
        painter.setClipping(false);
        if (i == first) {
            axis.laneCaption(lane, tr("events"));
            axis.incidents(plot, lane, m_picture->range, state().incidentMarks());
        }
    }
}

void OverviewCanvas::paintOverlay(QPainter& painter, QSize size)
{
    if (plots() == 0)
        return;
    const Theme& theme = Theme::current();
    AxisPainter axis(painter, theme);
    const StepMarks marks = StepMarks::of(state());
    const int first = firstPlot(size);
    for (int i = first; i < first + shownPlots(size); ++i)
        axis.cursorLines(plotOf(i, size), m_picture->range, marks);
    axis.steps(plotRect(size), m_picture->range, tr("step"), marks);
    axis.cursorTags(plotRect(size), m_picture->range, marks);
    paintHeaders(painter, size);
    paintHover(painter, size);
}

void OverviewCanvas::paintHeaders(QPainter& painter, QSize size) const
{
    std::optional<Step> at = state().hover() ? state().hover() : state().cursor();
    if (at && !m_picture->range.contains(*at))
        at.reset();
    const bool areKnown = m_values.size() == m_picture->series.size();
    const double captionLeft = panelCaptionLeft(m_plots, plotRect(size));
    const std::vector<QString> titles = panelTitles(m_plots, plotRect(size));
    const StepRange newest = newestSteps(*m_picture);
    const int first = firstPlot(size);
    for (int i = first; i < first + shownPlots(size); ++i) {
        const ScalarPanel& panel = panelAt(i);
        const auto valueOf = [&](const CurveSeries& one) {
            const auto place = panel.first + static_cast<std::size_t>(&one - panel.picture.series.data());
            return at ? valueAt(one, *at, areKnown ? &m_values[place] : nullptr) : lastValueOf(one);
        };
        paintPanelHeader(painter, plotOf(i, size), panel,
            { valueOf, at, m_smoothing, titles[static_cast<std::size_t>(i)],
                m_scales[static_cast<std::size_t>(i)].mode() == ValueScale::Mode::Log, newest, m_picture->isLive },
            captionLeft);
    }
}

const CurveSeries& OverviewCanvas::lineAt(int index, QSize size, QPoint at) const
{
    const ScalarPanel& panel = panelAt(index);
    const QRect plot = plotOf(index, size);
    const CurveSeries* nearest = &panel.picture.series.front();
    double least = HUGE_VAL;
    const std::vector<const CurveSeries*> lines
        = panel.isShared ? ownLines(panel.picture) : std::vector<const CurveSeries*>();
    for (const CurveSeries* one : lines) {
        const int bucket = lineBucketOf(*one, *state().hover());
        if (bucket < 0 || one->result.buckets[static_cast<std::size_t>(bucket)].finite == 0)
            continue;
        const double value = one->result.buckets[static_cast<std::size_t>(bucket)].last;
        const double y = plot.bottom() - m_scales[static_cast<std::size_t>(index)].unitOf(value) * plot.height();
        if (std::abs(y - at.y()) < least) {
            least = std::abs(y - at.y());
            nearest = one;
        }
    }
    return *nearest;
}

void OverviewCanvas::paintHover(QPainter& painter, QSize size) const
{
    if (!mouse() || !state().hover())
        return;
    // The plot under the mouse says its value at the mouse, of the selected rank, and of many lines the nearest's.
    const int first = firstPlot(size);
    for (int i = first; i < first + shownPlots(size); ++i) {
        const QRect plot = plotOf(i, size);
        if (!plot.contains(*mouse()))
            continue;
        const CurveSeries& one = lineAt(i, size, *mouse());
        const int index = heldBucket(one, *state().hover());
        if (index < 0)
            continue;
        const series::Bucket& bucket = one.result.buckets[static_cast<std::size_t>(index)];
        const StepRange steps = stepsOf(one.result, index);
        Readout readout;
        readout.name = isSystemMetric(one) ? one.row.label : one.row.fullName();
        readout.where = (steps.count() <= 1
                                ? tr("step %1").arg(formatStep(steps.first.value))
                                : tr("steps %1 to %2").arg(formatStep(steps.first.value), formatStep(steps.last.value)))
            + items::comma() + whereText(one);
        readout.state = bucket.state;
        readout.value
            = bucket.state == CellState::Value ? statValueText(one.stat, bucket.last) : glyphs::word(bucket.state);
        if (bucket.finite > 1 && bucket.min < bucket.max)
            readout.detail
                = tr("%1 to %2").arg(statValueText(one.stat, bucket.min), statValueText(one.stat, bucket.max));
        const double x = plot.left() + SharedAxis::xOfStep(m_picture->range, *state().hover(), plot.width());
        const double y = plot.bottom() - m_scales[static_cast<std::size_t>(i)].unitOf(bucket.last) * plot.height();
        // In this plot alone: above it stands its header, whose value is of the same step.
        paintReadout(
            painter, QRectF(plot), QRectF(x - 5, std::clamp(y, 0.0, 1e5) - 5, 10, 10), readout, Theme::current());
    }
}

}
