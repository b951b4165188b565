// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/rules.h>

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace telltale::judge {
namespace {

using RulesJson = nlohmann::ordered_json;

constexpr std::array<RuleInfo, kRuleCount> kRules { {
    { Rule::NonFinite, "nonfinite", "not finite",
        "The first NaN or Inf of every tensor and scalar. Gradients that are not finite while a loss scale is in use "
        "are the scaler's own step given up, and no incident.",
        { {} } },
    { Rule::Overflow, "overflow", "close to overflow",
        "The largest magnitude of a 16-bit float tensor is within `headroom` times of what its type can hold.",
        { { { "headroom", "limit of the type divided by the largest magnitude", 8, 1, 1e6 } } } },
    { Rule::Replica, "replica", "replicas differ",
        "Weights, or reduced gradients, that were bitwise equal on the ranks of a data-parallel group, and are not any "
        "more (needs telltale.checksum).",
        { {} } },
    { Rule::Level, "level", "left its own history",
        "The norm of a block of the model is `z` robust deviations away from its last 128 steps, on a logarithmic "
        "scale, and a factor of `factor` at least. It counts at once where it is half as far again, or shows in half "
        "of "
        "the blocks; else after `steps` steps in a row.",
        { { { "z", "robust deviations (median and MAD of logarithms)", 6, 2, 100 },
            { "factor", "against the median of the last 128 steps", 2.5, 1, 1e6 }, { "steps", "in a row", 3, 1, 100 },
            { "fall", "the factor for gradients and losses that fall, as they do when a training goes well", 20, 1,
                1e6 } } } },
    { Rule::Loss, "loss", "loss spikes",
        "A loss is `z` robust deviations above its last 128 steps, on a logarithmic scale, and a factor of `factor` at "
        "least. It counts at once.",
        { { { "z", "robust deviations (median and MAD of logarithms)", 6, 2, 100 },
            { "factor", "against the median of the last 128 steps", 1.5, 1.01, 1e6 } } } },
    { Rule::Drift, "drift", "weight grows or shrinks fast",
        "The norm of a weight is `factor` times its own slow average (of about 20 steps), or below it by as much, for "
        "`steps` steps in a row. Not before 100 steps.",
        { { { "factor", "against the slow average", 1.4, 1.01, 1000 }, { "steps", "in a row", 3, 1, 1000 } } } },
    { Rule::Vanished, "vanished", "became zero",
        "A tensor that was not zero is exactly zero for `steps` steps in a row, while others are not.",
        { { { "steps", "in a row", 8, 1, 1000 } } } },
    { Rule::Frozen, "frozen", "does not change any more",
        "A weight that used to change has exactly the same norm for `steps` steps in a row, while most others change.",
        { { { "steps", "in a row", 8, 2, 1000 } } } },
    { Rule::LossScale, "loss_scale", "loss scale falls",
        "The loss scale fell, or steps were given up for gradients that are not finite, `times` times within `steps` "
        "steps; or it fell below 1, or jumped by more than a scaler's doubling.",
        { { { "times", "that it fell or a step was given up", 3, 1, 100 },
            { "steps", "within so many", 20, 2, 10000 } } } },
    { Rule::EntropyCollapse, "entropy_collapse", "attention collapses",
        "The attention entropy of a head is below `share` of what it was before, for `steps` steps in a row (Zhai et "
        "al. 2023, arXiv 2303.06296).",
        { { { "share", "of its own slow average", 0.5, 0.01, 0.99 }, { "steps", "in a row", 3, 1, 1000 } } } },
    { Rule::LearningRate, "learning_rate", "learning rate jumps",
        "The learning rate rose to more than `factor` times its value in one step. An incident where it is as far "
        "above "
        "all that it was before, since a schedule that begins again only goes back to what it was.",
        { { { "factor", "from one step to the next", 3, 1.01, 1e6 } } } },
} };

const RuleInfo* find(const std::string& id)
{
    const auto* found = std::find_if(kRules.begin(), kRules.end(), [&](const RuleInfo& info) { return info.id == id; });
    return found == kRules.end() ? nullptr : found;
}

std::string allIds()
{
    std::string all;
    for (const RuleInfo& info : kRules)
        all.append(all.empty() ? "" : ", ").append(info.id);
    return all;
}

}

const std::array<RuleInfo, kRuleCount>& ruleTable()
{
    return kRules;
}

const RuleInfo& infoOf(Rule rule)
{
    return kRules[static_cast<std::size_t>(rule)];
}

Rules::Rules()
{
    for (std::size_t rule = 0; rule < kRuleCount; ++rule) {
        for (std::size_t i = 0; i < m_values[rule].numbers.size(); ++i)
            m_values[rule].numbers[i] = kRules[rule].parameters[i].standard;
    }
}

Expected<Rules> Rules::fromJson(const std::string& text)
{
    const RulesJson json = RulesJson::parse(text, nullptr, false, true);
    if (!json.is_object() || !json.contains("rules") || !json["rules"].is_object())
        return failure(ErrorCode::BadInput, "it is no rules document",
            R"(write {"rules": {"level": {"on": true, "z": 8}}}; 'telltale rules --json' prints a whole one)");
    Rules rules;
    std::string problems;
    const auto problem
        = [&problems](const std::string& sentence) { problems.append(problems.empty() ? "" : "; ").append(sentence); };
    for (const auto& [id, said] : json["rules"].items()) {
        const RuleInfo* info = find(id);
        if (info == nullptr || !said.is_object()) {
            problem(info == nullptr ? fmt::format("there is no rule \"{}\" (there are {})", id, allIds())
                                    : fmt::format("\"{}\" must be an object", id));
            continue;
        }
        Values& values = rules.m_values[static_cast<std::size_t>(info->rule)];
        for (const auto& [name, value] : said.items()) {
            if (name == "on" && value.is_boolean()) {
                values.isOn = value.get<bool>();
                continue;
            }
            const auto* parameter = std::find_if(info->parameters.begin(), info->parameters.end(),
                [&name = name](const Parameter& one) { return !one.name.empty() && one.name == name; });
            if (name == "on")
                problem(fmt::format("\"on\" of \"{}\" must be true or false", id));
            else if (parameter == info->parameters.end())
                problem(fmt::format("the rule \"{}\" has no \"{}\"", id, name));
            else if (!value.is_number() || value.get<double>() < parameter->least
                || value.get<double>() > parameter->most)
                problem(fmt::format(
                    "\"{}\" of \"{}\" must be a number from {} to {}", name, id, parameter->least, parameter->most));
            else
                values.numbers[static_cast<std::size_t>(parameter - info->parameters.begin())] = value.get<double>();
        }
    }
    if (!problems.empty())
        return failure(ErrorCode::BadInput, problems);
    return rules;
}

std::string Rules::toJson() const
{
    RulesJson rules = RulesJson::object();
    for (const RuleInfo& info : kRules) {
        RulesJson& one = rules[std::string(info.id)] = { { "on", isOn(info.rule) } };
        for (std::size_t i = 0; i < info.parameters.size(); ++i) {
            if (!info.parameters[i].name.empty())
                one[std::string(info.parameters[i].name)] = value(info.rule, i);
        }
    }
    return RulesJson { { "rules", rules } }.dump(2);
}

std::string Rules::schema()
{
    RulesJson rules = RulesJson::object();
    for (const RuleInfo& info : kRules) {
        RulesJson properties { { "on", { { "type", "boolean" }, { "default", true } } } };
        for (const Parameter& one : info.parameters) {
            if (!one.name.empty())
                properties[std::string(one.name)] = { { "type", "number" }, { "description", one.description },
                    { "default", one.standard }, { "minimum", one.least }, { "maximum", one.most } };
        }
        rules[std::string(info.id)] = { { "type", "object" }, { "title", info.title },
            { "description", info.description }, { "properties", properties }, { "additionalProperties", false } };
    }
    return RulesJson {
        { "$schema", "https://json-schema.org/draft/2020-12/schema" }, { "title", "Telltale rules" },
        { "type", "object" }, { "required", { "rules" } },
        { "properties",
            { { "rules", { { "type", "object" }, { "properties", rules }, { "additionalProperties", false } } } } },
        { "additionalProperties", false }
    }.dump(2);
}

}
