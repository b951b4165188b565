// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <bit>
#include <utility>

#include <telltale/core/bytes.h>
#include <telltale/core/protocolone.h>
#include <telltale/protocol/blocksreader.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/columns.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/layoutreader.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/prescan.h>
#include <telltale/protocol/refusals.h>
#include <telltale/protocol/wiretables.h>

namespace telltale::protocol {
namespace {

/// More than anybody can have dropped, and a number in every file.
constexpr std::uint64_t kMostDropped = std::uint64_t { 1 } << 60;

tl::unexpected<Error> wrongSize()
{
    return failure(ErrorCode::Damaged, "the batch does not have the size that it states");
}

/// Whether blocks of these columns can be decoded, if only to count what is in them.
bool isReadable(const std::vector<Stat>& stats)
{
    return std::find(stats.begin(), stats.end(), Stat::Unspecified) == stats.end();
}

std::uint64_t scalarCount(const StepBlock& block)
{
    if (block.layout->kind != Kind::Scalar)
        return 0;
    std::uint64_t present = block.present.empty() ? block.layout->series.size() : 0;
    for (const std::uint64_t word : block.present)
        present += static_cast<std::uint64_t>(std::popcount(word));
    return present;
}

/// What a Blocks message has its values of: a layout, one that was refused, or one that is not known (neither).
struct BlocksOf {
    LayoutPtr layout;
    const Refusals::Layout* refused = nullptr;

    const std::vector<Stat>* stats() const { return layout ? &layout->stats : refused ? &refused->stats : nullptr; }
    std::size_t series() const { return layout ? layout->series.size() : refused ? refused->series : 0; }
    const std::vector<double>& edges() const
    {
        return layout ? layout->edges : refused->edges;
    } ///< of one that has stats
};

/// What decoding these blocks will allocate, from their shape alone. Nothing overflows: at most 4096 series of a
/// payload's own layouts or what `known` holds, times 65536 bins, times 4096 steps, times 8 bytes.
std::uint64_t decodedBytes(const wire::Blocks& in, const BlocksOf& of)
{
    const std::size_t width = of.edges().empty() ? 1 : of.edges().size() - 1;
    std::uint64_t perStep = 0;
    for (const Stat stat : *of.stats())
        perStep += of.series() * width * wordBytes(protocolone::columnType(of.edges(), stat));
    if (!in.present().empty())
        perStep += bitmapBytes(of.series());
    if (!in.call_ids().empty())
        perStep += of.series() * sizeof(std::uint32_t);
    return perStep * static_cast<std::uint64_t>(in.steps_size());
}

Expected<BlocksOf> findLayout(LayoutId id, const LayoutTable& known, const LayoutTable& own, Refusals* refusals)
{
    if (refusals) {
        if (const auto refused = refusals->layouts.find(id); refused != refusals->layouts.end()) {
            refusals->note(refused->second.reason);
            return BlocksOf { nullptr, &refused->second };
        }
    }
    LayoutPtr layout = own.find(id);
    if (!layout)
        layout = known.find(id);
    if (layout)
        return BlocksOf { std::move(layout), nullptr };
    const std::string what = "the batch uses layout " + std::to_string(id.value) + ", which is not known";
    if (!refusals || !refusals->refusesUnknown)
        return failure(ErrorCode::NotFound, what);
    refusals->note(what);
    return BlocksOf {};
}

/// The layout of each Blocks message, after every size that it states has been checked.
Expected<std::vector<BlocksOf>> checkBlocks(const wire::Payload& in, std::size_t encodedBytes, const LayoutTable& known,
    const LayoutTable& own, Refusals* refusals)
{
    if (in.decoded_bytes() > limits::kMaxDecodedBytes)
        return failure(ErrorCode::TooLarge, "the batch would decode to more than 4 MiB");
    if (in.decoded_bytes() > encodedBytes * limits::kMaxRatio)
        return failure(ErrorCode::TooLarge, "the batch would decode to more than 64 times its size");
    std::vector<BlocksOf> layouts;
    std::uint64_t decoded = 0;
    bool isCounted = true;
    std::size_t blocks = 0;
    for (const wire::Blocks& group : in.blocks()) {
        auto found = findLayout(LayoutId { group.layout_id() }, known, own, refusals);
        if (!found)
            return tl::unexpected(found.error());
        const std::vector<Stat>* stats = found->stats();
        if (group.wall_ns_size() != group.steps_size()
            || (stats && static_cast<std::size_t>(group.columns_size()) != stats->size()))
            return wrongSize();
        blocks += static_cast<std::size_t>(group.steps_size());
        if (blocks > limits::kMaxSubmessages)
            return failure(ErrorCode::TooLarge, "the batch has too many step blocks");
        if (stats && isReadable(*stats))
            decoded += decodedBytes(group, *found);
        else
            isCounted = false;
        layouts.push_back(std::move(*found));
    }
    if (isCounted ? decoded != in.decoded_bytes() : decoded > in.decoded_bytes())
        return wrongSize();
    return layouts;
}

/// Blocks that are refused, counted where that is possible: they keep their place in the order and lose their layout.
std::vector<StepBlock> refusedBlocks(const wire::Blocks& in, const Refusals::Layout* refused, Refusals::Left& left)
{
    if (refused && in.steps_size() > 0 && isReadable(refused->stats)) {
        // Series without names, for as long as they are counted: a payload may have thousands of groups of many each.
        auto layout = std::make_shared<SeriesLayout>();
        layout->kind = refused->kind;
        layout->stats = refused->stats;
        layout->series.resize(refused->series);
        layout->edges = refused->edges;
        if (const auto blocks = BlocksReader(in, layout).read()) {
            for (const StepBlock& block : *blocks) {
                left.samples += sampleCount(block);
                left.scalars += scalarCount(block);
            }
        }
    }
    std::vector<StepBlock> out(static_cast<std::size_t>(in.steps_size()));
    std::uint64_t step = 0;
    for (int s = 0; s < in.steps_size(); ++s) {
        step += static_cast<std::uint64_t>(in.steps(s));
        const Step at { std::clamp(static_cast<std::int64_t>(step), -kFarthestStep, kFarthestStep) };
        out[static_cast<std::size_t>(s)].step = at;
        left.steps = left.steps.isEmpty() ? StepRange { at, at }
                                          : StepRange { std::min(left.steps.first, at), std::max(left.steps.last, at) };
    }
    return out;
}

/// Puts the blocks of all groups into the order in which they were added.
Expected<void> arrange(const wire::Payload& in, std::vector<std::vector<StepBlock>>& groups, SampleBatch& out)
{
    std::vector<std::pair<std::size_t, std::size_t>> order; // group, position in it
    if (in.order_size() == 0) {
        for (std::size_t g = 0; g < groups.size(); ++g) {
            for (std::size_t i = 0; i < groups[g].size(); ++i)
                order.emplace_back(g, i);
        }
        std::stable_sort(order.begin(), order.end(), [&groups](const auto& a, const auto& b) {
            return std::pair(groups[a.first][a.second].step, a.first)
                < std::pair(groups[b.first][b.second].step, b.first);
        });
    } else {
        std::vector<std::size_t> seen(groups.size(), 0);
        for (const std::uint32_t g : in.order()) {
            if (g >= groups.size() || seen[g] == groups[g].size())
                return wrongSize();
            order.emplace_back(g, seen[g]++);
        }
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (seen[g] != groups[g].size())
                return wrongSize();
        }
    }
    out.blocks.reserve(order.size());
    for (const auto& [g, i] : order) {
        if (groups[g][i].layout)
            out.blocks.push_back(std::move(groups[g][i]));
    }
    return {};
}

Expected<void> readRest(wire::Payload& in, SampleBatch& out, Refusals* refusals)
{
    for (wire::Blob& one : *in.mutable_blobs()) {
        Blob blob { one.blob_id(), one.part(), one.parts(), one.kind(), one.name(), Step { one.step() },
            std::move(*one.mutable_data()) };
        if (auto ok = checkBlob(blob)) {
            out.blobs.push_back(std::move(blob));
        } else if (refusals) {
            refusals->note(ok.error().what);
            ++refusals->left.blobs;
        } else {
            return ok;
        }
    }
    for (wire::Event& one : *in.mutable_events()) {
        Event event { one.kind(), Step { one.step() }, one.wall_ns(), std::move(*one.mutable_text()),
            std::move(*one.mutable_json()), one.ref(), one.rule(), one.phase(), one.cause() };
        if (one.has_last_step())
            event.lastStep = Step { one.last_step() };
        event.rev = one.rev();
        event.author = one.author();
        if (auto ok = checkEvent(event)) {
            out.events.push_back(std::move(event));
        } else if (refusals) {
            refusals->note(ok.error().what);
            ++refusals->left.events;
        } else {
            return ok;
        }
    }
    for (wire::Drop& drop : *in.mutable_drops()) {
        out.drops.push_back({ drop.drop_class(), Step { drop.first_step() }, Step { drop.last_step() },
            std::min(drop.items(), kMostDropped), std::min(drop.bytes(), kMostDropped),
            std::move(*drop.mutable_reason()) });
    }
    out.stepComplete = !in.step_open();
    return {};
}

}

