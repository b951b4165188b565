// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/msprobewords.h>

#include <algorithm>

namespace telltale::exchange {

MsprobeRowWords msprobeRowWords(const store::SeriesInfo& series, Stat stat)
{
    const std::string slot = series.desc->slot.text();
    MsprobeRowWords words { std::string(kindName(series.kind)), series.desc->name, false, false };
    const auto add = [&](std::string_view suffix, bool isSlotNamed) {
        words.name += suffix;
        if (isSlotNamed && !slot.empty())
            words.name += '.' + slot;
    };
    switch (series.kind) {
    case Kind::Actv:
    case Kind::ActvGrad:
        words.hasMicroStep = true;
        add("", true);
        break;
    case Kind::GradUnreduced:
        words.hasMicroStep = series.desc->microStep >= 0;
        add("", true);
        break;
    case Kind::Attention:
        words = { series.desc->slot.head >= 0 ? "attention_heads" : "attention_hook", series.desc->name, true, true };
        add(".attention", slot != "attention");
        break;
    case Kind::Linear:
        words = { "linear_hook", series.desc->name, false, true };
        add(".linear", false);
        break;
    case Kind::Router:
        words = { stat == Stat::Similarity ? "moe_router_weight_hook" : "moe_router_logit_hook", series.desc->name,
            stat != Stat::Similarity, true };
        add(".moe_router", false);
        break;
    case Kind::MgDirection:
    case Kind::Comm:
        words.prefix = "other";
        add("", true);
        break;
    case Kind::Scalar:
        words.isFixed = true;
        break;
    case Kind::GradSign:
    case Kind::Unspecified:
        words.prefix.clear();
        break;
    default:
        add("", true);
        break;
    }
    if (stat == Stat::Hist)
        words.prefix.clear();
    return words;
}

std::string msprobeColumn(Kind kind, Stat stat)
{
    if (kind == Kind::Router && stat == Stat::Similarity)
        return "router_weight_similarity";
    if (kind == Kind::Router && stat == Stat::Entropy)
        return "per_token_expert_entropy";
    if (stat == Stat::PosInfs)
        return "pos_infs";
    return stat == Stat::NegInfs ? "neg_infs" : std::string(statName(stat));
}

}
