// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>

namespace telltale::store {

/// One block of a tail row: where it belongs, and the block itself with `layout` left null.
struct TailBlock {
    LayoutId layout;
    std::int64_t column = 0; ///< counted in collected steps of the layout; all its groups agree
    std::size_t series = 0;
    std::size_t width = 1; ///< values of each in every column: bins
    std::size_t stats = 0; ///< columns
    StepBlock block;
};

/// `tail.data`, the landing strip: the batch's blocks as plain arrays, so that a capsule can be read without the wire
/// protocol. u8 version 2, u32 blocks; each block: u32 layout, i64 column, i64 step, i64 wallNs, u32 series N, u8 width
/// W (version 1: none, W is 1), u8 stats, u8 has presence; presence as ceil(N / 64) u64; each stat: u8 stat, u8 form (0
/// all bits zero, 1 f32, 2 f64, 3 u64), N x W values. Not compressed: it lives for 256 steps, and compressing it costs
/// more than writing it.
class TailEncoder {
public:
    TailEncoder();
    void reserve(std::size_t bytes) { m_out.reserve(bytes); }
    void append(const StepBlock& block, std::int64_t column);
    bool isEmpty() const { return m_blocks == 0; }
    std::size_t byteSize() const { return m_out.size(); }
    std::string take();

private:
    std::string m_out;
    std::uint32_t m_blocks = 0;
};

/// Asks of each block by what its head says, with its step and no values yet, whether it is `wanted`, and gives those
/// to `take`: a block of zeros costs hardly a byte, so that no more than one lies in memory, and none that nobody can
/// use is made at all. Nothing of a row that is damaged anywhere.
Expected<void> decodeTail(std::string_view data, const std::function<bool(const TailBlock&)>& wanted,
    const std::function<void(TailBlock&)>& take);
/// Whether the head is of a block of that layout.
bool fits(const TailBlock& head, const SeriesLayout& layout);

}
