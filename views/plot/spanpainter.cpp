// SPDX-License-Identifier: GPL-3.0-or-later
#include "spanpainter.h"

#include <algorithm>
#include <cmath>

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

}

SpanPainter::SpanPainter(QImage& image, const QRect& plot)
    : m_image(image)
    , m_plot(plot.intersected(image.rect()))
{
}

void SpanPainter::stroke(std::span<const ColumnSpan> columns, const SpanStyle& style, Quality quality)
{
    if (m_plot.isEmpty())
        return;
    if (quality == Quality::Fine)
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
    for (int x = 0; x < count; ++x) {
        const ColumnSpan& column = columns[static_cast<std::size_t>(x)];
        if (!column.present || (style.dashOn > 0 && x % (style.dashOn + style.dashOff) >= style.dashOn))
            continue;
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
        const auto begin = m_coverage.begin() + first;
        std::fill(begin, begin + (last - first + 1), 0.0F);
        const auto add = [&](const Piece& piece) {
            // The stroke's vertical thickness grows with the slope.
            const float slope = (piece.b - piece.a) / piece.share;
            const float reach = half * std::sqrt(1 + slope * slope);
            const int from = std::max(first, static_cast<int>(std::floor(std::min(piece.a, piece.b) - reach)));
            const int to = std::min(last, static_cast<int>(std::floor(std::max(piece.a, piece.b) + reach)));
            for (int y = from; y <= to; ++y) {
                const float cellLow = std::max(static_cast<float>(y), low);
                const float cellHigh = std::min(static_cast<float>(y + 1), high);
                if (cellHigh <= cellLow)
                    continue;
                const float covered = clampedMean(piece.a + reach, piece.b + reach, cellLow, cellHigh)
                    - clampedMean(piece.a - reach, piece.b - reach, cellLow, cellHigh);
                m_coverage[static_cast<std::size_t>(y)] += covered * piece.share;
            }
        };
        add({ column.left, column.middle, 0.5F });
        add({ column.middle, column.right, 0.5F });
        if (!column.single) {
            for (int y = first; y <= last; ++y) {
                const float covered = std::min(static_cast<float>(y + 1), column.bottom + half)
                    - std::max(static_cast<float>(y), column.top - half);
                float& cell = m_coverage[static_cast<std::size_t>(y)];
                cell = std::max(cell, covered);
            }
        }
        QRgb* pixel = origin + first * stride + x;
        for (int y = first; y <= last; ++y, pixel += stride) {
            const unsigned alpha = alphaOf(m_coverage[static_cast<std::size_t>(y)] * style.alpha);
            if (alpha > 0)
                blend(*pixel, style.color, alpha);
        }
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
    for (int x = 0; x < count; ++x) {
        const ColumnSpan& column = columns[static_cast<std::size_t>(x)];
        if (!column.present || (style.dashOn > 0 && x % (style.dashOn + style.dashOff) >= style.dashOn))
            continue;
        const float top = std::max(column.top - half, 0.0F);
        const float bottom = std::min(column.bottom + half, limit);
        if (bottom <= top)
            continue;
        const int first = static_cast<int>(top);
        const int last = std::min(static_cast<int>(bottom), height - 1);
        QRgb* pixel = origin + first * stride + x;
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

void SpanPainter::fill(std::span<const ColumnSpan> columns, QRgb color, float alpha)
{
    if (m_plot.isEmpty())
        return;
    std::vector<ColumnSpan> flat(columns.begin(), columns.end());
    SpanStyle style;
    style.color = color;
    style.alpha = alpha;
    style.width = 0;
    strokeFast(flat, style);
}

}
