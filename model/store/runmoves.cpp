// SPDX-License-Identifier: GPL-3.0-or-later
// Copies, imports, renames and deletes a run: its file and what is still in SQLite's log beside it, as one.
#include <telltale/store/archive.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <telltale/core/privatefiles.h>
#include <telltale/store/capsulefile.h>
#include <telltale/store/runfacts.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/runstore.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSides[] { "-wal", "-shm", "-journal" };
constexpr std::string_view kPart = ".part";
constexpr int kPagesAtOnce = 2048; ///< 16 MiB

bool exists(const std::string& path)
{
    std::error_code error;
    return fs::exists(path, error);
}

void removeSides(const std::string& path)
{
    std::error_code error;
    for (const char* side : kSides)
        fs::remove(path + side, error);
}

void removeAll(const std::string& path)
{
    std::error_code error;
    fs::remove(path, error);
    removeSides(path);
}

tl::unexpected<Error> refused(const std::string& path, const char* what, int number)
{
    const ErrorCode code = number == ENOSPC || number == EDQUOT ? ErrorCode::NoSpace : ErrorCode::Io;
    return failure(code, "cannot " + std::string(what) + ' ' + path + ": " + std::strerror(number));
}

/// Nobody records into a copy.
Expected<void> settle(sqlite3* db)
{
    const std::string sql
        = "PRAGMA journal_mode=DELETE; UPDATE meta SET value=" + std::to_string(static_cast<int>(RunState::Interrupted))
        + " WHERE key='state' AND CAST(value AS INTEGER)=" + std::to_string(static_cast<int>(RunState::Live));
    return execute(db, sql.c_str());
}

/// The pages as one moment has them, whoever writes meanwhile.
Expected<void> backUp(sqlite3* from, bool isWithoutLog, const std::string& path, const Progress& progress)
{
    auto to = openDatabase(path, OpenMode::Create);
    if (!to)
        return tl::unexpected<Error>(std::move(to.error()));
    // Or every page that is written meanwhile would begin it anew.
    auto held = execute(from, "BEGIN; SELECT 1 FROM meta LIMIT 1");
    if (!held)
        return held;
    sqlite3_backup* backup = sqlite3_backup_init(to->get(), "main", from, "main");
    bool isCanceled = false;
    int code = SQLITE_OK;
    while (backup && !isCanceled && code == SQLITE_OK) {
        code = sqlite3_backup_step(backup, progress ? kPagesAtOnce : -1);
        const int all = sqlite3_backup_pagecount(backup);
        isCanceled = progress && all > 0 && !progress(1 - static_cast<double>(sqlite3_backup_remaining(backup)) / all);
    }
    const bool isWritten = backup && sqlite3_backup_finish(backup) == SQLITE_OK && code == SQLITE_DONE;
    static_cast<void>(execute(from, "COMMIT"));
    if (isCanceled)
        return failure(ErrorCode::Canceled, "the copy was canceled");
    if (!isWritten)
        return tl::unexpected<Error>(sqliteError(to->get(), "cannot write " + path));
    auto ok = settle(to->get());
    return ok && isWithoutLog ? noteLostLog(to->get()) : ok;
}

Expected<void> copyFile(const std::string& from, const std::string& to)
{
    std::error_code error;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
    return error ? Expected<void>(refused(to, "write", error.value())) : Expected<void>();
}

Expected<void> writePart(const std::string& from, const std::string& part, const Progress& progress)
{
    // Made by us, so that nobody else may read it.
    const int fd = ::open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return refused(part, "write", errno);
    ::close(fd);
    const auto db = openForReading(from);
    if (db)
        return backUp(db->get(), !lostLogSentence(db->get(), from).empty(), part, progress);
    // What we cannot read may still be worth keeping, as long as the file is all there is of it.
    const bool isForeign = db.error().code == ErrorCode::Damaged || db.error().code == ErrorCode::Newer;
    if (!isForeign || exists(from + "-wal"))
        return tl::unexpected<Error>(db.error());
    return copyFile(from, part);
}

/// Where a run of that file name may come to lie.
Expected<std::string> freePlace(const std::string& dataDir, const std::string& fileName)
{
    const std::string to = runsFolder(dataDir) + '/' + fileName;
    if (!fileName.ends_with(kCapsuleSuffix) || fileName.size() == kCapsuleSuffix.size())
        return failure(ErrorCode::BadInput, "the name " + fileName + " does not end in .telltale", "rename it first");
    if (exists(to))
        return failure(ErrorCode::BadInput, "a run of that name is already here: " + to, "rename the file first");
    if (auto ok = makePrivateFolder(runsFolder(dataDir)); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return to;
}

ImportedRun imported(const std::string& path)
{
    ImportedRun run { RunLocator::ofFile(path), {}, {} };
    run.id = describeRun(run.locator).id;
    const auto reader = openReader({ run.locator, {}, {}, nullptr });
    const auto catalog = reader ? (*reader)->catalog() : tl::unexpected(reader.error());
    run.damage = catalog ? (*catalog)->damage : std::vector<std::string> { catalog.error().sentence() };
    return run;
}

}

Expected<void> takeInLog(const std::string& path)
{
    if (!exists(path + "-wal"))
        return {};
    const auto busy = failure(ErrorCode::Busy, "the run " + path + " is being recorded or read", "close it first");
    // A store lets go of the file of a run that is idle, and comes back to it; one that is over it has open while it
    // writes, which SQLite says.
    if (isBeingRecorded(path)) {
        const auto facts = readRunFacts(RunLocator::fromText(path));
        if (!facts || facts->state == RunState::Live || facts->state == RunState::Lost)
            return busy;
    }
    auto db = openForWriting(path);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    auto ok = execute(db->get(), "PRAGMA journal_mode=DELETE");
    if (!ok && ok.error().code == ErrorCode::Busy)
        return busy;
    return ok;
}

