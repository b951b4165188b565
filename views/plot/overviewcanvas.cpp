// SPDX-License-Identifier: GPL-3.0-or-later
#include "overviewcanvas.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QPainter>

#include <telltale/common/axispainter.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/readout.h>

#include "curvepainter.h"

namespace telltale::views {

using series::CellState;

namespace {

constexpr int kTop = 8;
constexpr int kHeader = 26;
constexpr int kSmallest = 54; ///< height of one plot without its header
constexpr int kRight = 24;

/// A quantity that spans more than two decades without leaving the positive numbers is read on a log axis.
YMode modeFor(const CurveSeries& one)
{
    const QString& name = one.row.key.name;
    const bool norm = name.contains(QLatin1String("norm"), Qt::CaseInsensitive);
    if (!norm)
        return YMode::Linear;
    for (const series::Bucket& bucket : one.result.buckets) {
        if (bucket.finite > 0 && bucket.min <= 0)
            return YMode::Linear;
    }
    return YMode::Log;
}

}

LastValue lastValueOf(const series::CurveResult& result)
{
    LastValue last;
    bool newest = true;
    CellState state = CellState::NotCollected;
    for (auto i = static_cast<int>(result.buckets.size()) - 1; i >= 0; --i) {
        const series::Bucket& bucket = result.buckets[static_cast<std::size_t>(i)];
        if (bucket.state < CellState::Value)
            continue;
        if (newest) {
            state = bucket.state;
            newest = false;
        }
        if (bucket.finite == 0)
            continue;
        if (!glyphs::isNonFinite(state)) {
            last.value = formatValue(bucket.last, 4);
            return last;
        }
        const StepRange steps = stepsOf(result, i);
        last.before = QCoreApplication::translate("Overview", "last finite %1 at %2")
                          .arg(formatValue(bucket.last, 4), formatStep(steps.last.value));
        break;
    }
    last.value = glyphs::word(state);
    last.critical = glyphs::isNonFinite(state);
    return last;
}

OverviewCanvas::OverviewCanvas(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
}

void OverviewCanvas::setPicture(std::shared_ptr<const CurvePicture> picture)
{
    const int before = plots();
    m_picture = std::move(picture);
    m_scales.clear();
    if (m_picture) {
        for (const CurveSeries& one : m_picture->series) {
            CurvePicture alone;
            alone.series.push_back(one);
            m_scales.push_back(alone.fit(modeFor(one), true));
        }
    }
    if (before != plots())
        updateGeometry();
    invalidate();
}

void OverviewCanvas::setEmptyText(const QString& text)
{
    m_emptyText = text;
    invalidate();
}

void OverviewCanvas::setSmoothing(double weight)
{
    m_smoothing = weight;
    invalidate();
}

QSize OverviewCanvas::minimumSizeHint() const
{
    return { SharedAxis::kGutter + 200,
        kTop + std::max(1, plots()) * (kHeader + kSmallest) + AxisPainter::kStepBand + 4 };
}

StepRange OverviewCanvas::shownRange() const
{
    return m_picture && !m_picture->isEmpty() ? m_picture->range : state().visibleRange();
}

QRect OverviewCanvas::plotRect(QSize size) const
{
    return { SharedAxis::kGutter, kTop + kHeader, std::max(1, size.width() - SharedAxis::kGutter - kRight),
        std::max(1, size.height() - kTop - kHeader - AxisPainter::kStepBand - 4) };
}

QRect OverviewCanvas::plotOf(int index, QSize size) const
{
    const QRect all = plotRect(size);
    // The first two, loss and gradient norm, get more room than the rest.
    const auto weight = [](int i) { return i < 2 ? 1.35 : 1.0; };
    double total = 0;
    double before = 0;
    for (int i = 0; i < plots(); ++i) {
        total += weight(i);
        before += i < index ? weight(i) : 0;
    }
    const double room = all.height() - (plots() - 1) * kHeader;
    const int top = all.top() + index * kHeader + static_cast<int>(room * before / total);
    return { all.left(), top, all.width(), std::max(8, static_cast<int>(room * weight(index) / total) - 4) };
}

void OverviewCanvas::paintHeader(QPainter& painter, const QRect& plot, const CurveSeries& one) const
{
    const Theme& theme = Theme::current();
    const QRectF line(plot.left(), plot.top() - kHeader + 2, plot.width(), 18);
    painter.setFont(wordsFont(12, 600));
    painter.setPen(theme.text);
    painter.drawText(QRectF(8, line.top(), SharedAxis::kGutter - 16, line.height()), Qt::AlignRight | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(one.row.label, Qt::ElideLeft, SharedAxis::kGutter - 16));
    const LastValue last = lastValueOf(one.result);
    painter.setFont(numberFont(12, 600));
    painter.setPen(last.critical ? theme.criticalText : theme.text);
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, last.value);
    if (!last.before.isEmpty()) {
        const double width = QFontMetricsF(painter.font()).horizontalAdvance(last.value);
        painter.setFont(wordsFont(11));
        painter.setPen(theme.text2);
        painter.drawText(line.adjusted(0, 0, -width - 8, 0), Qt::AlignRight | Qt::AlignVCenter, last.before);
    }
}

