// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/sqlite.h>

#include <sqlite3.h>

namespace telltale::store {
namespace {

std::string fileUri(const std::string& path, bool immutable)
{
    static constexpr char kHex[] = "0123456789ABCDEF";
    std::string uri = "file:";
    for (char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '?' || c == '#' || c == '%' || byte < 0x20) {
            uri += '%';
            uri += kHex[byte >> 4];
            uri += kHex[byte & 15];
        } else {
            uri += c;
        }
    }
    return immutable ? uri + "?immutable=1" : uri;
}

}

void SqliteCloser::operator()(sqlite3* db) const
{
    sqlite3_close_v2(db);
}

void SqliteFinalizer::operator()(sqlite3_stmt* statement) const
{
    sqlite3_finalize(statement);
}

Error sqliteError(sqlite3* db, std::string doing)
{
    const int code = sqlite3_errcode(db) & 0xFF;
    doing += std::string(": ") + sqlite3_errmsg(db);
    switch (code) {
    case SQLITE_FULL:
        return { ErrorCode::NoSpace, std::move(doing), "free some disk space; nothing is lost while agents spool" };
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return { ErrorCode::Busy, std::move(doing), {} };
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
        return { ErrorCode::Damaged, std::move(doing), {} };
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
        return { ErrorCode::Denied, std::move(doing), {} };
    default:
        return { ErrorCode::Io, std::move(doing), {} };
    }
}

Expected<Connection> openDatabase(const std::string& path, OpenMode mode)
{
    int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (mode == OpenMode::Create)
        flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    else
        flags |= mode == OpenMode::Write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    sqlite3* raw = nullptr;
    const int rc = sqlite3_open_v2(fileUri(path, mode == OpenMode::ReadImmutable).c_str(), &raw, flags, nullptr);
    Connection db(raw);
    if (rc != SQLITE_OK)
        return tl::unexpected<Error>(sqliteError(db.get(), "cannot open " + path));
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    const bool reads = mode == OpenMode::Read || mode == OpenMode::ReadImmutable;
    if (reads)
        sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 64 << 20);
    sqlite3_busy_timeout(raw, reads ? 2000 : 250);
    const char* pragmas = reads ? "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA query_only=ON"
                                : "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0";
    if (auto ok = execute(raw, pragmas); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return db;
}

Expected<void> execute(sqlite3* db, const char* sql)
{
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        return tl::unexpected<Error>(sqliteError(db, "the capsule refused a statement"));
    return {};
}

Expected<Statement> Statement::prepare(sqlite3* db, std::string_view sql)
{
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v3(db, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &raw, nullptr)
        != SQLITE_OK)
        return tl::unexpected<Error>(sqliteError(db, "the capsule refused a statement"));
    Statement statement;
    statement.m_statement.reset(raw);
    return statement;
}

Statement& Statement::bind(int position, std::int64_t value)
{
    sqlite3_bind_int64(m_statement.get(), position, value);
    return *this;
}

Statement& Statement::bindText(int position, std::string_view text)
{
    sqlite3_bind_text64(m_statement.get(), position, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bindBlob(int position, std::string_view bytes)
{
    sqlite3_bind_blob64(m_statement.get(), position, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_STATIC);
    return *this;
}

Expected<bool> Statement::step()
{
    const int rc = sqlite3_step(m_statement.get());
    if (rc == SQLITE_ROW)
        return true;
    sqlite3* db = sqlite3_db_handle(m_statement.get());
    if (rc == SQLITE_DONE) {
        sqlite3_reset(m_statement.get());
        return false;
    }
    Error error = sqliteError(db, "the capsule could not be read or written");
    sqlite3_reset(m_statement.get());
    return tl::unexpected<Error>(std::move(error));
}

Expected<void> Statement::run()
{
    auto row = step();
    if (!row)
        return tl::unexpected<Error>(std::move(row.error()));
    reset();
    return {};
}

void Statement::reset()
{
    sqlite3_reset(m_statement.get());
}

std::int64_t Statement::integer(int column) const
{
    return sqlite3_column_int64(m_statement.get(), column);
}

std::string_view Statement::text(int column) const
{
    const auto* bytes = sqlite3_column_text(m_statement.get(), column);
    if (!bytes)
        return {};
    return { reinterpret_cast<const char*>(bytes),
        static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column)) };
}

std::string_view Statement::blob(int column) const
{
    const void* bytes = sqlite3_column_blob(m_statement.get(), column);
    if (!bytes)
        return {};
    return { static_cast<const char*>(bytes),
        static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column)) };
}

Expected<std::int64_t> queryInteger(sqlite3* db, std::string_view sql)
{
    auto statement = Statement::prepare(db, sql);
    if (!statement)
        return tl::unexpected<Error>(std::move(statement.error()));
    auto row = statement->step();
    if (!row)
        return tl::unexpected<Error>(std::move(row.error()));
    if (!*row)
        return failure(ErrorCode::NotFound, "the capsule has no such row");
    return statement->integer(0);
}

}
