// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

/// Takes out of a capsule that is being made the tiles that cannot be read, and puts such in their place as say that
/// nothing was collected, where the steps are known: every statistic of a layout has the same columns. A sentence for
/// each kind, statistic and rank is added to `lost`.
Expected<void> repairTiles(sqlite3* db, std::vector<std::string>& lost);

}
