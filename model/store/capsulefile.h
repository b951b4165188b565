// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <telltale/core/expected.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

/// NotFound without a file, BadInput for a folder, Damaged for an empty file. Thread: any.
Expected<void> checkCapsuleFile(const std::string& path);

/// Opens and checks a capsule of any format, read-only whatever the folder allows: one in WAL mode cannot be opened
/// plainly where no -shm can be made. Queries of the newest format answer. Thread: any.
Expected<Connection> openForReading(const std::string& path);

/// Whether a run was left while it was recorded and its log is not beside it, as when the file alone was copied: a
/// recorder that dies leaves a log, and one that ends a run takes the file out of WAL mode. `db` is open on `path`.
/// Thread: any.
bool lacksItsLog(sqlite3* db, const std::string& path);
/// Writes it down, for when the file no longer shows it.
Expected<void> noteLostLog(sqlite3* db);
/// What to say of such a run; empty of any other, and while somebody records into its folder.
std::string lostLogSentence(sqlite3* db, const std::string& path);

/// What a capsule says of itself under a key; empty, or 0, where it says nothing. Thread: any.
Expected<std::string> metaText(sqlite3* db, std::string_view key);
std::int64_t metaNumber(sqlite3* db, std::string_view key);

/// Takes in what a recorder that is gone left in the log beside the capsule; Busy while somebody has the run open.
/// Thread: any.
Expected<void> takeInLog(const std::string& path);

/// Opens and checks a capsule, and brings an older one to the newest format. Thread: any.
Expected<Connection> openForWriting(const std::string& path);

}
