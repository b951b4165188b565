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

constexpr int kAbovePlots = 8;
constexpr int kHeader = 26;
constexpr int kSmallest = 54; ///< height of one plot without its header
constexpr int kRight = 24;
constexpr std::size_t kMostHeaderRanks = 4;

/// A learning rate is set, not measured: a smoothed one would be a rate that no step had.
bool isSmoothable(const CurveSeries& one)
{
    const QString& name = one.row.key.name;
    return name != QLatin1String("lr") && !name.contains(QLatin1String("learning"), Qt::CaseInsensitive)
        && !name.endsWith(QLatin1String("/lr")) && !name.endsWith(QLatin1String(".lr"));
}

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
        if (!series::isNonFinite(state)) {
            last.value = formatValue(bucket.last, 4);
            return last;
        }
        const StepRange steps = stepsOf(result, i);
        last.before = QCoreApplication::translate("Overview", "last finite %1 at %2")
                          .arg(formatValue(bucket.last, 4), formatStep(steps.last.value));
        break;
    }
    last.value = glyphs::word(state);
    last.critical = series::isNonFinite(state);
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
    m_plots.clear();
    m_scales.clear();
    if (m_picture) {
        for (const CurveSeries& one : m_picture->series) {
            if (m_plots.empty() || m_plots.back().series.front().row.key.name != one.row.key.name) {
                m_plots.emplace_back();
                m_plots.back().range = m_picture->range;
            }
            m_plots.back().series.push_back(one);
        }
    }
    for (const CurvePicture& scalar : m_plots)
        m_scales.push_back(scalar.fit(modeFor(scalar.series.front()), true));
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
        kAbovePlots + std::max(1, plots()) * (kHeader + kSmallest) + AxisPainter::kStepBand + 4 };
}

StepRange OverviewCanvas::shownRange() const
{
    return m_picture && !m_picture->isEmpty() ? m_picture->range : state().visibleRange();
}

QRect OverviewCanvas::plotRect(QSize size) const
{
    return { SharedAxis::kGutter, kAbovePlots + kHeader, std::max(1, size.width() - SharedAxis::kGutter - kRight),
        std::max(1, size.height() - kAbovePlots - kHeader - AxisPainter::kStepBand - 4) };
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

void OverviewCanvas::paintHeader(QPainter& painter, const QRect& plot, const CurvePicture& scalar) const
{
    const Theme& theme = Theme::current();
    const CurveSeries& first = scalar.series.front();
    const QRectF line(plot.left(), plot.top() - kHeader + 2, plot.width(), 18);
    painter.setFont(wordsFont(12, 600));
    painter.setPen(theme.text);
    painter.drawText(QRectF(8, line.top(), SharedAxis::kGutter - 16, line.height()), Qt::AlignRight | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(first.row.label, Qt::ElideLeft, SharedAxis::kGutter - 16));
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    if (m_smoothing > 0 && !isSmoothable(first))
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, tr("not smoothed"));
    else if (m_smoothing > 0)
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
            tr("smoothed %1, raw behind").arg(formatValue(m_smoothing, m_smoothing > 0.9 ? 2 : 1)));

    // From the right: the last values, the selected rank's outermost and in the strongest weight.
    double right = line.right();
    const auto word = [&](const QString& text, const QFont& font, const QColor& color, double gap) {
        painter.setFont(font);
        painter.setPen(color);
        const double width = QFontMetricsF(font).horizontalAdvance(text);
        painter.drawText(
            QRectF(right - width - 1, line.top(), width + 2, line.height()), Qt::AlignRight | Qt::AlignVCenter, text);
        right -= width + gap;
    };
    const bool several = scalar.series.size() > 1;
    for (std::size_t i = 0; i < std::min<std::size_t>(scalar.series.size(), kMostHeaderRanks); ++i) {
        const CurveSeries& one = scalar.series[i];
        const QString where = one.isGroup || several ? whereText(one) : QString();
        if (one.isGroup) {
            word(where, wordsFont(11), theme.text3, 16);
            continue;
        }
        const LastValue last = lastValueOf(one.result);
        word(last.value, numberFont(12, i == 0 ? 600 : 400), last.critical ? theme.criticalText : theme.text, 6);
        if (!last.before.isEmpty() && i == 0)
            word(last.before, wordsFont(11), theme.text2, 8);
        if (several)
            word(where, wordsFont(11), theme.text3, 16);
    }
    if (scalar.series.size() > kMostHeaderRanks)
        word(tr("%1 more").arg(scalar.series.size() - kMostHeaderRanks), wordsFont(11), theme.text3, 0);
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
    for (int i = 0; i < plots(); ++i) {
        const QRect plot = plotOf(i, size);
        const CurvePicture& scalar = plotAt(i);
        const ValueScale& scale = m_scales[static_cast<std::size_t>(i)];
        {
            QPainter painter(&frame);
            if (scalar.hasFinite())
                AxisPainter(painter, theme).values(plot, scale);
            paintHeader(painter, plot, scalar);
        }
        CurveLook look;
        look.smoothing = smoothingOf(scalar);
        paintCurves(frame, plot, scalar, scale, look, theme);
        QPainter painter(&frame);
        const std::vector<CellState> states = scalar.lane();
        paintNonFiniteLane(painter, QRectF(plot.left(), plot.top() - 9, plot.width(), 12), states, theme);
        if (i == 0) {
            AxisPainter axis(painter, theme);
            const QRectF lane(plot.left(), plot.top() - 14, plot.width(), 14);
            axis.events(plot, lane, m_picture->range, state().eventMarks());
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
    for (int i = 0; i < plots(); ++i)
        axis.cursorLines(plotOf(i, size), m_picture->range, marks);
    axis.steps(plotRect(size), m_picture->range, tr("step"), marks);
    axis.cursorTags(plotRect(size), m_picture->range, marks);

    paintHover(painter, size);
}

void OverviewCanvas::paintHover(QPainter& painter, QSize size) const
{
    if (!mouse() || !state().hover())
        return;
    // The plot under the mouse says its value at the mouse, of the selected rank.
    for (int i = 0; i < plots(); ++i) {
        const QRect plot = plotOf(i, size);
        const CurveSeries& one = plotAt(i).series.front();
        const int index = bucketOf(one.result, *state().hover());
        if (!plot.contains(*mouse()) || index < 0)
            continue;
        const series::Bucket& bucket = one.result.buckets[static_cast<std::size_t>(index)];
        const StepRange steps = stepsOf(one.result, index);
        Readout readout;
        readout.name = one.row.fullName();
        readout.where = (steps.count() <= 1
                                ? tr("step %1").arg(formatStep(steps.first.value))
                                : tr("steps %1 to %2").arg(formatStep(steps.first.value), formatStep(steps.last.value)))
            + QStringLiteral(", ") + whereText(one);
        readout.state = bucket.state;
        readout.value = bucket.state == CellState::Value ? formatValue(bucket.last, 4) : glyphs::word(bucket.state);
        if (bucket.finite > 1 && bucket.min < bucket.max)
            readout.detail = tr("%1 to %2").arg(formatValue(bucket.min), formatValue(bucket.max));
        const double x = plot.left() + SharedAxis::xOfStep(m_picture->range, *state().hover(), plot.width());
        const double y = plot.bottom() - m_scales[static_cast<std::size_t>(i)].unitOf(bucket.last) * plot.height();
        paintReadout(painter, QRectF(plotRect(size)), QRectF(x - 5, std::clamp(y, 0.0, 1e5) - 5, 10, 10), readout,
            Theme::current());
    }
}

}
