// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include <telltale/core/expected.h>
#include <telltale/store/progress.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

/// What came of a table. Thread: any (a value).
struct SalvagedRows {
    std::uint64_t rows = 0; ///< copied
    std::uint64_t unfit = 0; ///< read, and against the table's rules: of a page that is not what it says
    std::uint64_t stretches = 0; ///< of rows that cannot be read, behind one that can or the beginning
};

/// Copies every row of a table that can be read from a capsule open for reading (readAsNewest) into one of the newest
/// format. A page that is damaged costs the rows in it: reading goes on behind them. An error is the new file's, or
/// Canceled.
Expected<SalvagedRows> salvageRows(sqlite3* from, sqlite3* to, const std::string& table, const Progress& progress = {});

}
