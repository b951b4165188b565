// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/monitorconfig.h>

namespace telltale::config {
namespace {

/// Glob of one dotted component: `*` any run, `?` any one character.
bool componentMatches(std::string_view glob, std::string_view text)
{
    std::size_t g = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            resume = t;
        } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
            ++g;
            ++t;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*')
        ++g;
    return g == glob.size();
}

std::string_view takeComponent(std::string_view& rest)
{
    const auto dot = rest.find('.');
    const auto component = rest.substr(0, dot);
    rest = dot == std::string_view::npos ? std::string_view {} : rest.substr(dot + 1);
    return component;
}

}

bool targetMatches(std::string_view target, std::string_view name)
{
    while (!target.empty()) {
        if (name.empty() || !componentMatches(takeComponent(target), takeComponent(name)))
            return false;
    }
    return true;
}

}
