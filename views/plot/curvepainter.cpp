// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvepainter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/seriesstyle.h>

#include "curvetrace.h"
#include "overviewheader.h"
#include "spanpainter.h"

namespace telltale::views {

using series::CellState;

namespace {

constexpr float kRawAlpha = 0.4F;
constexpr float kEnvelopeAlpha = 0.3F;
constexpr float kEdgeAlpha = 0.7F;
constexpr float kOtherRankAlpha = 0.8F;
/// Above this many columns the exact stroke would not fit a frame.
constexpr std::size_t kFineColumns = 40000;

/// The upper or lower edge of a band as a line of its own.
std::vector<ColumnSpan> edgeOf(const std::vector<ColumnSpan>& band, bool upper)
{
    const auto at = [&](std::size_t x) { return upper ? band[x].top : band[x].bottom; };
    std::vector<ColumnSpan> edge(band.size());
    for (std::size_t x = 0; x < band.size(); ++x) {
        if (!band[x].present)
            continue;
        ColumnSpan& column = edge[x];
        column.present = column.single = true;
        column.middle = at(x);
        column.left = x > 0 && band[x - 1].present ? (at(x - 1) + at(x)) / 2 : at(x);
        column.right = x + 1 < band.size() && band[x + 1].present ? (at(x) + at(x + 1)) / 2 : at(x);
        column.top = std::min({ column.left, column.middle, column.right });
        column.bottom = std::max({ column.left, column.middle, column.right });
    }
    return edge;
}

/// The buckets with samples that no line reaches.
std::vector<int> lonelyOf(const std::vector<series::Bucket>& buckets, std::ptrdiff_t join, bool isDense)
{
    std::vector<int> lonely;
    int last = -1; // that a line may come from
    bool isReached = true; // is the last one, by a line from before it
    const auto leave = [&] {
        if (!std::exchange(isReached, true))
            lonely.push_back(last);
    };
    for (int i = 0; i < static_cast<int>(buckets.size()); ++i) {
        const series::Bucket& bucket = buckets[static_cast<std::size_t>(i)];
        if (breaksLine(bucket)) {
            leave();
            last = -1;
            // Beside each other, values that are partly not finite are a band of their own.
            if (bucket.finite > 0 && !isDense)
                lonely.push_back(i);
        } else if (bucket.finite > 0) {
            const bool joins = last >= 0 && i - last <= join;
            if (!joins)
                leave();
            isReached = joins;
            last = i;
        }
    }
    leave();
    return lonely;
}

/// A sample that no line reaches would be one pixel: it gets a dot.
void paintLonely(QImage& frame, const QRect& plot, const CurveSeries& one, const ValueScale& scale, const QColor& color,
    bool isJoined)
{
    const std::vector<series::Bucket>& buckets = one.result.buckets;
    const auto count = static_cast<std::ptrdiff_t>(buckets.size());
    const auto join = isJoined ? count : static_cast<std::ptrdiff_t>(one.longestLine());
    const std::vector<int> lonely = lonelyOf(buckets, join, plot.width() < 4 * count);
    if (lonely.empty())
        return;
    QPainter painter(&frame);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.setClipRect(plot);
    for (const int i : lonely) {
        const series::Bucket& bucket = buckets[static_cast<std::size_t>(i)];
        const double x = plot.left() + (i + 0.5) * plot.width() / static_cast<double>(count);
        const double unit = std::max(scale.unitOf(bucket.last), -1.0); // -infinity for zero on a log scale
        const double y = plot.bottom() - (bucket.last > 0 ? unit : std::max(unit, 0.0)) * plot.height();
        painter.drawEllipse(QPointF(x, y), 2.5, 2.5);
    }
}

void paintGaps(QImage& frame, const QRect& plot, const std::vector<bool>& gaps, const Theme& theme)
{
    if (gaps.empty())
        return;
    QPainter painter(&frame);
    const auto count = static_cast<int>(gaps.size());
    for (int i = 0; i < count;) {
        int end = i + 1;
        if (!gaps[static_cast<std::size_t>(i)]) {
            i = end;
            continue;
        }
        while (end < count && gaps[static_cast<std::size_t>(end)])
            ++end;
        const double left = plot.left() + static_cast<double>(i) * plot.width() / count;
        const double right = plot.left() + static_cast<double>(end) * plot.width() / count;
        painter.setOpacity(0.6);
        glyphs::paintPattern(painter,
            QRectF(std::round(left), plot.top(), std::max(1.0, std::round(right - left) - 1), plot.height() - 1),
            CellState::Gap, theme);
        i = end;
    }
}

/// Where a sign is seen that signs of incidents would hide: right of them, or left at the lane's end.
double besideSigns(double x, double half, const QRectF& lane, const std::vector<IncidentSign>& over)
{
    const auto away = half + IncidentSign::kHalf;
    const auto isHidden = [away](double at, const IncidentSign& sign) { return std::abs(at - sign.x) < away; };
    double right = x;
    for (const IncidentSign& sign : over)
        right = isHidden(right, sign) ? sign.x + away : right;
    if (right + half <= lane.right())
        return right;
    double left = x;
    for (auto sign = over.rbegin(); sign != over.rend(); ++sign)
        left = isHidden(left, *sign) ? sign->x - away : left;
    return left;
}

/// Draws the lines of a picture, one by one.
class LinePainter {
public:
    LinePainter(QImage& frame, const QRect& plot, const CurvePicture& picture, const ValueScale& scale,
        double smoothing, const Theme& theme)
        : m_frame(frame)
        , m_plot(plot)
        , m_scale(scale)
        , m_smoothing(smoothing)
        , m_theme(theme)
        // As wide as the views ask for buckets, or two of these would share a column.
        , m_device(static_cast<int>(plot.left() * ratio()), static_cast<int>(plot.top() * ratio()),
              static_cast<int>(std::lround(plot.width() * ratio())), static_cast<int>(plot.height() * ratio()))
        // By time, slow steps are far apart, and the system is sampled by the clock: only what is marked as a gap is
        // one.
        , m_isJoined(picture.warp || (!picture.isEmpty() && isSystemMetric(picture.series.front())))
        , m_spans(frame, m_device)
        , m_trace(m_device.width(), m_device.height(), scale, m_isJoined ? SIZE_MAX : 0,
              picture.warp ? 0 : picture.range.count())
        , m_quality(picture.series.size() * static_cast<std::size_t>(m_device.width()) > kFineColumns
                  ? SpanPainter::Quality::Fast
                  : SpanPainter::Quality::Fine)
    {
    }

