// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/monitorconfig.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>

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

constexpr std::array<std::string_view, 4> kWrappers { "module", "_orig_mod", "_fsdp_wrapped_module",
    "_checkpoint_wrapped_module" };

/// The next component that is no wrapper's, "" at the end.
std::string_view takeComponent(std::string_view& rest)
{
    while (!rest.empty()) {
        const auto dot = rest.find('.');
        const auto component = rest.substr(0, dot);
        rest = dot == std::string_view::npos ? std::string_view {} : rest.substr(dot + 1);
        if (std::find(kWrappers.begin(), kWrappers.end(), component) == kWrappers.end())
            return component;
    }
    return {};
}

/// Takes "2:" off the front; nothing when there is none.
std::optional<int> takeChunk(std::string_view& text)
{
    int chunk = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), chunk);
    if (error != std::errc {} || end == text.data() + text.size() || *end != ':')
        return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    return chunk;
}

}

namespace {

enum class Below : bool { No, Yes };

bool matches(std::string_view target, std::string_view name, Below below)
{
    const auto wanted = takeChunk(target);
    const auto chunk = takeChunk(name);
    if (wanted && *wanted != chunk.value_or(0))
        return false;
    for (;;) {
        const auto glob = takeComponent(target);
        const auto component = glob.empty() && below == Below::Yes ? std::string_view() : takeComponent(name);
        if (glob.empty())
            return component.empty();
        if (component.empty() || !componentMatches(glob, component))
            return false;
    }
}

}

bool targetMatches(std::string_view target, std::string_view name)
{
    return matches(target, name, Below::Yes);
}

bool targetNames(std::string_view target, std::string_view name)
{
    return matches(target, name, Below::No);
}

}
