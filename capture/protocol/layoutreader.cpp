// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/layoutreader.h>

#include <utility>

#include <telltale/core/protocolone.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/limits.h>

namespace telltale::protocol {
namespace {

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

/// The layout as it may be used, in `own` from now on.
Expected<LayoutPtr> takeLayout(LayoutPtr layout, const LayoutTable& known, LayoutTable& own, std::size_t& knownSeries)
{
    if (auto ok = checkLayout(*layout); !ok)
        return tl::unexpected(ok.error());
    const LayoutPtr before = known.find(layout->id);
    if (before && *before != *layout)
        return failure(
            ErrorCode::BadInput, "layout " + std::to_string(layout->id.value) + " is known with other contents");
    layout = before ? before : shareLayout(std::move(layout));
    const bool isNew = !before && !own.find(layout->id);
    if (auto ok = isNew ? checkSeriesCount(knownSeries, layout->series.size()) : Expected<void> {}; !ok)
        return tl::unexpected(ok.error());
    if (!own.add(layout))
        return failure(ErrorCode::BadInput,
            "layout " + std::to_string(layout->id.value) + " stands twice with different contents");
    if (isNew)
        knownSeries += layout->series.size();
    return layout;
}

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

}
