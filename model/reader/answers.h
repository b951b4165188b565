// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

#include <telltale/analysis/rundocument.h>
#include <telltale/exchange/selection.h>
#include <telltale/store/runhandle.h>

namespace telltale::reader {

using analysis::Json;

/// What telltale_reader.h calls a selection. Thread: any.
Expected<exchange::Selection> selectionFrom(std::string_view json);

/// The documents of telltale_reader.h. Thread: query.
Json factsOf(const store::RunHandle& run, const store::Catalog& catalog);
Json seriesOf(const std::vector<exchange::MeasuredTable>& tables);
Expected<Json> logOf(store::RunReader& reader, const std::string& kind);
Expected<Json> incidentsOf(store::RunReader& reader);

}
