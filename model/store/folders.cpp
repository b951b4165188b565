// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/folders.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/core/privatefiles.h>
#include <telltale/store/capsulefile.h>
#include <telltale/store/runfiles.h>

namespace telltale::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestFolder = 200;

std::string listFile(const std::string& dataDir)
{
    return dataDir + "/folders";
}

Expected<void> writeFolders(const std::string& dataDir, const std::vector<std::string>& folders)
{
    const auto text = nlohmann::json(folders).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
    return replacePrivateFile(listFile(dataDir), text);
}

}

Expected<std::string> folderName(std::string_view word)
{
    std::string name;
    for (const fs::path& part : fs::path(word).relative_path().lexically_normal()) {
        const std::string& text = part.native();
        if (text.empty() || text == ".")
            continue;
        if (text.starts_with('.') || text.ends_with(kCapsuleSuffix) || terminalText(text) != text)
            return failure(ErrorCode::BadInput, "'" + terminalText(word) + "' is no name for a folder of runs",
                "say for example llama/ablation: no part may begin with a dot or end in .telltale");
        name += (name.empty() ? "" : "/") + text;
    }
    if (name.size() > kLongestFolder)
        return failure(ErrorCode::BadInput,
            "a folder's name has " + std::to_string(kLongestFolder) + " characters at most", "choose a shorter one");
    return name;
}

std::string folderOf(const std::string& dataDir, const std::string& capsulePath)
{
    const std::string folder = fs::path(capsulePath).parent_path().lexically_relative(runsFolder(dataDir));
    return folder == "." ? std::string() : folder;
}

Expected<RunLocator> moveRun(const std::string& dataDir, const RunLocator& run, const std::string& folder)
{
    std::error_code error;
    const fs::path runs = fs::weakly_canonical(runsFolder(dataDir), error);
    const fs::path from = fs::weakly_canonical(run.text(), error);
    if (!liesIn(from, runs) || from == runs)
        return failure(ErrorCode::BadInput, run.text() + " is no run of " + dataDir,
            "only those have folders; 'telltale import' takes one in");
    const fs::path into = folder.empty() ? runs : runs / folder;
    const fs::path to = into / from.filename();
    if (to == from)
        return run;
    if (fs::exists(to, error))
        return failure(ErrorCode::BadInput, "there is a run " + to.filename().native() + " in this folder already");
    // What is in SQLite's log beside it goes into the file first; a damaged run may move as well, with its log.
    if (auto free = takeInLog(from); !free && free.error().code == ErrorCode::Busy)
        return tl::unexpected<Error>(std::move(free.error()));
    if (auto made = makePrivateFolder(into); !made)
        return tl::unexpected<Error>(std::move(made.error()));
    // A run and its log are together in one place, whatever fails.
    std::vector<std::string> moved;
    for (const char* side : { "-wal", "-journal", "" }) {
        if (*side != 0 && !fs::exists(from.native() + side, error))
            continue;
        if (::rename((from.native() + side).c_str(), (to.native() + side).c_str()) == 0) {
            moved.emplace_back(side);
            continue;
        }
        auto failed = fileError("move", from.native() + side);
        for (const std::string& back : moved)
            fs::rename(to.native() + back, from.native() + back, error);
        return failed;
    }
    fs::remove(from.native() + "-shm", error);
    for (fs::path left = from.parent_path(); left != runs && fs::remove(left, error); left = left.parent_path()) { }
    return RunLocator::ofFile(fs::path(runsFolder(dataDir)) / folder / from.filename());
}

std::vector<std::string> foldersElsewhere(const std::string& dataDir)
{
    std::vector<std::string> folders;
    std::ifstream file(listFile(dataDir), std::ios::binary);
    const auto json = nlohmann::json::parse(file, nullptr, false);
    for (const auto& folder : json.is_array() ? json : nlohmann::json::array()) {
        if (folder.is_string() && folder.get_ref<const std::string&>().starts_with('/'))
            folders.push_back(folder);
    }
    return folders;
}

Expected<void> addFolderElsewhere(const std::string& dataDir, const std::string& folder)
{
    std::error_code error;
    const fs::path path = fs::canonical(folder, error);
    if (error || !fs::is_directory(path, error))
        return failure(ErrorCode::BadInput, terminalText(folder) + " is no folder that can be read");
    if (liesIn(path, dataDir) || liesIn(dataDir, path))
        return failure(ErrorCode::BadInput,
            terminalText(folder) + " and the data directory " + dataDir + " contain each other",
            "its own runs are listed anyway; name the folder that holds the other runs");
    auto folders = foldersElsewhere(dataDir);
    for (const std::string& known : folders) {
        if (known == path)
            return {};
        if (liesIn(path, known) || liesIn(known, path))
            return failure(ErrorCode::BadInput,
                terminalText(folder) + " and " + known + ", which is listed, contain each other",
                "remove that one first");
    }
    folders.push_back(path);
    if (auto made = prepareDataDir(dataDir); !made)
        return made;
    return writeFolders(dataDir, folders);
}

Expected<void> removeFolderElsewhere(const std::string& dataDir, const std::string& folder)
{
    std::error_code error;
    const std::string path = fs::weakly_canonical(folder, error); // it may be away
    auto folders = foldersElsewhere(dataDir);
    if (std::erase_if(folders, [&](const std::string& known) { return known == path || known == folder; }) == 0)
        return failure(
            ErrorCode::NotFound, terminalText(folder) + " is not listed", "'telltale folders' says which are");
    return writeFolders(dataDir, folders);
}

Expected<void> checkIsOurs(const std::string& dataDir, const RunLocator& run)
{
    for (const std::string& folder : foldersElsewhere(dataDir)) {
        if (liesIn(run.text(), folder))
            return failure(ErrorCode::BadInput, run.text() + " lies in " + folder + ", which is only read here",
                "'telltale import' makes a copy that can be changed");
    }
    return {};
}

}
