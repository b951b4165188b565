// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>

#include <telltale/core/expected.h>

namespace telltale::agent {

/// An open file that a forked child does not keep (see ForkGuard). Thread: its owner's.
class FileHandle {
public:
    FileHandle() = default;
    explicit FileHandle(int fd);
    ~FileHandle() { close(); }
    FileHandle(FileHandle&& other) noexcept
        : m_fd(std::exchange(other.m_fd, -1))
    {
    }
    FileHandle& operator=(FileHandle&& other) noexcept
    {
        if (this != &other) {
            close();
            m_fd = std::exchange(other.m_fd, -1);
        }
        return *this;
    }

    bool isOpen() const { return m_fd >= 0; }
    int fd() const { return m_fd; }
    void close();

private:
    int m_fd = -1;
};

/// "what PATH: reason" with the code that fits errno.
tl::unexpected<Error> systemFailure(const char* what, const std::string& path, int error);

}
