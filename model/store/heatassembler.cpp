// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/heatassembler.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace telltale::store {

using series::CellState;
using series::Reduction;

namespace {

/// A number whose order is that of the magnitude, with the positive one first among equals: what reducing a bucket to
/// its largest magnitude chooses, as one integer maximum. 0 stands for nothing yet.
std::uint32_t magnitudeKey(float value)
{
    const auto raw = std::bit_cast<std::uint32_t>(value);
    return raw << 1 | (~raw >> 31);
}

float fromMagnitudeKey(std::uint32_t key)
{
    return std::bit_cast<float>(key >> 1 | (~key << 31));
}

constexpr std::array<CellState, 128> makeStateTable()
{
    std::array<CellState, 128> table {};
    for (std::size_t bits = 0; bits < table.size(); ++bits)
        table[bits] = stateOfBits(static_cast<std::uint8_t>(bits));
    return table;
}
constexpr std::array<CellState, 128> kStates = makeStateTable();

}

HeatAssembler::HeatAssembler(int rows, int columns, Reduction reduction)
    : m_rows(rows)
    , m_columns(columns)
    , m_reduction(reduction)
{
    const std::size_t cells = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    m_bits.resize(cells);
    if (reduction == Reduction::Mean || reduction == Reduction::Sum)
        m_sums.resize(cells);
    else if (reduction == Reduction::Smallest)
        m_values.assign(cells, std::numeric_limits<float>::infinity());
    else
        m_keys.resize(cells);
}

template <typename T>
void HeatAssembler::addExtremes(
    std::size_t at, const T* lo, const T* hi, const std::uint8_t* bits, const std::vector<std::int32_t>& pixels)
{
    std::uint32_t* keys = m_keys.data() + at;
    std::uint8_t* seen = m_bits.data() + at;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const auto pixel = static_cast<std::size_t>(pixels[i]);
        const std::uint8_t now = bits ? bits[i] : cell::kPlain;
        const std::uint32_t key
            = std::max(magnitudeKey(static_cast<float>(lo[i])), magnitudeKey(static_cast<float>(hi[i])));
        keys[pixel] = std::max(keys[pixel], now & cell::kFinite ? key : 0);
        seen[pixel] = static_cast<std::uint8_t>(seen[pixel] | now);
    }
}

template <typename T>
void HeatAssembler::addSmallest(
    std::size_t at, const T* lo, const std::uint8_t* bits, const std::vector<std::int32_t>& pixels)
{
    float* values = m_values.data() + at;
    std::uint8_t* seen = m_bits.data() + at;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const auto pixel = static_cast<std::size_t>(pixels[i]);
        const std::uint8_t now = bits ? bits[i] : cell::kPlain;
        if (now & cell::kFinite)
            values[pixel] = std::min(values[pixel], static_cast<float>(lo[i]));
        seen[pixel] = static_cast<std::uint8_t>(seen[pixel] | now);
    }
}

void HeatAssembler::addMeans(
    std::size_t at, const LaneBlock& block, int lane, int from, const std::vector<std::int32_t>& pixels)
{
    const std::uint8_t* bits = block.bits(lane);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const int column = from + static_cast<int>(i);
        const std::size_t pixel = at + static_cast<std::size_t>(pixels[i]);
        const std::uint8_t now = bits ? bits[column] : cell::kPlain;
        if (now & cell::kFinite) {
            // Scaled, so that values near the largest double do not overflow on the way to their mean.
            const double weight = block.count(LaneBlock::Finite, lane, column);
            m_sums[pixel].sum += block.number(LaneBlock::Mean, lane, column) * (weight * 0x1p-32);
            m_sums[pixel].weight += weight;
        }
        m_bits[pixel] = static_cast<std::uint8_t>(m_bits[pixel] | now);
    }
}

void HeatAssembler::add(int row, const LaneBlock& block, int lane, int from, const std::vector<std::int32_t>& pixels)
{
    const std::size_t at = static_cast<std::size_t>(row) * static_cast<std::size_t>(m_columns);
    const std::uint8_t* bits = block.bits(lane) ? block.bits(lane) + from : nullptr;
    if (!m_sums.empty())
        addMeans(at, block, lane, from, pixels);
    else if (m_reduction == Reduction::Smallest && block.isWide())
        addSmallest(at, block.wide(LaneBlock::Min, lane) + from, bits, pixels);
    else if (m_reduction == Reduction::Smallest)
        addSmallest(at, block.narrow(LaneBlock::Min, lane) + from, bits, pixels);
    else if (block.isWide())
        addExtremes(at, block.wide(LaneBlock::Min, lane) + from, block.wide(LaneBlock::Max, lane) + from, bits, pixels);
    else
        addExtremes(
            at, block.narrow(LaneBlock::Min, lane) + from, block.narrow(LaneBlock::Max, lane) + from, bits, pixels);
}

void HeatAssembler::mark(int row, StepRange steps, const series::PixelMap& map, std::uint8_t bits)
{
    const StepRange inside { std::max(steps.first, map.range().first), std::min(steps.last, map.range().last) };
    if (inside.isEmpty())
        return;
    std::uint8_t* seen = m_bits.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(m_columns);
    for (int pixel = map.pixelOf(inside.first); pixel <= map.pixelOf(inside.last); ++pixel)
        seen[pixel] = static_cast<std::uint8_t>(seen[pixel] | bits);
}

void HeatAssembler::markLoss(int row, StepRange steps, const series::PixelMap& map)
{
    const StepRange inside { std::max(steps.first, map.range().first), std::min(steps.last, map.range().last) };
    if (inside.isEmpty())
        return;
    std::uint8_t* seen = m_bits.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(m_columns);
    int pixel = map.pixelOf(inside.first);
    if (seen[pixel] & cell::kCollected)
        ++pixel; // it shows what came before the loss
    for (; pixel <= map.pixelOf(inside.last) && !(seen[pixel] & cell::kCollected); ++pixel)
        seen[pixel] = static_cast<std::uint8_t>(seen[pixel] | cell::kGap);
}

void HeatAssembler::finish(series::HeatResult& result)
{
    result.rows = m_rows;
    result.columns = m_columns;
    result.reduction = m_reduction;
    result.states.resize(m_bits.size());
    m_values.resize(m_bits.size());
    for (std::size_t i = 0; i < m_sums.size(); ++i) {
        if (m_sums[i].weight > 0)
            m_values[i] = static_cast<float>(m_reduction == Reduction::Sum ? std::round(m_sums[i].sum * 0x1p32)
                                                                           : m_sums[i].sum / m_sums[i].weight * 0x1p32);
    }
    float min = std::numeric_limits<float>::infinity();
    float max = -min;
    for (std::size_t i = 0; i < m_bits.size(); ++i) {
        const std::uint8_t bits = m_bits[i];
        const CellState state = kStates[bits];
        result.states[i] = state;
        if (!m_keys.empty())
            m_values[i] = fromMagnitudeKey(m_keys[i]);
        if (state == CellState::Value) {
            min = std::min(min, m_values[i]);
            max = std::max(max, m_values[i]);
        } else if (!(bits & cell::kFinite)) {
            m_values[i] = std::numeric_limits<float>::quiet_NaN();
        }
    }
    if (min <= max) {
        result.min = min;
        result.max = max;
    }
    result.values = std::move(m_values);
}

}
