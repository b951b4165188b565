// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/specialfields.h>

#include <algorithm>
#include <array>
#include <limits>

namespace telltale::config {
namespace {

constexpr std::array<std::string_view, 2> kRules { "AnomalyTurbulence", "AnomalyNan" };
constexpr std::array<std::string_view, 2> kRuleFields { "rule_name", "args" };
constexpr std::array<std::string_view, 1> kArguments { "threshold" };
constexpr double kMost = std::numeric_limits<double>::max();

void tellUnknown(FieldReader& reader, const std::string& pointer, const Json& object, std::string_view what,
    std::span<const std::string_view> known)
{
    for (const auto& [name, value] : object.items()) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            reader.unknown(childPointer(pointer, name), what, name, known);
    }
}

std::optional<double> readThreshold(FieldReader& reader, const std::string& pointer, const Json& arguments)
{
    if (!arguments.is_object()) {
        reader.mustBe(pointer, arguments, R"(an object such as {"threshold": 0.5})");
        return {};
    }
    tellUnknown(reader, pointer, arguments, "the argument", kArguments);
    const auto given = arguments.find("threshold");
    if (given == arguments.end())
        return {};
    double threshold = -1;
    reader.readNumber(childPointer(pointer, "threshold"), *given, 0.0, kMost, threshold);
    return threshold >= 0 ? std::optional(threshold) : std::nullopt;
}

void readRule(FieldReader& reader, const std::string& pointer, const Json& value, std::vector<AlertRule>& into)
{
    if (!value.is_object())
        return reader.mustBe(pointer, value, R"(an object such as {"rule_name": "AnomalyNan"})");
    tellUnknown(reader, pointer, value, "the field", kRuleFields);
    const auto name = value.find("rule_name");
    const auto place = childPointer(pointer, "rule_name");
    if (name == value.end())
        return reader.error(pointer, pointer + " has no rule_name; it must be AnomalyTurbulence or AnomalyNan");
    if (!name->is_string())
        return reader.mustBe(place, *name, "\"AnomalyTurbulence\" or \"AnomalyNan\"");
    AlertRule rule { name->get<std::string>(), {} };
    if (std::find(kRules.begin(), kRules.end(), rule.name) == kRules.end())
        return reader.unknown(place, "the rule", rule.name, kRules);
    if (const auto arguments = value.find("args"); arguments != value.end())
        rule.threshold = readThreshold(reader, childPointer(pointer, "args"), *arguments);
    if (rule.name == kRules[0] && !rule.threshold)
        return reader.error(
            pointer, pointer + R"( needs "args": {"threshold": T} with T a number from 0; the rule is left out)");
    into.push_back(std::move(rule));
}

}

void AlertRulesField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    if (!value.is_array())
        return reader.mustBe(pointer, value, "a list of rules");
    for (std::size_t i = 0; i < value.size(); ++i)
        readRule(reader, childPointer(pointer, std::to_string(i)), value[i], config.alertRules);
}

Json AlertRulesField::write(const MonitorConfig& config)
{
    auto out = Json::array();
    for (const auto& rule : config.alertRules) {
        Json one = { { "rule_name", rule.name }, { "args", Json::object() } };
        if (rule.threshold)
            one["args"]["threshold"] = *rule.threshold;
        out.push_back(std::move(one));
    }
    return out;
}

Json AlertRulesField::schema()
{
    const Json threshold = { { "type", "number" }, { "minimum", 0 } };
    const Json arguments
        = { { "type", "object" }, { "properties", { { "threshold", threshold } } }, { "additionalProperties", false } };
    const Json rule = { { "type", "object" },
        { "properties",
            { { "rule_name", { { "enum", Json::array({ "AnomalyTurbulence", "AnomalyNan" }) } } },
                { "args", arguments } } },
        { "required", Json::array({ "rule_name" }) }, { "additionalProperties", false },
        { "if", { { "properties", { { "rule_name", { { "const", "AnomalyTurbulence" } } } } } } },
        { "then",
            { { "required", Json::array({ "args" }) },
                { "properties", { { "args", { { "required", Json::array({ "threshold" }) } } } } } } } };
    return { { "type", "array" }, { "items", rule } };
}

}
