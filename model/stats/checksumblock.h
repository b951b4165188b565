// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The checksum of one block: plain integer additions, which become vector instructions in whichever translation unit
// includes this. Internal linkage throughout.

#include <array>
#include <type_traits>

#include "exactblock.h"

namespace telltale::stats {
namespace {

/// The integers that an element's bits are read as: those of torch's Tensor.view() to an integer type of its width.
template <typename T> struct BitsOf {
    using Integer = T;
};
template <> struct BitsOf<float> {
    using Integer = std::int32_t;
};
template <> struct BitsOf<double> {
    using Integer = std::int64_t;
};
template <> struct BitsOf<Half> {
    using Integer = std::int16_t;
};
template <> struct BitsOf<BFloat> {
    using Integer = std::int16_t;
};
template <> struct BitsOf<Boolean> {
    using Integer = std::uint8_t;
};

/// The sum of the elements' bits modulo 2^64.
template <typename T> std::uint64_t checksumBlock(const void* data, std::size_t first, std::size_t count)
{
    using Integer = typename BitsOf<T>::Integer;
    // A block of narrow elements fits 32 bits, in which twice as many are added at once. Unsigned: it may wrap.
    static_assert(kBlockElements <= 1u << 15);
    using Sum = std::conditional_t<(sizeof(Integer) < 4), std::int32_t, std::uint64_t>;
    const auto* p = static_cast<const unsigned char*>(data) + first * sizeof(Integer);
    Sum sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        Integer bits;
        std::memcpy(&bits, p + i * sizeof bits, sizeof bits);
        sum += static_cast<Sum>(bits);
    }
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(sum));
}

constexpr std::array<ChecksumFunction, 11> checksumTable()
{
    return { nullptr, checksumBlock<float>, checksumBlock<double>, checksumBlock<Half>, checksumBlock<BFloat>,
        checksumBlock<std::int8_t>, checksumBlock<std::uint8_t>, checksumBlock<std::int16_t>,
        checksumBlock<std::int32_t>, checksumBlock<std::int64_t>, checksumBlock<Boolean> };
}

}
}
