// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/schema.h>

#include <algorithm>
#include <string>

#include <telltale/store/formats.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

tl::unexpected<Error> notACapsule(std::string why)
{
    return failure(ErrorCode::Damaged, "the file is not a Telltale run (" + std::move(why) + ")");
}

const CapsuleFormat& formatOf(int version)
{
    return capsuleFormats()[static_cast<std::size_t>(version) - 1];
}

int newestVersion()
{
    return static_cast<int>(capsuleFormats().size());
}

std::string createText(const IndexText& index)
{
    return std::string("CREATE INDEX ").append(index.name).append(" ON ").append(index.table).append(index.columns);
}

/// Whether the file has the tables of `format`, perhaps its indexes, and nothing else.
Expected<void> checkTables(sqlite3* db, const CapsuleFormat& format)
{
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
        const auto index = std::find_if(format.indexes.begin(), format.indexes.end(),
            [name](const IndexText& candidate) { return candidate.name == name; });
        if (type == "index" && index != format.indexes.end() && sql == createText(*index))
            continue;
        const auto table = std::find_if(format.tables.begin(), format.tables.end(),
            [name](const TableText& candidate) { return candidate.name == name; });
        if (type != "table" || table == format.tables.end() || sql != table->sql)
            return notACapsule("it has a foreign " + std::string(type) + " \"" + std::string(name) + "\"");
        ++found;
    }
    if (found != format.tables.size())
        return notACapsule("a table is missing");
    return {};
}

/// What makes the indexes that a file of an older format gets. A table that is damaged gets none: making them would end
/// the transaction, and it can be written on without.
std::string newIndexes(sqlite3* db, const CapsuleFormat& older, const CapsuleFormat& newer)
{
    std::string sql;
    std::string_view sound;
    for (const IndexText& index : newer.indexes) {
        if (std::any_of(older.indexes.begin(), older.indexes.end(),
                [&index](const IndexText& known) { return known.name == index.name; }))
            continue;
        if (index.table != sound) {
            const auto found = queryInteger(db,
                "SELECT count(*) FROM pragma_quick_check('" + std::string(index.table)
                    + "') WHERE quick_check <> 'ok'");
            if (found ? *found > 0 : found.error().code == ErrorCode::Damaged)
                continue;
            sound = index.table;
        }
        sql += createText(index) + ";";
    }
    return sql;
}

}

std::string sourceText()
{
    std::string sql = "quote(source.id)";
    for (const char* column : { "rank", "attempt", "agent_id", "host", "pid", "device", "framework", "agent_version",
             "dp", "tp", "pp", "ep", "first_step", "last_step", "state" })
        sql.append("||','||quote(source.").append(column) += ')';
    return sql;
}

std::string sourceWasChanged()
{
    return "coalesce((SELECT value FROM meta WHERE key = 'source.' || source.id) <> " + sourceText() + ", 0)";
}

Expected<void> createSchema(sqlite3* db)
{
    if (auto ok = execute(db, "PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL"); !ok)
        return ok;
    const CapsuleFormat& newest = formatOf(newestVersion());
    std::string sql = "BEGIN IMMEDIATE;";
    for (const TableText& table : newest.tables)
        sql += std::string(table.sql) + ";";
    for (const IndexText& index : newest.indexes)
        sql += createText(index) + ";";
    sql += "PRAGMA application_id=" + std::to_string(kApplicationId) + ";";
    sql += "PRAGMA user_version=" + std::to_string(newestVersion()) + ";COMMIT";
    return execute(db, sql.c_str());
}

Expected<int> checkSchema(sqlite3* db)
{
    const auto application = queryInteger(db, "PRAGMA application_id");
    if (!application && application.error().code == ErrorCode::Damaged)
        return failure(ErrorCode::Damaged, "it is not a Telltale run");
    if (!application)
        return tl::unexpected<Error>(application.error());
    if (*application != kApplicationId)
        return notACapsule("its head says so");
    const auto version = queryInteger(db, "PRAGMA user_version");
    if (!version)
        return tl::unexpected<Error>(version.error());
    if (*version > newestVersion())
        return failure(ErrorCode::Newer,
            "the run was written by a newer Telltale (format " + std::to_string(*version) + ", this one reads up to "
                + std::to_string(newestVersion()) + ")",
            "update Telltale to open it");
    if (*version < 1)
        return notACapsule("its version is unknown");
    const int format = static_cast<int>(*version);
    if (auto ok = checkTables(db, formatOf(format)); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return format;
}

Expected<void> readAsNewest(sqlite3* db)
{
    const auto version = checkSchema(db);
    if (!version)
        return tl::unexpected<Error>(version.error());
    const std::string view = formatOf(*version).view;
    if (view.empty())
        return {};
    // Views of the connection's own, in memory; query_only forbids even those.
    return execute(db, ("PRAGMA temp_store=MEMORY; PRAGMA query_only=OFF;" + view + ";PRAGMA query_only=ON").c_str());
}

Expected<void> migrateSchema(sqlite3* db)
{
    const auto version = checkSchema(db);
    if (!version)
        return tl::unexpected<Error>(version.error());
    if (*version == newestVersion())
        return {};
    const std::string indexes = newIndexes(db, formatOf(*version), formatOf(newestVersion()));
    auto ok = execute(db, "BEGIN IMMEDIATE");
    for (int next = *version + 1; ok && next <= newestVersion(); ++next)
        ok = execute(db, formatOf(next).upgrade);
    if (ok)
        ok = checkTables(db, formatOf(newestVersion()));
    if (ok)
        ok = execute(db, indexes.c_str());
    if (ok)
        ok = execute(db, ("PRAGMA user_version=" + std::to_string(newestVersion()) + ";COMMIT").c_str());
    if (!ok)
        static_cast<void>(execute(db, "ROLLBACK"));
    return ok;
}

}
