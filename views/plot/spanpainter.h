// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include <QImage>
#include <QRect>

class QPainter;

namespace telltale::views {

/// What one pixel column shows of a curve, in pixels from the plot's top (y grows downwards). The curve enters at
/// `left`, reaches from `top` to `bottom`, and leaves at `right`.
struct ColumnSpan {
    float left = 0;
    float middle = 0; ///< at the column's center, when the column has a single value
    float right = 0;
    float top = 0;
    float bottom = 0;
    bool present = false;
    bool single = false; ///< one value: left, middle and right are the whole curve
};

struct SpanStyle {
    QRgb color = 0;
    float width = 1.5F; ///< px
    float alpha = 1;
    int dashOn = 0; ///< px along the line; 0 = solid
    int dashOff = 0;
};

/// Paints curves column by column straight into an RGB32 image: a wide pen of QPainter takes 500 times as long. Into a
/// VectorFrame it draws paths.
/// Thread: any.
class SpanPainter {
public:
    enum class Quality {
        Fine, ///< exact area coverage of the stroke
        Fast, ///< vertical extent with soft ends
    };

    /// `plot` in device pixels of `image`.
    SpanPainter(QImage& image, const QRect& plot);

    /// One span a column, from the plot's left edge.
    void stroke(std::span<const ColumnSpan> columns, const SpanStyle& style, Quality quality);
    /// Between top and bottom of every column.
    void fill(std::span<const ColumnSpan> columns, QRgb color, float alpha);

private:
    void strokeFine(std::span<const ColumnSpan> columns, const SpanStyle& style);
    void strokeFast(std::span<const ColumnSpan> columns, const SpanStyle& style);
    void strokePath(std::span<const ColumnSpan> columns, const SpanStyle& style);
    void fillPath(std::span<const ColumnSpan> columns, QRgb color, float alpha);

    QImage& m_image;
    QPainter* m_vector; ///< of an image that draws lines
    QRect m_plot;
    std::vector<float> m_coverage;
};

}