    void paint(const CurveSeries& one, bool isHighlighted)
    {
        if (one.isHidden)
            return;
        const auto pixels = static_cast<float>(ratio());
        SeriesStyle series = SeriesStyle::forSlot(one.slot, m_theme);
        if (isHighlighted && one.slot >= SeriesStyle::kDistinct)
            series.color = m_theme.accent;
        SpanStyle style;
        style.color = series.color.rgb();
        const bool isThin = one.isOtherRank && !isHighlighted;
        style.width = (isThin ? 1.0F : one.slot == 0 || isHighlighted ? 2.0F : 1.5F) * pixels;
        style.alpha = isThin ? kOtherRankAlpha : 1;
        if (one.isOtherRun && !one.hasRunColor)
            series = otherRunStyle(series);
        style.dashOn = static_cast<int>(series.dashOn * ratio());
        style.dashOff = static_cast<int>(series.dashOff * ratio());
        const std::vector<series::Bucket>& buckets = one.result.buckets;
        if (one.isGroup) {
            const std::vector<ColumnSpan> band = m_trace.envelope(buckets);
            if (!isHighlighted) // it has its tint already
                m_spans.fill(band, style.color, kEnvelopeAlpha);
            style.width = pixels;
            style.alpha = isHighlighted ? 1 : kEdgeAlpha;
            m_spans.stroke(edgeOf(band, true), style, m_quality);
            m_spans.stroke(edgeOf(band, false), style, m_quality);
            return;
        }
        if (isThin && m_smoothing > 0) {
            m_spans.stroke(m_trace.smoothed(buckets, m_smoothing, one.lead), style, m_quality);
            return;
        }
        paintLonely(m_frame, m_plot, one, m_scale, series.color, m_isJoined);
        if (m_smoothing <= 0) {
            m_spans.stroke(m_trace.raw(buckets), style, m_quality);
            return;
        }
        SpanStyle behind = style;
        behind.width = pixels;
        behind.alpha = kRawAlpha;
        m_spans.stroke(m_trace.raw(buckets), behind, m_quality);
        m_spans.stroke(m_trace.smoothed(buckets, m_smoothing, one.lead), style, m_quality);
    }

private:
    double ratio() const { return m_frame.devicePixelRatio(); }

