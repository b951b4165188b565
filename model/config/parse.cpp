// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/monitorconfig.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <telltale/config/fieldreader.h>
#include <telltale/config/relaxedjson.h>

namespace telltale::config {
namespace {

constexpr std::int64_t kMany = 1'000'000'000'000'000;

using Read = void (*)(FieldReader&, const std::string& pointer, const Json&, MonitorConfig&);

struct Field {
    std::string_view name;
    Read read; ///< nullptr: msprobe has it, the agents do not serve it yet
    std::string_view idle {}; ///< unserved: the JSON value that asks for nothing
};

template <bool MonitorConfig::*member>
void readFlag(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    reader.readBool(pointer, value, config.*member);
}

template <std::int64_t MonitorConfig::*member, std::int64_t low>
void readCount(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    reader.readInteger(pointer, value, low, kMany, config.*member);
}

void readTargets(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    reader.readTargets(pointer, value, config.targets);
}

void readOps(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    reader.readOps(pointer, value, config.ops);
}

void readRanks(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    reader.readRanks(pointer, value, config.moduleRanks);
}

void readEps(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    reader.readNumber(pointer, value, 0.0, 1.0, config.eps);
}

/// Telltale's own object: only what this version knows is read, the rest belongs to later ones.
void readExtension(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    if (!value.is_object())
        return reader.mustBe(pointer, value, "an object");
    if (const auto hook = value.find("attention_hook"); hook != value.end())
        reader.readBool(childPointer(pointer, "attention_hook"), *hook, config.attentionHook);
}

constexpr std::array<Field, 32> kFields { {
    { "targets", readTargets },
    { "ops", readOps },
    { "eps", readEps },
    { "wg_distribution", readFlag<&MonitorConfig::wgDistribution> },
    { "mv_distribution", readFlag<&MonitorConfig::mvDistribution> },
    { "param_distribution", readFlag<&MonitorConfig::paramDistribution> },
    { "xy_distribution", readFlag<&MonitorConfig::xyDistribution> },
    { "attention_hook", readFlag<&MonitorConfig::attentionHook> },
    { "forward_only", readFlag<&MonitorConfig::forwardOnly> },
    { "backward_only", readFlag<&MonitorConfig::backwardOnly> },
    { "all_xy", readFlag<&MonitorConfig::allXy> },
    { "print_struct", readFlag<&MonitorConfig::printStruct> },
    { "monitor_mbs_grad", readFlag<&MonitorConfig::monitorMbsGrad> },
    { "module_ranks", readRanks },
    { "start_step", readCount<&MonitorConfig::startStep, 0> },
    { "step_interval", readCount<&MonitorConfig::stepInterval, 1> },
    { "collect_times", readCount<&MonitorConfig::collectTimes, 0> },
    { "dynamic_on", readFlag<&MonitorConfig::dynamicOn> },
    { "telltale", readExtension },
    { "ur_distribution", nullptr, "false" },
    { "mg_direction", nullptr, "false" },
    { "stack_info", nullptr, "false" },
    { "cc_distribution", nullptr, "{}" },
    { "alert", nullptr, "{}" },
    { "l2_targets", nullptr, "{}" },
    { "recording_l2_features", nullptr, "false" },
    { "sa_order", nullptr, R"("s,b,h,d")" },
    { "format", nullptr, R"("csv")" },
    { "ndigits", nullptr, "6" },
    { "step_count_per_record", nullptr, "1" },
    { "append_output", nullptr, "[]" },
    { "squash_name", nullptr, "false" },
} };

constexpr auto kNames = [] {
    std::array<std::string_view, kFields.size()> names {};
    for (std::size_t i = 0; i < names.size(); ++i)
        names[i] = kFields[i].name;
    return names;
}();

void readField(FieldReader& reader, const std::string& name, const Json& value, MonitorConfig& config)
{
    const auto pointer = childPointer({}, name);
    const auto field
        = std::find_if(kFields.begin(), kFields.end(), [&](const Field& known) { return known.name == name; });
    if (field == kFields.end())
        return reader.unknown(pointer, "the field", name, kNames);
    if (field->read)
        return field->read(reader, pointer, value, config);
    const auto idle = Json::parse(field->idle);
    if (value.type() != idle.type() && !(value.is_number() && idle.is_number()))
        reader.mustBe(pointer, value, fmt::format("of the same type as its default {}", field->idle));
    else if (value != idle)
        reader.warning(pointer, fmt::format("{} is not served yet and has no effect", pointer));
}

/// Fields that only mean something together.
void settle(FieldReader& reader, const Json& document, MonitorConfig& config)
{
    // msprobe: without targets every module is meant, with targets only those unless all_xy asks for more.
    if (config.targets.empty())
        config.allXy = true;
    else if (!document.contains("all_xy"))
        config.allXy = false;
    if (config.forwardOnly && config.backwardOnly) {
        reader.error("/backward_only", "forward_only and backward_only exclude each other; both are ignored");
        config.forwardOnly = config.backwardOnly = false;
    }
}

}

Expected<ParsedConfig> parseMonitorConfig(std::string_view text)
{
    const auto plain = plainJson(text);
    Json document;
    try {
        document = Json::parse(plain);
    } catch (const Json::parse_error& error) {
        const std::string_view head(plain.data(), std::min(plain.size(), error.byte));
        const auto line = std::count(head.begin(), head.end(), '\n') + 1;
        return failure(ErrorCode::BadInput, fmt::format("the config is not JSON: line {} breaks it", line),
            "// comments and trailing commas are allowed, nothing else beyond JSON is");
    }
    if (!document.is_object())
        return failure(
            ErrorCode::BadInput, "the config is not a JSON object", "it must look like {\"targets\": {}, ...}");

    ParsedConfig parsed;
    FieldReader reader(parsed.problems);
    for (const auto& [name, value] : document.items())
        readField(reader, name, value, parsed.config);
    settle(reader, document, parsed.config);
    return parsed;
}

}
