// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <telltale/exchange/selection.h>
#include <telltale/store/runhandle.h>

namespace telltale::reader {

/// The values of one statistic, a row after the other.
struct FrameColumn {
    Stat stat = Stat::Unspecified;
    std::size_t width = 1; ///< values a row
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::uint64_t>, std::vector<std::int64_t>> values;
    std::vector<std::uint8_t> missing; ///< empty where nothing is
};

/// Every stored value of a selection: a row for what one series has at one step. Thread: any (a value).
struct RunFrame {
    std::shared_ptr<const store::Catalog> catalog; ///< keeps what the tables point to
    std::vector<exchange::MeasuredTable> tables; ///< whose series are the frame's, in order
    std::vector<std::uint64_t> counts; ///< rows of each series
    std::vector<std::int64_t> steps; ///< of the rows
    std::vector<FrameColumn> columns;
    std::vector<double> edges; ///< of the histograms that were asked for
    std::uint64_t damaged = 0; ///< values that are stored and cannot be read
};

/// Reads it with as many readers of the run as `threads` says; 0 = as there are processors. Thread: any; blocks.
Expected<RunFrame> readFrame(const store::RunHandle& run, std::shared_ptr<const store::Catalog> catalog,
    const exchange::Selection& selection, unsigned threads = 0);
/// The histograms of a selection, which must have the same bins.
Expected<RunFrame> readHistogramFrame(
    store::RunReader& reader, std::shared_ptr<const store::Catalog> catalog, const exchange::Selection& selection);

}
