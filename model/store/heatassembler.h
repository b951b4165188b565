// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include <telltale/series/pixelmap.h>
#include <telltale/series/query.h>
#include <telltale/store/laneblock.h>

namespace telltale::store {

/// Gathers the cells of a heat map: the loops that every value of a picture goes through, so plain arrays. Thread: its
/// reader's.
class HeatAssembler {
public:
    HeatAssembler(int rows, int columns, series::Reduction reduction);

    /// Columns [from, from + pixels.size()) of a lane go to `row`, each to its pixel.
    void add(int row, const LaneBlock& block, int lane, int from, const std::vector<std::int32_t>& pixels);
    /// Marks what is missing: only cells without any sample show it.
    void mark(int row, StepRange steps, const series::PixelMap& map, std::uint8_t bits);
    /// Marks a loss that reaches from the first of these steps to the next cell with a sample.
    void markLoss(int row, StepRange steps, const series::PixelMap& map);
    void finish(series::HeatResult& result);

private:
    struct Sum {
        double sum = 0;
        double weight = 0;
    };
    template <typename T>
    void addExtremes(
        std::size_t at, const T* lo, const T* hi, const std::uint8_t* bits, const std::vector<std::int32_t>& pixels);
    template <typename T>
    void addSmallest(std::size_t at, const T* lo, const std::uint8_t* bits, const std::vector<std::int32_t>& pixels);
    void addMeans(std::size_t at, const LaneBlock& block, int lane, int from, const std::vector<std::int32_t>& pixels);

    const int m_rows;
    const int m_columns;
    const series::Reduction m_reduction;
    std::vector<std::uint32_t> m_keys; ///< for the largest magnitude
    std::vector<float> m_values; ///< for the smallest; at the end, of all
    std::vector<Sum> m_sums; ///< for means
    std::vector<std::uint8_t> m_bits;
};

}
