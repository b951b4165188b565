// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/privatefiles.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace telltale {
namespace {

constexpr mode_t kFolder = 0700;
constexpr mode_t kFile = 0600;
constexpr mode_t kOthers = 0077;

}

tl::unexpected<Error> fileError(const char* verb, const std::string& path)
{
    const int error = errno;
    const auto code = error == EACCES || error == EPERM || error == EROFS ? ErrorCode::Denied
        : error == ENOSPC || error == EDQUOT                              ? ErrorCode::NoSpace
                                                                          : ErrorCode::Io;
    return failure(
        code, std::string("cannot ") + verb + " " + path + " (" + std::system_category().message(error) + ")");
}

Expected<void> makePrivateFolder(const std::string& path)
{
    namespace fs = std::filesystem;
    struct stat info { };
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
        return {};
    const std::string parent = fs::path(path).parent_path().string();
    if (!parent.empty() && parent != path) {
        if (auto made = makePrivateFolder(parent); !made)
            return made;
    }
    if (::mkdir(path.c_str(), kFolder) != 0
        && (errno != EEXIST || ::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)))
        return fileError("make", path);
    return {};
}

void keepPrivate(const std::string& path)
{
    // Closing a descriptor that can read would end the locks that SQLite holds on the file in this process.
    const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    struct stat info { };
    if (::fstat(fd, &info) == 0 && (info.st_mode & kOthers) != 0 && info.st_uid == ::geteuid()
        && (S_ISDIR(info.st_mode) || S_ISREG(info.st_mode)))
        static_cast<void>(
            ::chmod(("/proc/self/fd/" + std::to_string(fd)).c_str(), S_ISDIR(info.st_mode) ? kFolder : kFile));
    ::close(fd);
}

Expected<void> makePrivateFile(const std::string& path)
{
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFile);
    if (fd < 0)
        return fileError("make", path);
    ::close(fd);
    return {};
}

Expected<void> replacePrivateFile(const std::string& path, std::string_view text)
{
    const std::string draft = path + "." + std::to_string(::getpid());
    ::unlink(draft.c_str()); // of a process that was killed
    auto ok = makePrivateFile(draft);
    if (!ok)
        return ok;
    std::ofstream file(draft, std::ios::binary | std::ios::trunc);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    ok = file ? makeDurable(draft) : Expected<void>(fileError("write", draft));
    if (ok && ::rename(draft.c_str(), path.c_str()) != 0)
        ok = fileError("write", path);
    if (!ok)
        ::unlink(draft.c_str());
    return ok;
}

Expected<void> makeDurable(const std::string& path)
{
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fileError("open", path);
    const bool isSynced = ::fsync(fd) == 0;
    auto result = isSynced ? Expected<void>() : fileError("make durable", path);
    ::close(fd);
    return result;
}

}
