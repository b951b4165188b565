// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/trash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include <telltale/core/privatefiles.h>
#include <telltale/store/capsulefile.h>
#include <telltale/store/clock.h>
#include <telltale/store/folders.h>
#include <telltale/store/pins.h>
#include <telltale/store/runfiles.h>

namespace telltale::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNote = "deleted.json"; ///< beside the run: where it was, and when it was deleted
constexpr const char* kTrashSides[] { "-wal", "-journal" }; ///< what belongs to a file that could not take it in

std::string trashFolder(const std::string& dataDir)
{
    return dataDir + "/trash";
}

Expected<void> movedTo(const std::string& from, const std::string& to)
{
    if (::rename(from.c_str(), to.c_str()) == 0)
        return {};
    const int number = errno;
    if (number == EXDEV)
        return failure(ErrorCode::BadInput, from + " lies on another disk than the data directory and its trash",
            "delete it with the file manager, or name its own data directory");
    return failure(
        number == ENOENT ? ErrorCode::NotFound : ErrorCode::Io, "cannot move " + from + ": " + std::strerror(number));
}

/// With the run's file there, by `take`, or nothing at all.
Expected<TrashedRun> putThere(const std::string& dataDir, const RunLocator& run,
    const std::function<Expected<void>(const std::string& from, const std::string& to)>& take)
{
    std::error_code error;
    const fs::path path = fs::absolute(run.text(), error);
    if (!run.text().ends_with(kCapsuleSuffix))
        return failure(ErrorCode::BadInput, run.text() + " is not a run");
    if (auto ours = checkIsOurs(dataDir, run); !ours)
        return tl::unexpected<Error>(std::move(ours.error()));
    if (!fs::exists(path, error))
        return failure(ErrorCode::NotFound, "cannot delete " + run.text() + ": there is no such file");
    // A damaged run may go as well, and one in a folder where nothing can be taken in.
    if (auto free = takeInLog(path); !free && free.error().code == ErrorCode::Busy)
        return tl::unexpected<Error>(std::move(free.error()));
    if (auto made = makePrivateFolder(trashFolder(dataDir)); !made)
        return tl::unexpected<Error>(std::move(made.error()));
    TrashedRun trashed;
    trashed.from = path.native();
    trashed.deletedNs = wallClockNs();
    trashed.folder = trashFolder(dataDir) + "/" + std::to_string(trashed.deletedNs) + "-XXXXXX";
    if (::mkdtemp(trashed.folder.data()) == nullptr)
        return fileError("make", trashed.folder);
    const std::string to = trashed.folder + '/' + path.filename().native();
    std::ofstream note(trashed.folder + '/' + kNote, std::ios::binary);
    note << nlohmann::json { { "from", trashed.from }, { "deleted_ns", trashed.deletedNs } }.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
    note.close();
    auto ok = note ? Expected<void>() : Expected<void>(fileError("write", trashed.folder + '/' + kNote));
    for (const char* side : kTrashSides) {
        if (ok && fs::exists(path.native() + side, error))
            ok = movedTo(path.native() + side, to + side);
    }
    if (ok)
        ok = take(path, to);
    if (!ok) {
        for (const char* side : kTrashSides) {
            if (fs::exists(to + side, error))
                static_cast<void>(movedTo(to + side, path.native() + side));
        }
        fs::remove_all(trashed.folder, error);
        return tl::unexpected<Error>(std::move(ok.error()));
    }
    fs::remove(path.native() + "-shm", error);
    trashed.run = describeRun(RunLocator::ofFile(to));
    return trashed;
}

}

Expected<TrashedRun> trashRun(const std::string& dataDir, const RunLocator& run)
{
    const auto pins = Pins::read(dataDir);
    if (!pins)
        return tl::unexpected<Error>(pins.error());
    if (pins->has(run))
        return failure(ErrorCode::BadInput, "the run " + run.text() + " is pinned", "'telltale unpin' it first");
    return putThere(dataDir, run, movedTo);
}

Expected<TrashedRun> replaceRun(const std::string& dataDir, const RunLocator& run, const std::string& with)
{
    return putThere(dataDir, run, [&with](const std::string& from, const std::string& to) -> Expected<void> {
        std::error_code error;
        fs::create_hard_link(from, to, error);
        if (error) // not every file system has them
            fs::copy_file(from, to, error);
        if (error)
            return failure(ErrorCode::Io, "cannot keep " + from + " in the trash: " + error.message());
        auto ok = movedTo(with, from);
        if (!ok)
            fs::remove(to, error);
        return ok;
    });
}

std::vector<TrashedRun> listTrash(const std::string& dataDir)
{
    std::vector<TrashedRun> found;
    std::error_code error;
    fs::directory_iterator folders(trashFolder(dataDir), error);
    for (; !error && folders != fs::directory_iterator(); folders.increment(error)) {
        std::error_code none;
        fs::directory_iterator files(folders->path(), none);
        for (; !none && files != fs::directory_iterator(); files.increment(none)) {
            if (!files->path().native().ends_with(kCapsuleSuffix))
                continue;
            TrashedRun& trashed = found.emplace_back();
            trashed.folder = folders->path();
            trashed.run = describeRun(RunLocator::ofFile(files->path()));
            std::ifstream note(trashed.folder + '/' + kNote, std::ios::binary);
            const auto json = nlohmann::json::parse(note, nullptr, false);
            if (json.is_object() && json.contains("from") && json["from"].is_string())
                trashed.from = json["from"];
            else
                trashed.from = runsFolder(dataDir) + '/' + files->path().filename().native();
            trashed.deletedNs = std::strtoll(folders->path().filename().c_str(), nullptr, 10);
        }
    }
    std::sort(
        found.begin(), found.end(), [](const TrashedRun& a, const TrashedRun& b) { return a.deletedNs > b.deletedNs; });
    return found;
}

Expected<TrashedRun> findTrashed(const std::string& dataDir, const std::string& word)
{
    const std::vector<TrashedRun> all = listTrash(dataDir);
    const std::function<bool(const TrashedRun&)> tests[] {
        [&word](const TrashedRun& trashed) { return trashed.run.id == word || trashed.from == word; },
        [&word](const TrashedRun& trashed) { return trashed.run.name == word; },
        [&word](const TrashedRun& trashed) { return !word.empty() && trashed.run.id.starts_with(word); },
    };
    for (const auto& isMeant : tests) {
        const auto found = std::find_if(all.begin(), all.end(), isMeant);
        if (found != all.end())
            return *found;
    }
    return failure(ErrorCode::NotFound, "there is no run \"" + word + "\" in the trash",
        "\"telltale delete --list\" says what is");
}

Expected<RunLocator> restoreRun(const TrashedRun& trashed)
{
    std::error_code error;
    const std::string& path = trashed.run.locator.text();
    if (fs::exists(trashed.from, error))
        return failure(ErrorCode::BadInput, "another run has its place: " + trashed.from, "move that one away first");
    fs::create_directories(fs::path(trashed.from).parent_path(), error);
    for (const char* side : { "", kTrashSides[0], kTrashSides[1] }) {
        if (*side != 0 && !fs::exists(path + side, error))
            continue;
        if (auto ok = movedTo(path + side, trashed.from + side); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    fs::remove_all(trashed.folder, error);
    return RunLocator::ofFile(trashed.from);
}

Expected<void> eraseTrashed(const TrashedRun& trashed)
{
    std::error_code error;
    fs::remove_all(trashed.folder, error);
    if (error)
        return failure(ErrorCode::Io, "cannot delete " + trashed.folder + ": " + error.message());
    return {};
}

}
