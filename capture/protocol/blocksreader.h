// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>
#include <telltale/protocol/layoutreader.h>
#include <telltale/protocol/wiretables.h>

namespace telltale::protocol {

/// Of a bit a series.
inline std::size_t bitmapBytes(std::size_t series)
{
    return (series + 7) / 8;
}

/// Decodes the blocks of one layout, oldest first. For .cpp files of this folder only. Thread: any (a local of one
/// call).
class BlocksReader {
public:
    BlocksReader(const wire::Blocks& in, LayoutPtr layout);
    Expected<std::vector<StepBlock>> read();

private:
    Expected<void> readColumn(Stat stat, const std::string& encoded);
    template <typename T> void addZeros(Stat stat);
    template <typename T, typename Word> Expected<void> readWords(Stat stat, const std::string& encoded);
    Expected<void> readPresent();
    Expected<void> readCallIds();

    const wire::Blocks& m_in;
    LayoutPtr m_layout;
    std::size_t m_steps;
    std::size_t m_series;
    std::size_t m_cells; ///< of a column
    std::vector<StepBlock> m_blocks;
};

}
