// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/mappedfile.h>

#include <chrono>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <telltale/core/privatefiles.h>

namespace telltale::exchange {

Expected<MappedFile> MappedFile::open(const std::filesystem::path& path)
{
    // Not blocking: a pipe that nobody writes would be waited for.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fileError("read", path.string());
    struct stat facts { };
    if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        ::close(fd);
        return failure(ErrorCode::BadInput, path.string() + " is no file");
    }
    const auto size = static_cast<std::size_t>(facts.st_size);
    void* at = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    ::close(fd);
    if (at == MAP_FAILED)
        return fileError("read", path.string());
    if (at)
        ::madvise(at, size, MADV_SEQUENTIAL);
    return MappedFile(at ? std::string_view(static_cast<const char*>(at), size) : std::string_view());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : m_bytes(std::exchange(other.m_bytes, {}))
{
}

MappedFile::~MappedFile()
{
    if (!m_bytes.empty())
        ::munmap(const_cast<char*>(m_bytes.data()), m_bytes.size());
}

std::string headOf(const std::filesystem::path& path, std::size_t most)
{
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
        return {};
    std::string head(most, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(head.data(), static_cast<std::streamsize>(most));
    head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    return head;
}

std::int64_t changedNs(const std::filesystem::path& path)
{
    std::error_code error;
    const auto time = std::filesystem::last_write_time(path, error);
    return error
        ? 0
        : std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::file_clock::to_sys(time).time_since_epoch())
              .count();
}

}
