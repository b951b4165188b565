// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/layoutrequest.h>

#include <algorithm>

#include <fmt/format.h>

#include <telltale/core/histogram.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/utf8.h>

namespace telltale::agent {
namespace {

constexpr std::uint32_t kMaxDimensions = 32;
constexpr std::size_t kShownBytes = 60;

/// What stands in tt_stats unasked.
std::vector<Stat> plainStats()
{
    std::vector<Stat> out;
    for (const StatFacts& facts : kStatTable) {
        if (facts.isOfPass && facts.field.empty())
            out.push_back(facts.stat);
    }
    return out;
}

Expected<std::vector<Stat>> parseStats(Kind kind, const std::uint8_t* stats, std::uint32_t count)
{
    if (!stats || count == 0)
        return kind == Kind::Scalar ? std::vector<Stat> { Stat::Value } : plainStats();
    std::vector<Stat> out;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto stat = static_cast<Stat>(stats[i]);
        if (!isStoredStat(stat))
            return failure(ErrorCode::BadInput, fmt::format("there is no statistic with the number {}", stats[i]));
        if ((stat == Stat::Value) != (kind == Kind::Scalar))
            return failure(ErrorCode::BadInput, "the statistic \"value\" belongs to scalars and to nothing else");
        if (stat == Stat::Hist)
            return failure(ErrorCode::BadInput, "histograms have edges", "add them by tt_layout_add_histograms");
        if (std::find(out.begin(), out.end(), stat) != out.end())
            return failure(ErrorCode::BadInput, fmt::format("the statistic {} is named twice", statName(stat)));
        out.push_back(stat);
    }
    const auto identity = std::find_if(out.begin(), out.end(), isIdentity);
    const auto other = std::find_if(out.begin(), out.end(), [](Stat stat) { return !factsOf(stat).isOfPass; });
    if (identity != out.end() && other != out.end())
        return failure(ErrorCode::BadInput,
            fmt::format("the statistic {} is no member of tt_stats and cannot stand in one layout with {}, which no "
                        "float holds",
                statName(*other), statName(*identity)));
    return out;
}

bool isShape(const std::int64_t* shape, std::uint32_t dimensions)
{
    return dimensions <= kMaxDimensions && (dimensions == 0 || shape);
}

/// What does not fit is made to fit, and `mended` says so: one bad series costs its name or shape, no more.
SeriesDesc parseSeries(const tt_series& series, std::string& mended)
{
    SeriesDesc out;
    out.name = series.name ? series.name : "";
    out.slot = slotOf(series.slot);
    out.definition = series.definition ? series.definition : "";
    if (out.name.empty())
        out.name = "(unnamed)";
    if (protocol::mendNames(out) && mended.empty())
        mended = fmt::format("series \"{}...\" has a name that is longer than {} bytes or no UTF-8, or a slot that "
                             "cannot be; it is mended",
            protocol::cutUtf8(out.name, kShownBytes), protocol::limits::kMaxNameBytes);
    out.vppStage = series.vpp_stage;
    out.microStep = series.micro_step;
    out.form = series.form;
    out.dtype
        = series.dtype <= static_cast<std::uint32_t>(DType::Bool) ? static_cast<DType>(series.dtype) : DType::Unknown;
    out.numel = series.numel;
    out.shardOffset = series.shard_offset;
    const bool isUsable = isShape(series.shape, series.ndim) && isShape(series.full_shape, series.full_ndim);
    if (isUsable) {
        out.shape.assign(series.shape, series.shape + series.ndim);
        out.fullShape.assign(series.full_shape, series.full_shape + series.full_ndim);
    } else if (mended.empty()) {
        mended = fmt::format("the shape of series \"{}\" has more than {} dimensions; it is left out",
            protocol::cutUtf8(out.name, kShownBytes), kMaxDimensions);
    }
    return out;
}

/// Kind and series, which every request has.
Expected<LayoutRequest> readSeries(std::uint32_t kind, const tt_series* series, std::uint32_t count)
{
    if (kind == 0 || kind >= static_cast<std::uint32_t>(kKindCount))
        return failure(ErrorCode::BadInput, fmt::format("there is no kind with the number {}", kind));
    if (!series || count == 0)
        return failure(ErrorCode::BadInput, "a layout needs at least one series");
    if (auto ok = protocol::checkSeriesCount(0, count); !ok)
        return tl::unexpected(ok.error());
    LayoutRequest out;
    out.kind = static_cast<Kind>(kind);
    out.series.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i)
        out.series.push_back(parseSeries(series[i], out.mended));
    return out;
}

}

Slot slotOf(const tt_slot* slot)
{
    if (!slot)
        return {};
    return { static_cast<Role>(std::min(slot->role, kRoleCount)), slot->number, slot->head, slot->expert, -1,
        slot->call, slot->word ? slot->word : "", slot->position ? slot->position : "" };
}

Expected<LayoutRequest> readRequest(std::uint32_t kind, const std::uint8_t* stats, std::uint32_t statCount,
    const tt_series* series, std::uint32_t count)
{
    auto out = readSeries(kind, series, count);
    if (!out)
        return out;
    auto columns = parseStats(out->kind, stats, statCount);
    if (!columns)
        return tl::unexpected(columns.error());
    out->stats = std::move(*columns);
    out->type = out->kind == Kind::Scalar                                                           ? BlockType::Doubles
        : !stats || statCount == 0 || std::any_of(out->stats.begin(), out->stats.end(), isIdentity) ? BlockType::Stats
                                                                                                    : BlockType::Floats;
    return out;
}

Expected<LayoutRequest> readHistogramRequest(
    std::uint32_t kind, const double* edges, std::uint32_t edgeCount, const tt_series* series, std::uint32_t count)
{
    auto out = readSeries(kind, series, count);
    if (!out)
        return out;
    if (out->kind == Kind::Scalar)
        return failure(ErrorCode::BadInput, "a scalar has no histogram");
    if (edges)
        out->edges.assign(edges, edges + std::min<std::size_t>(edgeCount, kMaxBins + 2));
    if (auto ok = checkEdges(out->edges); !ok)
        return tl::unexpected(ok.error());
    out->stats = { Stat::Hist };
    out->type = BlockType::Counts;
    return out;
}

}
