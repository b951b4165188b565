// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <telltale/core/bytes.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/columns.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/prescan.h>
#include <telltale/protocol/utf8.h>
#include <telltale/protocol/wiretables.h>

namespace telltale::protocol {
namespace {

using LayoutPtr = std::shared_ptr<const SeriesLayout>;

tl::unexpected<Error> bad(std::string what)
{
    return failure(ErrorCode::BadInput, std::move(what));
}

tl::unexpected<Error> damaged()
{
    return failure(ErrorCode::Damaged, "the batch does not have the size that it states");
}

Expected<SeriesDesc> read(const wire::Series& in)
{
    if (!isValidName(in.name()) || !isValidName(in.slot()) || !isValidName(in.definition()))
        return bad("a series has a name that is too long or contains NUL");
    SeriesDesc out;
    out.name = in.name();
    out.slot = in.slot();
    out.vppStage = in.vpp_stage();
    out.microStep = static_cast<std::int32_t>(static_cast<std::uint32_t>(in.micro_step_plus_one()) - 1u);
    out.form = in.form();
    out.definition = in.definition();
    out.shape.assign(in.shape().begin(), in.shape().end());
    out.dtype = in.dtype() <= static_cast<std::uint32_t>(DType::Bool) ? static_cast<DType>(in.dtype()) : DType::Unknown;
    out.numel = in.numel();
    out.shardOffset = static_cast<std::int64_t>(static_cast<std::uint64_t>(in.shard_offset_plus_one()) - 1u);
    out.fullShape.assign(in.full_shape().begin(), in.full_shape().end());
    return out;
}

Expected<LayoutPtr> read(const wire::Layout& in)
{
    auto out = std::make_shared<SeriesLayout>();
    out->id = LayoutId { in.layout_id() };
    if (in.layout_id() == 0)
        return bad("a layout has no id");
    if (in.kind() <= 0 || in.kind() >= kKindCount)
        return bad("layout " + std::to_string(in.layout_id()) + " has a kind that this version does not know");
    out->kind = static_cast<Kind>(in.kind());
    for (const int stat : in.stats()) {
        if (stat <= 0 || stat >= kStoredStatCount)
            return bad("layout " + std::to_string(in.layout_id()) + " has a stat that this version does not know");
        const auto ours = static_cast<Stat>(stat);
        if (std::find(out->stats.begin(), out->stats.end(), ours) != out->stats.end())
            return bad("layout " + std::to_string(in.layout_id()) + " names a stat twice");
        out->stats.push_back(ours);
    }
    const bool isScalar = out->stats == std::vector<Stat> { Stat::Value };
    if (out->stats.empty() || isScalar != (out->kind == Kind::Scalar))
        return bad("layout " + std::to_string(in.layout_id()) + " has stats that do not go with its kind");
    out->series.reserve(static_cast<std::size_t>(in.series_size()));
    for (const wire::Series& series : in.series()) {
        auto desc = read(series);
        if (!desc)
            return tl::unexpected(desc.error());
        out->series.push_back(std::move(*desc));
    }
    return out;
}

std::size_t bitmapBytes(const SeriesLayout& layout)
{
    return (layout.series.size() + 7) / 8;
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

/// What decoding these blocks will allocate, from their shape alone. Nothing overflows: at most 4096 series of a
/// payload's own layouts or what `known` holds, times 4096 steps, times 8 bytes.
std::uint64_t decodedBytes(const wire::Blocks& in, const SeriesLayout& layout)
{
    std::uint64_t perStep = 0;
    for (const Stat stat : layout.stats)
        perStep += layout.series.size() * columnWidth(stat);
    if (!in.present().empty())
        perStep += bitmapBytes(layout);
    if (!in.call_ids().empty())
        perStep += layout.series.size() * sizeof(std::uint32_t);
    return perStep * static_cast<std::uint64_t>(in.steps_size());
}

/// Decodes the blocks of one layout into `m_blocks`, oldest first. Thread: owned by one call.
class BlocksReader {
public:
    BlocksReader(const wire::Blocks& in, LayoutPtr layout)
        : m_in(in)
        , m_layout(std::move(layout))
        , m_steps(static_cast<std::size_t>(in.steps_size()))
        , m_series(m_layout->series.size())
    {
    }

    Expected<std::vector<StepBlock>> read()
    {
        m_blocks.resize(m_steps);
        std::uint64_t step = 0;
        std::uint64_t wallNs = 0;
        for (std::size_t s = 0; s < m_steps; ++s) {
            step += static_cast<std::uint64_t>(m_in.steps(static_cast<int>(s)));
            wallNs += static_cast<std::uint64_t>(m_in.wall_ns(static_cast<int>(s)));
            if (!isStep(static_cast<std::int64_t>(step)))
                return bad("a step is farther from 0 than 2^53");
            m_blocks[s].layout = m_layout;
            m_blocks[s].step = Step { static_cast<std::int64_t>(step) };
            m_blocks[s].wallNs = static_cast<std::int64_t>(wallNs);
            m_blocks[s].columns.reserve(m_layout->stats.size());
        }
        for (std::size_t i = 0; i < m_layout->stats.size(); ++i) {
            if (auto done = readColumn(m_layout->stats[i], m_in.columns(static_cast<int>(i))); !done)
                return tl::unexpected(done.error());
        }
        if (auto done = readPresent(); !done)
            return tl::unexpected(done.error());
        if (auto done = readCallIds(); !done)
            return tl::unexpected(done.error());
        return std::move(m_blocks);
    }

private:
    Expected<void> readColumn(Stat stat, const std::string& encoded)
    {
        switch (columnType(stat)) {
        case ColumnType::F32:
            return readWords<float, std::uint32_t>(stat, encoded);
        case ColumnType::F64:
            return readWords<double, std::uint64_t>(stat, encoded);
        case ColumnType::U64:
            break;
        }
        if (encoded.empty()) {
            addZeros<std::uint64_t>(stat);
            return {};
        }
        thread_local std::vector<std::uint64_t> numbers;
        numbers.resize(m_steps * m_series);
        if (auto done = decodeVarints(encoded, numbers); !done)
            return done;
        for (std::size_t s = 0; s < m_steps; ++s) {
            const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(s * m_series);
            m_blocks[s].columns.push_back(
                { stat, std::vector<std::uint64_t>(first, first + static_cast<std::ptrdiff_t>(m_series)) });
        }
        return {};
    }

    template <typename T> void addZeros(Stat stat)
    {
        for (StepBlock& block : m_blocks)
            block.columns.push_back({ stat, std::vector<T>(m_series) });
    }

    template <typename T, typename Word> Expected<void> readWords(Stat stat, const std::string& encoded)
    {
        if (encoded.empty()) {
            addZeros<T>(stat);
            return {};
        }
        thread_local std::vector<Word> words;
        words.resize(m_steps * m_series);
        const std::span<char> bytes { reinterpret_cast<char*>(words.data()), words.size() * sizeof(Word) };
        if (auto done = decodeWords(encoded, sizeof(Word), m_steps, bytes); !done)
            return done;
        for (std::size_t s = 0; s < m_steps; ++s) {
            std::vector<T> values(m_series);
            if (m_series > 0)
                std::memcpy(values.data(), words.data() + s * m_series, m_series * sizeof(Word));
            m_blocks[s].columns.push_back({ stat, std::move(values) });
        }
        return {};
    }

    Expected<void> readPresent()
    {
        if (m_in.present().empty())
            return {};
        const std::size_t width = bitmapBytes(*m_layout);
        std::string absent(m_steps * width, '\0');
        if (auto done = decodeWords(m_in.present(), 1, m_steps, absent); !done)
            return done;
        for (std::size_t s = 0; s < m_steps; ++s) {
            bool hasAbsent = false;
            std::vector<std::uint64_t> present((m_series + 63) / 64, 0);
            for (std::size_t b = 0; b < width; ++b) {
                const char byte = absent[s * width + b];
                const std::size_t bits = std::min<std::size_t>(8, m_series - b * 8);
                const unsigned mask = (1u << bits) - 1u;
                const unsigned missing = static_cast<unsigned char>(byte) & mask;
                hasAbsent = hasAbsent || missing != 0;
                present[b / 8] |= std::uint64_t { ~missing & mask } << (8 * (b % 8));
            }
            if (hasAbsent)
                m_blocks[s].present = std::move(present);
        }
        return {};
    }

    Expected<void> readCallIds()
    {
        if (m_in.call_ids().empty())
            return {};
        std::vector<std::uint64_t> numbers(m_steps * m_series);
        if (auto done = decodeVarints(m_in.call_ids(), numbers); !done)
            return done;
        for (std::size_t s = 0; s < m_steps; ++s) {
            const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(s * m_series);
            const auto last = first + static_cast<std::ptrdiff_t>(m_series);
            if (std::all_of(first, last, [](std::uint64_t n) { return n == 0; }))
                continue;
            std::vector<std::uint32_t>& ids = m_blocks[s].callIds;
            ids.reserve(m_series);
            std::uint64_t id = 0;
            for (auto it = first; it != last; ++it) {
                const std::uint64_t zigzag = *it - 1;
                id += (zigzag >> 1) ^ (0 - (zigzag & 1));
                if (*it == 0 || id > UINT32_MAX)
                    return failure(ErrorCode::Damaged, "the call order of the batch is damaged");
                ids.push_back(static_cast<std::uint32_t>(id));
            }
        }
        return {};
    }

    const wire::Blocks& m_in;
    LayoutPtr m_layout;
    std::size_t m_steps;
    std::size_t m_series;
    std::vector<StepBlock> m_blocks;
};

Expected<void> readLayouts(const wire::Payload& in, const LayoutTable& known, SampleBatch& out, LayoutTable& own)
{
    out.layouts.reserve(static_cast<std::size_t>(in.layouts_size()));
    for (const wire::Layout& layout : in.layouts()) {
        auto parsed = read(layout);
        if (!parsed)
            return tl::unexpected(parsed.error());
        LayoutPtr ptr = std::move(*parsed);
        if (const LayoutPtr before = known.find(ptr->id)) {
            if (*before != *ptr)
                return bad("layout " + std::to_string(layout.layout_id()) + " is known with other contents");
            ptr = before;
        }
        if (!own.add(ptr))
            return bad("layout " + std::to_string(layout.layout_id()) + " stands twice with different contents");
        out.layouts.push_back(std::move(ptr));
    }
    return {};
}

/// The layout of each Blocks message, after every size that it states has been checked.
Expected<std::vector<LayoutPtr>> checkBlocks(
    const wire::Payload& in, std::size_t encodedBytes, const LayoutTable& known, const LayoutTable& own)
{
    if (in.decoded_bytes() > limits::kMaxDecodedBytes)
        return failure(ErrorCode::TooLarge, "the batch would decode to more than 4 MiB");
    if (in.decoded_bytes() > encodedBytes * limits::kMaxRatio)
        return failure(ErrorCode::TooLarge, "the batch would decode to more than 64 times its size");
    std::vector<LayoutPtr> layouts;
    std::uint64_t decoded = 0;
    std::size_t blocks = 0;
    for (const wire::Blocks& group : in.blocks()) {
        const LayoutId id { group.layout_id() };
        LayoutPtr layout = own.find(id);
        if (!layout)
            layout = known.find(id);
        if (!layout)
            return failure(
                ErrorCode::NotFound, "the batch uses layout " + std::to_string(id.value) + ", which is not known");
        if (group.wall_ns_size() != group.steps_size()
            || static_cast<std::size_t>(group.columns_size()) != layout->stats.size())
            return damaged();
        blocks += static_cast<std::size_t>(group.steps_size());
        if (blocks > limits::kMaxSubmessages)
            return failure(ErrorCode::TooLarge, "the batch has too many step blocks");
        decoded += decodedBytes(group, *layout);
        layouts.push_back(std::move(layout));
    }
    if (decoded != in.decoded_bytes())
        return damaged();
    return layouts;
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
                return damaged();
            order.emplace_back(g, seen[g]++);
        }
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (seen[g] != groups[g].size())
                return damaged();
        }
    }
    out.blocks.reserve(order.size());
    for (const auto& [g, i] : order)
        out.blocks.push_back(std::move(groups[g][i]));
    return {};
}

