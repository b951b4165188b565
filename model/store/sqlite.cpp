// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/sqlite.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

namespace telltale::store {
namespace {

std::string fileUri(const std::string& path, bool immutable)
{
    std::string uri = "file:";
    for (char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '?' || c == '#' || c == '%' || byte < 0x20)
            uri += fmt::format("%{:02X}", byte);
        else
            uri += c;
    }
    return immutable ? uri + "?immutable=1" : uri;
}

/// RLIMIT_FSIZE, where there is one. SQLite does not pass on the EFBIG of a write.
std::optional<std::uint64_t> fileSizeLimit()
{
    struct rlimit limit { };
    if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return std::nullopt;
    return limit.rlim_cur;
}

/// Where SQLite cannot make a file it looks whether there is one to read, and says only that there is none.
int whyNotOpened(sqlite3* db)
{
    const int error = sqlite3_system_errno(db);
    if (error != ENOENT || sqlite3_db_readonly(db, "main") != 0)
        return error;
    const std::string probe = std::string(sqlite3_db_filename(db, "main")) + "-probe";
    const int fd = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    ::close(fd);
    ::unlink(probe.c_str());
    return error;
}

bool isWriting(int extended)
{
    return extended == SQLITE_IOERR_WRITE || extended == SQLITE_IOERR_TRUNCATE || extended == SQLITE_IOERR_SHMSIZE;
}

}

void SqliteCloser::operator()(sqlite3* db) const
{
    sqlite3_close_v2(db);
}

void SqliteFinalizer::operator()(sqlite3_stmt* statement) const
{
    if (!isLent) {
        sqlite3_finalize(statement);
        return;
    }
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    *isLent = false;
}

Error sqliteError(sqlite3* db, std::string doing)
{
    const int extended = sqlite3_extended_errcode(db);
    const int system = (extended & 0xFF) == SQLITE_CANTOPEN ? whyNotOpened(db) : sqlite3_system_errno(db);
    const std::string because = system != 0 ? std::string(std::strerror(system)) : std::string();
    const auto error = [&](ErrorCode code, const std::string& why, std::string todo = {}) {
        return Error { code, doing + ": " + why, std::move(todo) };
    };
    switch (extended & 0xFF) {
    case SQLITE_FULL:
        return error(
            ErrorCode::NoSpace, "the disk is full", "free some disk space; nothing is lost while agents spool");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error(ErrorCode::Busy, "somebody else is writing to it", "try again");
    case SQLITE_NOTADB:
        return error(ErrorCode::Damaged, "the file is not a Telltale run");
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
        return error(ErrorCode::Damaged, "the file's structure is damaged");
    case SQLITE_READONLY:
        if (extended == SQLITE_READONLY_DBMOVED)
            return error(ErrorCode::Denied, "the file was moved or deleted");
        return error(ErrorCode::Denied, "the file may only be read");
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return error(ErrorCode::Denied, "it is not allowed");
    case SQLITE_CANTOPEN:
        if (system == ENOSPC || system == EDQUOT)
            return error(ErrorCode::NoSpace, because, "free some disk space; nothing is lost while agents spool");
        return error(system == EACCES || system == EPERM || system == EROFS ? ErrorCode::Denied : ErrorCode::Io,
            because.empty() ? "the file cannot be opened" : because);
    case SQLITE_IOERR:
        if (const auto limit = fileSizeLimit(); limit && isWriting(extended))
            return error(ErrorCode::NoSpace, "no file may grow beyond " + std::to_string(*limit) + " bytes here",
                "raise the limit on the size of files (ulimit -f); nothing is lost while agents spool");
        return error(system == EROFS ? ErrorCode::Denied : ErrorCode::Io,
            because.empty() ? "reading or writing the disk failed" : because);
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return error(ErrorCode::Unsupported, "the capsule's rules forbid it (code " + std::to_string(extended) + ")");
    case SQLITE_NOMEM:
        return error(ErrorCode::Io, "there is no memory left");
    default:
        return error(ErrorCode::Io, "the request failed (code " + std::to_string(extended) + ")");
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
    const int rc = sqlite3_open_v2(fileUri(path, mode == OpenMode::ReadImmutable).c_str(), &raw, flags,
        mode == OpenMode::ReadAlone ? "unix-none" : nullptr);
    Connection db(raw);
    if (rc != SQLITE_OK)
        return tl::unexpected<Error>(sqliteError(db.get(), "cannot open " + path));
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    const bool reads = mode != OpenMode::Write && mode != OpenMode::Create;
    if (reads)
        sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 64 << 20);
    // A reader waits as long as a slow disk may take for a writer's commit; a writer has somebody who waits for it.
    sqlite3_busy_timeout(raw, reads ? 15'000 : 250);
    const char* pragmas = reads ? "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA query_only=ON"
                                : "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0";
    if (auto ok = execute(raw, pragmas); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    // Then the index of the log is in memory.
    if (mode == OpenMode::ReadAlone) {
        if (auto ok = execute(raw, "PRAGMA locking_mode=EXCLUSIVE"); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
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

Expected<Statement> StatementCache::prepare(std::string_view sql)
{
    auto known = m_kept.find(sql);
    if (known == m_kept.end()) {
        auto prepared = Statement::prepare(m_db, sql);
        if (!prepared)
            return prepared;
        known = m_kept.emplace(sql, Kept { std::move(prepared->m_statement) }).first;
    }
    if (std::exchange(known->second.isLent, true))
        return Statement::prepare(m_db, sql);
    Statement lent;
    lent.m_statement = { known->second.statement.get(), { &known->second.isLent } };
    return lent;
}

Expected<void> StatementCache::execute(std::string_view sql)
{
    auto statement = prepare(sql);
    return statement ? statement->run() : tl::unexpected<Error>(std::move(statement.error()));
}

Statement& Statement::bind(int position, std::int64_t value)
{
    sqlite3_bind_int64(m_statement.get(), position, value);
    return *this;
}

Statement& Statement::bindReal(int position, double value)
{
    sqlite3_bind_double(m_statement.get(), position, value);
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

Expected<void> prepareAll(sqlite3* db, std::initializer_list<std::pair<Statement*, std::string_view>> statements)
{
    for (const auto& [statement, sql] : statements) {
        auto prepared = Statement::prepare(db, sql);
        if (!prepared)
            return tl::unexpected<Error>(std::move(prepared.error()));
        *statement = std::move(*prepared);
    }
    return {};
}

Statement& Statement::bindFrom(int position, const Statement& row, int column)
{
    sqlite3_bind_value(m_statement.get(), position, sqlite3_column_value(row.m_statement.get(), column));
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

bool Statement::isInteger(int column) const
{
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_INTEGER;
}

double Statement::real(int column) const
{
    return sqlite3_column_double(m_statement.get(), column);
}

bool Statement::isNull(int column) const
{
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_NULL;
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

Expected<std::int64_t> queryInteger(Expected<Statement> query)
{
    if (!query)
        return tl::unexpected<Error>(std::move(query.error()));
    auto row = query->step();
    if (!row)
        return tl::unexpected<Error>(std::move(row.error()));
    if (!*row)
        return failure(ErrorCode::NotFound, "the capsule has no such row");
    return query->integer(0);
}

Expected<std::int64_t> queryInteger(sqlite3* db, std::string_view sql)
{
    return queryInteger(Statement::prepare(db, sql));
}

}
