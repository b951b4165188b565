// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <telltale/core/expected.h>

struct sqlite3;

namespace telltale::store {

inline constexpr std::int32_t kApplicationId = 0x54544C52; ///< "TTLR"

/// Blobs with a crc column: tail, tile and blob. Every crc is crc32c of `data` alone, but for tile: see TileRow.
///
/// What the columns say beyond their names:
///   meta      "store_id", "run_id" (the short id), "run_key", "key_source", "name", "created_ns", "modified_ns",
///             "state" (RunState as a number), "log_lost" (see lacksItsLog), "last_seen_ns" (a rank was connected),
///             "told_seq.<stream>" (the newest batch that the stream's agent is known to have made),
///             "account.<stream>" (see account.h), "source.<source>" (what the row of `source` says, see sourceText)
///   source    state = SourceState; last_step of the newest durable block
///   grp       stats: one byte (Stat) a stat, in the layout's order; series: number of lanes; first_position: of lane 0
///             among the layout's values, which are one a series, or one a bin of it; columns are counted per layout,
///             so all groups of one layout have the same columns
///   series    shape, full_shape: little-endian i64 each; grp, lane (of the first bin); id order is call order
///   layout    bytes: see layoutcodec.h
///   tail      data: see tailcodec.h; seq <= 0 marks rows that the store wrote itself
///   event     the log, see LogRecord; ref = id of the first record that this one changes; NULL = not said;
///             last_step is NULL for one step
///   blob      id = the agent's blob_id; parts are assembled by (stream, blob_id) in order of part
///   callorder ids: little-endian u32 positions in the layout, from first_step on
///   dropped   class = Drop::dropClass

/// The meta key of a stream's "told_seq".
inline std::string toldSeqKey(std::int64_t stream)
{
    return "told_seq." + std::to_string(stream);
}

/// SQL: what a row of `source` says, as one text. It stands in meta as well, so that a row that something else than a
/// recorder changed is known.
std::string sourceText();
/// SQL: whether a row of `source` was changed so. Rows of earlier versions have no second witness.
std::string sourceWasChanged();

/// Makes the tables of a new file in the newest format, with its page size and header.
Expected<void> createSchema(sqlite3* db);
/// The format of a file (PRAGMA user_version). Refuses what is no capsule (Damaged), what a newer program wrote (Newer)
/// and every table, view or trigger that does not belong to a capsule of its own format (Damaged). Before any other
/// query on a file.
Expected<int> checkSchema(sqlite3* db);
/// checkSchema for a reading connection: then queries of the newest format answer on a file of any. Writes nothing.
Expected<void> readAsNewest(sqlite3* db);
/// checkSchema for a writing connection: then the file is of the newest format. All of it happens in one transaction.
Expected<void> migrateSchema(sqlite3* db);

}
