// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/catalog.h>
#include <telltale/store/logrecord.h>
#include <telltale/store/runreader.h>

struct sqlite3;

namespace telltale::store {

class StatementCache;

/// What readLog asks the list of events.
std::string eventsQuery(const LogFilter& filter);

/// The records behind `after` that the filter lets through, at most `limit` events and as many drops. Records
/// that change others stand for what they make of them, each of which comes once. What cannot be read is left out and
/// adds a sentence to `damage`. `db` should be in a read transaction.
Expected<LogPage> readLog(
    StatementCache& db, LogCursor after, const LogFilter& filter, std::size_t limit, std::vector<std::string>& damage);

/// The bytes of a stored blob, all parts in order: the newest of that kind and name at or before `step`. An empty name
/// means any.
Expected<std::string> readBlob(sqlite3* db, const std::string& kind, const std::string& name, Step step);
/// As RunReader::documents and RunReader::document.
Expected<std::vector<DocumentInfo>> listBlobs(sqlite3* db, const std::string& kind, std::int64_t after);
Expected<std::string> readBlob(sqlite3* db, std::int64_t id);
}
