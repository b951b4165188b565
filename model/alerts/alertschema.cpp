// SPDX-License-Identifier: GPL-3.0-or-later
#include <nlohmann/json.hpp>

#include <telltale/alerts/alertsettings.h>

namespace telltale::alerts {
namespace {

using SchemaJson = nlohmann::ordered_json;

SchemaJson whole(const char* description, int standard, int least, int most)
{
    return { { "type", "integer" }, { "description", description }, { "default", standard }, { "minimum", least },
        { "maximum", most } };
}
SchemaJson flag(const char* description, bool standard)
{
    return { { "type", "boolean" }, { "description", description }, { "default", standard } };
}
SchemaJson text(const char* description)
{
    return { { "type", "string" }, { "description", description } };
}
SchemaJson object(SchemaJson properties, SchemaJson required = SchemaJson::array())
{
    return { { "type", "object" }, { "properties", std::move(properties) }, { "required", std::move(required) },
        { "additionalProperties", false } };
}
SchemaJson list(SchemaJson items)
{
    return { { "type", "array" }, { "maxItems", AlertSettings::kMostChannels }, { "items", std::move(items) } };
}

}

std::string AlertSettings::schema()
{
    const Webhook hook;
    const Command command;
    const AlertSettings standard;
    SchemaJson shapes = SchemaJson::array();
    for (const Shape shape : kShapes)
        shapes.push_back(shapeWord(shape));
    const SchemaJson onHook = flag("whether it is used", hook.isOn);
    const SchemaJson webhook = object({ { "name", text("how the log speaks of it") }, { "on", onHook },
                                          { "url", text("where to post; who has it can write there") },
                                          { "template", { { "enum", shapes }, { "default", shapeWord(hook.shape) } } },
                                          { "secret", text("what Feishu or DingTalk gave for signing") },
                                          { "timeout_s", whole("for an answer", hook.timeoutS, 1, kLongestTimeoutS) },
                                          { "per_minute", whole("at most", hook.perMinute, 1, kMostPerMinute) } },
        { "url" });
    const SchemaJson program = object(
        { { "name", text("how the log speaks of it") }, { "on", onHook },
            { "argv",
                { { "type", "array" }, { "minItems", 1 }, { "items", { { "type", "string" } } },
                    { "description",
                        "the program and its words, which no shell reads; the incident comes as JSON on its standard "
                        "input and as TELLTALE_ALERT_... in its environment" } } },
            { "timeout_s", whole("until it is ended", command.timeoutS, 1, kLongestTimeoutS) } },
        { "argv" });
    SchemaJson document = object({ { "$schema", { { "type", "string" } } },
        { "severity",
            { { "enum", { "warning", "critical" } }, { "default", "warning" },
                { "description", "incidents of at least this are told" } } },
        { "settle_s",
            whole("an incident is told so long after it was found, as what comes late may show that it began elsewhere",
                standard.settleS, 0, kLongestSettleS) },
        { "desktop",
            object({ { "on", flag("a notification where the window does not show the run", standard.isDesktopOn) },
                { "quiet_s", whole("at most one in this time", standard.desktopQuietS, 0, kLongestQuietS) } }) },
        { "console", object({ { "on", flag("a line in the training job", standard.isConsoleOn) } }) },
        { "webhooks", list(webhook) }, { "commands", list(program) } });
    document["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    document["title"] = "Telltale alerts";
    return document.dump(2);
}

}
