// SPDX-License-Identifier: GPL-3.0-or-later
#include "spanpainter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QPainter>
#include <QPainterPath>

#include <telltale/common/svgpage.h>

namespace telltale::views {

namespace {

inline void blend(QRgb& pixel, QRgb color, unsigned alpha)
{
    const unsigned keep = 256 - alpha;
    const unsigned redBlue = ((pixel & 0xFF00FF) * keep + (color & 0xFF00FF) * alpha) >> 8;
    const unsigned green = ((pixel & 0x00FF00) * keep + (color & 0x00FF00) * alpha) >> 8;
    pixel = 0xFF000000U | (redBlue & 0xFF00FF) | (green & 0x00FF00);
}

inline unsigned alphaOf(float coverage)
{
    // 256 coverage, to the nearest: a halving in integers, where lround would be a call for each pixel.
    return (static_cast<unsigned>(std::clamp(coverage, 0.0F, 1.0F) * 512.0F) + 1) / 2;
}

/// Integral over s in 0..1 of clamp(a + (b - a) s, low, high).
float clampedMean(float a, float b, float low, float high)
{
    if (a > b)
        std::swap(a, b);
    if (b <= low)
        return low;
    if (a >= high)
        return high;
    if (a >= low && b <= high)
        return (a + b) / 2;
    const float span = b - a;
    const float enter = a < low ? (low - a) / span : 0; // share below
    const float leave = b > high ? (b - high) / span : 0; // share above
    const float from = std::max(a, low);
    const float to = std::min(b, high);
    return enter * low + leave * high + (1 - enter - leave) * (from + to) / 2;
}

/// A straight piece of the stroke that crosses `share` of the column from y = a to y = b.
struct Piece {
    float a;
    float b;
    float share;
};

/// Which parts of a dashed line are drawn, by how far along it they are.
class Dashes {
public:
    explicit Dashes(const SpanStyle& style)
        : m_on(static_cast<float>(style.dashOn))
        , m_period(static_cast<float>(style.dashOn + style.dashOff))
    {
    }
    void restart() { m_at = m_length = 0; }
    /// Of a plot of this height, outside of which the line has no length.
    void enter(const ColumnSpan& column, float height)
    {
        m_at = std::fmod(m_at + m_length, m_period); // a long line keeps its precision
        m_top = std::clamp(column.top, 0.0F, height);
        m_bottom = std::clamp(column.bottom, 0.0F, height);
        m_falls = column.single ? column.left <= column.right
                                : std::abs(column.left - column.top) <= std::abs(column.left - column.bottom);
        m_length = std::hypot(1.0F, m_bottom - m_top);
        m_ofRow = m_length / std::max(m_bottom - m_top, 1.0F);
    }
    /// 0..1 of row y of the column. What is flat is one piece: along a row its stroke would have no length.
    float at(int y) const
    {
        if (m_bottom - m_top <= 1)
            return share(m_at, m_at + m_length);
        const float rows = m_falls ? static_cast<float>(y) - m_top : m_bottom - static_cast<float>(y + 1);
        return share(m_at + rows * m_ofRow, m_at + (rows + 1) * m_ofRow);
    }

private:
    float share(float from, float to) const { return (drawnUntil(to) - drawnUntil(from)) / (to - from); }
    float drawnUntil(float length) const
    {
        const float whole = std::floor(length / m_period);
        return whole * m_on + std::min(length - whole * m_period, m_on);
    }

