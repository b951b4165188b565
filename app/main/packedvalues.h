// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <iosfwd>
#include <span>

#include <telltale/core/expected.h>
#include <telltale/store/runreader.h>

namespace telltale::app {

/// What `telltale show --packed FILE` writes: everything that was measured of some series, for programs, in the order
/// in which it was lived through. A line of JSON,
/// {"packed": 1, "names": {own name: shown name},
///  "sources": [{"attempt", "rank", "dp", "tp", "pp", "ep", "config": text, "revisions": [{"step", "config": text}]}],
///  "tables": [{"source", "kind", "stats",
///              "series": [{"name", "slot", "chunk", "micro_step", "form", "definition", "numel"}]}]};
/// then blocks, source after source, 256 steps after the other, table after table: a line {"table", "first", "steps"},
/// and of each of the table's stats what it is in series * steps cells, a series after the other (little-endian
/// float32, where the stat is a count or a metric float64), and as many bytes with their states (series::CellState;
/// beside non-finite elements the value is that of the finite ones, NaN without one). The last line is {"end": true},
/// or {"error": sentence}. Histograms and checksums are left out.
Expected<void> writePacked(std::ostream& out, store::RunReader& reader, const store::Catalog& catalog,
    std::span<const SeriesId> chosen, StepRange range);

}
