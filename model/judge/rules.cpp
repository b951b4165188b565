// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/rules.h>

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/config/monitorconfig.h>
#include <telltale/config/revision.h>

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
        "the blocks; else after `steps` steps in a row. Gradients that grow count from 10 times on, and after 10 steps "
        "in a row, while less than 128 "
        "steps are known, at the start or after a new level. One batch may make them large for a step: they count at "
        "once from 16 times the usual on, where they arose in a block and did not flow back into it, and else from "
        "1000 times on; where that is not known, from 16 times on once 128 steps are known.",
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
        "A tensor that was not zero is exactly zero for `steps` steps in a row, while others are not; steps that did "
        "not use its module "
        "(an expert without tokens) left out.",
        { { { "steps", "in a row", 8, 1, 1000 } } } },
    { Rule::Frozen, "frozen", "norm stands still",
        "A weight that used to change has exactly the same norm (and the same bits, where checksums are recorded) for "
        "`steps` steps in a row, while most others change; steps that did not use its module left out, and those whose "
        "learning rate is below a hundredth of the highest.",
        { { { "steps", "in a row", 8, 2, 1000 } } } },
    { Rule::LossScale, "loss_scale", "loss scale falls",
        "The loss scale fell, or steps were given up for gradients that are not finite, `times` times within `steps` "
        "steps; or it fell below 1, or jumped by more than a scaler's doubling.",
        { { { "times", "that it fell or a step was given up", 3, 1, 100 },
            { "steps", "within so many", 20, 2, 10000 } } } },
    { Rule::EntropyCollapse, "entropy_collapse", "entropy collapses",
        "The attention entropy of a head is below `share` of what it was before, for `steps` steps in a row (Zhai et "
        "al. 2023, arXiv 2303.06296).",
        { { { "share", "of its own slow average", 0.5, 0.01, 0.99 }, { "steps", "in a row", 3, 1, 1000 } } } },
    { Rule::LearningRate, "learning_rate", "learning rate jumps",
        "The learning rate rose to more than `factor` times its value in one step. An incident where it is as far "
        "above "
        "all that it was before, since a schedule that begins again only goes back to what it was.",
        { { { "factor", "from one step to the next", 3, 1.01, 1e6 } } } },
    { Rule::Straggler, "straggler", "computes longer",
        "A rank computes longer than its peers by `share` for 16 steps, and `z` times as far as such differences "
        "wandered before; or for up to 64, and less far. Needs a scalar of the time that a rank computes without "
        "waiting for others, such as forward_ms, or forward_cpu_ms on machines that do other work, too; step "
        "times do not tell, since all ranks wait for the slowest (Minder, arXiv 2411.01791).",
        { { { "share", "0.05: 5 % longer than the median of the others", 0.05, 0.001, 100 },
            { "z", "against how medians of 8 steps wandered", 8, 1, 1000 } } } },
    { Rule::Outlier, "outlier", "unlike its peers",
        "A loss, or the norm of a block's activations or unreduced gradients, is on one rank `factor` times that of "
        "the "
        "ranks that do the same (their median), for `steps` steps in a row (always more, or always less), and `z` "
        "robust deviations from what that "
        "ratio was before. What happens to all ranks at once is none.",
        { { { "factor", "against the median of the ranks", 1.5, 1.01, 1e6 },
            { "z", "robust deviations (median and MAD of logarithms)", 6, 2, 100 },
            { "steps", "in a row", 6, 1, 100 } } } },
    { Rule::Attempt, "attempt", "started again otherwise",
        "A rank that was started again has, at its first step, other weights, another learning rate or other moments "
        "than "
        "the attempt before it had at that step; or weights other than it left behind, or no moments, where that step "
        "is "
        "new.",
        { { { "weights", "0.01: the norm of a weight differs by 1 %", 0.01, 1e-6, 10 },
            { "rate", "factor between the learning rates", 1.05, 1.0001, 1e6 },
            { "moments", "factor between the norms of a moment", 1.5, 1.01, 1e6 } } } },
    { Rule::Explosion, "explosion", "grows on and on",
        "A loss, or the norm of a block's weights, gradients or activations, grows by `factor` within 24 steps, evenly "
        "or "
        "faster and faster: the median of each 8 steps is above the one before. Says when its type overflows. Not "
        "before 100 steps; gradients not before 200.",
        { { { "factor", "of the last 8 steps to the 8 that were 24 steps before", 5, 1.1, 1e6 } } } },
    { Rule::Staleness, "staleness", "second moments are stale",
        "The sum of a block's squared reduced gradients is `ratio` times the sum of its second moments, which are "
        "about as "
        "large in a steady training: Adam divides by what was, and the update is as much too large. Not before 100 "
        "steps "
        "(SPAM, arXiv 2501.06842, which resets at 5000 of an element; RMS spikes, arXiv 2304.13013).",
        { { { "ratio", "sum of squared gradients to sum of second moments", 1000, 2, 1e12 } } } },
    { Rule::UpdateRatio, "update_ratio", "steps are too large",
        "The learning rate times the norm of a block's update is more than `share` of the norm of its weights, and "
        "`factor` times what that ever was, for `steps` steps in a row. About 0.001 is healthy (A. Karpathy's rule of "
        "thumb). Not before 100 steps; needs ur_distribution and a learning rate.",
        { { { "share", "of the weights' norm, in one step", 0.01, 1e-6, 100 },
            { "factor", "against the highest of its slow averages", 3, 1.1, 1e6 },
            { "steps", "in a row", 2, 1, 100 } } } },
    { Rule::DeadUnits, "dead_units", "units are dead",
        "The share of zeros in a module's output is `share` or more for `steps` steps in a row, and was below 0.8. Not "
        "before 100 steps (dormant neurons, arXiv 2302.12902).",
        { { { "share", "of the elements that are exactly 0", 0.95, 0.5, 1 }, { "steps", "in a row", 8, 1, 1000 } } } },
    { Rule::MaxLogit, "max_logit", "attention logits grow",
        "The largest score of an attention head before its softmax is above `level`, where QK-Clip begins to rescale "
        "queries and keys (Kimi K2, arXiv 2507.20534), and `factor` times its own slow average of about 128 steps, for "
        "`steps` steps in a row. Critical from `diverges` on: trainings diverged with logits above that (ViT-22B, "
        "arXiv 2302.05442; Wortsman et al. 2023, arXiv 2309.14322). Not before 100 steps; needs "
        "telltale.attention_hook.",
        { { { "level", "the largest scaled score", 100, 1, 1e30 },
            { "factor", "against the slow average", 2, 1.01, 1000 }, { "steps", "in a row", 8, 1, 1000 },
            { "diverges", "the largest scaled score that is critical", 1e4, 1, 1e30 } } } },
    { Rule::NoiseScale, "noise_scale", "gradient noise changes",
        "The gradient noise scale of a data-parallel group, from the norms of its ranks' unreduced and of their "
        "reduced "
        "gradients (McCandlish et al. 2018, arXiv 1812.06162, appendix A.1; averaged over about 64 steps), is `factor` "
        "times its own average of about 256 steps, or below it by as much, or `batches` times the batch of a step, for "
        "`steps` steps in a row. Off unless it is asked for: it grows by orders of magnitude as a training goes well.",
        { { { "factor", "against the slow average", 10, 1.1, 1e6 },
            { "batches", "the noise scale divided by the batch of a step", 1000, 1, 1e9 },
            { "steps", "in a row", 50, 1, 10000 } } },
        false },
} };

