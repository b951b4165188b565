// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/revision.h>

#include <cstdint>

#include <fmt/format.h>

#include <telltale/config/field.h>
#include <telltale/config/textedit.h>

namespace telltale::config {
namespace {

std::string compact(const Json& value)
{
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json canonicalConfig(const MonitorConfig& config)
{
    static const MonitorConfig defaults;
    Json out = Json::object();
    for (const Field& field : fields()) {
        Json value = field.write(config);
        if (value == field.write(defaults))
            continue;
        auto& place = field.object.empty() ? out : out[std::string(field.object)];
        place[std::string(field.name)] = std::move(value);
    }
    for (const auto& [name, text] : config.extras)
        out["telltale"][name] = Json::parse(text, nullptr, false);
    return out;
}

std::string extraOf(const MonitorConfig& config, const std::string& name)
{
    const auto found = config.extras.find(name);
    return found == config.extras.end() ? "null" : found->second;
}

}

std::string canonicalConfigText(const MonitorConfig& config)
{
    return compact(canonicalConfig(config));
}

std::string configHash(const MonitorConfig& config)
{
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a: it tells configs apart and guards nothing
    for (const char c : canonicalConfigText(config))
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return fmt::format("{:016x}", hash);
}

std::vector<FieldChange> configChanges(const MonitorConfig& before, const MonitorConfig& after)
{
    std::vector<FieldChange> changes;
    for (const Field& field : fields()) {
        const Json was = field.write(before);
        const Json is = field.write(after);
        if (was != is)
            changes.push_back({ field.pointer(), compact(was), compact(is) });
    }
    auto names = before.extras;
    names.insert(after.extras.begin(), after.extras.end());
    for (const auto& [name, text] : names) {
        FieldChange change { childPointer("/telltale", name), extraOf(before, name), extraOf(after, name) };
        if (change.before != change.after)
            changes.push_back(std::move(change));
    }
    return changes;
}

std::vector<std::string> localChanges(const MonitorConfig& before, const MonitorConfig& after)
{
    std::vector<std::string> pointers;
    for (const Field& field : fields()) {
        if (field.isLocal && field.write(before) != field.write(after))
            pointers.push_back(field.pointer());
    }
    return pointers;
}

std::string editedConfigText(std::string_view text, const MonitorConfig& wanted)
{
    const auto asWanted = [wanted = canonicalConfigText(wanted)](std::string_view candidate) {
        const auto read = parseMonitorConfig(candidate);
        return read && canonicalConfigText(read->config) == wanted;
    };
    if (const auto read = parseMonitorConfig(text)) {
        std::string edited(text);
        for (const FieldChange& change : configChanges(read->config, wanted))
            edited = withMember(edited, change.pointer, change.after);
        if (asWanted(edited))
            return edited;
    }
    return canonicalConfig(wanted).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}
