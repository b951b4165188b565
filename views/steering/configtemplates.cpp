// SPDX-License-Identifier: GPL-3.0-or-later
#include "configtemplates.h"

#include <QCoreApplication>

#include <nlohmann/json.hpp>

#include <telltale/config/revision.h>
#include <telltale/config/textedit.h>

namespace telltale::views {
namespace {

constexpr const char* kContext = "telltale::views::ConfigTemplate";

constexpr ConfigTemplate kTemplates[] {
    { QT_TRANSLATE_NOOP("telltale::views::ConfigTemplate", "Loss rises, gradient norm normal: the forward pass"),
        QT_TRANSLATE_NOOP("telltale::views::ConfigTemplate", "Forward pass"),
        R"({"xy_distribution": true, "all_xy": true, "forward_only": true, "wg_distribution": false,
            "mv_distribution": false, "param_distribution": false, "step_interval": 1})" },
    { QT_TRANSLATE_NOOP("telltale::views::ConfigTemplate", "Gradient norm abnormal: weights and activation gradients"),
        QT_TRANSLATE_NOOP("telltale::views::ConfigTemplate", "Weights, gradients"),
        R"({"wg_distribution": true, "param_distribution": true, "mv_distribution": true, "xy_distribution": true,
            "all_xy": true, "backward_only": true, "forward_only": false, "step_interval": 1})" },
    { QT_TRANSLATE_NOOP("telltale::views::ConfigTemplate", "Attention suspicious: entropy of every head"),
        QT_TRANSLATE_NOOP("telltale::views::ConfigTemplate", "Attention entropy"),
        R"({"telltale/attention_hook": true, "telltale/attention_queries": 64, "wg_distribution": true,
            "step_interval": 1})" },
    { QT_TRANSLATE_NOOP("telltale::views::ConfigTemplate", "Only what costs nothing: the training's own metrics"),
        QT_TRANSLATE_NOOP("telltale::views::ConfigTemplate", "Metrics alone"),
        R"({"wg_distribution": false, "xy_distribution": false, "mv_distribution": false, "param_distribution": false,
            "ur_distribution": false, "mg_direction": false, "cc_distribution/enable": false, "stack_info": false,
            "telltale/attention_hook": false, "recording_l2_features": false})" },
};

}

QString ConfigTemplate::name() const
{
    return QCoreApplication::translate(kContext, title);
}

QString ConfigTemplate::brief() const
{
    return QCoreApplication::translate(kContext, subject);
}

std::string ConfigTemplate::addition() const
{
    const auto set = nlohmann::ordered_json::parse(fields);
    auto document = nlohmann::ordered_json::object();
    for (const auto& [name, value] : set.items()) {
        if (value == false && name.ends_with("_distribution"))
            continue;
        document[nlohmann::ordered_json::json_pointer('/' + name)] = value;
    }
    return document.dump();
}

config::MonitorConfig ConfigTemplate::on(const config::MonitorConfig& running) const
{
    std::string text = config::withMember(config::canonicalConfigText(running), "/dynamic_on", "true");
    const auto set = nlohmann::ordered_json::parse(fields);
    for (const auto& [name, value] : set.items())
        text = config::withMember(text, "/" + name, value.dump());
    return config::parseMonitorConfig(text)->config;
}

std::span<const ConfigTemplate> configTemplates()
{
    return kTemplates;
}

}
