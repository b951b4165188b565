// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <telltale/core/expected.h>
#include <telltale/core/kinds.h>
#include <telltale/core/samplebatch.h>

namespace telltale::protocol {

/// How the values of a stat travel and stand in Column::values.
enum class ColumnType : std::uint8_t { F32, U64, F64 };

constexpr ColumnType columnType(Stat stat)
{
    if (isNonFiniteCount(stat) || stat == Stat::Checksum)
        return ColumnType::U64;
    return stat == Stat::Value ? ColumnType::F64 : ColumnType::F32;
}
constexpr std::size_t columnWidth(Stat stat)
{
    return columnType(stat) == ColumnType::F32 ? 4 : 8;
}

/// Encodings of the `bytes` fields of Blocks. Every decoder is told the exact decoded size by its caller, who has
/// checked it against the limits; anything that does not fit is ErrorCode::Damaged. Thread: any.

/// Replaces every step but the first by its xor with the one before it.
void xorSteps(std::string& words, std::size_t stepBytes);

/// Appends fixed-width words (width 1, 4 or 8) as byte planes: two bits a plane say zero, raw, zstd or constant, least
/// significant plane first. Planes are compressed one by one, because the low bytes of noisy floats are incompressible
/// and would spoil the table of the others. All zero appends nothing.
void encodePlanes(std::string_view words, std::size_t width, std::string& out);
/// `words` gets the decoded bytes; its size is the decoded size.
Expected<void> decodePlanes(std::string_view encoded, std::size_t width, std::span<char> words);

/// Appends numbers as varints, zstd-compressed where that is shorter. All zero appends nothing.
void encodeVarints(std::span<const std::uint64_t> values, std::string& out);
Expected<void> decodeVarints(std::string_view encoded, std::span<std::uint64_t> values);

}
