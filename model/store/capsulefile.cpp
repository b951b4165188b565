// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulefile.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <sys/stat.h>

#include <telltale/store/archive.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/schema.h>

namespace telltale::store {
namespace {

/// The header's write version: 2 from the recorder's beginning to the run's end.
bool isInWalMode(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    char version = 0;
    return file.seekg(18).get(version) && version == 2;
}

bool isLostLogNoted(sqlite3* db)
{
    return queryInteger(db, "SELECT EXISTS(SELECT 1 FROM meta WHERE key = 'log_lost')").value_or(0) != 0;
}

}

Expected<std::string> metaText(sqlite3* db, std::string_view key)
{
    auto statement = Statement::prepare(db, "SELECT value FROM meta WHERE key = ?");
    if (!statement)
        return tl::unexpected<Error>(std::move(statement.error()));
    auto row = statement->bindText(1, key).step();
    if (!row)
        return tl::unexpected<Error>(std::move(row.error()));
    return *row ? std::string(statement->text(0)) : std::string();
}

std::int64_t metaNumber(sqlite3* db, std::string_view key)
{
    const auto text = metaText(db, key);
    return text ? std::strtoll(text->c_str(), nullptr, 10) : 0;
}

Expected<void> checkCapsuleFile(const std::string& path)
{
    struct stat info { };
    if (::stat(path.c_str(), &info) != 0)
        return failure(
            errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io, "cannot open " + path + ": " + std::strerror(errno));
    if (S_ISDIR(info.st_mode))
        return failure(ErrorCode::BadInput, path + " is a folder, not a run");
    if (info.st_size == 0)
        return failure(ErrorCode::Damaged, "the file " + path + " is empty");
    return {};
}

Expected<Connection> openForReading(const std::string& path)
{
    if (auto ok = checkCapsuleFile(path); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    const auto open = [&path](OpenMode mode) {
        return openDatabase(path, mode).and_then([](Connection db) -> Expected<Connection> {
            if (auto ok = readAsNewest(db.get()); !ok)
                return tl::unexpected<Error>(std::move(ok.error()));
            return db;
        });
    };
    const auto isAnswer = [](const Expected<Connection>& db) {
        return db || db.error().code == ErrorCode::Newer || db.error().code == ErrorCode::Damaged
            || db.error().code == ErrorCode::Busy;
    };
    auto db = open(OpenMode::Read);
    if (isAnswer(db))
        return db;
    std::error_code error;
    if (std::filesystem::exists(path + "-journal", error)) {
        // Of a change that was cut short the file has a part. Who may write takes it back by looking.
        if (auto whole = openDatabase(path, OpenMode::Write))
            static_cast<void>(checkSchema(whole->get()));
        db = open(OpenMode::Read);
        if (isAnswer(db))
            return db;
        return failure(ErrorCode::Denied, "a change of the run was cut short", "open it once where it may be written");
    }
    return open(std::filesystem::exists(path + "-wal", error) ? OpenMode::ReadAlone : OpenMode::ReadImmutable);
}

bool lacksItsLog(sqlite3* db, const std::string& path)
{
    if (isLostLogNoted(db))
        return true;
    const auto state = queryInteger(db, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'state'");
    // A reader leaves an empty log behind.
    std::error_code error;
    const auto logBytes = std::filesystem::file_size(path + "-wal", error);
    return state && *state == static_cast<int>(RunState::Live) && (error || logBytes == 0) && isInWalMode(path);
}

Expected<void> noteLostLog(sqlite3* db)
{
    return execute(db, "INSERT OR REPLACE INTO meta(key, value) VALUES('log_lost', '1')");
}

std::string lostLogSentence(sqlite3* db, const std::string& path)
{
    if (!lacksItsLog(db, path) || (isBeingRecorded(path) && !isLostLogNoted(db)))
        return {};
    return "the newest steps may be missing: this run was left while it was recorded, and its log, the -wal file that "
           "holds what is not in the run's own file yet, was not beside it; copy both files together";
}

Expected<Connection> openForWriting(const std::string& path)
{
    auto db = openDatabase(path, OpenMode::Write);
    if (!db)
        return db;
    if (auto ok = migrateSchema(db->get()); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return db;
}

}
