// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/specialfields.h>

#include <algorithm>
#include <array>

#include <telltale/core/regularexpression.h>

namespace telltale::config {
namespace {

constexpr std::array<std::string_view, 4> kSides { "input", "output", "input_grad", "output_grad" };
constexpr std::array<std::string_view, 4> kHooks { "attention_hook", "linear_hook", "moe_router_weight_hook",
    "moe_router_logit_hook" };
constexpr std::size_t kMostHeads = 16;
constexpr std::int64_t kHighestHead = 4095;
// "list[2]" is what print_struct writes of inputs.
constexpr const char* kTupleSpec = R"(tensor|(tuple|list)\[\d{1,4}\](:\d{1,4})?)";

bool isTupleSpec(const std::string& text)
{
    static const RegularExpression spec(kTupleSpec);
    return !spec.match(text).empty();
}

}

void TargetsField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    if (!value.is_object())
        reader.mustBe(pointer, value, R"(an object of module or parameter names, such as {"layers.0": {}})");
    const Json given = value.is_object() ? value : Json::object();
    for (const auto& [name, sides] : given.items()) {
        const auto target = childPointer(pointer, name);
        if (!sides.is_object()) {
            reader.mustBe(target, sides, R"(an object such as {} or {"output": "tuple[2]:0"})");
            continue;
        }
        Json kept = Json::object();
        for (const auto& [side, spec] : sides.items()) {
            const auto place = childPointer(target, side);
            if (std::find(kSides.begin(), kSides.end(), side) == kSides.end())
                reader.unknown(place, "the side", side, kSides);
            else if (!spec.is_string() || !isTupleSpec(spec.get<std::string>()))
                reader.mustBe(place, spec, R"("tensor", "tuple[2]" or "tuple[2]:0")");
            else
                kept[side] = spec;
        }
        if (sides.empty() || !kept.empty())
            config.targets[name] = kept.empty() ? std::string() : kept.dump();
    }
    if (config.targets.empty() && (!value.is_object() || !value.empty()))
        config.targets[std::string(kNoTarget)] = {};
}

Json TargetsField::write(const MonitorConfig& config)
{
    auto out = Json::object();
    for (const auto& [name, selection] : config.targets)
        out[name] = selection.empty() ? Json::object() : Json::parse(selection, nullptr, false);
    return out;
}

Json TargetsField::schema()
{
    Json sides = Json::object();
    for (const auto side : kSides)
        sides[std::string(side)] = { { "type", "string" }, { "pattern", std::string("^(") + kTupleSpec + ")$" } };
    return { { "type", "object" },
        { "additionalProperties",
            { { "type", "object" }, { "properties", sides }, { "additionalProperties", false } } } };
}

void L2TargetsField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    if (!value.is_object())
        return reader.mustBe(pointer, value, R"(an object such as {"linear_hook": ["layers.0.mlp"]})");
    for (const auto& [hook, names] : value.items()) {
        const auto place = childPointer(pointer, hook);
        if (std::find(kHooks.begin(), kHooks.end(), hook) == kHooks.end())
            reader.unknown(place, "the hook", hook, kHooks);
        else
            reader.readSelection(place, names, "a list of module names", kNoTarget, config.l2Targets[hook]);
    }
}

Json L2TargetsField::write(const MonitorConfig& config)
{
    auto out = Json::object();
    for (const auto& [hook, names] : config.l2Targets)
        out[hook] = names;
    return out;
}

Json L2TargetsField::schema()
{
    Json hooks = Json::object();
    for (const auto hook : kHooks)
        hooks[std::string(hook)] = { { "type", "array" }, { "items", { { "type", "string" } } } };
    return { { "type", "object" }, { "properties", hooks }, { "additionalProperties", false } };
}

void AttentionMapsField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    if (!value.is_object())
        return reader.mustBe(pointer, value, R"(an object such as {"layers.7.attn": [0, 4]})");
    for (const auto& [name, heads] : value.items()) {
        const auto place = childPointer(pointer, name);
        if (!heads.is_array() || heads.size() > kMostHeads) {
            reader.mustBe(
                place, heads, "a list of at most 16 heads, such as [0, 4]; an empty one means the first four");
            continue;
        }
        std::vector<int> kept;
        for (std::size_t i = 0; i < heads.size(); ++i) {
            std::int64_t head = -1;
            reader.readInteger(childPointer(place, std::to_string(i)), heads[i], 0, kHighestHead, head);
            if (head >= 0)
                kept.push_back(static_cast<int>(head));
        }
        if (heads.empty() || !kept.empty())
            config.attentionMaps[name] = std::move(kept);
    }
}

Json AttentionMapsField::write(const MonitorConfig& config)
{
    auto out = Json::object();
    for (const auto& [name, heads] : config.attentionMaps)
        out[name] = heads;
    return out;
}

Json AttentionMapsField::schema()
{
    const Json head { { "type", "integer" }, { "minimum", 0 }, { "maximum", kHighestHead } };
    return { { "type", "object" },
        { "additionalProperties", { { "type", "array" }, { "items", head }, { "maxItems", kMostHeads } } } };
}

}
