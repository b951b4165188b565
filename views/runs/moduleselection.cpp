// SPDX-License-Identifier: GPL-3.0-or-later
#include "moduleselection.h"

#include <algorithm>

namespace telltale::views {

namespace {

constexpr std::size_t kMostSelected = 18; ///< distinguishable series, see the design tokens
constexpr std::size_t kMostAsked = 1000; ///< names of a selection that are looked up at once

std::pair<std::vector<ModuleKey>, std::vector<ModuleKey>> fairly(const std::vector<std::vector<ModuleKey>>& lists)
{
    std::vector<std::size_t> shares(lists.size(), 0);
    std::size_t given = 0;
    for (bool isMore = true; isMore && given < kMostSelected;) {
        isMore = false;
        for (std::size_t i = 0; i < lists.size() && given < kMostSelected; ++i) {
            if (shares[i] < lists[i].size()) {
                ++shares[i];
                ++given;
                isMore = true;
            }
        }
    }
    std::vector<ModuleKey> shown, omitted;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        const auto end = lists[i].begin() + static_cast<std::ptrdiff_t>(shares[i]);
        shown.insert(shown.end(), lists[i].begin(), end);
        omitted.insert(omitted.end(), end, lists[i].end());
    }
    return { std::move(shown), std::move(omitted) };
}

}

ModuleSelection::ModuleSelection(const store::Catalog& catalog, Kind kind)
    : m_catalog(catalog)
    , m_kind(kind)
{
}

void ModuleSelection::add(const std::vector<QString>& names)
{
    m_keys.emplace_back();
    m_others.emplace_back();
    for (const QString& name : names) {
        if (++m_asked > kMostAsked && m_keys.back().size() >= kMostSelected)
            break;
        ModuleKeys found = keysOf(m_catalog, m_kind, name);
        auto& lists = found.kind == m_kind ? m_keys : m_others;
        const auto isIn = [](const ModuleKey& key) {
            return [&key](const std::vector<ModuleKey>& list) { return std::ranges::find(list, key) != list.end(); };
        };
        // A module may be chosen beside what it is in. Of more than are looked up none is left over.
        for (ModuleKey& key : found.keys) {
            if ((m_asked <= kMostAsked || lists.back().size() < kMostSelected)
                && std::ranges::none_of(lists, isIn(key)))
                lists.back().push_back(std::move(key));
        }
    }
}

std::pair<std::vector<ModuleKey>, std::vector<ModuleKey>> ModuleSelection::keys() const
{
    auto [shown, omitted] = fairly(std::ranges::all_of(m_keys, &std::vector<ModuleKey>::empty) ? m_others : m_keys);
    if (m_asked > kMostAsked)
        omitted.clear(); // not all are known
    return { std::move(shown), std::move(omitted) };
}

}
