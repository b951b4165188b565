// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <telltale/common/viewstate.h>
#include <telltale/series/query.h>
#include <telltale/store/catalog.h>

namespace telltale::views {

/// One tensor of one rank, over all its attempts.
struct SeriesRow {
    ModuleKey key;
    series::RowAttempts attempts; ///< oldest first
    const store::SeriesInfo* series = nullptr; ///< of the newest attempt; lives as long as the catalog
};

/// The rows of one kind and rank in model order; micro steps and definitions beyond the first of a tensor are left out.
/// Thread: any (pure).
std::vector<SeriesRow> seriesRows(const store::Catalog& catalog, Kind kind, Rank rank);
/// The same tensor on every rank, by rank.
std::vector<std::pair<Rank, series::RowAttempts>> rankRows(
    const store::Catalog& catalog, Kind kind, const ModuleKey& key);
/// What of a module can be selected.
struct ModuleKeys {
    Kind kind = Kind::Unspecified;
    std::vector<ModuleKey> keys;
};
/// Slots of a module: of `kind` when it has that name, else of the first kind that has.
ModuleKeys keysOf(const store::Catalog& catalog, Kind kind, const QString& name);

}
