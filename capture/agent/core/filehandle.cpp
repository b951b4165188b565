// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/filehandle.h>

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <telltale/agent/forkguard.h>

namespace telltale::agent {

FileHandle::FileHandle(int fd)
    : m_fd(fd)
{
    forkguard::keepFromChildren(fd);
}

Expected<FileHandle> FileHandle::open(const std::string& path, int flags)
{
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return systemFailure("cannot open", path, errno);
    return FileHandle(fd);
}

void FileHandle::close()
{
    if (m_fd < 0)
        return;
    forkguard::forget(m_fd);
    ::close(std::exchange(m_fd, -1));
}

Expected<void> FileHandle::writeAll(std::string_view bytes, const std::string& path) const
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(m_fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return systemFailure("cannot write", path, written < 0 ? errno : ENOSPC);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

tl::unexpected<Error> systemFailure(const char* what, const std::string& path, int error)
{
    ErrorCode code = ErrorCode::Io;
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        code = ErrorCode::NoSpace;
    else if (error == EACCES || error == EPERM || error == EROFS)
        code = ErrorCode::Denied;
    else if (error == ENOENT)
        code = ErrorCode::NotFound;
    return failure(code, fmt::format("{} {}: {}", what, path, std::generic_category().message(error)));
}

}