void OverviewCanvas::paintFrame(QImage& frame, QSize size)
{
    const Theme& theme = Theme::current();
    if (plots() == 0) {
        QPainter painter(&frame);
        paintEmptyState(painter, QRectF(QPointF(), QSizeF(size)), m_emptyText, theme);
        return;
    }
    for (int i = 0; i < plots(); ++i) {
        const QRect plot = plotOf(i, size);
        CurvePicture alone;
        alone.range = m_picture->range;
        alone.series.push_back(m_picture->series[static_cast<std::size_t>(i)]);
        const ValueScale& scale = m_scales[static_cast<std::size_t>(i)];
        {
            QPainter painter(&frame);
            AxisPainter(painter, theme).values(plot, scale);
            paintHeader(painter, plot, alone.series.front());
        }
        CurveLook look;
        look.smoothing = m_smoothing;
        paintCurves(frame, plot, alone, scale, look, theme);
        QPainter painter(&frame);
        const std::vector<CellState> states = alone.lane();
        paintNonFiniteLane(painter, QRectF(plot.left(), plot.top() - 9, plot.width(), 12), states, theme);
        if (state().catalog()) {
            const std::vector<EventMark> events = EventMark::of(*state().catalog());
            AxisPainter axis(painter, theme);
            if (i == 0)
                axis.events(plot, QRectF(plot.left(), plot.top() - 14, plot.width(), 14), m_picture->range, events);
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
    for (int i = 0; i < plots(); ++i)
        axis.cursorLines(plotOf(i, size), m_picture->range, marks);
    axis.steps(plotRect(size), m_picture->range, tr("step"), marks);
    axis.cursorTags(plotRect(size), m_picture->range, marks);

    // The plot under the mouse says its value at the mouse.
    if (!mouse() || !state().hover())
        return;
    for (int i = 0; i < plots(); ++i) {
        const QRect plot = plotOf(i, size);
        const CurveSeries& one = m_picture->series[static_cast<std::size_t>(i)];
        const int index = bucketOf(one.result, *state().hover());
        if (!plot.contains(*mouse()) || index < 0)
            continue;
        const series::Bucket& bucket = one.result.buckets[static_cast<std::size_t>(index)];
        const StepRange steps = stepsOf(one.result, index);
        Readout readout;
        readout.name = one.row.fullName();
        readout.where = steps.count() <= 1
            ? tr("step %1").arg(formatStep(steps.first.value))
            : tr("steps %1 to %2").arg(formatStep(steps.first.value), formatStep(steps.last.value));
        readout.state = bucket.state;
        readout.value = bucket.state == CellState::Value ? formatValue(bucket.last, 4) : glyphs::word(bucket.state);
        if (bucket.finite > 1 && bucket.min < bucket.max)
            readout.detail = tr("%1 to %2").arg(formatValue(bucket.min), formatValue(bucket.max));
        const double x = plot.left() + SharedAxis::xOfStep(m_picture->range, *state().hover(), plot.width());
        const double y = plot.bottom() - m_scales[static_cast<std::size_t>(i)].unitOf(bucket.last) * plot.height();
        paintReadout(
            painter, QRectF(plotRect(size)), QRectF(x - 5, std::clamp(y, 0.0, 1e5) - 5, 10, 10), readout, theme);
    }
}

}
