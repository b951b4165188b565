// SPDX-License-Identifier: GPL-3.0-or-later
#include "colorindex.h"

#include <algorithm>
#include <bit>

namespace telltale::views {

namespace {

constexpr std::uint32_t kSign = 0x80000000U;

/// Bits in the order of the values: negative floats count down.
std::uint32_t orderedBits(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

float valueOf(std::uint32_t ordered)
{
    return std::bit_cast<float>((ordered & kSign) != 0 ? ordered & ~kSign : ~ordered);
}

}

std::size_t ColorIndex::bucketOf(float value)
{
    return orderedBits(value) >> 16;
}

ColorIndex::ColorIndex(const ValueScale& scale)
    : m_start(65536)
{
    for (std::size_t i = 0; i < m_thresholds.size(); ++i)
        m_thresholds[i] = static_cast<float>(scale.valueAt(static_cast<double>(i + 1) / 256));
    std::size_t index = 0;
    for (std::uint32_t bucket = 0; bucket < 65536; ++bucket) {
        const float lowest = valueOf(bucket << 16);
        // NaN buckets at both ends compare false and keep the index of their neighbor.
        while (index < 255 && lowest >= m_thresholds[index])
            ++index;
        m_start[bucket] = static_cast<std::uint8_t>(index);
    }
}

}
