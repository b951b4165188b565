// SPDX-License-Identifier: GPL-3.0-or-later
#include "heatimage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include <QPainter>

#include <telltale/common/colormap.h>
#include <telltale/common/glyphs.h>

#include "colorindex.h"

namespace telltale::views {

using series::CellState;

namespace {

constexpr double kGlyphSize = 9; ///< logical px; smaller cells get a dash
constexpr int kDashedRow = 5; ///< logical px; lower rows share their dashes
constexpr int kDashedCell
    = 4; ///< logical px from a dash to the next; narrower cells share them, wide ones have several

struct Cells {
    std::vector<float> values;
    std::vector<CellState> states;
};

/// Several rows in one pixel line: the strongest state of each column, and the value farthest from the others.
void merge(const HeatPicture& picture, int first, int last, Cells& out)
{
    const auto columns = static_cast<std::size_t>(picture.columns());
    const std::size_t begin = static_cast<std::size_t>(first) * columns;
    out.values.assign(picture.shown.begin() + static_cast<std::ptrdiff_t>(begin),
        picture.shown.begin() + static_cast<std::ptrdiff_t>(begin + columns));
    out.states.assign(picture.result.states.begin() + static_cast<std::ptrdiff_t>(begin),
        picture.result.states.begin() + static_cast<std::ptrdiff_t>(begin + columns));
    const bool smallest = picture.result.reduction == series::Reduction::Smallest;
    for (int row = first + 1; row <= last; ++row) {
        const std::size_t offset = static_cast<std::size_t>(row) * columns;
        for (std::size_t c = 0; c < columns; ++c) {
            const CellState state = picture.result.states[offset + c];
            const float value = picture.shown[offset + c];
            if (state > out.states[c]) {
                out.states[c] = state;
                out.values[c] = value;
            } else if (state == CellState::Value && out.states[c] == CellState::Value) {
                const bool stronger = smallest ? value < out.values[c] : std::abs(value) > std::abs(out.values[c]);
                if (stronger)
                    out.values[c] = value;
            }
        }
    }
}

/// More columns than pixels (a late answer in a smaller window): the strongest of the columns that share a pixel.
void fold(const float* values, const CellState* states, int columns, int width, Cells& out)
{
    out.values.assign(static_cast<std::size_t>(width), 0);
    out.states.assign(static_cast<std::size_t>(width), CellState::NotCollected);
    for (int c = 0; c < columns; ++c) {
        const auto x = static_cast<std::size_t>(static_cast<std::int64_t>(c) * width / columns);
        const bool stronger = states[c] > out.states[x]
            || (states[c] == out.states[x] && std::abs(values[c]) > std::abs(out.values[x]));
        if (stronger) {
            out.states[x] = states[c];
            out.values[x] = values[c];
        }
    }
}

/// Everything in a band of lines that is not a value, painted over the band's plain colors.
class SpecialPainter {
public:
    SpecialPainter(QImage& image, double scale, QSizeF cell, const Theme& theme)
        : m_image(image)
        , m_scale(scale)
        , m_unit(std::max(1, static_cast<int>(std::lround(scale))))
        , m_theme(theme)
        , m_cellWidth(cell.width())
        , m_share(static_cast<int>(std::ceil(kDashedRow * m_unit / cell.height())))
        , m_dashes(static_cast<std::size_t>(image.width()), std::numeric_limits<int>::min() / 2)
    {
    }

    void beginRow() { ++m_row; }

    /// Columns [first, last) have the same state and cover [left, right) x [top, bottom).
    void run(CellState state, int columns, int left, int right, int top, int bottom)
    {
        if (!series::isNonFinite(state)) {
            pattern(state, left, right, top, bottom);
            return;
        }
        const double width = static_cast<double>(right - left) / columns;
        if (width >= kGlyphSize * m_scale && bottom - top >= kGlyphSize * m_scale)
            signs(state, columns, left, right, top, bottom);
        else
            dashes(state, left, right, top, bottom);
    }

private:
    QRgb* line(int y) { return reinterpret_cast<QRgb*>(m_image.scanLine(y)); }

