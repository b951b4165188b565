// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/livelayout.h>

struct sqlite3;

namespace telltale::store {

/// Rebuilds from a capsule's tables what the store thread had in memory: every layout with its groups, and the open
/// tiles with the columns that only the tail has. For recovery after a crash, and for readers of a capsule that is live
/// elsewhere or was not closed. Only reads. Thread: the connection's.
struct TailReplay {
    using Key = std::pair<std::int64_t, LayoutId>; ///< (stream row, layout)

    std::map<Key, std::unique_ptr<LiveLayout>> layouts;
    std::vector<std::string> damage; ///< one sentence for each row that was left out

    /// A tail row as it was replayed: which columns of which layouts it still carries.
    struct Row {
        std::int64_t id = 0;
        std::vector<std::pair<LiveLayout*, std::int64_t>> columns;
    };
    std::vector<Row> rows;
    std::int64_t gapTiles = 0; ///< made without a value, because something before their columns is missing

    /// Groups with open tiles, all columns published.
    std::vector<std::shared_ptr<const series::OpenTile>> openTiles() const;
};

/// `db` should be in one read transaction, so that tiles and tail agree.
Expected<TailReplay> replayTail(sqlite3* db);

}
