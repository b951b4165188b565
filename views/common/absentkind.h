// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QString>

#include <telltale/store/catalog.h>

#include "viewstate.h"

namespace telltale::views {

/// "lm_head itself has no weight, before the step: select lm_head.weight." where nothing of a selection has a kind (on
/// a rank, or on any) and something below it has; else empty. Cost: where nothing has it, one pass over the kind's
/// rows. Thread: gui.
QString absentKindText(
    const store::Catalog& catalog, Kind kind, std::optional<Rank> rank, const std::vector<ModuleKey>& selection);

}
