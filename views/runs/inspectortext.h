// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <QString>

#include <telltale/common/viewstate.h>
#include <telltale/series/query.h>
#include <telltale/store/catalog.h>

#include "facttable.h"
#include "inspectorquery.h"

namespace telltale::views {

// What the inspector says of a module. Thread: gui.

/// Its data types on a rank, and which of the ranks that is.
QString subtitleText(const store::Catalog& catalog, Kind kind, Rank rank, const std::vector<ModuleKey>& keys);
QString shapeText(const store::SeriesInfo& series); ///< "[64, 128]"
QString statLabel(Stat stat); ///< before its values
/// `numel`: of its tensor, 0 = unknown. `shownStep` is that of the title.
FactTable::Value valueOf(Stat stat, const series::CellValue& cell, std::uint64_t numel, Step shownStep);
/// The last finite values of a row. Where two hints stand side by side, what they have in common goes below the name.
void addLastFinite(FactTable::Row& row, Stat stat, const std::vector<std::optional<LastFinite>>& last);
/// Why nothing stands at a step. Asked are the values as they stand there, so there is none before it either.
QString nothingText(const InspectorAnswer& answer, Step step, StepRange own);

}
