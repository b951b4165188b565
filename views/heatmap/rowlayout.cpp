// SPDX-License-Identifier: GPL-3.0-or-later
#include "rowlayout.h"

#include <algorithm>

namespace telltale::views {

int RowLayout::between(int rows, std::size_t bands, int height, int gap)
{
    const int gaps = (static_cast<int>(bands) - 1) * gap;
    return gaps > height / 5 || rows + gaps > height ? 0 : gap;
}

double RowLayout::pitchOf(int rows, std::size_t bands, int height, int gap)
{
    const int gaps = static_cast<int>(bands) - 1;
    return static_cast<double>(height - gaps * between(rows, bands, height, gap)) / std::max(1, rows);
}

RowLayout::RowLayout(std::vector<Band> bands, int height, int gap)
    : m_height(std::max(height, 0))
{
    if (bands.empty() || m_height == 0)
        return;
    m_bands = std::move(bands);
    const int count = m_bands.back().lastRow + 1;
    m_crowded = count > m_height;
    m_pitch = pitchOf(count, m_bands.size(), m_height, gap);
    const int beside = between(count, m_bands.size(), m_height, gap);
    const std::int64_t room = m_height - (static_cast<std::int64_t>(m_bands.size()) - 1) * beside;
    m_tops.resize(static_cast<std::size_t>(count));
    m_bottoms.resize(static_cast<std::size_t>(count));
    for (std::size_t band = 0; band < m_bands.size(); ++band) {
        const int offset = static_cast<int>(band) * beside;
        for (int row = m_bands[band].firstRow; row <= m_bands[band].lastRow; ++row) {
            const auto i = static_cast<std::size_t>(row);
            m_tops[i] = offset + static_cast<int>(room * row / count);
            m_bottoms[i] = std::max(m_tops[i] + 1, offset + static_cast<int>(room * (row + 1) / count));
        }
        m_bands[band].top = top(m_bands[band].firstRow);
        m_bands[band].bottom = bottom(m_bands[band].lastRow);
    }
}

int RowLayout::rowAt(int y) const
{
    if (y < 0 || y >= m_height || m_tops.empty())
        return -1;
    const auto after = std::upper_bound(m_tops.begin(), m_tops.end(), y);
    if (after == m_tops.begin())
        return -1;
    const int row = static_cast<int>(after - m_tops.begin()) - 1;
    return y < bottom(row) ? row : -1;
}

std::pair<int, int> RowLayout::rowsAt(int y) const
{
    const auto first = std::lower_bound(m_tops.begin(), m_tops.end(), y);
    const auto last = std::upper_bound(m_tops.begin(), m_tops.end(), y);
    if (first == last)
        return { rowAt(y), rowAt(y) };
    return { static_cast<int>(first - m_tops.begin()), static_cast<int>(last - m_tops.begin()) - 1 };
}

}
