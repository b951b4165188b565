// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/processor.h>

#if defined(__x86_64__)

#include <cpuid.h>

namespace telltale {
namespace {

/// Which registers the system saves when it switches threads: AVX's and AVX-512's are of use only then.
unsigned savedRegisters()
{
    unsigned low = 0;
    unsigned high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

Processor ask()
{
    Processor found;
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0)
        return found;
    found.sse42 = (ecx & bit_SSE4_2) != 0;
    constexpr unsigned kBase = bit_AVX | bit_FMA | bit_F16C | bit_OSXSAVE;
    if ((ecx & kBase) != kBase || __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0)
        return found;
    constexpr unsigned kYmm = 0x6;
    constexpr unsigned kZmm = 0xe6;
    constexpr unsigned kAvx512 = bit_AVX512F | bit_AVX512VL | bit_AVX512BW | bit_AVX512DQ;
    const unsigned saved = savedRegisters();
    found.avx2 = (ebx & bit_AVX2) != 0 && (saved & kYmm) == kYmm;
    found.avx512 = found.avx2 && (ebx & kAvx512) == kAvx512 && (saved & kZmm) == kZmm;
    return found;
}

}

const Processor& processor()
{
    static const Processor found = ask();
    return found;
}

}

#endif
