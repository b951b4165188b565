/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A histogram's counts on a device, by the definition of octaveEdges() (core/histogram.h). Each of a warp's threads has
 * a column of counters of its own, so that equal neighbors do not wait for one another; a block's warps share them. For
 * devicekernel.cu alone. */
#pragma once

#include "deviceelements.h"
#include "devicekernel.h"

extern "C" {
__attribute__((shared)) unsigned int telltale_bins[TT_DEVICE_BINS * 32];
}

namespace {

constexpr U32 kZeroBin = 63;
constexpr U32 kColumns = 32;

/// How many edges above zero a finite or infinite number has passed, by its exponent: 0 below 2^-134. Without a branch:
/// neighbors take different ways.
DEVICE int edgesPassed(int exponent)
{
    const int octaves = (exponent < 17 ? exponent : 17) + 43 + (exponent >= 127) + (exponent >= 128);
    const int fours = exponent >= -64 ? 3 + ((exponent + 64) >> 2) : (exponent >= -126) + (exponent >= -134);
    return exponent >= -32 ? octaves : fours;
}

DEVICE U32 binFrom(int edges, bool isNegative)
{
    return static_cast<U32>(isNegative ? 62 - edges : 64 + edges);
}

DEVICE U32 binOf(float x)
{
    const U32 bits = bitsOf<U32>(x);
    const U32 magnitude = bits & 0x7FFFFFFFU;
    // A subnormal number has the exponent of the octave below the normal ones, and 2^-134 is one of them.
    const int edges = magnitude < 1U << 15 ? 0 : edgesPassed(static_cast<int>(magnitude >> 23) - 127);
    return magnitude == 0 ? kZeroBin : binFrom(edges, bits != magnitude);
}

DEVICE U32 binOf(double x)
{
    const U64 bits = bitsOf<U64>(x);
    const U64 magnitude = bits & 0x7FFFFFFFFFFFFFFFULL;
    return magnitude == 0 ? kZeroBin
                          : binFrom(edgesPassed(static_cast<int>(magnitude >> 52) - 1023), bits != magnitude);
}

/// Where the counters lie, as the instructions for shared memory have it.
DEVICE U32 addressOfBins()
{
    U32 out;
    asm("{ .reg .u64 at; cvta.to.shared.u64 at, %1; cvt.u32.u64 %0, at; }" : "=r"(out) : "l"(&telltale_bins[0]));
    return out;
}

/// A thread's counters. All of them are read and written by instructions of their own: to the compiler they are no
/// variables, so it need not keep an order among them and the elements.
class Column {
public:
    DEVICE Column() = default;
    DEVICE explicit Column(bool isAskedFor)
        : m_address(isAskedFor ? addressOfBins() + __nvvm_read_ptx_sreg_tid_x() % kColumns * sizeof(U32) : kNowhere)
    {
    }

    template <typename Wide> DEVICE void count(Wide x) const
    {
        const U32 isCounted = m_address != kNowhere & x == x;
        asm volatile("{ .reg .pred is; setp.ne.u32 is, %0, 0; @is red.shared.add.u32 [%1], 1; }" ::"r"(isCounted),
            "r"(m_address + binOf(x) * kColumns * U32 { sizeof(U32) }));
    }

private:
    static constexpr U32 kNowhere = ~0U;
    U32 m_address = kNowhere;
};

/// By all of a block, before the first element.
DEVICE void clearBins()
{
    const U32 at = addressOfBins();
    for (U32 i = __nvvm_read_ptx_sreg_tid_x(); i < TT_DEVICE_BINS * kColumns; i += TT_DEVICE_THREADS)
        asm volatile("st.shared.u32 [%0], 0;" ::"r"(at + i * U32 { sizeof(U32) }));
    __syncthreads();
}

/// By all of a block, behind the last element: adds its counts to the tensor's.
DEVICE void addBins(U64* counts)
{
    const U32 thread = __nvvm_read_ptx_sreg_tid_x();
    __syncthreads();
    if (thread < TT_DEVICE_BINS) {
        const U32 row = addressOfBins() + thread * kColumns * U32 { sizeof(U32) };
        U32 sum = 0;
#pragma unroll 4
        for (U32 i = 0; i < kColumns; ++i) {
            U32 one;
            asm volatile("ld.shared.u32 %0, [%1];"
                         : "=r"(one)
                         : "r"(row + (thread + i) % kColumns * U32 { sizeof(U32) }));
            sum += one;
        }
        if (sum != 0)
            __nvvm_atom_add_gen_ll(reinterpret_cast<long long*>(counts + thread), sum);
    }
    __nvvm_membar_gl();
}

/// By all of the last block: the tensor's counts, which are 0 from then on.
DEVICE void takeBins(U64* counts, U64* bins)
{
    const U32 thread = __nvvm_read_ptx_sreg_tid_x();
    if (thread < TT_DEVICE_BINS)
        bins[thread] = static_cast<U64>(__nvvm_atom_xchg_gen_ll(reinterpret_cast<long long*>(counts + thread), 0));
}

}