Expected<void> CapsuleStore::copy(const RunLocator& run, const std::string& to, const Progress& progress) const
{
    const std::string& from = run.text();
    std::error_code error;
    if (fs::equivalent(from, to, error))
        return failure(ErrorCode::BadInput, to + " is the run itself", "choose another name for the copy");
    // A damaged run may be replaced, one that somebody has open may not.
    if (auto free = takeInLog(to); !free && free.error().code == ErrorCode::Busy)
        return free;
    const std::string part = to + std::string(kPart);
    removeAll(part);
    auto ok = writePart(from, part, progress);
    if (ok)
        ok = makeDurable(part);
    if (ok) {
        // Gone already where it could be taken in; beside the new file it would be read as that one's.
        removeSides(to);
        fs::rename(part, to, error);
        if (error)
            ok = refused(to, "write", error.value());
    }
    if (!ok)
        removeAll(part);
    return ok;
}

Expected<ImportedRun> importRun(const std::string& dataDir, const std::string& path)
{
    if (const auto db = openForReading(path); !db)
        return tl::unexpected<Error>(db.error());
    const auto to = freePlace(dataDir, fs::path(path).filename().native());
    if (!to)
        return tl::unexpected<Error>(to.error());
    if (auto ok = copyRun(RunLocator::ofFile(path), *to); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return imported(*to);
}

Expected<ImportedRun> adoptRun(const std::string& dataDir, const std::string& path)
{
    if (auto ok = takeInLog(path); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    const auto to = freePlace(dataDir, fs::path(path).filename().native());
    if (!to)
        return tl::unexpected<Error>(to.error());
    if (auto ok = makeDurable(path); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    std::error_code error;
    fs::rename(path, *to, error);
    if (error == std::errc::cross_device_link)
        return importRun(dataDir, path);
    if (error)
        return refused(*to, "write", error.value());
    if (auto ok = makeDurable(runsFolder(dataDir)); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return imported(*to);
}

RunUpload::RunUpload(std::string path, int fd)
    : m_path(std::move(path))
    , m_draft(m_path + std::string(kDraftSuffix))
    , m_fd(fd)
{
}

RunUpload::~RunUpload()
{
    ::close(m_fd);
    removeAll(m_draft);
}

Expected<std::unique_ptr<RunUpload>> RunUpload::begin(const std::string& dataDir, const std::string& fileName)
{
    const bool isPlain
        = std::none_of(fileName.begin(), fileName.end(), [](char c) { return c == '/' || (c >= 0 && c < ' '); });
    if (!isPlain || fileName.starts_with('.'))
        return failure(ErrorCode::BadInput, "this is no file name: " + fileName, "name the file alone");
    const auto to = freePlace(dataDir, fileName);
    if (!to)
        return tl::unexpected<Error>(to.error());
    const std::string draft = *to + std::string(kDraftSuffix);
    const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return failure(ErrorCode::Busy, "a run of that name is being imported: " + *to, "wait for it");
    if (fd < 0)
        return refused(draft, "write", errno);
    return std::unique_ptr<RunUpload>(new RunUpload(*to, fd));
}

Expected<void> RunUpload::append(std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto written = ::write(m_fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return refused(m_draft, "write", written < 0 ? errno : ENOSPC);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

Expected<ImportedRun> RunUpload::finish()
{
    if (const auto db = openForReading(m_draft); !db)
        return failure(db.error().code, fs::path(m_path).filename().native() + ": " + db.error().what, db.error().todo);
    if (exists(m_path))
        return failure(ErrorCode::BadInput, "a run of that name is already here: " + m_path, "rename the file first");
    // What can be read but not written to may still be worth keeping: it comes as it is.
    if (auto db = openDatabase(m_draft, OpenMode::Write))
        static_cast<void>(settle(db->get()));
    if (auto ok = makeDurable(m_draft); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    std::error_code error;
    fs::rename(m_draft, m_path, error);
    if (error)
        return refused(m_path, "write", error.value());
    return imported(m_path);
}

Expected<void> CapsuleStore::rename(const RunLocator& run, const std::string& name) const
{
    const std::string& path = run.text();
    if (name.empty() || name.size() > 1024)
        return failure(ErrorCode::BadInput, "a run's name must have 1 to 1024 bytes");
    if (auto ok = takeInLog(path); !ok)
        return ok;
    auto db = openForWriting(path);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    auto statement = Statement::prepare(db->get(), "INSERT OR REPLACE INTO meta(key, value) VALUES('name', ?)");
    if (!statement)
        return tl::unexpected<Error>(std::move(statement.error()));
    return statement->bindText(1, name).run();
}

Expected<void> CapsuleStore::remove(const RunLocator& run) const
{
    const std::string& path = run.text();
    if (!path.ends_with(kCapsuleSuffix))
        return failure(ErrorCode::BadInput, path + " is not a run");
    // A damaged run may go as well.
    if (auto ok = takeInLog(path); !ok && ok.error().code == ErrorCode::Busy)
        return ok;
    std::error_code error;
    if (!fs::remove(path, error))
        return failure(error ? ErrorCode::Io : ErrorCode::NotFound,
            "cannot delete " + path + (error ? " (" + error.message() + ")" : std::string(": there is no such file")));
    removeSides(path);
    return {};
}

}
