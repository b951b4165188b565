// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

/// Numbers of the tile blob that encoder and decoder share; the layout is described in tilecodec.h.
namespace telltale::store::format {

inline constexpr std::uint8_t kVersion = 1;
inline constexpr unsigned kHasPresence = 1;
inline constexpr unsigned kHasLastSteps = 2;

inline constexpr std::uint32_t kZero = 0;
inline constexpr std::uint32_t kConstant = 1;
inline constexpr std::uint32_t kPacked = 2;
inline constexpr std::uint32_t kRaw = 3;

inline constexpr std::uint8_t kTogether = 4; ///< the type of a plane whose lanes are in one chunk

inline constexpr std::uint32_t kSizeBits = 29;
inline constexpr std::uint64_t kExactFloat = 1u << 24; ///< integers up to this are exact in a float

constexpr std::uint32_t entry(std::uint32_t encoding, std::size_t bytes)
{
    return (encoding << kSizeBits) | static_cast<std::uint32_t>(bytes);
}
constexpr std::uint32_t encodingOf(std::uint32_t entry)
{
    return entry >> kSizeBits;
}
constexpr std::size_t bytesOf(std::uint32_t entry)
{
    return entry & ((1u << kSizeBits) - 1);
}

}
