// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/encoder.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <telltale/protocol/limits.h>
#include <telltale/stats/stats.h>

namespace telltale::agent {
namespace {

// A batch must fit a message even in the worst case: incompressible, and with every layout it uses in front.
constexpr std::size_t kMaxBatchBytes = 512u << 10;
constexpr std::size_t kMaxLayoutBytes = 384u << 10;
constexpr std::size_t kMaxBatchSubmessages = 3200;
static_assert(kMaxBatchBytes + kMaxLayoutBytes < protocol::limits::kMaxMessageBytes);
static_assert(kMaxBatchSubmessages < protocol::limits::kMaxSubmessages);

bool isPresent(const tt_stats& stats, std::uint32_t needed)
{
    return (stats.flags & needed) == needed;
}

/// One member of all entries as column `stat`; entries that are not present hold 0.
template <typename Member>
Column memberColumn(Stat stat, const tt_stats* stats, std::size_t count, Member tt_stats::*member)
{
    // Without a finite element there is no norm, mean, min or max; a 0 would read as one. The share of zeros stays.
    const bool isOfFinite = !isWhole(stat) && factsOf(stat).nonFinite != NonFinite::OverAll;
    std::vector<Member> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        if ((stats[i].flags & TT_STATS_PRESENT) == 0)
            continue;
        const bool hasValue = !isOfFinite || stats[i].finite > 0 || stats[i].numel == 0;
        values[i] = hasValue ? stats[i].*member : std::numeric_limits<Member>::quiet_NaN();
    }
    return { stat, std::move(values) };
}

Column statsColumn(Stat stat, const tt_stats* stats, std::size_t count)
{
    switch (stat) {
#define TELLTALE_STAT(...)
#define TELLTALE_PASS_STAT(name, number, word, column, isSample, reduction, nonFinite, shown, field, member)           \
    case Stat::name:                                                                                                   \
        return memberColumn(stat, stats, count, &tt_stats::member);
#include <telltale/core/kindtable.h>
#undef TELLTALE_STAT
    default: // no layout of tt_stats has it: LayoutRequest refuses it with a sentence
        return { stat, std::vector<float>(count, std::numeric_limits<float>::quiet_NaN()) };
    }
}

Column floatColumn(Stat stat, const float* values, const std::uint8_t* present, std::size_t count)
{
    if (isWhole(stat)) {
        std::vector<std::uint64_t> out(count);
        for (std::size_t i = 0; i < count; ++i)
            out[i] = present[i] && values[i] > 0.0f && values[i] < 1.8e19f ? static_cast<std::uint64_t>(values[i]) : 0;
        return { stat, std::move(out) };
    }
    std::vector<float> out(count);
    for (std::size_t i = 0; i < count; ++i)
        out[i] = present[i] ? values[i] : 0.0f;
    return { stat, std::move(out) };
}

Column countColumn(const std::uint64_t* values, const std::uint8_t* present, std::size_t count, std::size_t width)
{
    std::vector<std::uint64_t> out(count * width);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = present[i / width] ? values[i] : 0;
    return { Stat::Hist, std::move(out) };
}

Column doubleColumn(const double* values, const std::uint8_t* present, std::size_t count)
{
    std::vector<double> out(count);
    for (std::size_t i = 0; i < count; ++i)
        out[i] = present[i] ? values[i] : 0.0;
    return { Stat::Value, std::move(out) };
}

/// The bitmap of a block's part, empty when all are present; `any` says whether one is.
template <typename IsPresent>
std::vector<std::uint64_t> presentBits(std::size_t count, bool& any, const IsPresent& isPresent)
{
    std::vector<std::uint64_t> bits((count + 63) / 64, 0);
    std::size_t seen = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (isPresent(i)) {
            bits[i / 64] |= std::uint64_t { 1 } << (i % 64);
            ++seen;
        }
    any = seen > 0;
    if (seen == count)
        bits.clear();
    return bits;
}

}

std::uint32_t presentCount(const Layout& layout, const std::byte* data)
{
    if (layout.type == BlockType::Stats) {
        const auto* stats = reinterpret_cast<const tt_stats*>(data);
        const auto isThere = [needed = layout.neededFlags](const tt_stats& each) { return isPresent(each, needed); };
        // Usually all are: a search that may end is four times as fast as counting, whose loop the compiler vectorizes.
        const tt_stats* missing = std::find_if_not(stats, stats + layout.count, isThere);
        return static_cast<std::uint32_t>(missing - stats + std::count_if(missing, stats + layout.count, isThere));
    }
    const auto* flags = reinterpret_cast<const std::uint8_t*>(data + layout.valueBytes());
    return layout.count - static_cast<std::uint32_t>(std::count(flags, flags + layout.count, 0));
}

Encoder::Encoder(Sink sink)
    : m_sink(std::move(sink))
{
}

void Encoder::beginStep(std::int64_t step, std::int64_t wallNs, Clock::time_point now)
{
    m_home.check();
    m_step = step;
    m_wallNs = wallNs;
    m_now = now;
}

