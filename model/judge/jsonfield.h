// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace telltale::judge {

/// Reads what is there and of its type; the rest keeps its default.
template <typename Value> void readField(const nlohmann::json& json, const char* name, Value& into)
{
    const auto found = json.find(name);
    if (found == json.end())
        return;
    if constexpr (std::is_same_v<Value, std::string>) {
        if (found->is_string())
            into = found->get<std::string>();
    } else if constexpr (std::is_same_v<Value, bool>) {
        if (found->is_boolean())
            into = found->get<bool>();
    } else if (found->is_number_integer()) {
        into = found->get<Value>();
    }
}

}
