// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

#include <telltale/core/bytes.h>
#include <telltale/core/ids.h>
#include <telltale/core/samplebatch.h>

namespace telltale::store {

/// What a row of `tile` says of its blob. The blob does not know where it belongs, so the row's crc answers for both:
/// its low half is the crc32c of the blob, its high half that of these numbers. In rows of earlier versions the high
/// half is 0. Thread: any.
struct TileRow {
    std::int64_t level = 0;
    std::int64_t stat = 0;
    std::int64_t group = 0;
    std::int64_t firstColumn = 0;
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;

    std::int64_t crcWith(std::string_view blob) const
    {
        return static_cast<std::int64_t>(std::uint64_t { check() } << 32 | crc32c(blob));
    }
    /// Whether these are the numbers that the row was written with, as far as its crc can tell.
    bool fits(std::int64_t crc) const
    {
        const auto written = static_cast<std::uint32_t>(static_cast<std::uint64_t>(crc) >> 32);
        return written == 0 || written == check();
    }

private:
    std::uint32_t check() const
    {
        // Of their little-endian bytes, which are those in memory. Asked for every tile that a query meets.
        const std::int64_t numbers[] { level, stat, group, firstColumn, firstStep, lastStep };
        const std::uint32_t crc = crc32c({ reinterpret_cast<const char*>(numbers), sizeof numbers });
        return crc == 0 ? 1 : crc;
    }
};

}
