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

constexpr std::size_t wordBytes(ColumnType type)
{
    return type == ColumnType::F32 ? 4 : 8;
}

/// Encodings of the `bytes` fields of Blocks. Every decoder is told the exact decoded size by its caller, who has
/// checked it against the limits; anything that does not fit is ErrorCode::Damaged. Thread: any.

/// Appends fixed-width words (width 1, 4 or 8) of `steps` steps. Each word but those of the first step is replaced by
/// its difference from the one before it (xor, or zigzag of the subtraction of the bit patterns, whichever has fewer
/// significant bits), then the bytes are split into planes that are stored raw, constant or zstd-compressed one by one:
/// the low bytes of noisy floats are incompressible and would spoil the table of the others. Mostly-zero columns go
/// through one zstd frame instead, without differences. All zero appends nothing. `words` is used as scratch space.
void encodeWords(std::string& words, std::size_t width, std::size_t steps, std::string& out);
/// `words` gets the decoded bytes; its size is the decoded size, a multiple of width * steps.
Expected<void> decodeWords(std::string_view encoded, std::size_t width, std::size_t steps, std::span<char> words);

/// Appends numbers as varints, zstd-compressed where that is shorter. All zero appends nothing.
void encodeVarints(std::span<const std::uint64_t> values, std::string& out);
Expected<void> decodeVarints(std::string_view encoded, std::span<std::uint64_t> values);

}
