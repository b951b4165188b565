// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <telltale/common/valuescale.h>

namespace telltale::views {

/// Turns values into one of 256 colors of a scale, exactly: the index is the number of thresholds valueAt(i / 256),
/// i = 1..255, that are <= the value. A table over the upper half of the float's bits finds it without a logarithm.
/// Thread: any (immutable).
class ColorIndex {
public:
    explicit ColorIndex(const ValueScale& scale);

    std::uint8_t indexOf(float value) const
    {
        std::size_t index = m_start[bucketOf(value)];
        while (index < 255 && value >= m_thresholds[index])
            ++index;
        return static_cast<std::uint8_t>(index);
    }
    /// thresholds()[i] is the smallest value with index i + 1.
    const std::array<float, 255>& thresholds() const { return m_thresholds; }

private:
    static std::size_t bucketOf(float value);
    std::array<float, 255> m_thresholds {};
    std::vector<std::uint8_t> m_start;
};

}
