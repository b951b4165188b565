// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/payloadbuilder.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <telltale/core/bytes.h>
#include <telltale/core/protocolone.h>
#include <telltale/protocol/columns.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/utf8.h>
#include <telltale/protocol/wiretables.h>

namespace telltale::protocol {
namespace {

/// The blocks of one layout that wait for finish(). Thread: owned by the builder.
struct Group {
    std::shared_ptr<const SeriesLayout> layout;
    std::vector<Step> steps;
    std::vector<std::int64_t> wallNs;
    std::vector<std::string> words; ///< by stat: f32 and f64 columns, step after step
    std::vector<std::vector<std::uint64_t>> counts; ///< by stat: u64 columns, step after step
    std::string absent; ///< bitmaps of what was not measured, whole bytes a step
    std::vector<std::uint64_t> callIds; ///< 0 = the layout's own order
    bool hasAbsent = false;
    bool hasCallIds = false;
    std::uint64_t samplesPerSeries = 0;

    std::size_t seriesCount() const { return layout->series.size(); }
    ColumnType type(std::size_t stat) const { return protocolone::columnType(layout->edges, layout->stats[stat]); }
    std::size_t bitmapBytes() const { return (seriesCount() + 7) / 8; }
};

template <typename T> void appendWords(std::string& words, const Column* column, const StepBlock& block)
{
    const std::size_t n = block.layout->cells();
    const std::size_t width = block.layout->width();
    const std::size_t start = words.size();
    words.resize(start + n * sizeof(T), '\0');
    if (column == nullptr)
        return;
    std::visit(
        [&](const auto& values) {
            const std::size_t count = std::min(n, values.size());
            for (std::size_t i = 0; i < count; ++i) {
                if (!block.isPresent(i / width))
                    continue;
                const auto value = static_cast<T>(values[i]);
                std::memcpy(words.data() + start + i * sizeof(T), &value, sizeof(T));
            }
        },
        column->values);
}

void appendCounts(std::vector<std::uint64_t>& counts, const Column* column, const StepBlock& block)
{
    const std::size_t n = block.layout->cells();
    const std::size_t width = block.layout->width();
    const std::size_t start = counts.size();
    counts.resize(start + n, 0);
    const auto* values = column == nullptr ? nullptr : std::get_if<std::vector<std::uint64_t>>(&column->values);
    if (values == nullptr)
        return;
    for (std::size_t i = 0; i < std::min(n, values->size()); ++i) {
        if (block.isPresent(i / width))
            counts[start + i] = (*values)[i];
    }
}

const Column* findColumn(const StepBlock& block, std::size_t position, Stat stat)
{
    if (position < block.columns.size() && block.columns[position].stat == stat)
        return &block.columns[position];
    const auto it = std::find_if(
        block.columns.begin(), block.columns.end(), [stat](const Column& column) { return column.stat == stat; });
    return it == block.columns.end() ? nullptr : &*it;
}

/// Differences from the id before, zigzag, plus one: 0 stays free for "the layout's own order".
void appendCallIds(std::vector<std::uint64_t>& out, const std::vector<std::uint32_t>& ids, std::size_t n)
{
    if (ids.size() != n) {
        out.resize(out.size() + n, 0);
        return;
    }
    std::int64_t before = 0;
    for (const std::uint32_t id : ids) {
        const std::int64_t delta = std::int64_t { id } - before;
        before = id;
        out.push_back(((static_cast<std::uint64_t>(delta) << 1) ^ static_cast<std::uint64_t>(delta >> 63)) + 1);
    }
}

template <typename Field, typename Values> void writeDeltas(const Values& values, Field& field)
{
    std::uint64_t before = 0;
    field.Reserve(static_cast<int>(values.size()));
    for (const std::int64_t value : values) {
        const auto now = static_cast<std::uint64_t>(value);
        field.Add(static_cast<std::int64_t>(now - before));
        before = now;
    }
}

std::vector<std::int64_t> plain(const std::vector<Step>& steps)
{
    std::vector<std::int64_t> out;
    out.reserve(steps.size());
    for (const Step step : steps)
        out.push_back(step.value);
    return out;
}

std::uint32_t plusOne(std::int32_t number)
{
    return static_cast<std::uint32_t>(number) + 1u;
}

void write(const Slot& in, wire::Series& out)
{
    out.set_slot(toUtf8(in.text()));
    if (in.bin >= 0)
        return; // of protocol 1, where its text says it
    out.set_role_plus_one(static_cast<std::uint32_t>(in.role) + 1u);
    out.set_number_plus_one(plusOne(in.number));
    out.set_head_plus_one(plusOne(in.head));
    out.set_expert_plus_one(plusOne(in.expert));
    out.set_call(in.call);
    out.set_word(toUtf8(in.word));
    out.set_position(toUtf8(in.position));
}

void write(const SeriesLayout& in, wire::Layout& out)
{
    out.set_layout_id(in.id.value);
    out.set_kind(static_cast<wire::Kind>(in.kind));
    for (const Stat stat : in.stats)
        out.add_stats(static_cast<wire::Stat>(stat));
    out.mutable_edges()->Add(in.edges.begin(), in.edges.end());
    for (const SeriesDesc& desc : in.series) {
        wire::Series& series = wire::append(*out.mutable_series());
        series.set_name(toUtf8(desc.name));
        write(desc.slot, series);
        series.set_vpp_stage(desc.vppStage);
        series.set_micro_step_plus_one(desc.microStep + 1);
        series.set_form(desc.form);
        series.set_definition(toUtf8(desc.definition));
        series.mutable_shape()->Add(desc.shape.begin(), desc.shape.end());
        series.set_dtype(static_cast<std::uint32_t>(desc.dtype));
        series.set_numel(desc.numel);
        series.set_shard_offset_plus_one(desc.shardOffset + 1);
        series.mutable_full_shape()->Add(desc.fullShape.begin(), desc.fullShape.end());
    }
}

/// Returns the decoded size.
std::size_t write(Group& in, wire::Blocks& out)
{
    const std::size_t steps = in.steps.size();
    out.set_layout_id(in.layout->id.value);
    writeDeltas(plain(in.steps), *out.mutable_steps());
    writeDeltas(in.wallNs, *out.mutable_wall_ns());
    std::size_t decoded = 0;
    for (std::size_t i = 0; i < in.layout->stats.size(); ++i) {
        const ColumnType type = in.type(i);
        std::string& bytes = wire::append(*out.mutable_columns());
        decoded += steps * in.layout->cells() * wordBytes(type);
        if (type == ColumnType::U64) {
            encodeVarints(in.counts[i], bytes);
        } else {
            encodeWords(in.words[i], wordBytes(type), steps, bytes);
        }
    }
    if (in.hasAbsent) {
        decoded += in.absent.size();
        encodeWords(in.absent, 1, steps, *out.mutable_present());
    }
    if (in.hasCallIds) {
        encodeVarints(in.callIds, *out.mutable_call_ids());
        decoded += in.callIds.size() * sizeof(std::uint32_t);
    }
    return decoded;
}

}

struct PayloadBuilder::State {
    wire::Payload payload; ///< layouts, blobs, events and drops so far
    std::vector<Group> groups; ///< the first `used` are in use; the rest keep their buffers
    std::size_t used = 0;
    std::vector<std::uint32_t> order; ///< group of each block as added
    std::size_t bytes = 0;
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
    bool isEmpty = true;