void Encoder::addBlock(const Layout& layout, const SlabRing::Block& block)
{
    const auto* flags = reinterpret_cast<const std::uint8_t*>(block.data + layout.valueBytes());
    for (const Layout::Part& part : layout.parts) {
        StepBlock out;
        out.layout = part.wire;
        out.step = Step { m_step };
        out.wallNs = m_wallNs;
        bool any = false;
        if (layout.type == BlockType::Stats) {
            const auto* stats = reinterpret_cast<const tt_stats*>(block.data) + part.first;
            out.present
                = presentBits(part.count, any, [&](std::size_t i) { return isPresent(stats[i], layout.neededFlags); });
            for (const Stat stat : layout.stats)
                out.columns.push_back(statsColumn(stat, stats, part.count));
        } else {
            const std::uint8_t* present = flags + part.first;
            out.present = presentBits(part.count, any, [present](std::size_t i) { return present[i] != 0; });
            if (layout.type == BlockType::Doubles) {
                const auto* values = reinterpret_cast<const double*>(block.data) + part.first;
                out.columns.push_back(doubleColumn(values, present, part.count));
            } else if (layout.type == BlockType::Counts) {
                const auto* values
                    = reinterpret_cast<const std::uint64_t*>(block.data) + std::size_t { part.first } * layout.width;
                out.columns.push_back(countColumn(values, present, part.count, layout.width));
            } else {
                const auto* values = reinterpret_cast<const float*>(block.data);
                for (std::size_t s = 0; s < layout.stats.size(); ++s)
                    out.columns.push_back(
                        floatColumn(layout.stats[s], values + s * layout.count + part.first, present, part.count));
            }
        }
        if (any)
            addPart(part, std::move(out));
    }
}

void Encoder::addPart(const Layout::Part& part, StepBlock&& block)
{
    std::size_t bytes = 64 + block.present.size() * 8;
    for (const Column& column : block.columns)
        bytes += 16 + column.size() * (std::holds_alternative<std::vector<float>>(column.values) ? 4 : 8);
    const bool isNew = std::find(m_usedLayouts.begin(), m_usedLayouts.end(), part.wire->id) == m_usedLayouts.end();
    Cost cost { bytes, 0, 0, 1, 3 }; // its step, its time, its place in the order
    if (isNew) {
        cost.layoutBytes = part.layoutBytes;
        cost.submessages = part.wire->series.size() + part.wire->stats.size() + 2;
        cost.elements += part.wire->stats.size() + part.dimensions + 8 * part.wire->edges.size();
    }
    if (!fits(cost)) {
        const bool isCutInsideStep = !m_steps.isEmpty() && m_steps.last == Step { m_step };
        emit(!isCutInsideStep);
        return addPart(part, std::move(block));
    }
    touch(m_now);
    if (isNew)
        m_usedLayouts.push_back(part.wire->id);
    add(cost);
    if (m_steps.isEmpty())
        m_steps = { block.step, block.step };
    m_steps.first = std::min(m_steps.first, block.step);
    m_steps.last = std::max(m_steps.last, block.step);
    m_builder.addBlock(block);
}

bool Encoder::fits(const Cost& cost) const
{
    return m_builder.isEmpty()
        || (m_decodedBytes + cost.decodedBytes <= kMaxBatchBytes && m_layoutBytes + cost.layoutBytes <= kMaxLayoutBytes
            && m_submessages + cost.submessages <= kMaxBatchSubmessages
            && m_blocks + cost.blocks <= protocol::limits::kMaxSubmessages
            && m_elements + cost.elements <= protocol::limits::kMaxPackedElements);
}

void Encoder::add(const Cost& cost)
{
    m_decodedBytes += cost.decodedBytes;
    m_layoutBytes += cost.layoutBytes;
    m_submessages += cost.submessages;
    m_blocks += cost.blocks;
    m_elements += cost.elements;
}

void Encoder::addEvent(const Event& event, Clock::time_point now)
{
    const Cost cost { 64 + event.bytes() };
    if (!fits(cost))
        emit(true);
    touch(now);
    add(cost);
    ++m_events;
    m_builder.addEvent(event);
}

void Encoder::addBlob(const Blob& blob, Clock::time_point now)
{
    const Cost cost { 64 + blob.id.size() + blob.name.size() + blob.bytes.size() };
    if (!fits(cost))
        emit(true);
    touch(now);
    add(cost);
    ++m_blobs;
    m_builder.addBlob(blob);
}

void Encoder::addDrops(const std::vector<Drop>& drops, Clock::time_point now)
{
    for (const Drop& drop : drops) {
        const Cost cost { 128 + drop.reason.size() };
        if (!fits(cost))
            emit(true);
        touch(now);
        add(cost);
        m_builder.addDrop(drop);
        m_drops.push_back(drop);
    }
}

void Encoder::touch(Clock::time_point now)
{
    if (m_builder.isEmpty())
        m_openSince = now;
}

void Encoder::finish()
{
    m_home.check();
    if (!m_builder.isEmpty())
        emit(true);
}

void Encoder::emit(bool stepComplete)
{
    EncodedBatch batch;
    batch.info.samples = m_builder.samples();
    batch.info.scalars = m_builder.scalars();
    if (!m_lastUsedLayouts || *m_lastUsedLayouts != m_usedLayouts)
        m_lastUsedLayouts = std::make_shared<const std::vector<LayoutId>>(m_usedLayouts);
    batch.info.layouts = m_lastUsedLayouts;
    batch.info.steps = m_steps;
    batch.drops = std::move(m_drops);
    batch.events = std::exchange(m_events, 0);
    batch.blobs = std::exchange(m_blobs, 0);
    m_builder.setStepComplete(stepComplete);
    batch.payload = m_builder.finish();
    m_usedLayouts.clear();
    m_drops.clear();
    m_steps = {};
    m_layoutBytes = m_decodedBytes = m_submessages = m_blocks = m_elements = 0;
    m_sink(std::move(batch));
}

}