Expected<void> readRest(wire::Payload& in, SampleBatch& out)
{
    for (wire::Blob& blob : *in.mutable_blobs()) {
        if (blob.data().size() > limits::kMaxBlobPartBytes)
            return failure(ErrorCode::TooLarge, "a blob part is larger than 512 KiB");
        if (!isValidName(blob.blob_id()) || !isValidName(blob.kind()) || !isValidName(blob.name()))
            return bad("a blob has a name that is too long or contains NUL");
        out.blobs.push_back({ blob.blob_id(), blob.part(), blob.parts(), blob.kind(), blob.name(), Step { blob.step() },
            std::move(*blob.mutable_data()) });
    }
    for (wire::Event& event : *in.mutable_events()) {
        if (!isValidName(event.kind()))
            return bad("an event has a kind that is too long or contains NUL");
        out.events.push_back({ event.kind(), Step { event.step() }, event.wall_ns(), std::move(*event.mutable_text()),
            std::move(*event.mutable_json()) });
    }
    for (wire::Drop& drop : *in.mutable_drops()) {
        out.drops.push_back({ drop.drop_class(), Step { drop.first_step() }, Step { drop.last_step() }, drop.items(),
            drop.bytes(), std::move(*drop.mutable_reason()) });
    }
    out.stepComplete = !in.step_open();
    return {};
}

}

