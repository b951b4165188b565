// SPDX-License-Identifier: GPL-3.0-or-later
#include "damagedcapsule.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>

#include <sqlite3.h>
#include <unistd.h>

#include <telltale/core/bytes.h>

namespace telltale::fuzz {
namespace {

using Connection = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

[[noreturn]] void giveUp(const std::string& why)
{
    std::cerr << "fuzz_capsule: " << why << '\n';
    std::_Exit(2);
}

Connection opened(const std::string& path)
{
    sqlite3* db = nullptr;
    if (sqlite3_open(path.c_str(), &db) != SQLITE_OK)
        giveUp("cannot open " + path);
    return { db, sqlite3_close };
}

/// An empty list when the damage so far keeps SQLite from answering.
std::vector<std::string> texts(sqlite3* db, const std::string& sql)
{
    std::vector<std::string> out;
    const auto take = [](void* list, int, char** values, char**) {
        static_cast<std::vector<std::string>*>(list)->emplace_back(values[0] ? values[0] : "");
        return 0;
    };
    sqlite3_exec(db, sql.c_str(), take, &out, nullptr);
    return out;
}

std::string serialized(sqlite3* db)
{
    sqlite3_int64 size = 0;
    unsigned char* bytes = sqlite3_serialize(db, "main", &size, 0);
    if (!bytes)
        giveUp("out of memory");
    std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    sqlite3_free(bytes);
    return out;
}

/// Numbers out of the fuzzer's bytes; zeros when they run out. Thread: owned by one.
class Program {
public:
    explicit Program(std::string_view bytes)
        : m_bytes(bytes)
    {
    }
    bool isEmpty() const { return m_bytes.empty(); }
    std::uint64_t number(int bytes)
    {
        std::uint64_t value = 0;
        for (int i = 0; i < bytes; ++i)
            value = value << 8 | byte();
        return value;
    }
    /// Below `limit`, which is above 0.
    std::size_t below(std::size_t limit, int bytes) { return number(bytes) % limit; }
    std::string_view take()
    {
        const std::size_t size = number(1);
        const auto some = m_bytes.substr(0, size);
        m_bytes.remove_prefix(some.size());
        return some;
    }

private:
    unsigned char byte()
    {
        if (m_bytes.empty())
            return 0;
        const auto first = static_cast<unsigned char>(m_bytes.front());
        m_bytes.remove_prefix(1);
        return first;
    }
    std::string_view m_bytes;
};

void overwrite(std::string& bytes, std::size_t at, std::string_view with)
{
    if (at < bytes.size())
        bytes.replace(at, std::min(with.size(), bytes.size() - at), with.substr(0, bytes.size() - at));
}

void bindAny(sqlite3_stmt* statement, Program& program)
{
    switch (program.below(6, 1)) {
    case 0:
        sqlite3_bind_null(statement, 1);
        break;
    case 1:
        sqlite3_bind_int64(statement, 1, static_cast<std::int64_t>(program.number(8)));
        break;
    case 2:
        sqlite3_bind_int64(statement, 1, static_cast<std::int8_t>(program.number(1)));
        break;
    case 3:
        sqlite3_bind_double(statement, 1, 1e300 / static_cast<double>(1 + program.number(1)));
        break;
    case 4: {
        const auto text = program.take();
        sqlite3_bind_text(statement, 1, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
        break;
    }
    default: {
        const auto blob = program.take();
        sqlite3_bind_blob(statement, 1, blob.data(), static_cast<int>(blob.size()), SQLITE_TRANSIENT);
    }
    }
}

/// One row of a table: its n-th.
std::string nth(const std::string& table, const std::string& key, std::size_t row)
{
    return " WHERE " + key + " = (SELECT " + key + " FROM " + table + " LIMIT 1 OFFSET " + std::to_string(row) + ")";
}

std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> prepared(sqlite3* db, const std::string& sql)
{
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
    return { statement, sqlite3_finalize };
}

void setBlob(sqlite3* db, const std::string& sql, std::string_view blob)
{
    const auto statement = prepared(db, sql);
    sqlite3_bind_blob(statement.get(), 1, blob.data(), static_cast<int>(blob.size()), SQLITE_STATIC);
    sqlite3_step(statement.get());
}

std::string blobAt(sqlite3* db, const std::string& sql)
{
    const auto statement = prepared(db, sql);
    if (sqlite3_step(statement.get()) != SQLITE_ROW)
        return {};
    const void* bytes = sqlite3_column_blob(statement.get(), 0);
    const int size = sqlite3_column_bytes(statement.get(), 0);
    return bytes ? std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size)) : std::string();
}

}

