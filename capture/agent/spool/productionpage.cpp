// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/productionpage.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include <telltale/core/bytes.h>
#include <telltale/protocol/codec.h>

namespace fs = std::filesystem;

namespace telltale::agent {
namespace {

constexpr char kMagic[8] = { 'T', 'T', 'P', 'A', 'G', 'E', '0', '1' };
constexpr std::size_t kMostBytes = 64u << 10;
constexpr std::time_t kOldAge = std::time_t { 7 } * 24 * 3600; ///< of pages that nobody asked for

bool isMemory(const fs::path& folder)
{
    struct statfs info { };
    return ::statfs(folder.c_str(), &info) == 0 && info.f_type == TMPFS_MAGIC;
}

/// Ours alone: in a folder that everybody may write to another could have made it.
bool isOwn(const fs::path& folder)
{
    struct stat info { };
    return ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid()
        && (info.st_mode & 077u) == 0;
}

/// Empty where there is none.
fs::path pagesFolder()
{
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    for (const fs::path& memory : { fs::path("/dev/shm"), fs::path(runtime != nullptr ? runtime : "") }) {
        if (memory.empty() || !isMemory(memory))
            continue;
        fs::path folder = memory / fmt::format("telltale-{}", ::geteuid());
        if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
            continue;
        if (isOwn(folder))
            return folder;
    }
    return {};
}

/// A forked child does not keep it, nor the lock on it.
FileHandle openPage(const fs::path& path, int flags)
{
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? FileHandle() : FileHandle(fd);
}

std::string nameStart(std::uint64_t incarnation)
{
    return fmt::format("{:016x}-", incarnation);
}

std::string nameEnd(const fs::path& runFolder)
{
    return fmt::format("{:08x}", crc32c(runFolder.native()));
}

}

struct ProductionPage::Page {
    char magic[sizeof(kMagic)];
    std::uint32_t helloBytes;
    std::uint32_t reserved;
    std::atomic<std::uint64_t> samples;
    std::atomic<std::uint64_t> scalars;
    // The encoded Hello follows.
};

namespace {

/// Not by std::filesystem, whose iterator ends the process when memory runs out.
template <typename OnPath> void forEachPath(const fs::path& folder, const OnPath& onPath)
{
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
    while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
        if (entry->d_name[0] != '.')
            onPath(folder / entry->d_name);
    }
}

/// Nothing while its process lives, or when it is no page.
std::optional<ProductionPage::Left> readPage(const fs::path& path)
{
    const FileHandle file = openPage(path, O_RDONLY);
    if (!file.isOpen() || ::flock(file.fd(), LOCK_SH | LOCK_NB) != 0)
        return std::nullopt;
    std::string bytes(kMostBytes, '\0');
    const ssize_t got = ::pread(file.fd(), bytes.data(), bytes.size(), 0);
    struct {
        char magic[sizeof(kMagic)];
        std::uint32_t helloBytes;
        std::uint32_t reserved;
        std::uint64_t samples;
        std::uint64_t scalars;
    } head {};
    if (got < static_cast<ssize_t>(sizeof(head)))
        return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof(head));
    if (std::memcmp(head.magic, kMagic, sizeof(kMagic)) != 0
        || head.helloBytes > static_cast<std::size_t>(got) - sizeof(head))
        return std::nullopt;
    const auto message = protocol::decodeMessage(std::string_view(bytes).substr(sizeof(head), head.helloBytes));
    const auto* hello = message ? std::get_if<protocol::Hello>(&*message) : nullptr;
    if (!hello)
        return std::nullopt;
    return ProductionPage::Left { path, *hello, { head.samples, head.scalars, true } };
}

/// What processes that are gone left in pages whose names are wanted.
template <typename IsWanted> std::vector<ProductionPage::Left> readPages(const IsWanted& isWanted)
{
    std::vector<ProductionPage::Left> found;
    const fs::path folder = pagesFolder();
    if (folder.empty())
        return found;
    forEachPath(folder, [&](const fs::path& path) {
        if (!isWanted(path.filename().native()))
            return;
        if (auto left = readPage(path))
            found.push_back(std::move(*left));
    });
    return found;
}

