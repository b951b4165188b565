// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <telltale/core/expected.h>

struct sqlite3;
struct sqlite3_stmt;

namespace telltale::store {

struct SqliteCloser {
    void operator()(sqlite3* db) const;
};
struct SqliteFinalizer {
    bool* isLent = nullptr; ///< by a StatementCache, which gets it back as new

    void operator()(sqlite3_stmt* statement) const;
};
using Connection = std::unique_ptr<sqlite3, SqliteCloser>;

/// What SQLite says about the last call on `db`, in our own words: full disk NoSpace, locks Busy, corruption Damaged,
/// read-only or gone Denied, a broken rule of the schema Unsupported, everything else Io. `doing` names the file and
/// the act.
Error sqliteError(sqlite3* db, std::string doing);

/// ReadAlone: where nobody can write, so that nothing that readers and writers agree by can be made beside the file.
enum class OpenMode : std::uint8_t { Read, ReadImmutable, ReadAlone, Write, Create };
/// Opens with every defence against a hostile file: defensive mode, untrusted schema, checked cells, no memory map, no
/// checkpoint by readers. Does not read the file yet.
Expected<Connection> openDatabase(const std::string& path, OpenMode mode);

Expected<void> execute(sqlite3* db, const char* sql);

/// Says of a value to be bound that it is a blob.
struct Bytes {
    std::string_view bytes;
};

/// A prepared statement. Binding is by position from 1; bound views must live until the step. Thread: its owner's.
class Statement {
public:
    Statement() = default;
    static Expected<Statement> prepare(sqlite3* db, std::string_view sql);

    Statement& bind(int position, std::int64_t value);
    Statement& bind(int position, int value) { return bind(position, static_cast<std::int64_t>(value)); }
    Statement& bindReal(int position, double value); ///< NaN is kept as NULL
    Statement& bindText(int position, std::string_view text);
    Statement& bindBlob(int position, std::string_view bytes);
    /// What stands in a column of another one's row, whatever it is.
    Statement& bindFrom(int position, const Statement& row, int column);

    /// True while there is a row. After false or an error the statement is reset.
    Expected<bool> step();
    /// One step of something that returns no rows.
    Expected<void> run();
    /// The same with every parameter, in order: texts, Bytes, ids and whole numbers.
    template <typename... Values> Expected<void> run(const Values&... values)
    {
        int position = 0;
        (bindValue(++position, values), ...);
        return run();
    }
    void reset();

    std::int64_t integer(int column) const;
    /// Any column of a file may hold anything: what is no integer reads as one all the same.
    bool isInteger(int column) const;
    double real(int column) const;
    bool isNull(int column) const;
    /// The view dies with the next step.
    std::string_view text(int column) const;
    std::string_view blob(int column) const;

private:
    friend class StatementCache;
    template <typename Value> void bindValue(int position, const Value& value)
    {
        if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
            bindText(position, value);
        } else if constexpr (std::is_same_v<Value, Bytes>) {
            bindBlob(position, value.bytes);
        } else if constexpr (std::is_class_v<Value>) {
            bind(position, static_cast<std::int64_t>(value.value));
        } else {
            static_assert(std::is_integral_v<Value> || std::is_enum_v<Value>);
            bind(position, static_cast<std::int64_t>(value));
        }
    }

    std::unique_ptr<sqlite3_stmt, SqliteFinalizer> m_statement;
};

/// Prepares statements that are asked again and again once: to follow a run that is recorded, preparing them takes
/// longer than all that they read. Of few different texts; outlives what it gives. Thread: its connection's.
class StatementCache {
public:
    explicit StatementCache(sqlite3* db)
        : m_db(db)
    {
    }
    sqlite3* db() const { return m_db; }
    Expected<Statement> prepare(std::string_view sql);
    /// One that returns no rows, and has no parameters.
    Expected<void> execute(std::string_view sql);

private:
    struct Kept {
        std::unique_ptr<sqlite3_stmt, SqliteFinalizer> statement;
        bool isLent = false;
    };
    sqlite3* m_db;
    std::map<std::string, Kept, std::less<>> m_kept;
};

/// Prepares statements until one fails.
Expected<void> prepareAll(sqlite3* db, std::initializer_list<std::pair<Statement*, std::string_view>> statements);

/// Runs a query and calls `take(statement)` for each row. It returns nothing, or Expected<void>: its error ends the
/// loop.
template <typename Take> Expected<void> forEachRow(Expected<Statement> rows, Take take)
{
    if (!rows)
        return tl::unexpected<Error>(std::move(rows.error()));
    for (;;) {
        auto more = rows->step();
        if (!more)
            return tl::unexpected<Error>(std::move(more.error()));
        if (!*more)
            return {};
        if constexpr (std::is_void_v<std::invoke_result_t<Take, const Statement&>>) {
            take(*rows);
        } else if (Expected<void> ok = take(*rows); !ok) {
            return ok;
        }
    }
}

template <typename Take> Expected<void> forEachRow(sqlite3* db, std::string_view sql, Take take)
{
    return forEachRow(Statement::prepare(db, sql), std::move(take));
}

/// The first column of the first row as an integer; NotFound without a row.
Expected<std::int64_t> queryInteger(Expected<Statement> query);
Expected<std::int64_t> queryInteger(sqlite3* db, std::string_view sql);

}
