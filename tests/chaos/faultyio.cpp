// SPDX-License-Identifier: GPL-3.0-or-later
// For LD_PRELOAD, in tests alone: breaks the disk or the wall clock of one process as a shared page says. The page
// (TELLTALE_CHAOS_PAGE names its file) is written by the harness while the process runs. Calls that put something on
// the disk below TELLTALE_CHAOS_FOLDER (or read it from there) are counted, and fail from the n-th on for a while.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

/// The harness knows this layout (tests/chaos/rig.py).
struct Page {
    std::atomic<std::int64_t> calls; ///< counted so far
    std::atomic<std::int64_t> failFrom; ///< the first call that fails, from 1; 0 = none
    std::atomic<std::int64_t> failCount; ///< how many
    std::atomic<std::int64_t> error; ///< errno
    std::atomic<std::int64_t> swallowsSyncs; ///< fsync and fdatasync do nothing and say that they did
    std::atomic<std::int64_t> clockOffsetNs; ///< added to the wall clock
    std::atomic<std::int64_t> failed; ///< calls that failed so far
    std::atomic<std::int64_t> isReading; ///< reads are what is counted, instead of what puts something on the disk
};
static_assert(sizeof(Page) == 64);

Page* page()
{
    static Page* const it = []() -> Page* {
        const char* name = std::getenv("TELLTALE_CHAOS_PAGE");
        const int fd = name ? static_cast<int>(::syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC, 0)) : -1;
        if (fd < 0)
            return nullptr;
        void* memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        ::close(fd);
        return memory == MAP_FAILED ? nullptr : static_cast<Page*>(memory);
    }();
    return it;
}

template <typename Function> Function* next(const char* name)
{
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool isOurs(const char* path)
{
    static const char* const folder = std::getenv("TELLTALE_CHAOS_FOLDER");
    return folder && page() && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool isOurs(int fd)
{
    char link[64];
    char path[512];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = ::readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    return isOurs(path);
}

/// Counts a call; true when it is to fail, with errno set. `failed` 1 = the first of a row of failures.
bool fails(std::int64_t* failed = nullptr, bool isRead = false)
{
    Page& it = *page();
    if (isRead != (it.isReading.load() != 0))
        return false;
    const std::int64_t call = it.calls.fetch_add(1) + 1;
    const std::int64_t from = it.failFrom.load();
    if (from == 0 || call < from || call - from >= it.failCount.load())
        return false;
    it.failed.fetch_add(1);
    if (failed)
        *failed = call - from + 1;
    errno = static_cast<int>(it.error.load());
    return true;
}

/// What a write of `size` bytes does: -1 fails, else how many bytes go through. A disk that fills up takes a part.
ssize_t allowed(int fd, std::size_t size)
{
    if (!isOurs(fd))
        return static_cast<ssize_t>(size);
    std::int64_t failed = 0;
    if (!fails(&failed))
        return static_cast<ssize_t>(size);
    const bool isFull = errno == ENOSPC || errno == EDQUOT;
    return isFull && failed == 1 && size > 1 && page()->failCount.load() > 1 ? static_cast<ssize_t>(size / 2) : -1;
}

}

extern "C" {

ssize_t write(int fd, const void* bytes, size_t size)
{
    static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
    const ssize_t some = allowed(fd, size);
    return some < 0 ? -1 : real(fd, bytes, static_cast<size_t>(some));
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at)
{
    static auto* const real = next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
    const ssize_t some = allowed(fd, size);
    return some < 0 ? -1 : real(fd, bytes, static_cast<size_t>(some), at);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at)
{
    return pwrite64(fd, bytes, size, at);
}

ssize_t pread64(int fd, void* bytes, size_t size, off64_t at)
{
    static auto* const real = next<ssize_t(int, void*, size_t, off64_t)>("pread64");
    return page() && page()->isReading.load() != 0 && isOurs(fd) && fails(nullptr, true) ? -1
                                                                                         : real(fd, bytes, size, at);
}

ssize_t pread(int fd, void* bytes, size_t size, off_t at)
{
    return pread64(fd, bytes, size, at);
}

int fdatasync(int fd)
{
    static auto* const real = next<int(int)>("fdatasync");
    if (!isOurs(fd))
        return real(fd);
    if (fails())
        return -1;
    return page()->swallowsSyncs.load() != 0 ? 0 : real(fd);
}

int fsync(int fd)
{
    static auto* const real = next<int(int)>("fsync");
    if (!isOurs(fd))
        return real(fd);
    if (fails())
        return -1;
    return page()->swallowsSyncs.load() != 0 ? 0 : real(fd);
}

int ftruncate64(int fd, off64_t size) noexcept
{
    static auto* const real = next<int(int, off64_t)>("ftruncate64");
    return isOurs(fd) && fails() ? -1 : real(fd, size);
}

int ftruncate(int fd, off_t size) noexcept
{
    return ftruncate64(fd, size);
}

int mkdir(const char* path, mode_t mode) noexcept
{
    static auto* const real = next<int(const char*, mode_t)>("mkdir");
    return isOurs(path) && fails() ? -1 : real(path, mode);
}

int rename(const char* from, const char* to) noexcept
{
    static auto* const real = next<int(const char*, const char*)>("rename");
    return isOurs(to) && fails() ? -1 : real(from, to);
}

int open64(const char* path, int flags, ...)
{
    static auto* const real = next<int(const char*, int, ...)>("open64");
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if ((flags & O_CREAT) != 0 && isOurs(path) && fails())
        return -1;
    return real(path, flags, mode);
}

int open(const char* path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open64(path, flags, mode);
}

int clock_gettime(clockid_t clock, struct timespec* out) noexcept
{
    static auto* const real = next<int(clockid_t, struct timespec*)>("clock_gettime");
    const int result = real(clock, out);
    const bool isWall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (result != 0 || !isWall || !page())
        return result;
    constexpr std::int64_t kSecond = 1'000'000'000;
    const std::int64_t ns = out->tv_sec * kSecond + out->tv_nsec + page()->clockOffsetNs.load();
    out->tv_sec = ns / kSecond;
    out->tv_nsec = ns % kSecond;
    return result;
}

int gettimeofday(struct timeval* out, void*) noexcept
{
    timespec now {};
    const int result = clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return result;
}

time_t time(time_t* out) noexcept
{
    timespec now {};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
}
