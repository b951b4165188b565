// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/archive.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include <telltale/core/bytes.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/schema.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

constexpr std::array<std::string_view, 6> kStateNames { "live", "finished", "failed", "interrupted", "damaged",
    "newer" };
static_assert(kStateNames.size() == static_cast<std::size_t>(RunState::Newer) + 1);

bool fileExists(const std::string& path)
{
    std::error_code error;
    return std::filesystem::exists(path, error);
}

/// Read-only whatever the folder allows: a capsule in WAL mode cannot be opened where no -shm can be made.
Expected<Connection> openForReading(const std::string& path)
{
    auto db = openDatabase(path, OpenMode::Read);
    if (db) {
        auto ok = checkSchema(db->get());
        if (ok)
            return db;
        if (ok.error().code == ErrorCode::Newer || ok.error().code == ErrorCode::Damaged || fileExists(path + "-wal"))
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    db = openDatabase(path, OpenMode::ReadImmutable);
    if (!db)
        return db;
    if (auto ok = checkSchema(db->get()); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return db;
}

std::string metaValue(sqlite3* db, std::string_view key)
{
    auto statement = Statement::prepare(db, "SELECT value FROM meta WHERE key = ?");
    if (!statement)
        return {};
    auto row = statement->bindText(1, key).step();
    return row && *row ? std::string(statement->text(0)) : std::string();
}

std::int64_t metaNumber(sqlite3* db, std::string_view key)
{
    return std::strtoll(metaValue(db, key).c_str(), nullptr, 10);
}

RunSummary summaryOf(const std::string& path)
{
    RunSummary run;
    run.path = path;
    const std::string file = std::filesystem::path(path).filename().native();
    run.id = shortIdOfFile(file);
    run.name = file;
    struct stat info { };
    if (::stat(path.c_str(), &info) == 0) {
        run.fileBytes = static_cast<std::uint64_t>(info.st_size);
        run.modifiedNs = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
        run.createdNs = run.modifiedNs;
    }
    auto db = openForReading(path);
    if (!db) {
        run.state = db.error().code == ErrorCode::Newer ? RunState::Newer : RunState::Damaged;
        run.note = db.error().sentence();
        return run;
    }
    const std::int64_t state = metaNumber(db->get(), "state");
    run.state = state >= 0 && state < static_cast<std::int64_t>(kStateNames.size()) ? static_cast<RunState>(state)
                                                                                    : RunState::Damaged;
    if (const std::string id = metaValue(db->get(), "run_id"); !id.empty())
        run.id = id;
    run.name = metaValue(db->get(), "name");
    run.createdNs = metaNumber(db->get(), "created_ns");
    run.modifiedNs = std::max(run.createdNs, metaNumber(db->get(), "modified_ns"));
    run.ranks = static_cast<int>(queryInteger(db->get(), "SELECT count(DISTINCT rank) FROM source").value_or(0));
    run.lastStep = Step(queryInteger(db->get(), "SELECT ifnull(max(last_step), -1) FROM source").value_or(-1));
    return run;
}

}

std::string_view runStateName(RunState state)
{
    const auto i = static_cast<std::size_t>(state);
    return i < kStateNames.size() ? kStateNames[i] : kStateNames[static_cast<std::size_t>(RunState::Damaged)];
}

std::string defaultDataDir()
{
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value ? value : "");
    };
    if (std::string own = variable("TELLTALE_DATA_DIR"); !own.empty())
        return own;
    // The XDG rules say to ignore a relative path.
    if (std::string data = variable("XDG_DATA_HOME"); data.starts_with('/'))
        return data + "/telltale";
    return variable("HOME") + "/.local/share/telltale";
}

std::vector<RunSummary> listRuns(const std::string& dataDir)
{
    std::vector<RunSummary> runs;
    for (const std::string& path : capsulePaths(dataDir))
        runs.push_back(summaryOf(path));
    std::sort(
        runs.begin(), runs.end(), [](const RunSummary& a, const RunSummary& b) { return a.createdNs > b.createdNs; });
    return runs;
}