    void pattern(CellState state, int left, int right, int top, int bottom)
    {
        if (state == CellState::Absent)
            return;
        const QRgb ink = glyphs::patternColor(state, m_theme).rgb();
        for (int y = top; y < bottom; ++y) {
            QRgb* pixels = line(y);
            for (int x = left; x < right; ++x) {
                if (glyphs::patternInk(state, x / m_unit, y / m_unit))
                    pixels[x] = ink;
            }
        }
    }

    /// A dash in the middle of every cell that has the room. Low rows and narrow cells share a lattice of dashes as
    /// dense as that, whoever the neighbors are; what is narrower than it has its own. Rows that begin at different
    /// columns have the lattice at the same x, or they could not share.
    void dashes(CellState state, int left, int right, int top, int bottom)
    {
        const int lines = bottom - top;
        const int length = std::min(2 * m_unit, right - left);
        const int height = lines <= 2 * m_unit ? 1 : m_unit;
        if (lines == height && right - left <= length)
            return; // the fill must be seen beside it
        const double own = m_cellWidth / std::max(1.0, std::floor(m_cellWidth / (kDashedCell * m_unit)));
        const double pitch = std::max<double>(own, kDashedCell * m_unit);
        const QRgb ink = glyphs::ink(state).rgb();
        const auto dash = [&](double middle) {
            const auto x = static_cast<int>(std::lround(middle - length / 2.0));
            int& last = m_dashes[static_cast<std::size_t>(x)];
            if (m_row - last < m_share)
                return;
            last = m_row;
            for (int y = top + (lines - height) / 2; y < top + (lines + height) / 2; ++y)
                std::fill_n(line(y) + x, length, ink);
        };
        double middle = (std::ceil((left + length / 2.0) / pitch - 0.5) + 0.5) * pitch;
        if (middle + length / 2.0 > right)
            dash((left + right) / 2.0);
        for (; middle + length / 2.0 <= right; middle += pitch)
            dash(middle);
    }

    void signs(CellState state, int columns, int left, int right, int top, int bottom)
    {
        if (!m_painter)
            m_painter = std::make_unique<QPainter>(&m_image);
        const double width = static_cast<double>(right - left) / columns;
        const double size = std::min({ width, static_cast<double>(bottom - top), 14 * m_scale }) * 0.62;
        for (int i = 0; i < columns; ++i)
            glyphs::paintSign(
                *m_painter, QPointF(left + (i + 0.5) * width, (top + bottom) / 2.0), size, state, glyphs::ink(state));
    }

