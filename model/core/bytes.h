// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <telltale/core/expected.h>

namespace telltale {

/// Castagnoli crc, as iSCSI and TFRecord use it (hardware where there is SSE4.2, a table elsewhere). `crc` continues.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc = 0);

/// Appends the little-endian bytes of a number. The project supports little-endian machines only (checked at build).
template <typename T>
requires std::is_trivially_copyable_v<T>
void putLe(std::string& out, T value)
{
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    out.append(raw, sizeof(T));
}

/// Reads a number at `offset`; the caller has checked the bounds.
template <typename T>
requires std::is_trivially_copyable_v<T> T getLe(std::string_view in, std::size_t offset)
{
    T value;
    std::memcpy(&value, in.data() + offset, sizeof(T));
    return value;
}

/// Byte transposition: all first bytes, then all second bytes, ... of elements of `width` bytes. in.size() must be a
/// multiple of width; out is resized. SIMD where there is some.
void byteShuffle(std::string_view in, std::size_t width, std::string& out);
void byteUnshuffle(std::string_view in, std::size_t width, std::string& out);
/// The same into a buffer of in.size() bytes.
void byteUnshuffleTo(std::string_view in, std::size_t width, char* out);

/// zstd at `level`, appended to `out`. Reuses one context per thread.
void zstdAppend(std::string_view in, std::string& out, int level = 1);
/// Decompresses one frame of exactly `decodedSize` bytes. Damaged or of another size: ErrorCode::Damaged.
Expected<void> zstdInto(std::string_view in, char* out, std::size_t decodedSize);

}
