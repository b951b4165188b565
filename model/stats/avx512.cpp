// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled with -mavx512f -mavx512vl -mavx512bw -mavx512dq; called only after the processor was asked.
#include <immintrin.h>

#include "checksumblock.h"
#include "signblock.h"
#include "vectorblock.h"

namespace telltale::stats {
namespace {

struct Avx512 {
    using F = __m512;
    using D = __m512d;
    static constexpr std::size_t kLanes = 16;

    static F load(const float* p) { return _mm512_loadu_ps(p); }
    static F load(const BFloat* p)
    {
        const __m256i raw = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(raw), 16));
    }
    static F load(const Half* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }

    static F zero() { return _mm512_setzero_ps(); }
    static F broadcast(float x) { return _mm512_set1_ps(x); }
    static F add(F a, F b) { return _mm512_add_ps(a, b); }
    static F mulAdd(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
    static F min(F a, F b) { return _mm512_min_ps(a, b); }
    static F max(F a, F b) { return _mm512_max_ps(a, b); }

    static D zeroD() { return _mm512_setzero_pd(); }
    static D addD(D a, D b) { return _mm512_add_pd(a, b); }
    static D mulAddD(D a, D b, D c) { return _mm512_fmadd_pd(a, b, c); }
    static D low(F x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
    static D high(F x) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)); }
    static double reduceD(D x) { return _mm512_reduce_add_pd(x); }
    static float reduceMin(F x) { return _mm512_reduce_min_ps(x); }
    static float reduceMax(F x) { return _mm512_reduce_max_ps(x); }

    static std::uint32_t zeroCount() { return 0; }
    static std::uint32_t below(F x, F limit)
    {
        return static_cast<std::uint32_t>(_mm512_cmp_ps_mask(_mm512_abs_ps(x), limit, _CMP_LT_OQ));
    }
    static std::uint32_t countBelow(std::uint32_t count, F a, F b, F c, F d, F limit)
    {
        const std::uint64_t ab = below(a, limit) | (static_cast<std::uint64_t>(below(b, limit)) << 16);
        const std::uint64_t cd = below(c, limit) | (static_cast<std::uint64_t>(below(d, limit)) << 16);
        return count + static_cast<std::uint32_t>(_mm_popcnt_u64(ab | (cd << 32)));
    }
    static std::uint32_t reduceCount(std::uint32_t count) { return count; }
};

}

const KernelTable& avx512Kernel()
{
    static const KernelTable table { "avx512",
        { nullptr, vectorBlock<Avx512, float>, exactBlock<double>, vectorBlock<Avx512, Half>,
            vectorBlock<Avx512, BFloat>, exactBlock<std::int8_t>, exactBlock<std::uint8_t>, exactBlock<std::int16_t>,
            exactBlock<std::int32_t>, exactBlock<std::int64_t>, exactBlock<Boolean> },
        signTable(), checksumTable() };
    return table;
}

}
