// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/store/livelayout.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

/// Writes the tiles of level 0 and the pyramid above them. Everything it keeps in memory can be made again from the
/// file, so a transaction that is rolled back may simply be tried again. Thread: store.
class TileSealer {
public:
    static Expected<std::unique_ptr<TileSealer>> create(sqlite3* db);

    /// Writes the group's oldest tile, and each pyramid tile that it completes when it is closed
    /// (LiveLayout::isClosed). The caller moves `sealed` on after COMMIT.
    Expected<void> seal(const LiveGroup& group, const series::OpenTile& tile, bool isClosed);
    /// Writes the pyramid tiles that are not complete. `columns` = all columns of the group, all in level 0.
    Expected<void> sealPartialLevels(const LiveGroup& group, const std::vector<Stat>& stats, std::int64_t columns);
    /// Reads back what the next pyramid tile needs of tiles that are sealed already, and so finds out whether it can be
    /// read.
    Expected<void> resume(const LiveGroup& group, const std::vector<Stat>& stats);
    /// Level 0 of all stats as an open tile again.
    Expected<std::shared_ptr<series::OpenTile>> load(
        const LiveGroup& group, const std::vector<Stat>& stats, std::int64_t firstColumn);
    /// Removes tiles that hold columns from `column` on: they will be written again.
    Expected<void> removeFrom(GroupId group, std::int64_t column);
    /// What the level-1 buckets that it keeps for the next pyramid tiles may take.
    void keepPieces(std::size_t bytes) { m_mostPieceBytes = bytes; }
    /// Lets go of what it keeps for a group that nobody writes any more; resume() brings it back.
    void forget(GroupId group) { removePieces(group, 0, std::numeric_limits<std::int64_t>::max()); }

private:
    explicit TileSealer(sqlite3* db)
        : m_db(db)
    {
    }
    void addPieces(const LiveGroup& group, const series::OpenTile& tile, bool areNeeded);
    void removePieces(GroupId group, std::int64_t from, std::int64_t to);
    Expected<void> recallPieces(const LiveGroup& group, const std::vector<Stat>& stats, std::int64_t c0);
    Expected<void> writeLevels(
        const LiveGroup& group, const std::vector<Stat>& stats, std::int64_t columns, bool close);
    Expected<void> writeLevel(const LiveGroup& group, const std::vector<Stat>& stats, int level, std::int64_t c0);
    Expected<void> insert(
        int level, Stat stat, GroupId group, std::int64_t c0, Step first, Step last, const std::string& data);
    Expected<std::string> read(int level, Stat stat, GroupId group, std::int64_t c0);

    sqlite3* m_db = nullptr;
    Statement m_insert;
    Statement m_select;
    Statement m_delete;
    /// Level-1 buckets of sealed tiles whose level-1 tile is not complete: (group, first column) -> a blob a stat. Only
    /// those that there is room for: the others are made again from the file.
    std::map<std::pair<GroupId, std::int64_t>, std::vector<std::string>> m_pieces;
    std::size_t m_pieceBytes = 0;
    std::size_t m_mostPieceBytes = 0;
    ThreadHome m_home;
};

}
