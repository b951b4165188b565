// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string_view>

#include <telltale/core/expected.h>

namespace telltale::exchange {

/// The bytes of a file, as long as it lives; nothing is copied. Thread: any (never changes).
class MappedFile {
public:
    static Expected<MappedFile> open(const std::filesystem::path& path);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&&) = delete;
    ~MappedFile();

    std::string_view bytes() const { return m_bytes; }

private:
    explicit MappedFile(std::string_view bytes)
        : m_bytes(bytes)
    {
    }
    std::string_view m_bytes;
};

/// The first bytes of a regular file, for telling what it is; empty where it cannot be read.
std::string headOf(const std::filesystem::path& path, std::size_t most = 4096);
/// When a file was written last, by the wall clock; 0 where nobody knows.
std::int64_t changedNs(const std::filesystem::path& path);

}
