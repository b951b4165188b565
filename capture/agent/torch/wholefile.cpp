// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/wholefile.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace telltale {
namespace {

namespace fs = std::filesystem;

constexpr std::time_t kLongestWrite = 3600; // seconds
constexpr std::string_view kNowhere = "00000000-0"; // where numbers of processes say nothing

Expected<void> bad(const std::string& path)
{
    return failure(ErrorCode::Io, "the config in force cannot be written to " + path + ": " + std::strerror(errno));
}

bool writeAll(int file, std::string_view text)
{
    while (!text.empty()) {
        const auto written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// How the name of every temporary file begins. The Python agent gives them the same names.
std::string commonPrefix(const std::string& path)
{
    return std::string(".").append(fs::path(path).filename()).append(".telltale-");
}

/// Where a process's number says which one it is: this boot of this machine, and the namespace.
std::string place()
{
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    struct stat space { };
    if (boot.size() < 8 || ::stat("/proc/self/ns/pid", &space) != 0)
        return std::string(kNowhere);
    return boot.substr(0, 8) + "-" + std::to_string(space.st_ino);
}

bool isOf(std::string_view text, std::string_view characters)
{
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

/// The process that made a temporary file, by what its name says after the prefix: "PLACE-NUMBER-xxxxxx"; 0: it is
/// none.
pid_t writerOf(std::string_view rest, std::string_view here, bool& isHere)
{
    constexpr std::string_view digits = "0123456789";
    std::array<std::string_view, 4> parts; // a place is two
    for (auto& part : parts) {
        part = rest.substr(0, rest.find('-'));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    }
    const auto& [boot, space, number, random] = parts;
    pid_t writer = 0;
    std::from_chars(number.data(), number.data() + number.size(), writer);
    const bool isOurs = rest.empty() && boot.size() == 8 && isOf(boot, "0123456789abcdef") && isOf(space, digits)
        && isOf(number, digits) && random.size() >= 6 && random.size() <= 8
        && isOf(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    isHere = here != kNowhere && here == std::string(boot) + "-" + std::string(space);
    return isOurs ? writer : 0;
}

}

Expected<std::string> textOf(const std::string& path)
{
    errno = 0;
    try {
        std::ifstream file(path, std::ios::binary);
        std::string text { std::istreambuf_iterator<char>(file), {} };
        if (file && !file.bad())
            return text;
    } catch (const std::ios_base::failure&) { // a folder, and what has gone stale: it opens, and cannot be read
    }
    return failure(ErrorCode::Io, "cannot read " + path + ": " + std::strerror(errno));
}

Expected<void> replaceText(const std::string& path, const std::string& before, const std::string& text, bool& isDone)
{
    const auto folder = fs::absolute(path).parent_path();
    std::string name = folder / (commonPrefix(path) + place() + "-" + std::to_string(::getpid()) + "-XXXXXX");
    struct stat was { };
    if (::stat(path.c_str(), &was) != 0)
        return bad(path);
    const int file = ::mkstemp(name.data());
    if (file < 0)
        return bad(path);
    const bool isWritten = writeAll(file, text) && ::fchmod(file, was.st_mode & 0777u) == 0 && ::fsync(file) == 0;
    auto failed = isWritten ? Expected<void>() : bad(path);
    ::close(file);
    // Once more: the sync takes its time on a busy disk.
    if (const auto now = textOf(path); isWritten && now && *now == before) {
        isDone = ::rename(name.c_str(), path.c_str()) == 0;
        if (!isDone)
            failed = bad(path);
    }
    if (!isDone) {
        ::unlink(name.c_str());
        return failed;
    }
    const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || ::fsync(directory) != 0)
        failed = bad(path);
    if (directory >= 0)
        ::close(directory);
    return failed;
}

void removeLeftovers(const std::string& path)
{
    const std::string prefix = commonPrefix(path);
    const std::string here = place();
    std::error_code none;
    for (fs::directory_iterator file(fs::absolute(path).parent_path(), none), end; !none && file != end;
         file.increment(none)) {
        const std::string name = file->path().filename();
        bool isHere = false;
        const pid_t writer
            = name.starts_with(prefix) ? writerOf(std::string_view(name).substr(prefix.size()), here, isHere) : 0;
        struct stat found { };
        if (writer == 0 || ::lstat(file->path().c_str(), &found) != 0 || !S_ISREG(found.st_mode))
            continue;
        const bool isDead = isHere && ::kill(writer, 0) != 0 && errno == ESRCH;
        if (isDead || std::time(nullptr) - found.st_mtim.tv_sec > kLongestWrite)
            ::unlink(file->path().c_str());
    }
}

}
