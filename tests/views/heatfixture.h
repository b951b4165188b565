// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <random>

#include <QImage>

#include <telltale/heatmap/heatimage.h>

namespace telltale::test {

/// Rows of values of one distribution.
inline views::HeatPicture picture(int rows, int columns, views::HeatScale scale = views::HeatScale::Log)
{
    views::HeatPicture p;
    p.scaleMode = scale;
    p.rows.resize(static_cast<std::size_t>(rows));
    p.result.range = { Step { 0 }, Step { columns - 1 } };
    p.result.rows = rows;
    p.result.columns = columns;
    p.result.reduction = series::Reduction::LargestMagnitude;
    const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    std::mt19937 random(4);
    std::lognormal_distribution<float> values(1, 1);
    p.result.values.resize(count);
    for (float& value : p.result.values)
        value = values(random);
    p.result.states.assign(count, series::CellState::Value);
    return p;
}

inline int pixelsOf(const QImage& image, QRgb color)
{
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y));
        count += static_cast<int>(std::count(line, line + image.width(), color));
    }
    return count;
}

}