    float m_on; // px
    float m_period;
    float m_at = 0; ///< px of the line before the column
    float m_length = 0; ///< of the line in the column
    float m_ofRow = 0; ///< of the line in one of its rows
    float m_top = 0;
    float m_bottom = 0;
    bool m_falls = false;
};

}

SpanPainter::SpanPainter(QImage& image, const QRect& plot)
    : m_image(image)
    , m_vector(VectorFrame::painterOf(image))
    , m_plot(plot.intersected(image.rect()))
{
}

void SpanPainter::stroke(std::span<const ColumnSpan> columns, const SpanStyle& style, Quality quality)
{
    if (m_plot.isEmpty())
        return;
    if (m_vector)
        strokePath(columns, style);
    else if (quality == Quality::Fine)
        strokeFine(columns, style);
    else
        strokeFast(columns, style);
}

void SpanPainter::strokeFine(std::span<const ColumnSpan> columns, const SpanStyle& style)
{
    const int height = m_plot.height();
    const auto stride = m_image.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb));
    QRgb* const origin = reinterpret_cast<QRgb*>(m_image.scanLine(m_plot.top())) + m_plot.left();
    const int count = std::min(static_cast<int>(columns.size()), m_plot.width());
    const float half = style.width / 2;
    m_coverage.assign(static_cast<std::size_t>(height) + 1, 0);
    Dashes dashes(style);
    for (int x = 0; x < count; ++x) {
        const ColumnSpan& column = columns[static_cast<std::size_t>(x)];
        if (!column.present) {
            dashes.restart();
            continue;
        }
        if (style.dashOn > 0)
            dashes.enter(column, static_cast<float>(height));
        // A steep stroke is wider than its column: it reaches as far as the columns beside it do.
        float top = column.top;
        float bottom = column.bottom;
        for (const int beside : { x - 1, x + 1 }) {
            if (beside < 0 || beside >= count || !columns[static_cast<std::size_t>(beside)].present)
                continue;
            top = std::min(top, columns[static_cast<std::size_t>(beside)].top);
            bottom = std::max(bottom, columns[static_cast<std::size_t>(beside)].bottom);
        }
        const float low = top - half;
        const float high = bottom + half;
        const int first = std::max(0, static_cast<int>(std::floor(low)));
        const int last = std::min(height - 1, static_cast<int>(std::floor(high)));
        if (first > last)
            continue;
        // Between its ends a column of many values is covered whole: all but the pixels at the ends are plain.
        const bool hasInside = !column.single && style.dashOn == 0;
        const int inside = hasInside ? std::max(first, static_cast<int>(std::ceil(column.top - half))) : last + 1;
        const int beyond = std::max(inside, std::min(last + 1, static_cast<int>(std::floor(column.bottom + half))));
        const auto eachEnd = [inside, beyond](int from, int to, const auto& work) {
            for (int y = from; y <= std::min(to, inside - 1); ++y)
                work(y, static_cast<float>(y));
            for (int y = std::max(from, beyond); y <= to; ++y)
                work(y, static_cast<float>(y));
        };
        float* const coverage = m_coverage.data();
        eachEnd(first, last, [coverage](int y, float) { coverage[y] = 0; });
        const auto add = [&](const Piece& piece) {
            // The stroke's vertical thickness grows with the slope.
            const float slope = (piece.b - piece.a) / piece.share;
            const float reach = half * std::sqrt(1 + slope * slope);
            const int from = std::max(first, static_cast<int>(std::floor(std::min(piece.a, piece.b) - reach)));
            const int to = std::min(last, static_cast<int>(std::floor(std::max(piece.a, piece.b) + reach)));
            eachEnd(from, to, [&](int y, float at) {
                const float cellLow = std::max(at, low);
                const float cellHigh = std::min(at + 1, high);
                if (cellHigh <= cellLow)
                    return;
                const float covered = clampedMean(piece.a + reach, piece.b + reach, cellLow, cellHigh)
                    - clampedMean(piece.a - reach, piece.b - reach, cellLow, cellHigh);
                coverage[y] += covered * piece.share;
            });
        };
        add({ column.left, column.middle, 0.5F });
        add({ column.middle, column.right, 0.5F });
        if (!column.single) {
            eachEnd(first, last, [&](int y, float at) {
                const float covered = std::min(at + 1, column.bottom + half) - std::max(at, column.top - half);
                coverage[y] = std::max(coverage[y], covered);
            });
        }
        for (int y = first; style.dashOn > 0 && y <= last; ++y)
            coverage[y] *= dashes.at(y);
        QRgb* const pixels = origin + x;
        eachEnd(first, last, [&](int y, float) {
            if (const unsigned alpha = alphaOf(coverage[y] * style.alpha); alpha > 0)
                blend(pixels[y * stride], style.color, alpha);
        });
        const unsigned alpha = alphaOf(style.alpha);
        for (int y = inside; y < beyond; ++y)
            blend(pixels[y * stride], style.color, alpha);
    }
}

