// SPDX-License-Identifier: GPL-3.0-or-later
#include "passorder.h"

#include <algorithm>
#include <map>

#include <telltale/judge/incident.h>
#include <telltale/judge/scalarrole.h>

namespace telltale::views {
namespace {

/// A metric that the forward pass ends with, or that was set before it.
bool isOfForward(std::string_view name)
{
    const judge::ScalarRole role = judge::scalarRoleOf(name);
    return role == judge::ScalarRole::Loss || role == judge::ScalarRole::LearningRate
        || role == judge::ScalarRole::LossScale;
}

/// The others are made of what came before them in the step, as the norm of all gradients is.
bool isOfRest(std::string_view name)
{
    return !isOfForward(name);
}

}

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
        quantities.push_back({ kind, stat, kind == Kind::Scalar ? isOfForward : nullptr });
    std::stable_sort(quantities.begin(), quantities.end(),
        [](const auto& a, const auto& b) { return judge::phaseOf(a.kind) < judge::phaseOf(b.kind); });
    if (const auto scalars = kinds.find(Kind::Scalar); scalars != kinds.end())
        quantities.push_back({ Kind::Scalar, scalars->second, isOfRest });
    return quantities;
}

}
