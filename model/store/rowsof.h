// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <telltale/series/rowindex.h>
#include <telltale/store/catalog.h>

namespace telltale::store {

/// Indexes a catalog's series; Row::newest is their place in Catalog::series. Those that an earlier catalog of the run
/// had are taken from its index. Thread: any (pure), in the program where the catalog is read and never gui.
std::shared_ptr<const series::RowIndex> indexRows(const Catalog& catalog, const Catalog* earlier = nullptr);

/// As series::statBits, of a group.
std::uint32_t statBits(const GroupInfo& group);
/// Of the histogram that a row of the catalog's is; null where it is none.
std::shared_ptr<const std::vector<double>> edgesOf(const Catalog& catalog, const series::RowIndex::Row& row);

/// Another row of the tensor of a histogram, and a statistic of it that knows of NaN.
struct Beside {
    const series::RowIndex::Row* row = nullptr; ///< null: nothing else was measured
    Stat stat = Stat::Unspecified;
};
Beside statisticsBeside(const Catalog& catalog, const SeriesInfo& histogram, Rank rank);

/// The rows of a catalog that was read; none of one that was made without them.
const series::RowIndex& rowsOf(const Catalog& catalog);

}
