// SPDX-License-Identifier: GPL-3.0-or-later
#include "memoryread.h"

#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace telltale::bench {
namespace {

constexpr std::size_t kBlock = 512; ///< bytes of one turn
constexpr std::size_t kStreams = 4;

std::uint64_t rest(const char* bytes, std::size_t from, std::size_t size)
{
    std::uint64_t all = 0;
    for (; from < size; ++from)
        all |= static_cast<unsigned char>(bytes[from]);
    return all;
}

std::uint64_t readPortable(const char* bytes, std::size_t size)
{
    std::uint64_t all[8] {};
    std::size_t at = 0;
    for (; at + sizeof all <= size; at += sizeof all) {
        std::uint64_t words[8];
        std::memcpy(words, bytes + at, sizeof words);
        for (int i = 0; i < 8; ++i)
            all[i] |= words[i];
    }
    return all[0] | all[1] | all[2] | all[3] | all[4] | all[5] | all[6] | all[7] | rest(bytes, at, size);
}

#if defined(__x86_64__)

__attribute__((target("avx512f"))) std::uint64_t together(__m512i vector)
{
    std::uint64_t words[8];
    _mm512_storeu_si512(words, vector);
    return words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7];
}

/// Eight loads and eight accumulators a turn; `kAhead` bytes ahead are asked for (0 = the hardware's own guess).
template <std::size_t kAhead>
__attribute__((target("avx512f"))) std::uint64_t read512(const char* bytes, std::size_t size)
{
    __m512i all[8];
    for (auto& one : all)
        one = _mm512_setzero_si512();
    std::size_t at = 0;
    for (; at + kBlock <= size; at += kBlock) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < 8; ++i) {
            if constexpr (kAhead > 0)
                _mm_prefetch(bytes + at + kAhead + i * 64, _MM_HINT_T0);
            all[i] = _mm512_or_si512(all[i], _mm512_loadu_si512(bytes + at + i * 64));
        }
    }
    for (std::size_t i = 1; i < 8; ++i)
        all[0] = _mm512_or_si512(all[0], all[i]);
    return together(all[0]) | rest(bytes, at, size);
}

/// Four places at once: as many of the processor's prefetchers run.
__attribute__((target("avx512f"))) std::uint64_t read512Streams(const char* bytes, std::size_t size)
{
    const std::size_t share = size / kStreams / 128 * 128;
    __m512i all[2 * kStreams];
    for (auto& one : all)
        one = _mm512_setzero_si512();
    for (std::size_t at = 0; at < share; at += 128) {
#pragma GCC unroll 4
        for (std::size_t s = 0; s < kStreams; ++s) {
            const char* from = bytes + s * share + at;
            all[2 * s] = _mm512_or_si512(all[2 * s], _mm512_loadu_si512(from));
            all[2 * s + 1] = _mm512_or_si512(all[2 * s + 1], _mm512_loadu_si512(from + 64));
        }
    }
    for (std::size_t i = 1; i < 2 * kStreams; ++i)
        all[0] = _mm512_or_si512(all[0], all[i]);
    return together(all[0]) | rest(bytes, share * kStreams, size);
}

template <std::size_t kAhead> __attribute__((target("avx2"))) std::uint64_t read256(const char* bytes, std::size_t size)
{
    __m256i all[8];
    for (auto& one : all)
        one = _mm256_setzero_si256();
    std::size_t at = 0;
    for (; at + 256 <= size; at += 256) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < 8; ++i) {
            if (kAhead > 0 && i % 2 == 0)
                _mm_prefetch(bytes + at + kAhead + i * 32, _MM_HINT_T0);
            all[i] = _mm256_or_si256(all[i], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + at + i * 32)));
        }
    }
    for (std::size_t i = 1; i < 8; ++i)
        all[0] = _mm256_or_si256(all[0], all[i]);
    std::uint64_t words[4];
    std::memcpy(words, &all[0], sizeof words);
    return words[0] | words[1] | words[2] | words[3] | rest(bytes, at, size);
}

#endif

}

std::vector<MemoryRead> memoryReads()
{
    std::vector<MemoryRead> ways { { "portable", readPortable } };
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        ways.push_back({ "avx2", read256<0> });
        ways.push_back({ "avx2, 1 KiB ahead", read256<1024> });
    }
    if (__builtin_cpu_supports("avx512f")) {
        ways.push_back({ "avx512", read512<0> });
        ways.push_back({ "avx512, 1 KiB ahead", read512<1024> });
        ways.push_back({ "avx512, 4 KiB ahead", read512<4096> });
        ways.push_back({ "avx512, 4 streams", read512Streams });
    }
#endif
    return ways;
}

}
