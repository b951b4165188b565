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

}
