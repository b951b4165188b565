// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/structure.h>

#include <map>
#include <string_view>

#include <nlohmann/json.hpp>

#include <telltale/core/samplebatch.h>
#include <telltale/torch/hosttensor.h>

namespace telltale {
namespace {

using OrderedJson = nlohmann::ordered_json;

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

/// known: the first name of each parameter.
OrderedJson tree(const torch::nn::Module& module, const std::string& name, std::map<const void*, std::string>& known)
{
    OrderedJson node { { "name", name }, { "type", typeName(module) }, { "parameters", OrderedJson::array() },
        { "children", OrderedJson::array() } };
    for (const auto& entry : module.named_parameters(false)) {
        const auto& tensor = entry.value();
        const std::string own = joined(name, entry.key());
        node["parameters"].push_back(
            { { "name", own }, { "shape", tensor.sizes().vec() }, { "dtype", dtypeName(dtypeOf(tensor)) },
                { "trainable", tensor.requires_grad() }, { "device", tensor.device().str() } });
        const auto& first = known.emplace(tensor.unsafeGetTensorImpl(), own).first->second;
        if (first != own)
            node["parameters"].back()["shared"] = first;
    }
    for (const auto& child : module.named_children())
        node["children"].push_back(tree(*child.value(), joined(name, child.key()), known));
    return node;
}

}

std::string structureJson(const torch::nn::Module& module)
{
    std::map<const void*, std::string> known;
    return tree(module, {}, known).dump();
}

}
