// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/modelstructure.h>

#include <algorithm>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

namespace telltale::analysis {
namespace {

using Tree = nlohmann::json;

constexpr int kDeepestModule = 200; ///< levels of modules; a document may come from anybody
constexpr std::size_t kMostItems = 500'000;

std::string textOf(const Tree& json, const char* name)
{
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void eachOf(const Tree& json, const char* name, const auto& take)
{
    const auto found = json.find(name);
    if (found == json.end() || !found->is_array())
        return;
    for (const Tree& one : *found) {
        if (one.is_object())
            take(one);
    }
}

StructureItem parameterOf(const Tree& json, int parent)
{
    StructureItem item;
    item.isParameter = true;
    item.parent = parent;
    item.name = textOf(json, "name");
    item.dtype = textOf(json, "dtype");
    item.device = textOf(json, "device");
    item.shared = textOf(json, "shared");
    const auto trainable = json.find("trainable");
    item.isTrainable = trainable != json.end() && trainable->is_boolean() && trainable->get<bool>();
    item.elements = 1;
    if (const auto shape = json.find("shape"); shape != json.end() && shape->is_array()) {
        for (const Tree& size : *shape) {
            item.shape.push_back(size.is_number_unsigned() ? size.get<std::int64_t>() : 0);
            const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(0, item.shape.back()));
            const bool isTooMany = length > 0 && item.elements > std::numeric_limits<std::uint64_t>::max() / length;
            item.elements = isTooMany ? 0 : item.elements * length;
        }
    }
    item.trainable = item.isTrainable ? item.elements : 0;
    return item;
}

/// Words of parameters on their way up.
struct Below {
    std::set<std::string> dtypes;
    std::set<std::string> devices;
};

std::string joined(const std::set<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() || word.empty() ? "" : ", ") + word;
    return text;
}

Below add(const Tree& json, int parent, int depth, std::vector<StructureItem>& items)
{
    const int own = static_cast<int>(items.size());
    Below below;
    items.emplace_back();
    items.back().name = textOf(json, "name");
    items.back().type = textOf(json, "type");
    items.back().parent = parent;
    const auto take = [&](int child, bool counts) {
        StructureItem& item = items[static_cast<std::size_t>(own)];
        const StructureItem& one = items[static_cast<std::size_t>(child)];
        item.children.push_back(child);
        item.isTrainable = item.isTrainable || one.isTrainable;
        item.elements += counts ? one.elements : 0;
        item.trainable += counts ? one.trainable : 0;
    };
    eachOf(json, "parameters", [&](const Tree& parameter) {
        if (items.size() >= kMostItems)
            return;
        items.push_back(parameterOf(parameter, own));
        below.dtypes.insert(items.back().dtype);
        below.devices.insert(items.back().device);
        take(static_cast<int>(items.size()) - 1, items.back().shared.empty());
    });
    eachOf(json, "children", [&](const Tree& module) {
        if (depth >= kDeepestModule || items.size() >= kMostItems)
            return;
        const int child = static_cast<int>(items.size());
        Below more = add(module, own, depth + 1, items);
        below.dtypes.merge(more.dtypes);
        below.devices.merge(more.devices);
        take(child, true);
    });
    items[static_cast<std::size_t>(own)].dtype = joined(below.dtypes);
    items[static_cast<std::size_t>(own)].device = joined(below.devices);
    return below;
}

bool isTarget(const config::MonitorConfig& config, const std::string& name)
{
    return std::any_of(config.targets.begin(), config.targets.end(),
        [&](const auto& target) { return config::targetMatches(target.first, name); });
}

}

std::string StructureItem::segment(const StructureItem& above) const
{
    const bool isBelow = !above.name.empty() && name.size() > above.name.size() + 1
        && name.compare(0, above.name.size(), above.name) == 0 && name[above.name.size()] == '.';
    return isBelow ? name.substr(above.name.size() + 1) : name;
}

ModelStructure ModelStructure::of(std::string_view json)
{
    ModelStructure model;
    const Tree tree = Tree::parse(json, nullptr, false);
    if (tree.is_object() && tree.contains("type"))
        add(tree, -1, 0, model.m_items);
    return model;
}

std::vector<ConfigAddition> additionsFor(const config::MonitorConfig& config, const StructureItem& item)
{
    std::vector<ConfigAddition> additions;
    if (!config.targets.empty() && !item.name.empty() && !isTarget(config, item.name))
        additions.push_back({ "/targets", Tree { { item.name, Tree::object() } }.dump() });
    const auto add = [&additions](bool isOn, const char* pointer) {
        if (!isOn)
            additions.push_back({ pointer, "true" });
    };
    if (item.elements > 0) {
        add(config.wgDistribution, "/wg_distribution");
        add(config.paramDistribution, "/param_distribution");
        add(config.mvDistribution, "/mv_distribution");
    }
    if (!item.isParameter) {
        add(config.xyDistribution, "/xy_distribution");
        add(config.attentionHook, "/telltale/attention_hook");
        add(config.stackInfo, "/stack_info");
    }
    return additions;
}

std::map<std::string, std::vector<Kind>> collectedKinds(const store::Catalog& catalog)
{
    std::map<std::string, std::set<Kind>> found;
    for (const store::SeriesInfo& series : catalog.series) {
        if (series.kind != Kind::Scalar)
            found[series.desc->name].insert(series.kind);
    }
    std::map<std::string, std::vector<Kind>> kinds;
    for (const auto& [name, own] : found)
        kinds.emplace(name, std::vector<Kind>(own.begin(), own.end()));
    return kinds;
}

Expected<StructureFacts> readStructure(store::RunReader& reader)
{
    constexpr Step newest { std::numeric_limits<std::int64_t>::max() };
    const auto catalog = reader.catalog();
    if (!catalog)
        return tl::unexpected(catalog.error());
    StructureFacts facts;
    if (const auto text = reader.blob("structure", "model", newest))
        facts.model = ModelStructure::of(*text);
    if (const auto text = reader.blob("config", "config.json", newest)) {
        if (const auto parsed = config::parseMonitorConfig(*text))
            facts.config = parsed->config;
    }
    facts.collected = collectedKinds(**catalog);
    return facts;
}

}
