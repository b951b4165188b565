// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <telltale/spool/disk.h>

namespace telltale::test {

/// The machine's disk with a fault for every occasion. What a failed sync did not cover is gone, as it is on a real
/// one. Thread: any.
class FaultyDisk : public agent::Disk {
public:
    std::atomic<int> failEvery {
        0
    }; ///< n: one of n writes, reads, syncs, truncates and opens, as if at random; 0 = none
    std::atomic<int> error { EIO }; ///< what failEvery fails with
    std::atomic<int> writeError { 0 };
    std::atomic<int> failSyncs { 0 }; ///< so many more, with EDQUOT
    std::atomic<int> lockError { 0 };
    std::atomic<bool> isShortWriting { false }; ///< half of what was asked for
    std::atomic<bool> isWithoutTruncate { false };
    std::atomic<std::uint64_t> capacity { 0 }, available { 0 }; ///< in bytes; 0 = as the machine's disk has it
    std::atomic<int> writes { 0 }, syncs { 0 };

    /// Calls from now on do not return until release().
    void hang()
    {
        const std::lock_guard lock(m_mutex);
        m_isHung = true;
    }
    void release()
    {
        const std::lock_guard lock(m_mutex);
        m_isHung = false;
        m_released.notify_all();
    }
    int hungCalls() const
    {
        const std::lock_guard lock(m_mutex);
        return m_hungCalls;
    }

    int open(const std::string& path, int flags) override { return fails() ? -1 : Disk::open(path, flags); }
    ssize_t write(int fd, std::string_view bytes) override
    {
        ++writes;
        if (fails())
            return -1;
        if (const int failed = writeError; failed != 0) {
            errno = failed;
            return -1;
        }
        return Disk::write(fd, isShortWriting ? bytes.substr(0, (bytes.size() + 1) / 2) : bytes);
    }
    ssize_t read(int fd, char* out, std::size_t bytes, std::uint64_t at) override
    {
        return fails() ? -1 : Disk::read(fd, out, bytes, at);
    }
    int sync(int fd) override
    {
        ++syncs;
        struct stat info { };
        const bool isKnown = ::fstat(fd, &info) == 0;
        bool isFailed = fails();
        if (!isFailed && failSyncs > 0) {
            --failSyncs;
            errno = EDQUOT;
            isFailed = true;
        }
        const std::lock_guard lock(m_mutex);
        std::uint64_t& good = m_synced[info.st_ino];
        const auto size = static_cast<std::uint64_t>(info.st_size);
        if (isFailed && isKnown && size > good) {
            const int failed = errno;
            zero(fd, good, size);
            errno = failed;
        }
        if (isFailed)
            return -1;
        good = size;
        return Disk::sync(fd);
    }
    int truncate(int fd, std::uint64_t bytes) override
    {
        if (isWithoutTruncate) {
            errno = EIO;
            return -1;
        }
        return fails() ? -1 : Disk::truncate(fd, bytes);
    }
    int lock(int fd) override
    {
        if (const int failed = lockError; failed != 0) {
            errno = failed;
            return -1;
        }
        return Disk::lock(fd);
    }
    int makePrivateFolder(const std::string& path) override
    {
        return fails(false) ? -1 : Disk::makePrivateFolder(path);
    }
    int remove(const std::string& path) override { return fails(false) ? -1 : Disk::remove(path); }
    std::optional<Space> space(const std::string& path) override
    {
        (void)fails(false);
        return capacity > 0 ? Space { capacity, available } : Disk::space(path);
    }
    std::optional<std::vector<std::string>> list(const std::string& folder) override
    {
        (void)fails(false);
        return Disk::list(folder);
    }

private:
    bool fails(bool isCounted = true)
    {
        {
            std::unique_lock lock(m_mutex);
            m_hungCalls += m_isHung ? 1 : 0;
            m_released.wait(lock, [this] { return !m_isHung; });
        }
        const int n = failEvery;
        if (!isCounted || n == 0
            || (m_random = m_random * 6364136223846793005u + 1442695040888963407u) >> 33
                >= (1u << 31) / static_cast<unsigned>(n))
            return false;
        errno = error;
        return true;
    }
    static void zero(int fd, std::uint64_t from, std::uint64_t to)
    {
        const int other = ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_WRONLY | O_CLOEXEC);
        const std::string zeros(to - from, '\0');
        (void)!::pwrite(other, zeros.data(), zeros.size(), static_cast<off_t>(from));
        ::close(other);
    }

    mutable std::mutex m_mutex;
    std::condition_variable m_released;
    bool m_isHung = false;
    int m_hungCalls = 0;
    std::atomic<std::uint64_t> m_random { 1 };
    std::map<ino_t, std::uint64_t> m_synced;
};

}