Expected<std::string> findCapsule(const std::string& dataDir, const std::string& pathOrId)
{
    if (pathOrId.find('/') != std::string::npos || pathOrId.ends_with(kCapsuleSuffix)) {
        if (fileExists(pathOrId))
            return pathOrId;
        return failure(ErrorCode::NotFound, "there is no file " + pathOrId);
    }
    std::vector<std::string> found;
    for (const std::string& path : capsulePaths(dataDir)) {
        const std::string id = shortIdOfFile(std::filesystem::path(path).filename().native());
        if (!pathOrId.empty() && id.starts_with(pathOrId))
            found.push_back(path);
        if (id == pathOrId)
            return path;
    }
    if (found.size() == 1)
        return found.front();
    if (found.empty())
        return failure(ErrorCode::NotFound, "there is no run with the id \"" + pathOrId + "\" in " + dataDir,
            "\"telltale runs\" lists them");
    return failure(ErrorCode::BadInput, "the id \"" + pathOrId + "\" fits " + std::to_string(found.size()) + " runs",
        "give more of its digits");
}

Expected<void> renameRun(const std::string& path, const std::string& name)
{
    if (name.empty() || name.size() > 1024)
        return failure(ErrorCode::BadInput, "a run's name must have 1 to 1024 bytes");
    auto db = openDatabase(path, OpenMode::Write);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    if (auto ok = checkSchema(db->get()); !ok)
        return ok;
    auto statement = Statement::prepare(db->get(), "INSERT OR REPLACE INTO meta VALUES('name', ?)");
    if (!statement)
        return tl::unexpected<Error>(std::move(statement.error()));
    return statement->bindText(1, name).run();
}

Expected<void> deleteRun(const std::string& path)
{
    if (!path.ends_with(kCapsuleSuffix))
        return failure(ErrorCode::BadInput, path + " is not a run");
    if (fileExists(path + "-wal"))
        return failure(ErrorCode::Busy, "the run " + path + " is being recorded or read", "close it first");
    std::error_code error;
    if (!std::filesystem::remove(path, error))
        return failure(error ? ErrorCode::Io : ErrorCode::NotFound,
            "cannot delete " + path + (error ? " (" + error.message() + ")" : std::string(": there is no such file")));
    return {};
}

Expected<VerifyReport> verifyCapsule(const std::string& path)
{
    auto db = openForReading(path);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    VerifyReport report;
    struct {
        const char* what;
        const char* sql;
    } const tables[] = {
        { "tile", "SELECT id, crc, data FROM tile" },
        { "tail row", "SELECT id, crc, data FROM tail" },
        { "blob", "SELECT id, crc, data FROM blob" },
        { "quarantined batch", "SELECT id, crc, data FROM quarantine" },
        { "layout", "SELECT id, crc, bytes FROM layout" },
    };
    for (const auto& [what, sql] : tables) {
        auto rows = Statement::prepare(db->get(), sql);
        if (!rows)
            return tl::unexpected<Error>(std::move(rows.error()));
        for (;;) {
            auto more = rows->step();
            if (!more) {
                report.problems.push_back(std::string("a ") + what + " cannot be read: " + more.error().what);
                break;
            }
            if (!*more)
                break;
            const std::string_view data = rows->blob(2);
            ++report.blobs;
            report.bytes += data.size();
            if (crc32c(data) != static_cast<std::uint32_t>(rows->integer(1)))
                report.problems.push_back(
                    std::string(what) + " " + std::to_string(rows->integer(0)) + " has a wrong checksum");
        }
    }
    auto check = Statement::prepare(db->get(), "PRAGMA integrity_check(20)");
    for (auto more = check ? check->step() : Expected<bool>(false); more && *more; more = check->step()) {
        if (check->text(0) != "ok")
            report.problems.push_back("the file's structure is damaged: " + std::string(check->text(0)));
    }
    return report;
}

}
