// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/schema.h>

#include <algorithm>
#include <array>
#include <string>

#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

struct Table {
    std::string_view name;
    const char* sql;
};

constexpr std::array kTables {
    Table { "meta", "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID" },
    Table { "source",
        "CREATE TABLE source(id INTEGER PRIMARY KEY, rank INTEGER, attempt INTEGER, agent_id TEXT, host TEXT, pid "
        "INTEGER, device TEXT, framework TEXT, agent_version TEXT, dp INTEGER, tp INTEGER, pp INTEGER, ep INTEGER, "
        "first_step INTEGER, last_step INTEGER, state INTEGER, UNIQUE(rank, attempt))" },
    Table { "stream",
        "CREATE TABLE stream(id INTEGER PRIMARY KEY, source INTEGER, agent_id TEXT, incarnation INTEGER, epoch "
        "INTEGER, "
        "durable_seq INTEGER, duplicates INTEGER, rejected INTEGER, UNIQUE(agent_id, incarnation))" },
    Table {
        "layout", "CREATE TABLE layout(stream INTEGER, id INTEGER, bytes BLOB, crc INTEGER, PRIMARY KEY(stream, id))" },
    Table { "grp",
        "CREATE TABLE grp(id INTEGER PRIMARY KEY, stream INTEGER, layout INTEGER, source INTEGER, kind INTEGER, stats "
        "BLOB, series INTEGER, first_position INTEGER, UNIQUE(stream, layout, first_position))" },
    Table { "series",
        "CREATE TABLE series(id INTEGER PRIMARY KEY, source INTEGER, kind INTEGER, name TEXT, slot TEXT, vpp_stage "
        "INTEGER, micro_step INTEGER, form INTEGER, definition TEXT, shape BLOB, dtype INTEGER, numel INTEGER, "
        "shard_offset INTEGER, full_shape BLOB, grp INTEGER, lane INTEGER)" },
    Table { "tail",
        "CREATE TABLE tail(id INTEGER PRIMARY KEY, stream INTEGER, seq INTEGER, first_step INTEGER, last_step INTEGER, "
        "crc INTEGER, data BLOB, UNIQUE(stream, seq))" },
    Table { "tile",
        "CREATE TABLE tile(id INTEGER PRIMARY KEY, lvl INTEGER, stat INTEGER, grp INTEGER, c0 INTEGER, first_step "
        "INTEGER, last_step INTEGER, crc INTEGER, data BLOB, UNIQUE(lvl, stat, grp, c0))" },
    Table { "callorder",
        "CREATE TABLE callorder(stream INTEGER, layout INTEGER, first_step INTEGER, ids BLOB, PRIMARY KEY(stream, "
        "layout, first_step))" },
    Table { "event",
        "CREATE TABLE event(id INTEGER PRIMARY KEY, source INTEGER, kind TEXT, rank INTEGER, step INTEGER, wall_ns "
        "INTEGER, text TEXT, json TEXT)" },
    Table { "anomaly",
        "CREATE TABLE anomaly(id INTEGER PRIMARY KEY, rule TEXT, series INTEGER, stat INTEGER, step INTEGER, wall_ns "
        "INTEGER, text TEXT, json TEXT)" },
    Table { "blob",
        "CREATE TABLE blob(id INTEGER PRIMARY KEY, stream INTEGER, blob_id TEXT, part INTEGER, parts INTEGER, kind "
        "TEXT, name TEXT, step INTEGER, crc INTEGER, data BLOB, UNIQUE(stream, blob_id, part))" },
    Table { "dropped",
        "CREATE TABLE dropped(id INTEGER PRIMARY KEY, source INTEGER, class INTEGER, first_step INTEGER, last_step "
        "INTEGER, items INTEGER, bytes INTEGER, reason TEXT)" },
    Table { "quarantine",
        "CREATE TABLE quarantine(id INTEGER PRIMARY KEY, stream INTEGER, seq INTEGER, reason TEXT, crc INTEGER, data "
        "BLOB, UNIQUE(stream, seq))" },
    Table { "config_revision",
        "CREATE TABLE config_revision(rev INTEGER, rank INTEGER, step INTEGER, who TEXT, wall_ns INTEGER, json TEXT, "
        "status TEXT, PRIMARY KEY(rev, rank))" },
    Table { "annotation",
        "CREATE TABLE annotation(id INTEGER PRIMARY KEY, kind TEXT, step INTEGER, series INTEGER, wall_ns INTEGER, "
        "text "
        "TEXT, json TEXT)" },
};

