// SPDX-License-Identifier: GPL-3.0-or-later
#include "dispatch.h"

#include <cstdlib>
#include <cstring>

#include <telltale/core/nothrow.h>
#include <telltale/core/processor.h>
#include <telltale/stats/stats.h>

namespace telltale::stats {
namespace {

const KernelTable& chooseKernel()
{
#if defined(__x86_64__)
    const char* wanted = std::getenv("TELLTALE_KERNEL");
    const bool portable = wanted != nullptr && std::strcmp(wanted, "portable") == 0;
    const bool narrow = wanted != nullptr && std::strcmp(wanted, "avx2") == 0;
    if (!portable && !narrow && processor().avx512)
        return avx512Kernel();
    if (!portable && processor().avx2)
        return avx2Kernel();
#endif
    return portableKernel();
}

}

const KernelTable& kernel()
{
    static const KernelTable& table = chooseKernel();
    return table;
}

}

extern "C" const char* tt_stats_kernel_name(void)
{
    return telltale::withoutThrowing([] { return telltale::stats::kernel().name; });
}
