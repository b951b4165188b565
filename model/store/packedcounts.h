// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <telltale/core/expected.h>
#include <telltale/series/opentile.h>

namespace telltale::store {

/// Whole numbers of all lanes of a tile together, as they are read for histograms: the lanes are the bins. Most bins
/// hold nothing; the count of a full one is near that of the step before, and a few elements come and go. Thread: any
/// (immutable).
///
/// Bytes: a bit for each lane that holds more than zeros (lane i: bit i % 8 of byte i / 8); a bit for each of them that
/// is kept as differences; u8 form, log2 of the bytes of an element | 4: not compressed; then those lanes' elements,
/// lane-major (time runs fastest), byte-shuffled and compressed by zstd. A difference is to the step before, the first
/// to 0, as a zigzag number (0, -1, 1, -2, ...), modulo 2^64.
class PackedCounts {
public:
    /// Appends `lanes` x `columns` numbers, lane-major; nothing where all of them are 0.
    static void append(std::span<const std::uint64_t> counts, int lanes, int columns, std::string& out);
    /// What append() has appended, which need not outlive this. Hostile bytes give ErrorCode::Damaged.
    static Expected<PackedCounts> read(std::string_view bytes, int lanes, int columns);

    bool isZero(int lane) const { return m_places[static_cast<std::size_t>(lane)] < 0; }
    /// The columns of one lane.
    void lane(int lane, std::uint64_t* out) const;
    /// Adds up the lanes [first, end), column by column: all of them to `all`, and those whose `isMarked` (from `first`
    /// on) is not 0 to `marked`, too. Exact up to 2^53.
    void addLanes(int first, int end, const std::uint8_t* isMarked, double* all, double* marked) const;

private:
    template <int Width, typename Sum>
    void addAs(int first, int end, const std::uint8_t* isMarked, double* all, double* marked) const;
    const std::uint8_t* elementsOf(int lane) const;

    std::array<std::int16_t, series::kTileSeries> m_places {}; ///< of a lane among those that are there; -1: zeros
    std::size_t m_columns = 0;
    std::size_t m_elements = 0; ///< from one byte of an element to the next
    int m_width = 0;
    std::bitset<series::kTileSeries> m_areDifferences;
    std::unique_ptr<std::uint8_t[]> m_bytes; ///< shuffled
};

}
