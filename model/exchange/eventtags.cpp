// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/eventtags.h>

#include <algorithm>

#include <telltale/core/protocolone.h>
#include <telltale/exchange/csvrows.h>
#include <telltale/exchange/msproberows.h>

namespace telltale::exchange {
namespace {

/// Takes the number in front of a colon.
std::optional<std::int32_t> takeStage(std::string_view& text)
{
    const std::size_t colon = text.find(':');
    const auto stage = colon == std::string_view::npos ? std::nullopt : csvInteger(text.substr(0, colon));
    if (!stage || *stage < -1 || *stage > 1'000'000)
        return {};
    text.remove_prefix(colon + 1);
    return static_cast<std::int32_t>(*stage);
}

/// "grad_reduced.norm/1:head.weight", "actv.norm/blocks.0.mlp.input_1@3".
std::optional<EventPlace> readableTag(std::string_view tag, bool isHistogram)
{
    const std::size_t slash = tag.find('/');
    const std::size_t dot = tag.find('.');
    if (slash == std::string_view::npos || dot == std::string_view::npos || dot > slash)
        return {};
    const auto kind = kindFromName(tag.substr(0, dot));
    const auto stat = statFromName(tag.substr(dot + 1, slash - dot - 1));
    const bool isSound = kind && *kind != Kind::Scalar && stat && isStoredStat(*stat) && *stat != Stat::Value
        && !isIdentity(*stat) && (*stat == Stat::Hist) == isHistogram;
    if (!isSound)
        return {};
    std::string_view name = tag.substr(slash + 1);
    const auto stage = takeStage(name);
    EventPlace place { *kind, {}, *stat };
    if (const std::size_t at = name.rfind('@'); at != std::string_view::npos) {
        if (const auto micro = csvInteger(name.substr(at + 1)); micro && *micro >= 0 && *micro < 1'000'000'000) {
            place.desc.microStep = static_cast<std::int32_t>(*micro);
            name = name.substr(0, at);
        }
    }
    if (const std::size_t at = name.rfind('.'); at != std::string_view::npos) {
        const Slot slot = protocolone::slotOf(name.substr(at + 1), *kind);
        if (slot.role != Role::Named) {
            place.desc.slot = slot;
            name = name.substr(0, at);
        }
    }
    place.desc.name = std::string(name);
    place.desc.vppStage = stage.value_or(0);
    return place;
}

std::optional<EventPlace> placed(std::string_view prefix, std::string_view name, std::string_view op,
    std::int32_t stage, std::int32_t micro, bool isHistogram)
{
    const auto stat = isHistogram ? std::optional(Stat::Hist) : msprobeStat(op);
    auto of = msprobePlace(prefix, name, {}, true);
    if (!stat || !of || of->kind == Kind::Scalar)
        return {};
    EventPlace place { of->kind, std::move(of->desc), *stat };
    place.desc.vppStage = stage;
    place.desc.microStep = micro;
    return place;
}

/// "vp0:blocks.0.attn.core.input_0:micro0/min" in a folder "actv".
std::optional<EventPlace> convertedTag(std::string_view tag, std::string_view folder)
{
    const std::size_t slash = tag.rfind('/');
    if (!tag.starts_with("vp") || slash == std::string_view::npos || folder.find('/') != std::string_view::npos)
        return {};
    std::string_view name = tag.substr(2, slash - 2);
    const auto stage = takeStage(name);
    std::int32_t micro = -1;
    if (const std::size_t at = name.rfind(":micro"); at != std::string_view::npos) {
        const auto number = csvInteger(name.substr(at + 6));
        if (!number || *number < 0 || *number > 1'000'000'000)
            return {};
        micro = static_cast<std::int32_t>(*number);
        name = name.substr(0, at);
    }
    return stage ? placed(folder, name, tag.substr(slash + 1), *stage, micro, false) : std::nullopt;
}

/// "0:blocks.0.mlp.input:1/rank0/actv_norm".
std::optional<EventPlace> nativeTag(std::string_view tag, bool isHistogram)
{
    constexpr std::pair<std::string_view, std::string_view> kTasks[] { { "acc_grad", "grad_unreduced" },
        { "pre_grad", "grad_unreduced" }, { "post_grad", "grad_reduced" }, { "qkt", "attention_hook" },
        { "sr", "linear_hook" }, { "router_weight", "moe_router_weight_hook" },
        { "router_logit", "moe_router_logit_hook" }, { "adam_update", "update" }, { "adam_ratio", "ratio" },
        { "actv_grad", "actv_grad" }, { "actv", "actv" }, { "exp_avg_sq", "exp_avg_sq" }, { "exp_avg", "exp_avg" },
        { "param_origin", "param_origin" }, { "param_updated", "param_updated" }, { "update", "update" },
        { "ratio", "ratio" }, { "mg_direction", "other" } };
    const std::size_t rank = tag.rfind("/rank");
    const std::size_t slash = rank == std::string_view::npos ? rank : tag.find('/', rank + 5);
    std::string_view name = tag.substr(0, std::min(rank, tag.size()));
    const auto stage = slash == std::string_view::npos ? std::nullopt : takeStage(name);
    if (!stage)
        return {};
    const std::string_view what = tag.substr(slash + 1);
    for (const auto& [task, prefix] : kTasks) {
        if (!what.starts_with(task) || what.substr(task.size(), 1) != "_")
            continue;
        std::int32_t micro = -1;
        if (const std::size_t at = name.rfind(':'); at != std::string_view::npos) {
            if (const auto number = csvInteger(name.substr(at + 1));
                number && *number >= 0 && *number < 1'000'000'000) {
                micro = static_cast<std::int32_t>(*number);
                name = name.substr(0, at);
            }
        }
        return placed(prefix, name, what.substr(task.size() + 1), *stage, micro, isHistogram);
    }
    return {};
}

}

EventPlace eventPlace(std::string_view tag, std::string_view folder, bool isHistogram)
{
    if (folder.empty()) {
        if (auto place = readableTag(tag, isHistogram))
            return *place;
        if (auto place = nativeTag(tag, isHistogram))
            return *place;
    } else if (!isHistogram) {
        if (auto place = convertedTag(tag, folder))
            return *place;
    }
    EventPlace place;
    // add_scalars makes a folder for each of its curves, named by the tag and the curve.
    const bool saysTag = folder.starts_with(tag) && (folder.size() == tag.size() || folder[tag.size()] == '/');
    place.desc.name = folder.empty() ? std::string(tag)
        : saysTag                    ? std::string(folder)
                                     : std::string(folder) + '/' + std::string(tag);
    if (isHistogram) { // a histogram is no scalar: it is of a weight, as far as anybody knows
        place.kind = Kind::ParamUpdated;
        place.stat = Stat::Hist;
    }
    return place;
}

std::string_view metricOverSamples(std::string_view tag)
{
    for (const std::string_view end : { "-vs-samples", "_vs_samples", " vs samples" }) {
        if (tag.ends_with(end))
            return tag.substr(0, tag.size() - end.size());
    }
    return {};
}

}
