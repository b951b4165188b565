// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <telltale/series/rowindex.h>
#include <telltale/store/runreader.h>

namespace telltale::analysis {

/// The rows as a heat map of at most so many columns.
Expected<series::HeatResult> readHeat(store::RunReader& reader, const series::RowIndex::Rows& rows, Stat stat,
    StepRange range, std::int64_t columns, const series::CancelToken& cancel);
bool isNonFinite(const series::HeatResult& heat, int row, int column);

}
