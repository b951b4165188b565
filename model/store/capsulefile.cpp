// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulefile.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <sys/stat.h>

#include <telltale/store/schema.h>

namespace telltale::store {

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
    std::error_code error;
    auto db = openDatabase(path, OpenMode::Read);
    if (db) {
        auto ok = readAsNewest(db->get());
        if (ok)
            return db;
        if (ok.error().code == ErrorCode::Newer || ok.error().code == ErrorCode::Damaged
            || ok.error().code == ErrorCode::Busy)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    const bool hasLog = std::filesystem::exists(path + "-wal", error);
    db = openDatabase(path, hasLog ? OpenMode::ReadAlone : OpenMode::ReadImmutable);
    if (!db)
        return db;
    if (auto ok = readAsNewest(db->get()); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return db;
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