    Group& groupOf(const std::shared_ptr<const SeriesLayout>& layout)
    {
        for (std::size_t i = 0; i < used; ++i) {
            if (groups[i].layout->id == layout->id) {
                order.push_back(static_cast<std::uint32_t>(i));
                return groups[i];
            }
        }
        if (used == groups.size())
            groups.emplace_back();
        Group& group = groups[used];
        order.push_back(static_cast<std::uint32_t>(used++));
        group.layout = layout;
        StepBlock oneSeries;
        oneSeries.layout = layout;
        oneSeries.present = { 1 };
        group.samplesPerSeries = sampleCount(oneSeries);
        group.steps.clear();
        group.wallNs.clear();
        group.words.resize(layout->stats.size());
        group.counts.resize(layout->stats.size());
        for (std::string& words : group.words)
            words.clear();
        for (auto& counts : group.counts)
            counts.clear();
        group.absent.clear();
        group.callIds.clear();
        group.hasAbsent = group.hasCallIds = false;
        return group;
    }

    /// Whether the blocks were added by step, then by group: then the order need not be told.
    bool isInDefaultOrder() const
    {
        std::vector<std::size_t> seen(used, 0);
        std::pair<Step, std::uint32_t> before;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const std::pair<Step, std::uint32_t> now { groups[order[i]].steps[seen[order[i]]++], order[i] };
            if (i > 0 && now < before)
                return false;
            before = now;
        }
        return true;
    }
};

PayloadBuilder::PayloadBuilder()
    : m_state(std::make_unique<State>())
{
}
PayloadBuilder::~PayloadBuilder() = default;
PayloadBuilder::PayloadBuilder(PayloadBuilder&&) noexcept = default;
PayloadBuilder& PayloadBuilder::operator=(PayloadBuilder&&) noexcept = default;

void PayloadBuilder::addLayout(const SeriesLayout& layout)
{
    wire::Layout& out = wire::append(*m_state->payload.mutable_layouts());
    write(layout, out);
    m_state->bytes += out.ByteSizeLong() + 8;
    m_state->isEmpty = false;
}

