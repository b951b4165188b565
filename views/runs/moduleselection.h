// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <telltale/common/rowlist.h>

namespace telltale::views {

/// What becomes selected where rows of a model's hierarchy are chosen: what the views can show of a kind at or below
/// each of them, and where that is nothing, whatever there is. Thread: any (a value).
class ModuleSelection {
public:
    ModuleSelection(const store::Catalog& catalog, Kind kind);

    /// The names at or below a row.
    void add(const std::vector<QString>& names);
    /// As many as can be told apart, of each row its share; and what is left over.
    std::pair<std::vector<ModuleKey>, std::vector<ModuleKey>> keys() const;

private:
    const store::Catalog& m_catalog;
    Kind m_kind;
    std::vector<std::vector<ModuleKey>> m_keys, m_others; ///< by row; no key is in two of them
    std::size_t m_asked = 0;
};

}
