// SPDX-License-Identifier: GPL-3.0-or-later
#include "checksumblock.h"
#include "exactblock.h"
#include "signblock.h"

namespace telltale::stats {

const KernelTable& portableKernel()
{
    static const KernelTable table { "portable",
        { nullptr, exactBlock<float>, exactBlock<double>, exactBlock<Half>, exactBlock<BFloat>, exactBlock<std::int8_t>,
            exactBlock<std::uint8_t>, exactBlock<std::int16_t>, exactBlock<std::int32_t>, exactBlock<std::int64_t>,
            exactBlock<Boolean> },
        signTable(), checksumTable() };
    return table;
}

}
