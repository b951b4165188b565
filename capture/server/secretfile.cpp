// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/secretfile.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace telltale::server {
namespace {

constexpr std::size_t kMaxBytes = 64u << 10;

/// Closes on every way out. Thread: owned by one.
struct Descriptor {
    int fd;
    explicit Descriptor(int value)
        : fd(value)
    {
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor()
    {
        if (fd >= 0)
            ::close(fd);
    }
};

tl::unexpected<Error> ioFailure(const char* verb, const std::string& path, int error)
{
    const auto code = error == ENOENT       ? ErrorCode::NotFound
        : error == EACCES || error == ELOOP ? ErrorCode::Denied
        : error == ENOSPC                   ? ErrorCode::NoSpace
                                            : ErrorCode::Io;
    return failure(code, std::string("cannot ") + verb + " " + path + ": " + std::system_category().message(error));
}

bool writeAll(int fd, std::string_view contents)
{
    while (!contents.empty()) {
        const ssize_t n = ::write(fd, contents.data(), contents.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        contents.remove_prefix(static_cast<std::size_t>(n));
    }
    return ::fsync(fd) == 0;
}

}

Expected<std::string> readSecret(const std::string& path)
{
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat info { };
    if (file.fd < 0 || ::fstat(file.fd, &info) != 0)
        return ioFailure("read", path, errno);
    if ((info.st_mode & 077) != 0)
        ::fchmod(file.fd, 0600);
    std::string out(kMaxBytes, '\0');
    std::size_t size = 0;
    while (size < out.size()) {
        const ssize_t n = ::read(file.fd, out.data() + size, out.size() - size);
        if (n < 0 && errno != EINTR)
            return ioFailure("read", path, errno);
        if (n == 0)
            break;
        size += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    out.resize(size);
    return out;
}

Expected<void> writeSecret(const std::string& path, std::string_view contents)
{
    const std::string temporary = path + ".new";
    ::unlink(temporary.c_str());
    {
        const Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (file.fd < 0 || ::fchmod(file.fd, 0600) != 0 || !writeAll(file.fd, contents))
            return ioFailure("write", path, errno);
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0)
        return ioFailure("write", path, errno);
    const Descriptor directory(
        ::open(std::filesystem::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.fd >= 0)
        ::fsync(directory.fd);
    return {};
}

}
