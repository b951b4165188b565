// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sign agreement of one block, on the bits alone: a float's sign needs no conversion, and integer comparisons become
// vector instructions in whichever translation unit includes this. Internal linkage throughout.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "blockpartial.h"

namespace telltale::stats {
namespace {

/// A float format: its bits as a signed integer and the bits of its +Inf; what is beyond those is NaN.
template <typename Bits, Bits kInfinity> struct SignFormat {
    using Integer = Bits;
    static constexpr Bits kInf = kInfinity;
};
using SignsF32 = SignFormat<std::int32_t, 0x7F800000>;
using SignsF64 = SignFormat<std::int64_t, 0x7FF0000000000000>;
using SignsF16 = SignFormat<std::int16_t, 0x7C00>;
using SignsBf16 = SignFormat<std::int16_t, 0x7F80>;

/// All bits set where the element has a sign, none for zeros and NaN. Masks and not choices: those become branches.
template <typename Format, typename Sum> inline Sum hasSign(typename Format::Integer bits)
{
    using Integer = typename Format::Integer;
    const auto magnitude = static_cast<Integer>(bits & std::numeric_limits<Integer>::max());
    return static_cast<Sum>(-static_cast<Sum>(magnitude > 0) & -static_cast<Sum>(magnitude <= Format::kInf));
}

/// Agreements less disagreements. A block's sum fits 16 bits (8192 at most), so the narrowest lane that both formats
/// fit is wide enough to add in.
template <typename A, typename B>
std::int64_t signBlock(const void* left, const void* right, std::size_t first, std::size_t count)
{
    static_assert(kBlockElements <= 32767);
    using Left = typename A::Integer;
    using Right = typename B::Integer;
    using Sum = std::conditional_t<(sizeof(Left) > sizeof(Right)), Left, Right>;
    const auto* a = static_cast<const unsigned char*>(left) + first * sizeof(Left);
    const auto* b = static_cast<const unsigned char*>(right) + first * sizeof(Right);
    Sum sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        Left x;
        Right y;
        std::memcpy(&x, a + i * sizeof x, sizeof x);
        std::memcpy(&y, b + i * sizeof y, sizeof y);
        const auto differ = static_cast<Sum>(static_cast<Sum>(x < 0) ^ static_cast<Sum>(y < 0));
        const auto product = static_cast<Sum>(1 - 2 * differ);
        sum = static_cast<Sum>(sum + (product & hasSign<A, Sum>(x) & hasSign<B, Sum>(y)));
    }
    return static_cast<std::int64_t>(sum);
}

template <typename A> constexpr SignRow signRow()
{
    return { { signBlock<A, SignsF32>, signBlock<A, SignsF64>, signBlock<A, SignsF16>, signBlock<A, SignsBf16> } };
}

constexpr SignTable signTable()
{
    return { { signRow<SignsF32>(), signRow<SignsF64>(), signRow<SignsF16>(), signRow<SignsBf16>() } };
}

}
}