Expected<SampleBatch> decodePayload(std::string_view payload, const LayoutTable& known, Refusals* refusals)
{
    if (refusals)
        refusals->left = {};
    if (auto ok = prescanPayload(payload); !ok)
        return tl::unexpected(ok.error());
    wire::Payload in;
    if (!in.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
        return failure(ErrorCode::BadInput, "bytes are not the payload of a batch");
    SampleBatch out;
    LayoutTable own;
    if (auto ok = readLayouts(in, known, out, own, refusals); !ok)
        return tl::unexpected(ok.error());
    const auto layouts = checkBlocks(in, payload.size(), known, own, refusals);
    if (!layouts)
        return tl::unexpected(layouts.error());
    std::vector<std::vector<StepBlock>> groups;
    groups.reserve(layouts->size());
    for (std::size_t g = 0; g < layouts->size(); ++g) {
        const wire::Blocks& group = in.blocks(static_cast<int>(g));
        if (!(*layouts)[g].layout) {
            groups.push_back(refusedBlocks(group, (*layouts)[g].refused, refusals->left));
            continue;
        }
        auto blocks = BlocksReader(group, (*layouts)[g].layout).read();
        if (!blocks)
            return tl::unexpected(blocks.error());
        groups.push_back(std::move(*blocks));
    }
    if (auto ok = arrange(in, groups, out); !ok)
        return tl::unexpected(ok.error());
    if (auto ok = readRest(in, out, refusals); !ok)
        return tl::unexpected(ok.error());
    for (const StepBlock& block : out.blocks) {
        out.samples += sampleCount(block);
        out.scalars += scalarCount(block);
    }
    return out;
}

}
