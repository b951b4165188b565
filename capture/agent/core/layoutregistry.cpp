// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/layoutregistry.h>

#include <algorithm>

#include <telltale/core/drops.h>
#include <telltale/protocol/datarules.h>
#include <telltale/stats/stats.h>

namespace telltale::agent {
namespace {

constexpr std::size_t kMaxPartSeries = 512;
constexpr std::size_t kMaxPartCells = 16384; ///< 128 KiB of counts at a step
constexpr std::size_t kMaxPartText = 64u << 10;

std::size_t textBytes(const SeriesDesc& desc)
{
    return desc.name.size() + 2 * desc.slot.word.size() + desc.slot.position.size() + desc.definition.size()
        + 8 * (desc.shape.size() + desc.fullShape.size()) + 96;
}

}

std::size_t Layout::valueBytes() const
{
    switch (type) {
    case BlockType::Stats:
        return count * sizeof(tt_stats);
    case BlockType::Floats:
        return stats.size() * count * sizeof(float);
    case BlockType::Doubles:
        return count * sizeof(double);
    case BlockType::Counts:
        return std::size_t { count } * width * sizeof(std::uint64_t);
    }
    return 0;
}

std::size_t Layout::blockBytes() const
{
    return valueBytes() + (type == BlockType::Stats ? 0 : count);
}

LayoutRegistry::LayoutRegistry() = default;

Expected<const Layout*> LayoutRegistry::add(LayoutRequest&& request)
{
    auto& [kind, stats, type, series, edges, mended] = request;
    auto layout = std::make_unique<Layout>();
    layout->kind = kind;
    layout->stats = stats;
    layout->count = static_cast<std::uint32_t>(series.size());
    layout->width = edges.empty() ? 1 : static_cast<std::uint32_t>(edges.size() - 1);
    layout->type = type;
    layout->neededFlags = TT_STATS_PRESENT;
    if (std::any_of(stats.begin(), stats.end(), isIdentity))
        layout->neededFlags |= TT_STATS_CHECKSUM;
    if (kind == Kind::Scalar)
        layout->scalarsPerSeries = 1;
    else
        layout->samplesPerSeries
            = layout->width * static_cast<std::uint32_t>(std::count_if(stats.begin(), stats.end(), countsAsSample));
    layout->dropClass = kind == Kind::Scalar ? dropclass::kScalars
        : type == BlockType::Counts          ? dropclass::kHistograms
                                             : dropclass::kTensors;

    std::lock_guard lock(m_mutex);
    if (auto ok = protocol::checkSeriesCount(m_seriesCount, series.size()); !ok)
        return tl::unexpected(ok.error());
    std::uint32_t nextId = m_nextId;
    layout->id = nextId;
    for (std::size_t first = 0; first < series.size();) {
        auto wire = std::make_shared<SeriesLayout>();
        wire->id = LayoutId { nextId++ };
        wire->kind = kind;
        wire->stats = stats;
        wire->edges = edges;
        const std::size_t most = std::clamp<std::size_t>(kMaxPartCells / layout->width, 1, kMaxPartSeries);
        std::size_t text = 0;
        std::size_t dimensions = 0;
        std::size_t next = first;
        while (next < series.size() && next - first < most && (next == first || text < kMaxPartText)) {
            text += textBytes(series[next]);
            dimensions += series[next].shape.size() + series[next].fullShape.size();
            wire->series.push_back(std::move(series[next++]));
        }
        if (auto ok = protocol::checkLayout(*wire); !ok)
            return tl::unexpected(ok.error());
        layout->parts.push_back({ std::move(wire), static_cast<std::uint32_t>(first),
            static_cast<std::uint32_t>(next - first), text, dimensions });
        first = next;
    }
    if (nextId > kChunk * kChunk)
        return failure(ErrorCode::TooLarge, "this agent already has 65535 layouts", "register each layout once");
    auto& slot = m_chunks[layout->id / kChunk];
    Chunk* chunk = slot.load(std::memory_order_relaxed);
    if (!chunk) {
        chunk = m_ownedChunks.emplace_back(std::make_unique<Chunk>()).get();
        slot.store(chunk, std::memory_order_release);
    }
    m_nextId = nextId;
    m_seriesCount += series.size();
    const Layout* result = m_owned.emplace_back(std::move(layout)).get();
    (*chunk)[result->id % kChunk].store(result, std::memory_order_release);
    return result;
}

const Layout* LayoutRegistry::find(std::uint32_t id) const
{
    if (id >= kChunk * kChunk)
        return nullptr;
    const Chunk* chunk = m_chunks[id / kChunk].load(std::memory_order_acquire);
    return chunk ? (*chunk)[id % kChunk].load(std::memory_order_acquire) : nullptr;
}

}