void PayloadBuilder::addBlock(const StepBlock& block)
{
    State& state = *m_state;
    Group& group = state.groupOf(block.layout);
    const std::size_t n = group.seriesCount();
    group.steps.push_back(block.step);
    group.wallNs.push_back(block.wallNs);
    for (std::size_t i = 0; i < group.layout->stats.size(); ++i) {
        const Stat stat = group.layout->stats[i];
        const Column* column = findColumn(block, i, stat);
        switch (group.type(i)) {
        case ColumnType::F32:
            appendWords<float>(group.words[i], column, block);
            break;
        case ColumnType::F64:
            appendWords<double>(group.words[i], column, block);
            break;
        case ColumnType::U64:
            appendCounts(group.counts[i], column, block);
            break;
        }
        // A varint of a large number takes ten bytes.
        state.bytes += group.layout->cells() * (group.type(i) == ColumnType::U64 ? 10 : wordBytes(group.type(i)));
    }

    const std::size_t bitmap = group.absent.size();
    group.absent.resize(bitmap + group.bitmapBytes(), '\0');
    std::uint64_t present = n;
    for (std::size_t i = 0; i < n && !block.present.empty(); ++i) {
        if (block.isPresent(i))
            continue;
        char& byte = group.absent[bitmap + i / 8];
        byte = static_cast<char>(static_cast<unsigned char>(byte) | (1u << (i % 8)));
        group.hasAbsent = true;
        --present;
    }
    group.hasCallIds = group.hasCallIds || (!block.callIds.empty() && block.callIds.size() == n);
    appendCallIds(group.callIds, block.callIds, n);

    state.bytes += 32 + group.bitmapBytes() + (block.callIds.empty() ? 0 : 6 * n);
    state.samples += present * group.samplesPerSeries;
    state.scalars += group.layout->kind == Kind::Scalar ? present : 0;
    state.isEmpty = false;
}

void PayloadBuilder::addBlob(const Blob& blob)
{
    wire::Blob& out = wire::append(*m_state->payload.mutable_blobs());
    out.set_blob_id(toUtf8(blob.id));
    out.set_part(blob.part);
    out.set_parts(blob.parts);
    out.set_kind(toUtf8(blob.kind));
    out.set_name(toUtf8(blob.name));
    out.set_step(blob.step.value);
    out.set_data(blob.bytes);
    m_state->bytes += out.ByteSizeLong() + 8;
    m_state->isEmpty = false;
}

void PayloadBuilder::addEvent(const Event& event)
{
    wire::Event& out = wire::append(*m_state->payload.mutable_events());
    out.set_kind(toUtf8(event.kind));
    out.set_step(event.step.value);
    out.set_wall_ns(event.wallNs);
    out.set_text(toUtf8(event.text));
    out.set_json(toUtf8(event.json));
    out.set_ref(event.ref);
    out.set_rule(toUtf8(event.rule));
    out.set_phase(toUtf8(event.phase));
    out.set_cause(toUtf8(event.cause));
    if (event.lastStep)
        out.set_last_step(event.lastStep->value);
    out.set_rev(event.rev);
    out.set_author(toUtf8(event.author));
    m_state->bytes += out.ByteSizeLong() + 8;
    m_state->isEmpty = false;
}

void PayloadBuilder::addDrop(const Drop& drop)
{
    wire::Drop& out = wire::append(*m_state->payload.mutable_drops());
    out.set_drop_class(drop.dropClass);
    out.set_first_step(drop.firstStep.value);
    out.set_last_step(drop.lastStep.value);
    out.set_items(drop.items);
    out.set_bytes(drop.bytes);
    out.set_reason(toUtf8(drop.reason));
    m_state->bytes += out.ByteSizeLong() + 8;
    m_state->isEmpty = false;
}

void PayloadBuilder::setStepComplete(bool complete)
{
    m_state->payload.set_step_open(!complete);
}

bool PayloadBuilder::isEmpty() const
{
    return m_state->isEmpty;
}

std::size_t PayloadBuilder::decodedBytes() const
{
    return m_state->bytes;
}

std::uint64_t PayloadBuilder::samples() const
{
    return m_state->samples;
}

std::uint64_t PayloadBuilder::scalars() const
{
    return m_state->scalars;
}

std::string PayloadBuilder::finish()
{
    m_home.check();
    State& state = *m_state;
    if (!state.isInDefaultOrder())
        state.payload.mutable_order()->Add(state.order.begin(), state.order.end());
    std::size_t decoded = 0;
    for (std::size_t i = 0; i < state.used; ++i)
        decoded += write(state.groups[i], wire::append(*state.payload.mutable_blocks()));
    state.payload.set_decoded_bytes(static_cast<std::uint32_t>(decoded));
    const std::size_t encoded = state.payload.ByteSizeLong();
    if (decoded > encoded * limits::kMaxRatio)
        state.payload.mutable_padding()->resize(decoded / limits::kMaxRatio - encoded + 1);
    std::string out = state.payload.SerializeAsString();

    state.payload.Clear();
    state.used = 0;
    state.order.clear();
    state.bytes = state.samples = state.scalars = 0;
    state.isEmpty = true;
    return out;
}

}
