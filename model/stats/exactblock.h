// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The definition of every statistic, one element at a time in double. Included by each kernel's translation unit, which
// may be compiled for its own instruction set: everything here has internal linkage.

#include <cstdint>
#include <cstring>

#include "blockpartial.h"

namespace telltale::stats {
namespace {

struct Half {
    std::uint16_t bits;
};
struct BFloat {
    std::uint16_t bits;
};
struct Boolean {
    std::uint8_t bits;
};

inline float floatOf(std::uint32_t bits)
{
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return f;
}

template <typename T> inline double widen(T x)
{
    return static_cast<double>(x);
}
inline double widen(BFloat x)
{
    return static_cast<double>(floatOf(static_cast<std::uint32_t>(x.bits) << 16));
}
inline double widen(Boolean x)
{
    return x.bits != 0 ? 1.0 : 0.0;
}
inline double widen(Half x)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000u) << 16;
    const std::uint32_t exponent = (x.bits >> 10) & 31u;
    const std::uint32_t mantissa = x.bits & 1023u;
    if (exponent == 31)
        return static_cast<double>(floatOf(sign | 0x7F800000u | (mantissa << 13)));
    if (exponent == 0) {
        const double tiny = static_cast<double>(mantissa) * (1.0 / 16777216.0);
        return sign != 0 ? -tiny : tiny;
    }
    return static_cast<double>(floatOf(sign | ((exponent + 112) << 23) | (mantissa << 13)));
}

inline void clear(BlockPartial& out)
{
    out = BlockPartial { 0, 0, __builtin_inf(), -__builtin_inf(), 0, 0, 0, 0, 0 };
}

inline void addExact(double x, const Eps& eps, BlockPartial& out)
{
    if (x != x) {
        ++out.nans;
        return;
    }
    if (__builtin_isinf(x)) {
        ++(x > 0 ? out.posInfs : out.negInfs);
        return;
    }
    out.sum += x;
    out.sumsq += x * x;
    out.min = x < out.min ? x : out.min;
    out.max = x > out.max ? x : out.max;
    out.zeros += __builtin_fabs(x) < eps.wide ? 1u : 0u;
}

template <typename T>
void exactBlock(const void* data, std::size_t first, std::size_t count, const Eps& eps, BlockPartial& out)
{
    clear(out);
    const T* p = static_cast<const T*>(data) + first;
    for (std::size_t i = 0; i < count; ++i)
        addExact(widen(p[i]), eps, out);
}

}
}