const RuleInfo* find(const std::string& id)
{
    const auto* found = std::find_if(kRules.begin(), kRules.end(), [&](const RuleInfo& info) { return info.id == id; });
    return found == kRules.end() ? nullptr : found;
}

constexpr std::int64_t kMostEscalated = 100'000; // steps
constexpr std::int64_t kMostTimes = 1000;

/// What is wrong with it, "" where nothing is.
std::string readEscalation(const RulesJson& said, Escalation& out)
{
    constexpr const char* kForm = R"(must be {"config": {"xy_distribution": true}, "steps": 20})";
    if (said.is_null()) {
        out = {};
        return {};
    }
    const bool isLimited = said.is_object() && said.contains("times");
    if (!said.is_object() || said.size() != (isLimited ? 3U : 2U) || !said.contains("config")
        || !said["config"].is_object() || said["config"].empty() || !said.contains("steps")
        || !said["steps"].is_number_integer() || (isLimited && !said["times"].is_number_integer()))
        return kForm;
    const auto steps = said["steps"].get<std::int64_t>();
    if (steps < 1 || steps > kMostEscalated)
        return fmt::format("must have \"steps\" from 1 to {}", kMostEscalated);
    const auto times = isLimited ? said["times"].get<std::int64_t>() : 0;
    if (isLimited && (times < 1 || times > kMostTimes))
        return fmt::format("must have \"times\" from 1 to {}, or none", kMostTimes);
    const std::string config = said["config"].dump();
    const auto parsed = config::parseMonitorConfig(config);
    if (!parsed)
        return "has no config: " + parsed.error().sentence();
    for (const config::Problem& problem : parsed->problems) {
        if (problem.isError)
            return "has a config with a problem: " + problem.sentence;
    }
    if (const auto local = config::localChanges(config::parseMonitorConfig("{}")->config, parsed->config);
        !local.empty())
        return fmt::format("sets {}, which only the training's own config.json may change", local.front());
    out = { config, steps, times };
    return {};
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

std::optional<Rule> ruleFromId(std::string_view id)
{
    const RuleInfo* info = find(std::string(id));
    return info == nullptr ? std::nullopt : std::optional(info->rule);
}

Rules::Rules()
{
    for (std::size_t rule = 0; rule < kRuleCount; ++rule) {
        m_values[rule].isOn = kRules[rule].isOn;
        for (std::size_t i = 0; i < m_values[rule].numbers.size(); ++i)
            m_values[rule].numbers[i] = kRules[rule].parameters[i].standard;
    }
}

Expected<Rules> Rules::fromJson(const std::string& text)
{
    std::vector<RulesProblem> problems;
    Rules rules = fromJson(text, problems);
    if (problems.empty())
        return rules;
    std::string all;
    for (const RulesProblem& problem : problems)
        all.append(all.empty() ? "" : "; ").append(problem.sentence);
    return failure(ErrorCode::BadInput, all,
        problems.front().pointer.empty()
            ? R"(write {"rules": {"level": {"on": true, "z": 8}}}; 'telltale rules --json' prints a whole one)"
            : "");
}

Rules Rules::fromJson(const std::string& text, std::vector<RulesProblem>& problems)
{
    Rules rules;
    const RulesJson json = RulesJson::parse(text, nullptr, false, true);
    if (!json.is_object() || !json.contains("rules") || !json["rules"].is_object()) {
        problems.push_back({ "", json.is_discarded() ? "it is no JSON" : "it is no rules document" });
        return rules;
    }
    for (const auto& [id, said] : json["rules"].items()) {
        const std::string at = "/rules/" + id;
        const RuleInfo* info = find(id);
        if (info == nullptr || !said.is_object()) {
            problems.push_back({ at,
                info == nullptr ? fmt::format("there is no rule \"{}\" (there are {})", id, allIds())
                                : fmt::format("\"{}\" must be an object", id) });
            continue;
        }
        Values& values = rules.m_values[static_cast<std::size_t>(info->rule)];
        for (const auto& [name, value] : said.items()) {
            if (name == "on" && value.is_boolean()) {
                values.isOn = value.get<bool>();
                continue;
            }
            if (name == "escalate") {
                const std::string wrong = readEscalation(value, values.escalation);
                if (!wrong.empty())
                    problems.push_back({ at + "/escalate", fmt::format("\"escalate\" of \"{}\" {}", id, wrong) });
                continue;
            }
            const auto* parameter = std::find_if(info->parameters.begin(), info->parameters.end(),
                [&name = name](const Parameter& one) { return !one.name.empty() && one.name == name; });
            std::string sentence;
            if (name == "on")
                sentence = fmt::format("\"on\" of \"{}\" must be true or false", id);
            else if (parameter == info->parameters.end())
                sentence = fmt::format("the rule \"{}\" has no \"{}\"", id, name);
            else if (!value.is_number() || value.get<double>() < parameter->least
                || value.get<double>() > parameter->most)
                sentence = fmt::format(
                    "\"{}\" of \"{}\" must be a number from {} to {}", name, id, parameter->least, parameter->most);
            if (sentence.empty())
                values.numbers[static_cast<std::size_t>(parameter - info->parameters.begin())] = value.get<double>();
            else
                problems.push_back({ at + '/' + name, sentence });
        }
    }
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
        const Escalation& more = escalation(info.rule);
        if (!more.config.empty())
            one["escalate"] = { { "config", RulesJson::parse(more.config, nullptr, false) }, { "steps", more.steps } };
        if (!more.config.empty() && more.times > 0)
            one["escalate"]["times"] = more.times;
    }
    return RulesJson { { "rules", rules } }.dump(2);
}

std::string Rules::schema()
{
    RulesJson rules = RulesJson::object();
    for (const RuleInfo& info : kRules) {
        RulesJson properties { { "on", { { "type", "boolean" }, { "default", info.isOn } } } };
        for (const Parameter& one : info.parameters) {
            if (!one.name.empty())
                properties[std::string(one.name)] = { { "type", "number" }, { "description", one.description },
                    { "default", one.standard }, { "minimum", one.least }, { "maximum", one.most } };
        }
        properties["escalate"] = { { "type", "object" },
            { "description",
                "More detail around an incident: the fields of config.json that the ranks where it shows are given, "
                "for "
                "so many steps; then what they had before; at most so many times in a run, where that is said. Off "
                "where this is left out." },
            { "properties",
                { { "config", { { "type", "object" }, { "minProperties", 1 } } },
                    { "steps", { { "type", "integer" }, { "minimum", 1 }, { "maximum", kMostEscalated } } },
                    { "times", { { "type", "integer" }, { "minimum", 1 }, { "maximum", kMostTimes } } } } },
            { "required", { "config", "steps" } }, { "additionalProperties", false } };
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
