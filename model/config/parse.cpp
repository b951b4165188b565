// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/monitorconfig.h>

#include <algorithm>

#include <fmt/format.h>

#include <telltale/config/field.h>
#include <telltale/config/nearest.h>
#include <telltale/config/relaxedjson.h>

namespace telltale::config {
namespace {

constexpr int kMaxDepth = 64; ///< far below what any field means

const Field* findField(std::string_view object, std::string_view name)
{
    const auto all = fields();
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const Field& field) { return field.object == object && field.name == name; });
    return found == all.end() ? nullptr : &*found;
}

/// What may stand in an object, or in the document.
std::vector<std::string_view> namesIn(std::string_view object)
{
    std::vector<std::string_view> names;
    for (const auto& field : fields()) {
        if (field.object == object)
            names.push_back(field.name);
    }
    if (object.empty()) {
        for (const auto& nested : fieldObjects())
            names.push_back(nested.name);
    }
    return names;
}

/// A later version's field: kept for whoever knows it, and told, because it may as well be a misspelt one.
void keepExtra(
    FieldReader& reader, std::string_view object, const std::string& name, const Json& value, MonitorConfig& config)
{
    config.extras[name] = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto pointer = childPointer(childPointer({}, object), name);
    const auto near = nearestName(name, namesIn(object));
    reader.warning(pointer,
        near.empty() ? fmt::format("the field \"{}\" of \"{}\" is not known to this version", name, object)
                     : fmt::format("the field \"{}\" of \"{}\" is not known to this version; did you mean \"{}\"?",
                         name, object, near));
}

void readObject(FieldReader& reader, const FieldObject& object, const Json& value, MonitorConfig& config)
{
    const auto pointer = childPointer({}, object.name);
    if (!value.is_object())
        return reader.mustBe(pointer, value, "an object");
    for (const auto& [name, inner] : value.items()) {
        const auto place = childPointer(pointer, name);
        if (const auto* field = findField(object.name, name))
            field->read(reader, place, inner, config);
        else if (!object.isOpen)
            reader.unknown(place, "the field", name, namesIn(object.name));
        else
            keepExtra(reader, object.name, name, inner, config);
    }
}

void readField(FieldReader& reader, const std::string& name, const Json& value, MonitorConfig& config)
{
    const auto pointer = childPointer({}, name);
    const auto objects = fieldObjects();
    const auto object
        = std::find_if(objects.begin(), objects.end(), [&](const FieldObject& nested) { return nested.name == name; });
    if (object != objects.end())
        return readObject(reader, *object, value, config);
    if (const auto* field = findField({}, name))
        return field->read(reader, pointer, value, config);
    if (name == "$schema") // how an editor finds the schema
        return;
    for (const auto& nested : objects) {
        if (findField(nested.name, name))
            return reader.error(
                pointer, fmt::format("the field \"{}\" belongs into the object \"{}\"", name, nested.name));
    }
    reader.unknown(pointer, "the field", name, namesIn({}));
}

/// Fields that only mean something together.
void settle(FieldReader& reader, MonitorConfig& config)
{
    // msprobe: without targets every module is meant, with targets only those unless all_xy asks for more.
    if (config.targets.empty())
        config.allXy = true;
    // As msprobe documents it: each leaves out the other's side, so nothing of activations is left.
    if (config.forwardOnly && config.backwardOnly)
        reader.warning("/backward_only",
            "forward_only and backward_only are both true: neither activations nor their gradients are collected; set "
            "one of them to false");
}

}

Expected<ParsedConfig> parseMonitorConfig(std::string_view text)
{
    const auto plain = plainJson(text);
    Json document;
    bool isTooDeep = false;
    // What lies too deep is not even kept: to write it out again takes a piece of the stack a level.
    const auto isKept = [&isTooDeep](int depth, Json::parse_event_t, const Json&) {
        isTooDeep = isTooDeep || depth > kMaxDepth;
        return depth <= kMaxDepth;
    };
    try {
        document = Json::parse(plain, isKept);
    } catch (const Json::out_of_range&) {
        return failure(ErrorCode::BadInput, "a number in the config is larger than any number can be");
    } catch (const Json::parse_error& error) {
        const std::string_view head(plain.data(), std::min(plain.size(), error.byte));
        const auto line = std::count(head.begin(), head.end(), '\n') + 1;
        return failure(ErrorCode::BadInput, fmt::format("the config is not JSON: line {} breaks it", line),
            "// comments and trailing commas are allowed, nothing else beyond JSON is");
    }
    if (isTooDeep)
        return failure(ErrorCode::BadInput,
            fmt::format("the config has objects or lists inside each other more than {} deep", kMaxDepth));
    if (!document.is_object())
        return failure(
            ErrorCode::BadInput, "the config is not a JSON object", "it must look like {\"targets\": {}, ...}");

    ParsedConfig parsed;
    FieldReader reader(parsed.problems);
    for (const auto& [name, value] : document.items())
        readField(reader, name, value, parsed.config);
    settle(reader, parsed.config);
    return parsed;
}

}
