// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/eventfiles.h>

#include <algorithm>

#include <telltale/core/regularexpression.h>
#include <telltale/exchange/mappedfile.h>

namespace telltale::exchange {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEventDepth = 12;

bool isEventFile(const fs::path& path)
{
    return path.filename().string().find("tfevents") != std::string::npos
        || headOf(path, 64).find("brain.Event:") != std::string::npos;
}

/// Rank, attempt and the rest of the folders above the file, below `top`.
void readPlace(const fs::path& top, EventFile& file)
{
    static const RegularExpression kRank(R"(^(?:.*-)?rank[_-]?(\d{1,7})(?:-attempt(\d{1,5}))?(?:-.*)?$)");
    const auto takeRank = [&file](const std::string& name) {
        const auto groups = kRank.match(name);
        if (groups.empty())
            return false;
        file.rank = Rank { std::stoi(groups[1]) };
        file.attempt = groups[2].empty() ? 0 : std::stoi(groups[2]);
        return true;
    };
    std::error_code error;
    const fs::path base = fs::absolute(fs::is_directory(top, error) ? top : top.parent_path());
    std::string folder;
    bool hasRank = false;
    const auto takePart = [&](const std::string& part) {
        if (!hasRank && takeRank(part)) {
            hasRank = true;
            folder.clear();
            return;
        }
        folder += (folder.empty() ? "" : "/") + part;
    };
    for (const fs::path& part : fs::absolute(file.path).parent_path().lexically_relative(base)) {
        if (part != ".")
            takePart(part.string());
    }
    file.folder = folder;
    if (hasRank)
        return;
    // The named folder may itself be a rank's.
    takeRank(base.filename().string());
}

}

std::vector<EventFile> findEventFiles(const fs::path& path, bool isFirstEnough)
{
    std::vector<EventFile> files;
    std::error_code error;
    const auto take = [&](const fs::path& at) {
        EventFile file { at, Rank { 0 }, 0, {}, fs::file_size(at, error) };
        readPlace(path, file);
        files.push_back(std::move(file));
    };
    if (fs::is_regular_file(path, error)) {
        if (isEventFile(path))
            take(path);
        return files;
    }
    auto it = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        std::error_code unknown;
        if (static_cast<std::size_t>(it.depth()) >= kMostEventDepth)
            it.disable_recursion_pending();
        if (!it->is_regular_file(unknown) || it->path().filename().string().find("tfevents") == std::string::npos)
            continue;
        take(it->path());
        if (isFirstEnough)
            break;
    }
    std::sort(files.begin(), files.end(), [](const EventFile& a, const EventFile& b) { return a.path < b.path; });
    return files;
}

}
