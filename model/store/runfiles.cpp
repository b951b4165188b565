// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/runfiles.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <telltale/core/plaintext.h>
#include <telltale/core/privatefiles.h>

namespace telltale::store {
namespace {

constexpr char kHex[] = "0123456789abcdef";
/// What Telltale puts into a data directory.
constexpr std::array<std::string_view, 9> kOwnNames { "control", "folders", "lock", "pins", "runs", "runs.index",
    "runs.profiles", "server", "trash" };
constexpr int kLockTries = 5;
constexpr std::chrono::milliseconds kLockPause { 10 };

}

std::string newShortId()
{
    std::random_device random;
    std::string id;
    for (int i = 0; i < 8; ++i)
        id += kHex[random() & 15u];
    return id;
}

std::string capsuleFileName(std::string_view runName, std::string_view shortId, std::int64_t createdNs)
{
    const std::time_t seconds = static_cast<std::time_t>(createdNs / 1'000'000'000);
    std::tm utc {};
    gmtime_r(&seconds, &utc);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%d", &utc);
    return std::string(date) + "_" + fileNameText(runName) + "_" + std::string(shortId) + std::string(kCapsuleSuffix);
}

std::string shortIdOfFile(std::string_view fileName)
{
    if (!fileName.ends_with(kCapsuleSuffix))
        return {};
    fileName.remove_suffix(kCapsuleSuffix.size());
    const std::size_t cut = fileName.rfind('_');
    return cut == std::string_view::npos ? std::string() : std::string(fileName.substr(cut + 1));
}

std::string runsFolder(const std::string& dataDir)
{
    return dataDir + "/runs";
}

std::string controlFile(const std::string& dataDir)
{
    return dataDir + "/control";
}

bool liesIn(const std::string& path, const std::string& folder)
{
    std::error_code error;
    const auto inner = std::filesystem::weakly_canonical(path, error);
    const auto outer = std::filesystem::weakly_canonical(folder, error);
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

std::vector<std::string> capsulesBelow(const std::string& folder, std::vector<std::string>* problems)
{
    std::vector<std::string> paths;
    std::vector<std::string> folders { folder };
    while (!folders.empty()) {
        const std::string at = std::move(folders.back());
        folders.pop_back();
        std::error_code error;
        std::size_t seen = 0;
        std::filesystem::directory_iterator entries(at, error);
        for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error), ++seen) {
            const std::string& path = entries->path().native();
            std::error_code none;
            if (path.ends_with(kCapsuleSuffix))
                paths.push_back(path);
            else if (!entries->path().filename().native().starts_with('.') && !entries->is_symlink(none)
                && entries->is_directory(none))
                folders.push_back(path);
        }
        // A folder that went while its parent was read has no runs.
        const bool isGone = error == std::errc::no_such_file_or_directory && at != folder;
        if (problems != nullptr && error && !isGone)
            problems->push_back((seen > 0 ? "only some of the runs in " : "the runs in ") + at
                + (seen > 0 ? " are listed: " : " are not listed: ") + error.message());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::vector<std::string> capsulePaths(const std::string& dataDir, std::vector<std::string>* problems)
{
    const std::string folder = runsFolder(dataDir);
    std::error_code error;
    if (!std::filesystem::exists(folder, error) && !error) // nothing was recorded yet
        return {};
    return capsulesBelow(folder, problems);
}

Expected<void> prepareDataDir(const std::string& dataDir)
{
    const std::string runs = runsFolder(dataDir);
    if (auto made = makePrivateFolder(runs); !made)
        return failure(made.error().code, "cannot make the data directory " + dataDir + ": " + made.error().what,
            "choose another one with --data-dir or TELLTALE_DATA_DIR");
    const auto isOurs = [](const std::filesystem::directory_entry& entry) {
        const std::string name = entry.path().filename().string();
        return name.starts_with(kDraftFolder) || std::find(kOwnNames.begin(), kOwnNames.end(), name) != kOwnNames.end();
    };
    // Who shares a folder with a group has set its set-group or sticky bit.
    using std::filesystem::perms;
    std::error_code error;
    const bool isShared
        = (std::filesystem::status(dataDir, error).permissions() & (perms::set_gid | perms::sticky_bit)) != perms::none;
    const std::filesystem::directory_iterator top(dataDir, error);
    if (!error && !isShared && std::all_of(begin(top), end(top), isOurs))
        keepPrivate(dataDir);
    keepPrivate(runs);
    keepPrivate(dataDir + "/lock");
    std::filesystem::recursive_directory_iterator entries(runs, error);
    while (!error && entries != std::filesystem::recursive_directory_iterator()) {
        keepPrivate(entries->path().native());
        entries.increment(error);
    }
    return {};
}

bool isBeingRecorded(const std::string& capsulePath)
{
    auto folder = std::filesystem::absolute(capsulePath).parent_path();
    while (folder.filename() != "runs" && folder.has_relative_path()) // it may be in a folder of its own in there
        folder = folder.parent_path();
    if (folder.filename() != "runs")
        return false;
    const int fd = ::open((folder.parent_path() / "lock").c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool isHeld = ::flock(fd, LOCK_SH | LOCK_NB) != 0;
    ::close(fd);
    return isHeld;
}

DataDirLock::~DataDirLock()
{
    if (m_fd >= 0)
        ::close(m_fd);
}

DataDirLock::DataDirLock(DataDirLock&& other) noexcept
    : m_fd(std::exchange(other.m_fd, -1))
{
}

DataDirLock& DataDirLock::operator=(DataDirLock&& other) noexcept
{
    std::swap(m_fd, other.m_fd);
    return *this;
}

Expected<DataDirLock> DataDirLock::take(const std::string& dataDir)
{
    if (auto prepared = prepareDataDir(dataDir); !prepared)
        return tl::unexpected(prepared.error());
    const std::string path = dataDir + "/lock";
    DataDirLock lock;
    lock.m_fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock.m_fd < 0)
        return failure(ErrorCode::Denied, "cannot write " + path + " (" + std::strerror(errno) + ")",
            "choose another data directory with --data-dir or TELLTALE_DATA_DIR");
    // isBeingRecorded() of another process may hold it for a moment.
    bool isOurs = ::flock(lock.m_fd, LOCK_EX | LOCK_NB) == 0;
    for (int i = 0; !isOurs && i < kLockTries; ++i) {
        std::this_thread::sleep_for(kLockPause);
        isOurs = ::flock(lock.m_fd, LOCK_EX | LOCK_NB) == 0;
    }
    if (!isOurs) {
        char pid[32] = {};
        const ssize_t size = ::read(lock.m_fd, pid, sizeof pid - 1);
        std::string holder(pid, size > 0 ? static_cast<std::size_t>(size) : 0);
        holder.erase(std::find(holder.begin(), holder.end(), '\n'), holder.end());
        return failure(ErrorCode::Busy, "another Telltale (process " + holder + ") writes to " + dataDir,
            "close it, or use another data directory");
    }
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(lock.m_fd, 0) != 0 || ::pwrite(lock.m_fd, pid.data(), pid.size(), 0) < 0)
        return failure(ErrorCode::Io, "cannot write " + path + " (" + std::strerror(errno) + ")");
    return lock;
}

}
