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

constexpr float kFar = 10'000; ///< px

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
    return (static_cast<unsigned>(static_cast<int>(std::clamp(coverage, 0.0F, 1.0F) * 512.0F)) + 1) / 2;
}

/// A straight piece of the stroke that crosses `share` of the column from y = a to y = b, as thick as `reach` above and
/// below it.
template <typename Real> class Piece {
public:
    Piece(Real a, Real b, Real share, Real half)
        : m_share(share)
        , m_low(std::min(a, b))
        , m_high(std::max(a, b))
    {
        // The stroke's vertical thickness grows with the slope.
        const Real slope = (b - a) / share;
        m_reach = half * std::sqrt(1 + slope * slope);
        constexpr Real kFlat { 1e-6F };
        m_each = 1 / (2 * std::max(m_high - m_low, kFlat));
    }
    int first() const { return static_cast<int>(std::floor(m_low - m_reach)); }
    int last() const { return static_cast<int>(std::floor(m_high + m_reach)); }
    /// Of the cell from y = top to y = bottom.
    float covered(Real top, Real bottom) const { return static_cast<float>(m_share * (below(top) - below(bottom))); }

private:
    /// What the stroke covers from y on downwards, where y is larger.
    Real below(Real y) const { return below(y, -m_reach) - below(y, m_reach); }
    /// Of all that lies below an edge of the stroke, `off` from its middle, the share at each y added up from y on. It
    /// has no branch, so that several rows of a column are worked out at a time.
    Real below(Real y, Real off) const
    {
        const Real most = m_high - m_low;
        Real part = m_high - y - off;
        part = part < 0 ? 0 : part;
        part = part > most ? most : part;
        const Real rest = m_low - y - off;
        return part * part * m_each + (rest < 0 ? 0 : rest);
    }

    Real m_share;
    Real m_low;
    Real m_high;
    Real m_reach = 0;
    Real m_each = 0; ///< 1 / 2 (high - low)
};

/// The line of a column goes from its left edge to its middle and on to its right edge.
template <typename Real, typename Take> void eachPiece(const ColumnSpan& column, float half, const Take& take)
{
    constexpr Real kShare { 0.5F };
    take(Piece<Real>(column.left, column.middle, kShare, half));
    take(Piece<Real>(column.middle, column.right, kShare, half));
}

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
        const auto add = [&](const auto& piece) {
            eachEnd(std::max(first, piece.first()), std::min(last, piece.last()), [&](int y, float at) {
                const float cellLow = at < low ? low : at;
                const float cellHigh = at + 1 > high ? high : at + 1;
                coverage[y] += piece.covered(cellLow, cellHigh);
            });
        };
        // A float would lose the hundredth of a pixel where the line comes from far outside of the plot.
        if (high - low < kFar)
            eachPiece<float>(column, half, add);
        else
            eachPiece<double>(column, half, add);
        if (!column.single) {
            const auto from = static_cast<int>(std::floor(column.top - half));
            const auto to = static_cast<int>(std::floor(column.bottom + half));
            eachEnd(std::max(first, from), std::min(last, to), [&](int y, float at) {
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
        if (const unsigned alpha = alphaOf(style.alpha); alpha < 256) {
            for (int y = inside; y < beyond; ++y)
                blend(pixels[y * stride], style.color, alpha);
        } else {
            for (int y = inside; y < beyond; ++y)
                pixels[y * stride] = style.color | 0xFF000000U;
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
