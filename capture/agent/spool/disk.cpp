// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/disk.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace telltale::agent {
namespace {

constexpr mode_t kPrivateFile = 0600;
constexpr mode_t kPrivateFolder = 0700;

/// Calls again what a signal cut short.
template <typename Call> auto untilDone(Call call)
{
    auto result = call();
    while (result < 0 && errno == EINTR)
        result = call();
    return result;
}

}

int Disk::open(const std::string& path, int flags)
{
    const int fd = untilDone([&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, kPrivateFile); });
    if (fd >= 0 && (flags & O_CREAT) != 0)
        (void)::fchmod(fd, kPrivateFile);
    return fd;
}

ssize_t Disk::write(int fd, std::string_view bytes)
{
    return untilDone([&] { return ::write(fd, bytes.data(), bytes.size()); });
}

ssize_t Disk::read(int fd, char* out, std::size_t bytes, std::uint64_t at)
{
    return untilDone([&] { return ::pread(fd, out, bytes, static_cast<off_t>(at)); });
}

int Disk::sync(int fd)
{
    return untilDone([&] { return ::fdatasync(fd); });
}

int Disk::truncate(int fd, std::uint64_t bytes)
{
    return untilDone([&] { return ::ftruncate(fd, static_cast<off_t>(bytes)); });
}

int Disk::lock(int fd)
{
    return untilDone([&] { return ::flock(fd, LOCK_EX | LOCK_NB); });
}

int Disk::makePrivateFolder(const std::string& path)
{
    if (::mkdir(path.c_str(), kPrivateFolder) != 0 && errno != EEXIST)
        return -1;
    struct stat info { };
    if (::lstat(path.c_str(), &info) != 0)
        return -1;
    if (!S_ISDIR(info.st_mode)) {
        errno = ENOTDIR;
        return -1;
    }
    if (info.st_uid != ::geteuid()) {
        errno = EPERM;
        return -1;
    }
    return (info.st_mode & 07777) == kPrivateFolder ? 0 : ::chmod(path.c_str(), kPrivateFolder);
}

int Disk::makeFolders(const std::string& path)
{
    struct stat info { };
    if (path.empty() || ::stat(path.c_str(), &info) == 0)
        return 0;
    const std::size_t slash = path.find_last_of('/');
    if (slash != std::string::npos && slash > 0 && makeFolders(path.substr(0, slash)) != 0)
        return -1;
    if (::mkdir(path.c_str(), kPrivateFolder) == 0)
        return ::chmod(path.c_str(), kPrivateFolder);
    return errno == EEXIST ? 0 : -1;
}

int Disk::syncFolder(const std::string& path)
{
    const int fd = untilDone([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (fd < 0)
        return -1;
    const int result = ::fsync(fd);
    ::close(fd);
    return result;
}

int Disk::remove(const std::string& path)
{
    return ::remove(path.c_str());
}

int Disk::rename(const std::string& from, const std::string& to)
{
    return ::rename(from.c_str(), to.c_str());
}

std::optional<Disk::Space> Disk::space(const std::string& path)
{
    struct statvfs info { };
    if (untilDone([&] { return ::statvfs(path.c_str(), &info); }) != 0)
        return std::nullopt;
    const std::uint64_t block = info.f_frsize;
    return Space { info.f_blocks * block, info.f_bavail * block };
}

std::optional<std::vector<std::string>> Disk::list(const std::string& folder)
{
    const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
    if (!open)
        return std::nullopt;
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(open.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..")
            names.emplace_back(name);
        errno = 0;
    }
    if (errno != 0)
        return std::nullopt;
    return names;
}

}
