// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/tensorboardtags.h>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace telltale::exchange {
namespace {

/// What msprobe calls a kind inside tags, and what it puts behind the name of such a module.
struct MsprobeWords {
    std::string_view task;
    bool hasMicroStep = false;
    std::string_view suffix {};
};

MsprobeWords msprobeWords(const store::SeriesInfo& series, Stat stat)
{
    switch (series.kind) {
    case Kind::Actv:
    case Kind::ActvGrad:
        return { kindName(series.kind), true };
    case Kind::GradUnreduced:
        return { "acc_grad", series.desc->microStep >= 0 };
    case Kind::GradReduced:
        return { "post_grad" };
    case Kind::Linear:
        return { "sr", false, ".linear" };
    case Kind::Attention:
        return { "qkt", true, ".attention" };
    case Kind::Router:
        return stat == Stat::Entropy ? MsprobeWords { "router_logit", true, ".moe_router" }
                                     : MsprobeWords { "router_weight", false, ".moe_router" };
    default:
        return { kindName(series.kind) };
    }
}

std::string_view msprobeOp(Kind kind, Stat stat)
{
    if (kind == Kind::Router && stat == Stat::Entropy)
        return "per_token_expert_entropy";
    if (kind == Kind::Router && stat == Stat::Similarity)
        return "router_weight_similarity";
    switch (stat) {
    case Stat::PosInfs:
        return "pos_infs";
    case Stat::NegInfs:
        return "neg_infs";
    default:
        return statName(stat);
    }
}

std::string msprobeTag(const store::SeriesInfo& series, Rank rank, Stat stat)
{
    const std::string slot = series.desc->slot.text();
    if (stat == Stat::Hist)
        return fmt::format("{}:{}{}{}/rank{}/{}_hist", series.desc->vppStage, series.desc->name,
            slot.empty() ? "" : ".", slot, rank.value,
            series.kind == Kind::Update || series.kind == Kind::UpdateRatio
                ? fmt::format("adam_{}", kindName(series.kind))
                : std::string(msprobeWords(series, stat).task));
    if (series.kind == Kind::Comm)
        return fmt::format("{}/rank{}/{}_{}", series.desc->name, rank.value, slot, statName(stat));
    const MsprobeWords words = msprobeWords(series, stat);
    const bool isNamed = !slot.empty() && series.kind != Kind::Linear && series.kind != Kind::Router;
    return fmt::format("{}:{}{}{}{}{}/rank{}/{}_{}", series.desc->vppStage, series.desc->name, words.suffix,
        isNamed ? "." : "", isNamed ? slot : "",
        words.hasMicroStep ? fmt::format(":{}", std::max(series.desc->microStep, 0)) : "", rank.value, words.task,
        msprobeOp(series.kind, stat));
}

std::string readableTag(const store::SeriesInfo& series, Stat stat)
{
    const std::string slot = series.desc->slot.text();
    return fmt::format("{}.{}/{}{}{}{}{}", kindName(series.kind), statName(stat),
        series.desc->vppStage == 0 ? "" : fmt::format("{}:", series.desc->vppStage), series.desc->name,
        slot.empty() ? "" : ".", slot, series.desc->microStep < 0 ? "" : fmt::format("@{}", series.desc->microStep));
}

}

std::string TensorBoardTags::of(const store::SeriesInfo& series, Rank rank, Stat stat)
{
    std::string tag = series.kind == Kind::Scalar ? series.desc->name
        : m_style == TagStyle::Msprobe            ? msprobeTag(series, rank, stat)
                                                  : readableTag(series, stat);
    const auto isFree = [&] {
        const auto [at, isNew] = m_taken.emplace(std::pair(series.source, tag), series.id);
        return isNew || at->second == series.id;
    };
    if (!isFree() && !series.desc->definition.empty())
        tag += " = " + series.desc->definition;
    for (int number = 2; !isFree(); ++number)
        tag += fmt::format(" ({})", number);
    return tag;
}

}