Expected<SampleBatch> decodePayload(std::string_view payload, const LayoutTable& known)
{
    if (auto ok = prescanPayload(payload); !ok)
        return tl::unexpected(ok.error());
    wire::Payload in;
    if (!in.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
        return bad("bytes are not the payload of a batch");
    SampleBatch out;
    LayoutTable own;
    if (auto ok = readLayouts(in, known, out, own); !ok)
        return tl::unexpected(ok.error());
    const auto layouts = checkBlocks(in, payload.size(), known, own);
    if (!layouts)
        return tl::unexpected(layouts.error());
    std::vector<std::vector<StepBlock>> groups;
    groups.reserve(layouts->size());
    for (std::size_t g = 0; g < layouts->size(); ++g) {
        auto blocks = BlocksReader(in.blocks(static_cast<int>(g)), (*layouts)[g]).read();
        if (!blocks)
            return tl::unexpected(blocks.error());
        groups.push_back(std::move(*blocks));
    }
    if (auto ok = arrange(in, groups, out); !ok)
        return tl::unexpected(ok.error());
    if (auto ok = readRest(in, out); !ok)
        return tl::unexpected(ok.error());
    for (const StepBlock& block : out.blocks) {
        out.samples += sampleCount(block);
        out.scalars += scalarCount(block);
    }
    return out;
}

}
