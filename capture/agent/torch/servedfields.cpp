// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/servedfields.h>

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include <telltale/config/field.h>

namespace telltale {
namespace {

/// A field that is not here is named to the user, so that a new one is never ignored in silence.
constexpr std::array<std::string_view, 29> kServed {
    "targets", "module_ranks", "xy_distribution", "all_xy", "forward_only", "backward_only", "mv_distribution",
    "param_distribution", "wg_distribution", "monitor_mbs_grad",
    "ops", // the dashboard gets all of them
    "eps", "start_step", "step_interval", "collect_times", "dynamic_on", "telltale.attention_hook",
    "telltale.attention_queries", "telltale.histogram", "telltale.threads", "telltale.overhead_budget",
    "telltale.flight_recorder", "telltale.environment", "telltale.attention_maps", "telltale.attention_maps_interval",
    "telltale.attention_maps_steps", "telltale.attention_maps_size",
    "telltale.actv_grad_input", // always the total, as its series say
    "format", // as long as it is the stream
};

std::string fullName(const config::Field& field)
{
    return field.object.empty() ? std::string(field.name) : std::string(field.object) + "." + std::string(field.name);
}

bool isStreamAlone(const config::MonitorConfig& config)
{
    return std::all_of(config.format.begin(), config.format.end(), [](const auto& name) { return name == "stream"; });
}

}

bool isServed(std::string_view field)
{
    return std::find(kServed.begin(), kServed.end(), field) != kServed.end();
}

std::vector<std::string> unservedFields(const config::MonitorConfig& config)
{
    static const config::MonitorConfig defaults;
    std::vector<std::string> names;
    for (const config::Field& field : config::fields()) {
        std::string name = fullName(field);
        const bool isDone = isServed(name) && (name != "format" || isStreamAlone(config));
        if (!isDone && field.write(config) != field.write(defaults))
            names.push_back(std::move(name));
    }
    return names;
}

std::string unservedSentence(const config::MonitorConfig& config)
{
    std::string list;
    for (const std::string& name : unservedFields(config))
        list.append(list.empty() ? "" : ", ").append(name);
    return list.empty() ? list
                        : "the agent for C++ does not do what the config asks for with " + list
            + "; everything else is collected, and the agent for Python does these too";
}

}
