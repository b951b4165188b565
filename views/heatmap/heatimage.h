// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>

#include "heatpicture.h"
#include "rowlayout.h"

namespace telltale::views {

/// Paints the cells of a heat map into an RGB32 image of device pixels, blitted 1:1 afterwards. Non-finite cells keep
/// their color and a second sign at every size; a value never hides one, whatever shares its pixel. Thread: any.
class HeatImage {
public:
    /// `size` and `layout` in device pixels, `scale` device pixels to one logical pixel.
    static QImage render(
        const HeatPicture& picture, const RowLayout& layout, QSize size, double scale, const Theme& theme);
    /// Everything for a plot of this size in logical pixels; taken from the picture where it was painted before.
    static QImage cells(const HeatPicture& picture, QSize plot, double scale, const Theme& theme);
    static RowLayout layout(const HeatPicture& picture, int plotHeight, double scale);
    /// Left edge of a column in an image `width` wide.
    static int columnLeft(int column, int columns, int width)
    {
        return static_cast<int>(static_cast<std::int64_t>(column) * width / columns);
    }
};

}
