// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/rowunit.h>

#include <algorithm>

namespace telltale::store {

void RowUnit::settle()
{
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.lane < b.lane; });
    subBlocks.clear();
    for (const Member& member : members) {
        const int subBlock = member.lane / kSubBlockSeries;
        if (subBlocks.empty() || subBlocks.back() != subBlock)
            subBlocks.push_back(subBlock);
    }
}

std::size_t RowUnit::blockOf(int lane) const
{
    const auto it = std::lower_bound(subBlocks.begin(), subBlocks.end(), lane / kSubBlockSeries);
    return static_cast<std::size_t>(it - subBlocks.begin());
}

}
