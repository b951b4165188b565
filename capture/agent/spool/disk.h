// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace telltale::agent {

/// The system calls that a spool makes, in one place so that a test can give it a disk that fails, fills up or never
/// answers. Each returns what the call returns and leaves errno. Thread: any; a call may take for ever.
class Disk {
public:
    struct Space {
        std::uint64_t capacity = 0;
        std::uint64_t available = 0;
    };

    Disk() = default;
    virtual ~Disk() = default;
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;

    /// O_CLOEXEC and O_NOFOLLOW are added; what is created gets mode 0600 whatever the umask.
    virtual int open(const std::string& path, int flags);
    virtual ssize_t write(int fd, std::string_view bytes);
    virtual ssize_t read(int fd, char* out, std::size_t bytes, std::uint64_t at);
    virtual int sync(int fd);
    virtual int truncate(int fd, std::uint64_t bytes);
    /// Exclusive, does not wait.
    virtual int lock(int fd);
    /// Mode 0700 whatever the umask; an existing folder of this user is narrowed to that, another's is refused.
    virtual int makePrivateFolder(const std::string& path);
    /// With its parents, which others may have made: those are left as they are.
    virtual int makeFolders(const std::string& path);
    virtual int syncFolder(const std::string& path);
    /// A file or an empty folder.
    virtual int remove(const std::string& path);
    virtual int rename(const std::string& from, const std::string& to);
    virtual std::optional<Space> space(const std::string& path);
    /// Names in a folder, unordered.
    virtual std::optional<std::vector<std::string>> list(const std::string& folder);
};

}
