// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/unfinishedfiles.h>

#include <filesystem>
#include <vector>

#include <telltale/store/importdraft.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

constexpr std::string_view kJournal = "-journal";

}

void clearUnfinishedFiles(const std::string& dataDir)
{
    clearDrafts(dataDir);
    const std::string draft = std::string(kCapsuleSuffix) + std::string(kDraftSuffix);
    const std::string journal = std::string(kCapsuleSuffix) + std::string(kJournal);
    std::vector<std::string> drafts, interrupted;
    std::error_code error;
    std::filesystem::directory_iterator entries(runsFolder(dataDir), error);
    while (!error && entries != std::filesystem::directory_iterator()) {
        const std::string& path = entries->path().native();
        if (entries->path().filename().native().find(draft) != std::string::npos)
            drafts.push_back(path);
        else if (path.ends_with(journal))
            interrupted.push_back(path.substr(0, path.size() - kJournal.size()));
        entries.increment(error);
    }
    for (const std::string& path : drafts)
        std::filesystem::remove(path, error);
    for (const std::string& path : interrupted) {
        // SQLite rolls back at the first look; a file that it cannot help says so when it is opened.
        if (auto db = openDatabase(path, OpenMode::Write))
            static_cast<void>(queryInteger(db->get(), "PRAGMA user_version"));
    }
}

}
