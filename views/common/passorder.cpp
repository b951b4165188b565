// SPDX-License-Identifier: GPL-3.0-or-later
#include "passorder.h"

#include <algorithm>
#include <map>

#include <telltale/judge/incident.h>

namespace telltale::views {

std::vector<analysis::Quantity> quantitiesInPassOrder(const store::Catalog& catalog)
{
    std::map<Kind, Stat> kinds;
    for (const store::GroupInfo& group : catalog.groups) {
        const auto isPlain = [](Stat one) { return one != Stat::Hist && one != Stat::Checksum; };
        const auto first = std::find_if(group.stats.begin(), group.stats.end(), isPlain);
        if (first != group.stats.end())
            kinds.emplace(group.kind, *first);
    }
    std::vector<analysis::Quantity> quantities;
    quantities.reserve(kinds.size());
    for (const auto& [kind, stat] : kinds)
        quantities.push_back({ kind, stat });
    std::stable_sort(quantities.begin(), quantities.end(),
        [](const auto& a, const auto& b) { return judge::phaseOf(a.kind) < judge::phaseOf(b.kind); });
    return quantities;
}

}
