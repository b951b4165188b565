// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/importdraft.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <telltale/core/privatefiles.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

/// A folder is there for a moment before its lock is.
constexpr std::chrono::minutes kDraftGrace { 1 };

}

Expected<std::string> makeDraft(const std::string& dataDir)
{
    if (auto ok = prepareDataDir(dataDir); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    std::string name = dataDir + '/' + std::string(kDraftFolder) + "XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
        return fileError("make", name);
    return name;
}

void removeDraft(const std::string& folder)
{
    std::error_code error;
    std::filesystem::remove_all(folder, error);
}

void clearDrafts(const std::string& dataDir)
{
    namespace fs = std::filesystem;
    std::vector<std::string> left;
    std::error_code error;
    fs::directory_iterator entries(dataDir, error);
    while (!error && entries != fs::directory_iterator()) {
        std::error_code unknown;
        const bool isOld
            = fs::file_time_type::clock::now() - fs::last_write_time(entries->path(), unknown) > kDraftGrace;
        if (!unknown && isOld && entries->path().filename().native().starts_with(kDraftFolder)
            && entries->is_directory(unknown) && !entries->is_symlink(unknown))
            left.push_back(entries->path().native());
        entries.increment(error);
    }
    for (const std::string& folder : left) {
        if (!isBeingRecorded(runsFolder(folder) + '/'))
            removeDraft(folder);
    }
}

Expected<void> setCreated(const std::string& capsule, std::int64_t ns)
{
    if (ns <= 0)
        return {};
    auto db = openDatabase(capsule, OpenMode::Write);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    return execute(
        db->get(), ("UPDATE meta SET value = '" + std::to_string(ns) + "' WHERE key = 'created_ns'").c_str());
}

}
