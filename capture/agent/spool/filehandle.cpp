// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/filehandle.h>

#include <cerrno>
#include <system_error>

#include <unistd.h>

#include <fmt/format.h>

#include <telltale/spool/forkguard.h>

namespace telltale::agent {

FileHandle::FileHandle(int fd)
    : m_fd(fd)
{
    forkguard::keepFromChildren(fd);
}

void FileHandle::close()
{
    if (m_fd < 0)
        return;
    forkguard::forget(m_fd);
    ::close(std::exchange(m_fd, -1));
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