/// kMigrations[v - 1] brings version v to v + 1.
constexpr std::array<const char*, kSchemaVersion - 1> kMigrations {};

tl::unexpected<Error> notACapsule(std::string why)
{
    return failure(ErrorCode::Damaged, "the file is not a Telltale run (" + std::move(why) + ")");
}

}

Expected<void> createSchema(sqlite3* db)
{
    if (auto ok = execute(db, "PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL"); !ok)
        return ok;
    std::string sql = "BEGIN IMMEDIATE;";
    for (const Table& table : kTables)
        sql += std::string(table.sql) + ";";
    sql += "PRAGMA application_id=" + std::to_string(kApplicationId) + ";";
    sql += "PRAGMA user_version=" + std::to_string(kSchemaVersion) + ";COMMIT";
    return execute(db, sql.c_str());
}

Expected<void> checkSchema(sqlite3* db)
{
    const auto application = queryInteger(db, "PRAGMA application_id");
    if (!application && application.error().code == ErrorCode::Damaged)
        return notACapsule("its head cannot be read");
    if (!application)
        return tl::unexpected<Error>(application.error());
    if (*application != kApplicationId)
        return notACapsule("its head says so");
    const auto version = queryInteger(db, "PRAGMA user_version");
    if (!version)
        return tl::unexpected<Error>(version.error());
    if (*version > kSchemaVersion)
        return failure(ErrorCode::Newer,
            "the run was written by a newer Telltale (format " + std::to_string(*version) + ", this one reads up to "
                + std::to_string(kSchemaVersion) + ")",
            "update Telltale to open it");
    auto objects = Statement::prepare(db, "SELECT type, name, sql FROM sqlite_schema");
    if (!objects)
        return tl::unexpected<Error>(std::move(objects.error()));
    std::size_t found = 0;
    for (;;) {
        auto row = objects->step();
        if (!row)
            return tl::unexpected<Error>(std::move(row.error()));
        if (!*row)
            break;
        const std::string_view type = objects->text(0);
        const std::string_view name = objects->text(1);
        const std::string_view sql = objects->text(2);
        if (type == "index" && sql.empty() && name.substr(0, 17) == "sqlite_autoindex_")
            continue;
        const auto table = std::find_if(
            kTables.begin(), kTables.end(), [name](const Table& candidate) { return candidate.name == name; });
        if (type != "table" || table == kTables.end() || sql != table->sql)
            return notACapsule("it has a foreign " + std::string(type) + " \"" + std::string(name) + "\"");
        ++found;
    }
    if (found != kTables.size())
        return notACapsule("a table is missing");
    return {};
}

Expected<void> migrateSchema(sqlite3* db)
{
    const auto version = queryInteger(db, "PRAGMA user_version");
    if (!version)
        return tl::unexpected<Error>(version.error());
    if (*version < 1 || *version > kSchemaVersion)
        return notACapsule("its version is unknown");
    for (auto from = static_cast<std::size_t>(*version); from < kMigrations.size() + 1; ++from) {
        const std::string sql = "BEGIN IMMEDIATE;" + std::string(kMigrations.at(from - 1))
            + ";PRAGMA user_version=" + std::to_string(from + 1) + ";COMMIT";
        if (auto ok = execute(db, sql.c_str()); !ok)
            return ok;
    }
    return {};
}

}