void SpanPainter::strokeFast(std::span<const ColumnSpan> columns, const SpanStyle& style)
{
    const int height = m_plot.height();
    const auto stride = m_image.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb));
    QRgb* const origin = reinterpret_cast<QRgb*>(m_image.scanLine(m_plot.top())) + m_plot.left();
    const int count = std::min(static_cast<int>(columns.size()), m_plot.width());
    const float half = style.width / 2;
    const unsigned full = alphaOf(style.alpha);
    const bool opaque = full >= 256;
    const QRgb solid = style.color | 0xFF000000U;
    const auto limit = static_cast<float>(height);
    const float scale = std::clamp(style.alpha, 0.0F, 1.0F) * 256.0F;
    Dashes dashes(style);
    for (int x = 0; x < count; ++x) {
        const ColumnSpan& column = columns[static_cast<std::size_t>(x)];
        if (!column.present) {
            dashes.restart();
            continue;
        }
        if (style.dashOn > 0)
            dashes.enter(column, limit);
        const float top = std::max(column.top - half, 0.0F);
        const float bottom = std::min(column.bottom + half, limit);
        if (bottom <= top)
            continue;
        const int first = static_cast<int>(top);
        const int last = std::min(static_cast<int>(bottom), height - 1);
        QRgb* pixel = origin + first * stride + x;
        if (style.dashOn > 0) {
            for (int y = first; y <= last; ++y, pixel += stride) {
                const float covered
                    = std::min(static_cast<float>(y + 1), bottom) - std::max(static_cast<float>(y), top);
                blend(*pixel, solid, alphaOf(covered * dashes.at(y) * style.alpha));
            }
            continue;
        }
        if (first == last) {
            blend(*pixel, solid, alphaOf((bottom - top) * style.alpha));
            continue;
        }
        blend(*pixel, solid, static_cast<unsigned>((static_cast<float>(first + 1) - top) * scale));
        pixel += stride;
        for (int y = first + 1; y < last; ++y, pixel += stride) {
            if (opaque)
                *pixel = solid;
            else
                blend(*pixel, solid, full);
        }
        blend(*pixel, solid, static_cast<unsigned>(std::min(bottom - static_cast<float>(last), 1.0F) * scale));
    }
}

void SpanPainter::strokePath(std::span<const ColumnSpan> columns, const SpanStyle& style)
{
    const auto limit = static_cast<float>(m_plot.height());
    const auto within = [limit](float y) { return static_cast<double>(std::clamp(y, 0.0F, limit)); };
    QPainterPath path;
    bool isOpen = false;
    const std::size_t count = std::min(columns.size(), static_cast<std::size_t>(m_plot.width()));
    for (std::size_t i = 0; i < count; ++i) {
        const ColumnSpan& column = columns[i];
        const auto x = static_cast<double>(i);
        if (!std::exchange(isOpen, column.present) && isOpen)
            path.moveTo(x, within(column.left));
        if (!column.present)
            continue;
        path.lineTo(x + 0.5, within(column.middle));
        if (!column.single) { // what lies between the pixels of a column
            path.lineTo(x + 0.5, within(column.top));
            path.lineTo(x + 0.5, within(column.bottom));
            path.lineTo(x + 0.5, within(column.middle));
        }
        path.lineTo(x + 1, within(column.right));
    }
    const double ratio = m_image.devicePixelRatio();
    QColor color(style.color);
    color.setAlphaF(style.alpha);
    QPen pen(color, static_cast<double>(style.width), Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin);
    const auto width = static_cast<double>(style.width);
    if (style.dashOn > 0)
        pen.setDashPattern({ style.dashOn / width, style.dashOff / width });
    m_vector->save();
    m_vector->translate(QPointF(m_plot.topLeft()) / ratio);
    m_vector->scale(1 / ratio, 1 / ratio);
    m_vector->setBrush(Qt::NoBrush);
    m_vector->strokePath(path, pen);
    m_vector->restore();
}

void SpanPainter::fillPath(std::span<const ColumnSpan> columns, QRgb color, float alpha)
{
    const auto limit = static_cast<float>(m_plot.height());
    const auto within = [limit](float y) { return static_cast<double>(std::clamp(y, 0.0F, limit)); };
    const double ratio = m_image.devicePixelRatio();
    QColor brush(color);
    brush.setAlphaF(alpha);
    m_vector->save();
    m_vector->translate(QPointF(m_plot.topLeft()) / ratio);
    m_vector->scale(1 / ratio, 1 / ratio);
    m_vector->setPen(Qt::NoPen);
    m_vector->setBrush(brush);
    const std::size_t count = std::min(columns.size(), static_cast<std::size_t>(m_plot.width()));
    for (std::size_t from = 0; from < count;) {
        std::size_t to = from;
        while (to < count && columns[to].present)
            ++to;
        QPolygonF band;
        for (std::size_t i = from; i < to; ++i)
            band << QPointF(static_cast<double>(i), within(columns[i].top))
                 << QPointF(static_cast<double>(i + 1), within(columns[i].top));
        for (std::size_t i = to; i-- > from;)
            band << QPointF(static_cast<double>(i + 1), within(columns[i].bottom))
                 << QPointF(static_cast<double>(i), within(columns[i].bottom));
        if (!band.isEmpty())
            m_vector->drawPolygon(band);
        from = to + 1;
    }
    m_vector->restore();
}

void SpanPainter::fill(std::span<const ColumnSpan> columns, QRgb color, float alpha)
{
    if (m_plot.isEmpty())
        return;
    if (m_vector)
        return fillPath(columns, color, alpha);
    std::vector<ColumnSpan> flat(columns.begin(), columns.end());
    SpanStyle style;
    style.color = color;
    style.alpha = alpha;
    style.width = 0;
    strokeFast(flat, style);
}

}
