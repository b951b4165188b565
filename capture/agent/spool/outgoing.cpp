// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/outgoing.h>

#include <telltale/spool/relayout.h>

namespace telltale::agent {

std::optional<Outgoing> outgoing(Stream& stream, std::uint64_t seq, const std::unordered_set<LayoutId>& known)
{
    auto payload = stream.held.payload(seq);
    if (!payload)
        return std::nullopt;
    const BatchInfo* info = stream.held.info(seq);
    Expected<std::vector<LayoutId>> used = std::vector<LayoutId> {};
    if (info && info->layouts)
        used = *info->layouts;
    else
        used = usedLayouts(*payload, stream.layouts);
    if (!used)
        return Outgoing { stream.held.giveUp(seq, used.error().what), {} };
    Outgoing out { std::move(*payload), {} };
    for (const LayoutId id : *used)
        if (!known.contains(id))
            out.added.push_back(id);
    if (out.added.empty())
        return out;
    auto withThem = withLayouts(out.payload, out.added, stream.layouts);
    if (!withThem)
        return Outgoing { stream.held.giveUp(seq, withThem.error().what), {} };
    out.payload = std::move(*withThem);
    return out;
}

}
