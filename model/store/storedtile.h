// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

/// SQL: every tile with what its group and source say of it, for StoredTile::of and isInPlace.
inline constexpr const char* kTileRows
    = "SELECT tile.id, tile.crc, tile.data, tile.stat, tile.first_step, tile.last_step, "
      "grp.kind, source.rank, tile.lvl, tile.c0, grp.stats, grp.series, tile.grp FROM tile "
      "LEFT JOIN grp ON grp.id = tile.grp LEFT JOIN source ON source.id = grp.source";

/// What a row of kTileRows is. Thread: any (a value).
struct StoredTile {
    std::int64_t id = 0;
    Stat stat = Stat::Unspecified;
    Kind kind = Kind::Unspecified;
    Rank rank;
    StepRange steps;
    std::size_t bytes = 0;
    bool isWhole = false; ///< its blob has the checksum that the row says

    static StoredTile of(const Statement& row);
    std::string place() const; ///< "grad_reduced norm of rank 0, steps 0 to 255"
};

/// Whether the blob can be what its row says.
bool isInPlace(const Statement& row);

}
