// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <telltale/protocol/codec.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/payloadbuilder.h>
#include <telltale/protocol/utf8.h>

using namespace telltale;
using namespace telltale::protocol;

namespace {

void require(bool holds)
{
    if (!holds)
        std::abort();
}

void checkMessage(std::string_view bytes)
{
    const auto message = decodeMessage(bytes);
    if (!message) {
        require(!message.error().what.empty());
        return;
    }
    // Padding varints of the input go, so the canonical form is never longer, and it means the same.
    const auto again = decodeMessage(encodeMessage(*message));
    require(again.has_value() && *again == *message);
}

void checkBlock(const StepBlock& block)
{
    const std::size_t n = block.layout->series.size();
    require(block.columns.size() == block.layout->stats.size());
    require(block.present.empty() || block.present.size() == (n + 63) / 64);
    require(block.callIds.empty() || block.callIds.size() == n);
    for (std::size_t i = 0; i < block.columns.size(); ++i) {
        require(block.columns[i].stat == block.layout->stats[i]);
        require(block.columns[i].size() == n);
    }
}

void checkPayload(std::string_view bytes)
{
    const auto batch = decodePayload(bytes, {});
    if (!batch) {
        require(!batch.error().what.empty());
        return;
    }
    std::size_t decoded = 0;
    PayloadBuilder builder;
    for (const auto& layout : batch->layouts) {
        for (const SeriesDesc& series : layout->series)
            require(isValidName(series.name));
    }
    LayoutTable table;
    for (const auto& layout : batch->layouts)
        table.add(layout);
    for (const StepBlock& block : batch->blocks) {
        checkBlock(block);
        for (const Column& column : block.columns)
            decoded += column.size() * (std::holds_alternative<std::vector<float>>(column.values) ? 4 : 8);
        builder.addBlock(block);
    }
    require(decoded <= limits::kMaxDecodedBytes && decoded <= bytes.size() * limits::kMaxRatio);
    require(builder.samples() == batch->samples && builder.scalars() == batch->scalars);
    // What was understood can be said again and is understood the same.
    const std::string payload = builder.finish();
    if (payload.size() > limits::kMaxMessageBytes)
        return;
    const auto again = decodePayload(payload, table);
    require(again.has_value() && again->blocks.size() == batch->blocks.size() && again->samples == batch->samples);
    for (std::size_t i = 0; i < batch->blocks.size(); ++i) {
        require(again->blocks[i].step == batch->blocks[i].step && again->blocks[i].layout == batch->blocks[i].layout);
        require(again->blocks[i].present == batch->blocks[i].present);
        require(again->blocks[i].callIds == batch->blocks[i].callIds);
    }
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    checkMessage(bytes);
    checkPayload(bytes);
    return 0;
}