DamagedCapsule::DamagedCapsule(const std::string& path)
{
    std::string folder = (std::filesystem::temp_directory_path() / "telltale-fuzz-XXXXXX").string();
    if (!mkdtemp(folder.data()))
        giveUp("cannot make " + folder);
    const std::string copy = folder + "/run.telltale";
    std::error_code failed;
    std::filesystem::copy_file(path, copy, failed);
    if (failed)
        giveUp("cannot copy " + path);
    std::filesystem::copy_file(path + "-wal", copy + "-wal", failed); // most have none
    {
        const Connection db = opened(copy);
        // In memory there is no write-ahead log: what stood in it goes into the file.
        sqlite3_exec(db.get(), "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
        m_bytes = serialized(db.get());
        for (const std::string& name : texts(db.get(), "SELECT name FROM sqlite_schema WHERE type='table'")) {
            Table table;
            table.name = name;
            table.key = name == "meta" ? "key" : "rowid";
            table.columns = texts(db.get(), "SELECT name FROM pragma_table_info('" + name + "')");
            const auto at = [&table](const char* column) {
                const auto it = std::find(table.columns.begin(), table.columns.end(), column);
                return it == table.columns.end() ? -1 : static_cast<int>(it - table.columns.begin());
            };
            table.crc = at("crc");
            table.data = std::max(at("data"), at("bytes"));
            const auto rows = texts(db.get(), "SELECT count(*) FROM " + name);
            table.rows = rows.empty() ? 0 : std::atoi(rows.front().c_str());
            if (table.rows > 0)
                m_tables.push_back(std::move(table));
        }
    }
    std::filesystem::remove_all(folder, failed);
    if (m_tables.empty())
        giveUp(path + " is no run");
}

std::string DamagedCapsule::damaged(std::string_view bytes) const
{
    Program program(bytes);
    const Connection db = opened(":memory:");
    const auto size = static_cast<sqlite3_int64>(m_bytes.size());
    auto* image = static_cast<unsigned char*>(sqlite3_malloc64(m_bytes.size()));
    std::copy(m_bytes.begin(), m_bytes.end(), image);
    sqlite3_deserialize(
        db.get(), "main", image, size, size, SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    sqlite3_exec(db.get(), "BEGIN", nullptr, nullptr, nullptr);
    std::vector<std::pair<std::size_t, std::string_view>> patches;
    while (!program.isEmpty()) {
        const std::size_t what = program.below(8, 1);
        if (what == 0) {
            const std::size_t at = program.below(m_bytes.size(), 3);
            patches.emplace_back(at, program.take());
            continue;
        }
        const Table& table = m_tables[program.below(m_tables.size(), 1)];
        const std::string row = nth(table.name, table.key, program.below(static_cast<std::size_t>(table.rows), 2));
        const bool hasBlob = table.crc >= 0 && table.data >= 0;
        if (what == 1) {
            sqlite3_exec(db.get(), ("DELETE FROM " + table.name + row).c_str(), nullptr, nullptr, nullptr);
        } else if (what <= 4 || !hasBlob) {
            const std::string& column = table.columns[program.below(table.columns.size(), 1)];
            const auto statement = prepared(db.get(), "UPDATE " + table.name + " SET " + column + "=?1" + row);
            bindAny(statement.get(), program);
            sqlite3_step(statement.get());
        } else {
            const std::string& column = table.columns[static_cast<std::size_t>(table.data)];
            std::string blob = blobAt(db.get(), "SELECT " + column + " FROM " + table.name + row);
            const std::size_t at = program.number(2);
            if (what == 5)
                blob.resize(std::min(at, blob.size()));
            else
                overwrite(blob, at % std::max<std::size_t>(1, blob.size()), program.take());
            setBlob(db.get(), "UPDATE " + table.name + " SET " + column + "=?1" + row, blob);
            sqlite3_exec(db.get(), ("UPDATE " + table.name + " SET crc=" + std::to_string(crc32c(blob)) + row).c_str(),
                nullptr, nullptr, nullptr);
        }
    }
    sqlite3_exec(db.get(), "COMMIT", nullptr, nullptr, nullptr);
    std::string out = serialized(db.get());
    for (const auto& [at, with] : patches)
        overwrite(out, at, with);
    return out;
}

}
