// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/relayout.h>

#include <algorithm>

#include <telltale/protocol/codec.h>
#include <telltale/protocol/payloadbuilder.h>

namespace telltale::agent {

Expected<std::vector<LayoutId>> usedLayouts(std::string_view payload, const protocol::LayoutTable& layouts)
{
    const auto batch = protocol::decodePayload(payload, layouts);
    if (!batch)
        return tl::unexpected(batch.error());
    std::vector<LayoutId> used;
    for (const StepBlock& block : batch->blocks)
        if (std::find(used.begin(), used.end(), block.layout->id) == used.end())
            used.push_back(block.layout->id);
    return used;
}

Expected<std::string> withLayouts(
    std::string_view payload, const std::vector<LayoutId>& added, const protocol::LayoutTable& layouts)
{
    auto batch = protocol::decodePayload(payload, layouts);
    if (!batch)
        return tl::unexpected(batch.error());
    protocol::PayloadBuilder builder;
    for (const LayoutId id : added)
        if (const auto layout = layouts.find(id))
            builder.addLayout(*layout);
    for (const StepBlock& block : batch->blocks)
        builder.addBlock(block);
    for (const Blob& blob : batch->blobs)
        builder.addBlob(blob);
    for (const Event& event : batch->events)
        builder.addEvent(event);
    for (const Drop& drop : batch->drops)
        builder.addDrop(drop);
    builder.setStepComplete(batch->stepComplete);
    return builder.finish();
}

}