    QImage& m_frame;
    const QRect m_plot;
    const ValueScale& m_scale;
    const double m_smoothing;
    const Theme& m_theme;
    const QRect m_device;
    const bool m_isJoined;
    SpanPainter m_spans;
    const CurveTrace m_trace;
    const SpanPainter::Quality m_quality;
};

}

void paintCurves(QImage& frame, const QRect& plot, const CurvePicture& picture, const ValueScale& scale,
    double smoothing, const Theme& theme)
{
    LinePainter lines(frame, plot, picture, scale, smoothing, theme);
    // Bands lie below other ranks, these below other runs, these below the selected; there the first is drawn last.
    std::vector<std::size_t> order(picture.series.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = order.size() - 1 - i;
    const auto layer = [&](std::size_t i) {
        const CurveSeries& one = picture.series[i];
        return one.isGroup ? 0 : one.isOtherRank ? 1 : !one.isOtherRun || one.hasRunColor ? 3 : 2;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return layer(a) < layer(b); });
    for (const std::size_t i : order)
        lines.paint(picture.series[i], false);
    // Gaps are where no series has a value, so nothing lies under the hatch.
    paintGaps(frame, plot, picture.gaps(), theme);
}

void paintHighlightedCurve(QImage& frame, const QRect& plot, const CurvePicture& picture, std::size_t series,
    const ValueScale& scale, double smoothing, const Theme& theme)
{
    LinePainter(frame, plot, picture, scale, smoothing, theme).paint(picture.series[series], true);
}

void paintClips(
    QPainter& painter, const QRect& plot, const CurvePicture& picture, const ValueScale& scale, const Theme& theme)
{
    constexpr double kHalf = 4;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    for (const CurveSeries& one : picture.series) {
        if (one.isGroup || one.isOtherRank || one.isOtherRun || one.isHidden)
            continue;
        painter.setBrush(SeriesStyle::forSlot(one.slot, theme).color);
        double highEnd = -1e9;
        double lowEnd = -1e9;
        const auto count = static_cast<double>(one.result.buckets.size());
        for (std::size_t i = 0; i < one.result.buckets.size(); ++i) {
            const series::Bucket& bucket = one.result.buckets[i];
            const double x = plot.left() + (static_cast<double>(i) + 0.5) * plot.width() / count;
            const auto mark = [&](double& end, double base, double tip) {
                if (x - kHalf < end)
                    return;
                painter.drawPolygon(QPolygonF({ { x - kHalf, base }, { x + kHalf, base }, { x, tip } }));
                end = x + kHalf;
            };
            if (bucket.finite > 0 && bucket.max > scale.high())
                mark(highEnd, plot.top() + 1, plot.top() - 4);
            // Zero and less have their own place below a log scale.
            if (bucket.finite > 0 && bucket.min < scale.low()
                && (scale.mode() != ValueScale::Mode::Log || bucket.min > 0))
                mark(lowEnd, plot.bottom() - 1, plot.bottom() + 4);
        }
    }
    painter.restore();
}

std::vector<bool> paintNonFiniteLane(QPainter& painter, const QRectF& lane, std::span<const CellState> states,
    const Theme& theme, const std::vector<IncidentSign>& over)
{
    std::vector<bool> taken(states.size());
    painter.save();
    const double middle = lane.center().y() + 1;
    constexpr double kSize = 7;
    double signEnd = -1e9;
    CellState lastSign = CellState::Value;
    for (std::size_t i = 0; i < states.size(); ++i) {
        if (!series::isNonFinite(states[i]))
            continue;
        const double x
            = lane.left() + (static_cast<double>(i) + 0.5) * lane.width() / static_cast<double>(states.size());
        const double seen = besideSigns(x, kSize / 2, lane, over);
        // One that has to move goes where no other stands.
        if (x - kSize / 2 >= signEnd || (states[i] != lastSign && (seen == x || seen - kSize / 2 >= signEnd))) {
            glyphs::paintSign(painter, QPointF(seen, middle), kSize, states[i], theme.criticalMark);
            signEnd = std::max(seen, x) + kSize / 2;
            lastSign = states[i];
            const double unit = (seen - lane.left()) / lane.width();
            const auto column = static_cast<std::size_t>(std::max(unit, 0.0) * static_cast<double>(states.size()));
            taken[std::min(column, states.size() - 1)] = true;
        }
        taken[i] = true;
        // Where signs are closer than their own width, every pixel still has its mark.
        painter.fillRect(QRectF(std::floor(x), lane.bottom() - 3, 1, 2), theme.criticalMark);
    }
    painter.restore();
    return taken;
}

}
