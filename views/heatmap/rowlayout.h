// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>
#include <vector>

#include <QString>

namespace telltale::views {

/// Where the rows of a heat map stand, in device pixels: equal heights, a little base between groups, and several rows
/// to one pixel where there are more rows than pixels. Thread: any (a value).
class RowLayout {
public:
    struct Band {
        int firstRow = 0;
        int lastRow = 0;
        QString label {};
        int top = 0;
        int bottom = 0; ///< exclusive
    };

    static constexpr int kGap = 2; ///< px between bands, unscaled

    RowLayout() = default;
    /// The bands follow one another from row 0 on; where they stand is found here. `gap` px between them, dropped when
    /// it would take more than a fifth of the height.
    RowLayout(std::vector<Band> bands, int height, int gap);

    /// px of a row, which may be parts of one, in a layout of so many.
    static double pitchOf(int rows, std::size_t bands, int height, int gap);

    int height() const { return m_height; }
    double pitch() const { return m_pitch; }
    int rows() const { return static_cast<int>(m_tops.size()); }
    /// More rows than pixels: one pixel line shows several rows.
    bool isCrowded() const { return m_crowded; }
    int top(int row) const { return m_tops[static_cast<std::size_t>(row)]; }
    int bottom(int row) const { return m_bottoms[static_cast<std::size_t>(row)]; }
    /// Row under a pixel line, -1 in a gap or outside.
    int rowAt(int y) const;
    /// First and last row that share a pixel line of a crowded layout.
    std::pair<int, int> rowsAt(int y) const;
    const std::vector<Band>& bands() const { return m_bands; }

private:
    static int between(int rows, std::size_t bands, int height, int gap); ///< px between two bands

    int m_height = 0;
    double m_pitch = 0;
    bool m_crowded = false;
    std::vector<int> m_tops;
    std::vector<int> m_bottoms;
    std::vector<Band> m_bands;
};

}
