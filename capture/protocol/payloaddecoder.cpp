// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <telltale/core/bytes.h>
#include <telltale/core/protocolone.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/columns.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/prescan.h>
#include <telltale/protocol/refusals.h>
#include <telltale/protocol/wiretables.h>

namespace telltale::protocol {
namespace {

using LayoutPtr = std::shared_ptr<const SeriesLayout>;

/// More than anybody can have dropped, and a number in every file.
constexpr std::uint64_t kMostDropped = std::uint64_t { 1 } << 60;

tl::unexpected<Error> malformed(std::string what)
{
    return failure(ErrorCode::BadInput, std::move(what));
}

tl::unexpected<Error> wrongSize()
{
    return failure(ErrorCode::Damaged, "the batch does not have the size that it states");
}

std::int32_t minusOne(std::uint32_t number)
{
    return static_cast<std::int32_t>(number - 1u);
}

Slot readSlot(const wire::Series& in, const SeriesLayout& of)
{
    if (in.role_plus_one() == 0)
        return protocolone::slotOf(in.slot(), of.kind, of.hasBinsAsSeries());
    if (in.role_plus_one() > kRoleCount)
        return Slot::named(in.slot()); // an agent of a later version
    return { static_cast<Role>(in.role_plus_one() - 1), minusOne(in.number_plus_one()), minusOne(in.head_plus_one()),
        minusOne(in.expert_plus_one()), -1, in.call(), in.word(), in.position() };
}

SeriesDesc read(const wire::Series& in, const SeriesLayout& of)
{
    SeriesDesc out;
    out.name = in.name();
    out.slot = readSlot(in, of);
    out.vppStage = in.vpp_stage();
    out.microStep = minusOne(static_cast<std::uint32_t>(in.micro_step_plus_one()));
    out.form = in.form();
    out.definition = in.definition();
    out.shape.assign(in.shape().begin(), in.shape().end());
    out.dtype = in.dtype() <= static_cast<std::uint32_t>(DType::Bool) ? static_cast<DType>(in.dtype()) : DType::Unknown;
    out.numel = in.numel();
    out.shardOffset = static_cast<std::int64_t>(static_cast<std::uint64_t>(in.shard_offset_plus_one()) - 1u);
    out.fullShape.assign(in.full_shape().begin(), in.full_shape().end());
    return out;
}

/// What this version does not know is Unspecified; checkLayout() has the say.
LayoutPtr read(const wire::Layout& in)
{
    auto out = std::make_shared<SeriesLayout>();
    out->id = LayoutId { in.layout_id() };
    out->kind = in.kind() > 0 && in.kind() < kKindCount ? static_cast<Kind>(in.kind()) : Kind::Unspecified;
    for (const int stat : in.stats())
        out->stats.push_back(stat > 0 && stat < kStoredStatCount ? static_cast<Stat>(stat) : Stat::Unspecified);
    out->edges.assign(in.edges().begin(), in.edges().end());
    out->series.reserve(static_cast<std::size_t>(in.series_size()));
    for (const wire::Series& series : in.series())
        out->series.push_back(read(series, *out));
    return out;
}

/// Whether blocks of these columns can be decoded, if only to count what is in them.
bool isReadable(const std::vector<Stat>& stats)
{
    return std::find(stats.begin(), stats.end(), Stat::Unspecified) == stats.end();
}

std::size_t bitmapBytes(std::size_t series)
{
    return (series + 7) / 8;
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

/// Decodes the blocks of one layout into `m_blocks`, oldest first. Thread: owned by one call.
class BlocksReader {
public:
    BlocksReader(const wire::Blocks& in, LayoutPtr layout)
        : m_in(in)
        , m_layout(std::move(layout))
        , m_steps(static_cast<std::size_t>(in.steps_size()))
        , m_series(m_layout->series.size())
        , m_cells(m_layout->cells())
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
                return malformed("a step is farther from 0 than 2^53");
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
        switch (protocolone::columnType(m_layout->edges, stat)) {
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
        numbers.resize(m_steps * m_cells);
        if (auto done = decodeVarints(encoded, numbers); !done)
            return done;
        for (std::size_t s = 0; s < m_steps; ++s) {
            const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(s * m_cells);
            m_blocks[s].columns.push_back(
                { stat, std::vector<std::uint64_t>(first, first + static_cast<std::ptrdiff_t>(m_cells)) });
        }
        return {};
    }

    template <typename T> void addZeros(Stat stat)
    {
        for (StepBlock& block : m_blocks)
            block.columns.push_back({ stat, std::vector<T>(m_cells) });
    }

    template <typename T, typename Word> Expected<void> readWords(Stat stat, const std::string& encoded)
    {
        if (encoded.empty()) {
            addZeros<T>(stat);
            return {};
        }
        thread_local std::vector<Word> words;
        words.resize(m_steps * m_cells);
        const std::span<char> bytes { reinterpret_cast<char*>(words.data()), words.size() * sizeof(Word) };
        if (auto done = decodeWords(encoded, sizeof(Word), m_steps, bytes); !done)
            return done;
        for (std::size_t s = 0; s < m_steps; ++s) {
            std::vector<T> values(m_cells);
            if (m_cells > 0)
                std::memcpy(values.data(), words.data() + s * m_cells, m_cells * sizeof(Word));
            m_blocks[s].columns.push_back({ stat, std::move(values) });
        }
        return {};
    }

    Expected<void> readPresent()
    {
        if (m_in.present().empty())
            return {};
        const std::size_t width = bitmapBytes(m_series);
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
    std::size_t m_cells; ///< of a column
    std::vector<StepBlock> m_blocks;
};

/// The layout as it may be used, in `own` from now on.
Expected<LayoutPtr> takeLayout(LayoutPtr layout, const LayoutTable& known, LayoutTable& own, std::size_t& knownSeries)
{
    if (auto ok = checkLayout(*layout); !ok)
        return tl::unexpected(ok.error());
    const LayoutPtr before = known.find(layout->id);
    if (before && *before != *layout)
        return malformed("layout " + std::to_string(layout->id.value) + " is known with other contents");
    if (before)
        layout = before;
    const bool isNew = !before && !own.find(layout->id);
    if (auto ok = isNew ? checkSeriesCount(knownSeries, layout->series.size()) : Expected<void> {}; !ok)
        return tl::unexpected(ok.error());
    if (!own.add(layout))
        return malformed("layout " + std::to_string(layout->id.value) + " stands twice with different contents");
    if (isNew)
        knownSeries += layout->series.size();
    return layout;
}

Expected<void> readLayouts(
    const wire::Payload& in, const LayoutTable& known, SampleBatch& out, LayoutTable& own, Refusals* refusals)
{
    out.layouts.reserve(static_cast<std::size_t>(in.layouts_size()));
    std::size_t series = refusals ? refusals->knownSeries : 0;
    for (const wire::Layout& layout : in.layouts()) {
        LayoutPtr parsed = read(layout);
        auto taken = takeLayout(parsed, known, own, series);
        if (taken) {
            if (refusals)
                refusals->layouts.erase(parsed->id);
            out.layouts.push_back(std::move(*taken));
            continue;
        }
        if (!refusals)
            return tl::unexpected(taken.error());
        refusals->note(taken.error().what);
        if (refusals->layouts.size() < Refusals::kMostLayouts || refusals->layouts.contains(parsed->id))
            refusals->layouts.insert_or_assign(parsed->id,
                Refusals::Layout {
                    parsed->kind, parsed->stats, parsed->series.size(), parsed->edges, std::move(taken.error().what) });
    }
    return {};
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
        return malformed("bytes are not the payload of a batch");
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
