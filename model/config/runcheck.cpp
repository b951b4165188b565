// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/runcheck.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include <telltale/config/field.h>
#include <telltale/config/nearest.h>

namespace telltale::config {
namespace {

using Module = RunFacts::Module;

std::string textIn(const Json& node, const char* key)
{
    const auto found = node.find(key);
    return found != node.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Words that are in the name of a type of the kind that the hook analyzes, in small letters.
std::vector<std::string_view> wordsOf(std::string_view hook)
{
    if (hook == "attention_hook")
        return { "attention", "attn" };
    if (hook == "linear_hook")
        return { "linear", "conv1d", "embedding", "head" };
    return { "router", "gate", "moe", "linear" };
}

bool isOfKind(std::string_view hook, const Module& module)
{
    std::string type = module.type;
    std::transform(type.begin(), type.end(), type.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto words = wordsOf(hook);
    return std::any_of(words.begin(), words.end(), [&](auto word) { return type.find(word) != std::string::npos; });
}

bool matchesAny(std::string_view target, const RunFacts& run)
{
    return std::any_of(run.modules.begin(), run.modules.end(),
        [&](const Module& module) { return targetMatches(target, module.name); });
}

std::string nearestIn(std::string_view name, const RunFacts& run)
{
    std::vector<std::string_view> names;
    names.reserve(run.modules.size());
    for (const Module& module : run.modules)
        names.push_back(module.name);
    const auto near = nearestName(name, names);
    return near.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", near);
}

void checkModules(const MonitorConfig& config, const RunFacts& run, std::vector<Problem>& problems)
{
    for (const auto& [target, selection] : config.targets) {
        if (!matchesAny(target, run))
            problems.push_back({ childPointer("/targets", target),
                fmt::format("\"{}\" matches nothing in this model{}", target, nearestIn(target, run)) });
    }
    for (const auto& [hook, names] : config.l2Targets) {
        const std::string place = childPointer("/l2_targets", hook);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::string pointer = childPointer(place, std::to_string(i));
            std::string_view name = names[i];
            if (const auto colon = name.find(':'); colon != std::string_view::npos)
                name.remove_prefix(colon + 1);
            std::vector<const Module*> found;
            for (const Module& module : run.modules) {
                if (targetNames(name, module.name))
                    found.push_back(&module);
            }
            const auto isRight = [&of = hook](const Module* module) { return isOfKind(of, *module); };
            if (found.empty())
                problems.push_back(
                    { pointer, fmt::format("\"{}\" is no module of this model{}", names[i], nearestIn(name, run)) });
            else if (std::none_of(found.begin(), found.end(), isRight))
                problems.push_back({ pointer,
                    fmt::format("\"{}\" is of type {}, which {} does not look at", names[i],
                        found.front()->type.empty() ? "parameter" : found.front()->type, hook),
                    false });
        }
    }
}

double elementsOf(const Json& parameter)
{
    double elements = 1;
    const auto shape = parameter.find("shape");
    for (std::size_t i = 0; shape != parameter.end() && shape->is_array() && i < shape->size(); ++i)
        elements *= (*shape)[i].is_number() ? std::max(0.0, (*shape)[i].get<double>()) : 0;
    return elements;
}

void collect(const Json& node, std::vector<Module>& into, int depth)
{
    constexpr int kDeepest = 64;
    if (!node.is_object() || depth > kDeepest)
        return;
    if (auto name = textIn(node, "name"); !name.empty())
        into.push_back({ std::move(name), textIn(node, "type"), 0 });
    if (const auto parameters = node.find("parameters"); parameters != node.end() && parameters->is_array()) {
        for (const Json& parameter : *parameters) {
            if (parameter.is_object())
                into.push_back({ textIn(parameter, "name"), {}, elementsOf(parameter) });
        }
    }
    if (const auto children = node.find("children"); children != node.end() && children->is_array()) {
        for (const Json& child : *children)
            collect(child, into, depth + 1);
    }
}

}

std::vector<Module> modulesOf(std::string_view structureJson)
{
    std::vector<Module> modules;
    collect(Json::parse(structureJson, nullptr, false), modules, 0);
    return modules;
}

std::vector<Problem> problemsInRun(const MonitorConfig& config, const RunFacts& run)
{
    std::vector<Problem> problems;
    if (!run.modules.empty())
        checkModules(config, run, problems);
    for (std::size_t i = 0; !run.ranks.empty() && i < config.moduleRanks.size(); ++i) {
        if (!std::binary_search(run.ranks.begin(), run.ranks.end(), config.moduleRanks[i]))
            problems.push_back({ childPointer("/module_ranks", std::to_string(i)),
                run.ranks.size() == 1 ? fmt::format(
                    "rank {} does not exist; this run has only rank {}", config.moduleRanks[i], run.ranks.front())
                                      : fmt::format("rank {} does not exist; this run has ranks {} to {}",
                                          config.moduleRanks[i], run.ranks.front(), run.ranks.back()) });
    }
    return problems;
}

std::optional<std::size_t> selectedCount(const MonitorConfig& config, const RunFacts& run)
{
    if (run.modules.empty())
        return {};
    if (config.targets.empty())
        return run.modules.size();
    return static_cast<std::size_t>(std::count_if(run.modules.begin(), run.modules.end(), [&](const Module& module) {
        return std::any_of(config.targets.begin(), config.targets.end(),
            [&](const auto& target) { return targetMatches(target.first, module.name); });
    }));
}

}
