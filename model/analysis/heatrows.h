// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include <telltale/series/rowindex.h>
#include <telltale/store/runreader.h>

namespace telltale::analysis {

/// Of 256 ranks, the cells of all rows at once would take more memory than the run's own newest steps.
inline constexpr std::ptrdiff_t kRowsAtOnce = 4096;

/// The rows as a heat map of at most so many columns.
Expected<series::HeatResult> readHeat(store::RunReader& reader, const series::RowIndex::Rows& rows, Stat stat,
    StepRange range, std::int64_t columns, const series::CancelToken& cancel);
bool isNonFinite(const series::HeatResult& heat, int row, int column);

}
