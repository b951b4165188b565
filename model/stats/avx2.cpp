// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled with -mavx2 -mfma -mf16c; called only after the processor was asked.
#include <immintrin.h>

#include "checksumblock.h"
#include "signblock.h"
#include "vectorblock.h"

namespace telltale::stats {
namespace {

struct Avx2 {
    using F = __m256;
    using D = __m256d;
    static constexpr std::size_t kLanes = 8;

    static F load(const float* p) { return _mm256_loadu_ps(p); }
    static F load(const BFloat* p)
    {
        const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(raw), 16));
    }
    static F load(const Half* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }

    static F zero() { return _mm256_setzero_ps(); }
    static F broadcast(float x) { return _mm256_set1_ps(x); }
    static F add(F a, F b) { return _mm256_add_ps(a, b); }
    static F mulAdd(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
    static F min(F a, F b) { return _mm256_min_ps(a, b); }
    static F max(F a, F b) { return _mm256_max_ps(a, b); }

    static D zeroD() { return _mm256_setzero_pd(); }
    static D addD(D a, D b) { return _mm256_add_pd(a, b); }
    static D mulAddD(D a, D b, D c) { return _mm256_fmadd_pd(a, b, c); }
    static D low(F x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
    static D high(F x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }
    static double reduceD(D x)
    {
        const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
        return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
    }
    static float reduceMin(F x)
    {
        __m128 m = _mm_min_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
        m = _mm_min_ps(m, _mm_movehl_ps(m, m));
        return _mm_cvtss_f32(_mm_min_ss(m, _mm_shuffle_ps(m, m, 1)));
    }
    static float reduceMax(F x)
    {
        __m128 m = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
        m = _mm_max_ps(m, _mm_movehl_ps(m, m));
        return _mm_cvtss_f32(_mm_max_ss(m, _mm_shuffle_ps(m, m, 1)));
    }

    static __m256i zeroCount() { return _mm256_setzero_si256(); }
    static __m256i below(F x, F limit)
    {
        const F magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
        return _mm256_castps_si256(_mm256_cmp_ps(magnitude, limit, _CMP_LT_OQ));
    }
    static __m256i countBelow(__m256i count, F a, F b, F c, F d, F limit)
    {
        const __m256i ab = _mm256_add_epi32(below(a, limit), below(b, limit));
        const __m256i cd = _mm256_add_epi32(below(c, limit), below(d, limit));
        return _mm256_sub_epi32(count, _mm256_add_epi32(ab, cd));
    }
    static std::uint32_t reduceCount(__m256i count)
    {
        alignas(32) std::uint32_t lanes[8];
        _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), count);
        std::uint32_t total = 0;
        for (const std::uint32_t lane : lanes)
            total += lane;
        return total;
    }
};

}

const KernelTable& avx2Kernel()
{
    static const KernelTable table { "avx2",
        { nullptr, vectorBlock<Avx2, float>, exactBlock<double>, vectorBlock<Avx2, Half>, vectorBlock<Avx2, BFloat>,
            exactBlock<std::int8_t>, exactBlock<std::uint8_t>, exactBlock<std::int16_t>, exactBlock<std::int32_t>,
            exactBlock<std::int64_t>, exactBlock<Boolean> },
        signTable(), checksumTable() };
    return table;
}

}
