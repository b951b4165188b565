// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#if defined(__x86_64__)

namespace telltale {

/// What this processor can do and the system lets it do.
struct Processor {
    bool sse42 = false;
    bool avx2 = false; ///< with FMA and F16C
    bool avx512 = false; ///< F, VL, BW and DQ
};

/// Asked by cpuid itself: a compiler's runtime may lack what __builtin_cpu_supports reads (Zig's has it as a stub that
/// says no to everything, and the kernel would silently be the slow one). Thread: any.
const Processor& processor();

}

#endif
