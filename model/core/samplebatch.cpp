// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/samplebatch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <unordered_map>

namespace telltale {
namespace {

constexpr std::array<std::string_view, 11> kDTypeNames { "unknown", "float32", "float64", "float16", "bfloat16", "int8",
    "uint8", "int16", "int32", "int64", "bool" };
static_assert(kDTypeNames.size() == static_cast<std::size_t>(DType::Bool) + 1);

/// Equal for equal layouts.
std::size_t hashOf(const SeriesLayout& layout)
{
    std::size_t hash = layout.id.value * 31u + static_cast<std::size_t>(layout.kind);
    for (const SeriesDesc& series : layout.series)
        hash = hash * 0x9E3779B97F4A7C15u + std::hash<std::string_view> {}(series.name) + series.numel;
    return hash;
}

}

std::shared_ptr<const SeriesLayout> shareLayout(std::shared_ptr<const SeriesLayout> layout)
{
    static std::mutex mutex;
    static std::unordered_multimap<std::size_t, std::weak_ptr<const SeriesLayout>> known;
    static std::size_t manyKnown = 64; ///< so many, and those that nobody uses any more are forgotten
    const std::size_t hash = hashOf(*layout);
    const std::lock_guard lock(mutex);
    const auto [first, last] = known.equal_range(hash);
    for (auto one = first; one != last; ++one) {
        if (auto same = one->second.lock(); same && *same == *layout)
            return same;
    }
    if (known.size() >= manyKnown) {
        std::erase_if(known, [](const auto& one) { return one.second.expired(); });
        manyKnown = 64 + 2 * known.size();
    }
    known.emplace(hash, layout);
    return layout;
}

std::string_view dtypeName(DType dtype)
{
    const auto i = static_cast<std::size_t>(dtype);
    return i < kDTypeNames.size() ? kDTypeNames[i] : kDTypeNames[0];
}

StepRange SampleBatch::steps() const
{
    if (blocks.empty())
        return {};
    StepRange range { blocks.front().step, blocks.front().step };
    for (const StepBlock& block : blocks) {
        range.first = std::min(range.first, block.step);
        range.last = std::max(range.last, block.step);
    }
    return range;
}

std::size_t SampleBatch::byteCost() const
{
    std::size_t cost = sizeof(SampleBatch) + payload.size();
    for (const StepBlock& block : blocks) {
        cost += sizeof(StepBlock) + block.present.size() * 8 + block.callIds.size() * 4;
        for (const Column& column : block.columns)
            cost += column.size() * (std::holds_alternative<std::vector<float>>(column.values) ? 4 : 8);
    }
    for (const Blob& blob : blobs)
        cost += blob.bytes.size();
    return cost;
}

std::uint64_t sampleCount(const StepBlock& block)
{
    if (!block.layout || block.layout->kind == Kind::Scalar)
        return 0;
    std::uint64_t series = block.layout->series.size();
    if (!block.present.empty()) {
        series = 0;
        for (std::uint64_t word : block.present)
            series += static_cast<std::uint64_t>(std::popcount(word));
    }
    const auto stats = std::count_if(block.layout->stats.begin(), block.layout->stats.end(), countsAsSample);
    return series * block.layout->width() * static_cast<std::uint64_t>(stats);
}

}
