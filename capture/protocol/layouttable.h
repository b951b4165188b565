// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <unordered_map>

#include <telltale/core/samplebatch.h>
#include <telltale/core/threadhome.h>

namespace telltale::protocol {

/// The layouts of one stream. Thread: owned by one. Ids are immutable: adding another layout under a known id is
/// refused.
class LayoutTable {
public:
    std::shared_ptr<const SeriesLayout> find(LayoutId id) const
    {
        const auto it = m_layouts.find(id);
        return it == m_layouts.end() ? nullptr : it->second;
    }
    /// False when the id is known with other contents.
    bool add(std::shared_ptr<const SeriesLayout> layout)
    {
        m_home.check();
        const auto [it, isNew] = m_layouts.try_emplace(layout->id, layout);
        return isNew || it->second == layout || *it->second == *layout;
    }
    std::size_t size() const { return m_layouts.size(); }

private:
    std::unordered_map<LayoutId, std::shared_ptr<const SeriesLayout>> m_layouts;
    ThreadHome m_home;
};

}
