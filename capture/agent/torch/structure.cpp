// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/structure.h>

#include <string_view>

#include <nlohmann/json.hpp>

#include <telltale/core/samplebatch.h>
#include <telltale/torch/hosttensor.h>

namespace telltale {
namespace {

using Json = nlohmann::ordered_json;

/// "torch::nn::LinearImpl" -> "Linear".
std::string typeName(const torch::nn::Module& module)
{
    std::string_view name = module.name();
    if (const auto colon = name.rfind("::"); colon != std::string_view::npos)
        name.remove_prefix(colon + 2);
    if (name.ends_with("Impl"))
        name.remove_suffix(4);
    return std::string(name);
}

std::string joined(const std::string& prefix, const std::string& name)
{
    return prefix.empty() ? name : prefix + "." + name;
}

Json tree(const torch::nn::Module& module, const std::string& name)
{
    Json node { { "name", name }, { "type", typeName(module) }, { "parameters", Json::array() },
        { "children", Json::array() } };
    for (const auto& entry : module.named_parameters(false)) {
        const auto& tensor = entry.value();
        node["parameters"].push_back({ { "name", joined(name, entry.key()) }, { "shape", tensor.sizes().vec() },
            { "dtype", dtypeName(dtypeOf(tensor)) }, { "trainable", tensor.requires_grad() } });
    }
    for (const auto& child : module.named_children())
        node["children"].push_back(tree(*child.value(), joined(name, child.key())));
    return node;
}

}

std::string structureJson(const torch::nn::Module& module)
{
    return tree(module, {}).dump();
}

}
