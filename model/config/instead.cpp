// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/instead.h>

#include <telltale/config/field.h>

namespace telltale::config {
namespace {

const Json kNull;

/// Whether a selection holds what stands for one of which nothing could be read.
bool selectsNothing(const std::string& pointer, const Json& value)
{
    if (pointer == "/targets")
        return value == Json { { std::string(kNoTarget), Json::object() } };
    if (pointer == "/module_ranks")
        return value == Json::array({ kNoRank });
    if (pointer == "/telltale/attention_maps_steps")
        return value == Json::array({ kNoStep });
    if (pointer == "/cc_distribution/cc_codeline")
        return value == Json::array({ std::string(kNoCode) });
    if (pointer == "/l2_targets")
        return value.empty();
    return pointer.starts_with("/l2_targets/") && value == Json::array({ std::string(kNoTarget) });
}

std::string instead(const std::string& pointer, const Json& schema, const Json& document)
{
    // As deep as the schema has names: what lies below is a part of the field.
    const Json* field = &schema;
    const Json* value = &document;
    std::string at;
    for (std::string_view rest = pointer; !rest.empty() && field->contains("properties");) {
        const std::string name(rest.substr(1, rest.find('/', 1) - 1));
        const auto found = (*field)["properties"].find(name);
        if (found == (*field)["properties"].end())
            break;
        field = &*found;
        const auto held = value->find(name);
        value = held == value->end() ? &kNull : &*held;
        at += "/" + name;
        rest.remove_prefix(name.size() + 1);
    }
    if (selectsNothing(at, *value))
        return "nothing is selected by it";
    if (at != pointer)
        return {};
    return field->contains("properties") ? "the defaults of its fields are used" : value->dump() + " is used";
}

}

std::vector<std::string> whatHoldsInstead(const ParsedConfig& parsed)
{
    std::vector<std::string> out(parsed.problems.size());
    if (out.empty())
        return out;
    const auto schema = Json::parse(monitorConfigSchema());
    const auto document = Json::parse(monitorConfigText(parsed.config));
    for (std::size_t i = 0; i < out.size(); ++i)
        if (parsed.problems[i].isError)
            out[i] = instead(parsed.problems[i].pointer, schema, document);
    return out;
}

}