void removeOld(const fs::path& folder)
{
    const std::time_t now = std::time(nullptr);
    forEachPath(folder, [now](const fs::path& path) {
        struct stat info { };
        if (::lstat(path.c_str(), &info) != 0 || now - info.st_mtim.tv_sec < kOldAge)
            return;
        if (const auto left = readPage(path))
            left->remove();
    });
}

}

void ProductionPage::Left::remove() const
{
    std::error_code error;
    fs::remove(path, error);
}

ProductionPage::ProductionPage(const std::optional<protocol::Hello>& hello, const fs::path& runFolder)
{
    static_assert(sizeof(Page) == 32 && std::atomic<std::uint64_t>::is_always_lock_free);
    const fs::path folder = hello ? pagesFolder() : fs::path();
    if (folder.empty())
        return;
    removeOld(folder);
    const std::string encoded = protocol::encodeMessage(*hello);
    const std::size_t bytes = sizeof(Page) + encoded.size();
    const std::string name = nameStart(hello->incarnation) + nameEnd(runFolder);
    // Without a name until it is whole: who looks takes the lock for a moment, and it would be ours.
    FileHandle file = openPage(folder, O_RDWR | O_TMPFILE);
    const fs::path hidden = file.isOpen() ? fs::path() : folder / ('.' + name); // a kernel that cannot do that
    if (!file.isOpen())
        file = openPage(hidden, O_RDWR | O_CREAT | O_EXCL);
    if (!file.isOpen())
        return;
    // The memory is taken now: a page that could not be had later would be a signal in the training thread.
    void* mapping = MAP_FAILED;
    if (bytes <= kMostBytes && ::flock(file.fd(), LOCK_EX | LOCK_NB) == 0
        && ::posix_fallocate(file.fd(), 0, static_cast<off_t>(bytes)) == 0)
        mapping = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
    const fs::path path = folder / name;
    Page* page = nullptr;
    if (mapping != MAP_FAILED) {
        page = new (mapping) Page {};
        page->helloBytes = static_cast<std::uint32_t>(encoded.size());
        std::memcpy(reinterpret_cast<char*>(page + 1), encoded.data(), encoded.size());
        std::memcpy(page->magic, kMagic, sizeof(kMagic));
    }
    const std::string made = hidden.empty() ? fmt::format("/proc/self/fd/{}", file.fd()) : hidden.native();
    const bool isNamed
        = page && ::linkat(AT_FDCWD, made.c_str(), AT_FDCWD, path.c_str(), hidden.empty() ? AT_SYMLINK_FOLLOW : 0) == 0;
    if (!hidden.empty())
        ::unlink(made.c_str());
    if (!isNamed) {
        if (page)
            ::munmap(mapping, bytes);
        return;
    }
    m_page = page;
    m_bytes = bytes;
    m_path = path;
    m_file = std::move(file);
}

ProductionPage::~ProductionPage()
{
    if (m_page)
        ::munmap(m_page, m_bytes);
}

void ProductionPage::set(std::uint64_t samples, std::uint64_t scalars) noexcept
{
    if (!m_page)
        return;
    m_page->samples.store(samples, std::memory_order_relaxed);
    m_page->scalars.store(scalars, std::memory_order_relaxed);
}

void ProductionPage::remove()
{
    std::error_code error;
    if (m_page)
        fs::remove(m_path, error);
}

std::optional<ProductionPage::Left> ProductionPage::leftBy(std::uint64_t incarnation)
{
    const auto found
        = readPages([start = nameStart(incarnation)](const std::string& name) { return name.starts_with(start); });
    return found.empty() ? std::nullopt : std::optional(found.front());
}

bool ProductionPage::isHeld(std::uint64_t incarnation)
{
    bool isHeld = false;
    const fs::path folder = pagesFolder();
    if (!folder.empty())
        forEachPath(folder, [&](const fs::path& path) {
            if (!path.filename().native().starts_with(nameStart(incarnation)))
                return;
            const FileHandle file = openPage(path, O_RDONLY);
            isHeld = isHeld || (file.isOpen() && ::flock(file.fd(), LOCK_SH | LOCK_NB) != 0);
        });
    return isHeld;
}

std::vector<ProductionPage::Left> ProductionPage::leftByRun(const fs::path& runFolder)
{
    return readPages([end = nameEnd(runFolder)](const std::string& name) { return name.ends_with(end); });
}

}