    QImage& m_image;
    double m_scale;
    int m_unit;
    const Theme& m_theme;
    double m_cellWidth; ///< device px of a column
    int m_row = 0;
    int m_share; ///< rows that have one line of dashes
    std::vector<int> m_dashes; ///< of each x, the row of the last one
    std::unique_ptr<QPainter> m_painter;
};

}

QImage HeatImage::render(
    const HeatPicture& picture, const RowLayout& layout, QSize size, double scale, const Theme& theme)
{
    QImage image(size, QImage::Format_RGB32);
    image.fill(theme.base);
    const bool folds = picture.columns() > size.width();
    const int columns = folds ? size.width() : picture.columns();
    if (columns <= 0 || layout.rows() == 0 || size.isEmpty())
        return image;
    const ColorTable& table = picture.isDiverging() ? divergingTable(theme.mode) : kSequentialTable;
    const ColorIndex index(picture.scale);
    const QRgb base = theme.base.rgb();
    std::array<QRgb, 8> special {};
    for (std::size_t s = 0; s < special.size(); ++s)
        special[s] = glyphs::fill(static_cast<CellState>(s), theme).rgb();

    const auto columnCount = static_cast<std::size_t>(columns);
    std::vector<QRgb> colors(columnCount);
    std::vector<QRgb> pixels(static_cast<std::size_t>(size.width()), base);
    const double rowHeight = layout.isCrowded() ? 1 : static_cast<double>(layout.height()) / layout.rows();
    SpecialPainter specials(image, scale, QSizeF(static_cast<double>(size.width()) / columns, rowHeight), theme);
    Cells merged;
    Cells folded;
    Cells repeated;
    const bool isHeld = picture.holds(size.width() / scale);

    const auto paintBand = [&](const float* values, const CellState* states, int top, int bottom) {
        if (isHeld) {
            repeated.values.resize(picture.held.size());
            repeated.states.resize(picture.held.size());
            std::ranges::transform(picture.held, repeated.values.begin(), [values](int from) { return values[from]; });
            std::ranges::transform(picture.held, repeated.states.begin(), [states](int from) { return states[from]; });
            values = repeated.values.data();
            states = repeated.states.data();
        }
        if (folds) {
            fold(values, states, picture.columns(), columns, folded);
            values = folded.values.data();
            states = folded.states.data();
        }
        bool onlyValues = true;
        for (std::size_t c = 0; c < columnCount; ++c) {
            const CellState state = states[c];
            if (state == CellState::Value) {
                colors[c] = table[index.indexOf(values[c])];
            } else {
                colors[c] = special[static_cast<std::size_t>(state)];
                onlyValues = false;
            }
        }
        const QRgb* source = colors.data();
        if (columns != size.width()) {
            for (int c = 0; c < columns; ++c) {
                const int left = columnLeft(c, columns, size.width());
                const int right = columnLeft(c + 1, columns, size.width());
                std::fill(pixels.begin() + left, pixels.begin() + right, colors[static_cast<std::size_t>(c)]);
            }
            source = pixels.data();
        }
        for (int y = top; y < bottom; ++y)
            std::memcpy(image.scanLine(y), source, static_cast<std::size_t>(size.width()) * sizeof(QRgb));
        specials.beginRow();
        if (onlyValues)
            return;
        for (int c = 0; c < columns;) {
            const CellState state = states[c];
            int end = c + 1;
            while (end < columns && states[end] == state)
                ++end;
            if (state != CellState::Value)
                specials.run(state, end - c, columnLeft(c, columns, size.width()),
                    columnLeft(end, columns, size.width()), top, bottom);
            c = end;
        }
    };

    if (layout.isCrowded()) {
        for (int y = 0; y < std::min(layout.height(), size.height()); ++y) {
            const auto [first, last] = layout.rowsAt(y);
            if (first < 0)
                continue;
            merge(picture, first, last, merged);
            paintBand(merged.values.data(), merged.states.data(), y, y + 1);
        }
        return image;
    }
    for (int row = 0; row < layout.rows(); ++row) {
        const std::size_t offset = static_cast<std::size_t>(row) * static_cast<std::size_t>(picture.columns());
        paintBand(picture.shown.data() + offset, picture.result.states.data() + offset, layout.top(row),
            std::min(layout.bottom(row), size.height()));
    }
    return image;
}

QImage HeatImage::cells(const HeatPicture& picture, QSize plot, double scale, const Theme& theme)
{
    const QImage& known = picture.cells;
    if (known.size() == plot * scale && known.devicePixelRatio() == scale && picture.cellsTheme == &theme)
        return known;
    QImage image = render(picture, layout(picture, plot.height(), scale), plot * scale, scale, theme);
    image.setDevicePixelRatio(scale);
    return image;
}

RowLayout HeatImage::layout(const HeatPicture& picture, int plotHeight, double scale)
{
    return RowLayout(
        picture.bands, static_cast<int>(plotHeight * scale), static_cast<int>(std::lround(RowLayout::kGap * scale)));
}

}
