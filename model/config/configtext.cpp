// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/field.h>

namespace telltale::config {
namespace {

constexpr std::string_view kSchemaTitle = "Telltale and msprobe monitor configuration";

Json objectSchema(const FieldObject& object)
{
    return { { "type", "object" }, { "description", std::string(object.description) }, { "properties", Json::object() },
        { "additionalProperties", object.isOpen } };
}

}

std::string monitorConfigText(const MonitorConfig& config)
{
    Json out = Json::object();
    for (const auto& field : fields()) {
        auto& place = field.object.empty() ? out : out[std::string(field.object)];
        place[std::string(field.name)] = field.write(config);
    }
    for (const auto& [name, text] : config.extras)
        out["telltale"][name] = Json::parse(text, nullptr, false);
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string monitorConfigSchema()
{
    const MonitorConfig defaults;
    Json properties = { { "$schema", { { "type", "string" } } } };
    for (const auto& field : fields()) {
        auto schema = field.schema();
        schema["description"] = std::string(field.description);
        schema["default"] = field.write(defaults);
        auto* place = &properties;
        for (const auto& object : fieldObjects()) {
            if (object.name != field.object)
                continue;
            const std::string name(object.name);
            if (!properties.contains(name))
                properties[name] = objectSchema(object);
            place = &properties[name]["properties"];
        }
        (*place)[std::string(field.name)] = std::move(schema);
    }
    const Json document
        = { { "$schema", "http://json-schema.org/draft-07/schema#" }, { "title", std::string(kSchemaTitle) },
              { "type", "object" }, { "properties", std::move(properties) }, { "additionalProperties", false } };
    return document.dump(2) + "\n";
}

}
