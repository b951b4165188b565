// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The fast path, written once over a vector type V; see avx2.cpp and avx512.cpp for the two. Internal linkage
// throughout.
//
// Only five running values are kept (sum, sum of squares, min, max, near-zero count). NaN and Inf cost nothing: if
// either sum of a block is not finite, the block is done again by exactBlock. Lane sums are folded into double every 64
// additions, which bounds the relative error of the norm by 64 * 2^-25 in the worst case (typically 1e-8).

#include "exactblock.h"

namespace telltale::stats {
namespace {

/// Below this a block's sum of squares may have lost denormal squares: 8192 * FLT_MIN * 2^24.
constexpr double kTinySumsq = 1.7e-27;
constexpr std::size_t kFoldEvery = 64;

template <typename V, typename T> void wideSums(const T* p, std::size_t count, BlockPartial& out)
{
    typename V::D sum = V::zeroD(), sumsq = V::zeroD();
    std::size_t i = 0;
    for (; i + V::kLanes <= count; i += V::kLanes) {
        const typename V::F x = V::load(p + i);
        const typename V::D lo = V::low(x), hi = V::high(x);
        sum = V::addD(sum, V::addD(lo, hi));
        sumsq = V::mulAddD(lo, lo, V::mulAddD(hi, hi, sumsq));
    }
    out.sum = V::reduceD(sum);
    out.sumsq = V::reduceD(sumsq);
    for (; i < count; ++i) {
        const double x = widen(p[i]);
        out.sum += x;
        out.sumsq += x * x;
    }
}

template <typename V, typename T>
void vectorBlock(const void* data, std::size_t first, std::size_t count, const Eps& eps, BlockPartial& out)
{
    using F = typename V::F;
    using D = typename V::D;
    const T* p = static_cast<const T*>(data) + first;
    clear(out);

    D sumD = V::zeroD(), sumsqD = V::zeroD();
    F least = V::broadcast(__builtin_inff()), most = V::broadcast(-__builtin_inff());
    const F limit = V::broadcast(eps.narrow);
    auto zeros = V::zeroCount();
    std::size_t i = 0;
    const std::size_t whole = count / (4 * V::kLanes);
    for (std::size_t done = 0; done < whole;) {
        const std::size_t stop = whole - done < kFoldEvery ? whole : done + kFoldEvery;
        F s0 = V::zero(), s1 = V::zero(), s2 = V::zero(), s3 = V::zero();
        F q0 = V::zero(), q1 = V::zero(), q2 = V::zero(), q3 = V::zero();
        for (; done < stop; ++done, i += 4 * V::kLanes) {
            const F a = V::load(p + i);
            const F b = V::load(p + i + V::kLanes);
            const F c = V::load(p + i + 2 * V::kLanes);
            const F d = V::load(p + i + 3 * V::kLanes);
            s0 = V::add(s0, a);
            s1 = V::add(s1, b);
            s2 = V::add(s2, c);
            s3 = V::add(s3, d);
            q0 = V::mulAdd(a, a, q0);
            q1 = V::mulAdd(b, b, q1);
            q2 = V::mulAdd(c, c, q2);
            q3 = V::mulAdd(d, d, q3);
            least = V::min(least, V::min(V::min(a, b), V::min(c, d)));
            most = V::max(most, V::max(V::max(a, b), V::max(c, d)));
            zeros = V::countBelow(zeros, a, b, c, d, limit);
        }
        const F s = V::add(V::add(s0, s1), V::add(s2, s3));
        const F q = V::add(V::add(q0, q1), V::add(q2, q3));
        sumD = V::addD(sumD, V::addD(V::low(s), V::high(s)));
        sumsqD = V::addD(sumsqD, V::addD(V::low(q), V::high(q)));
    }
    out.sum = V::reduceD(sumD);
    out.sumsq = V::reduceD(sumsqD);
    out.zeros = V::reduceCount(zeros);
    if (whole > 0) {
        out.min = static_cast<double>(V::reduceMin(least));
        out.max = static_cast<double>(V::reduceMax(most));
    }
    if (!__builtin_isfinite(out.sum) || !__builtin_isfinite(out.sumsq)) {
        exactBlock<T>(data, first, count, eps, out);
        return;
    }
    for (; i < count; ++i)
        addExact(widen(p[i]), eps, out);
    if (out.sumsq < kTinySumsq && out.min <= out.max && (out.min != 0 || out.max != 0)
        && out.nans + out.posInfs + out.negInfs == 0)
        wideSums<V>(p, count, out);
}

}
}
