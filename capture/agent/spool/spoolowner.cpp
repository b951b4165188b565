// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/spoolowner.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace telltale::agent {
namespace {

constexpr const char* kLockFile = "lock";
constexpr const char* kOwnerFile = "owner";
constexpr const char* kStalePrefix = "owner.stale";
constexpr std::size_t kMaxOwnerBytes = 256;
/// Between the creation of an owner file and its one line.
constexpr std::chrono::milliseconds kWritingTime { 50 };
constexpr int kTries = 3;

bool isWithoutLocks(int error)
{
    return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

std::string firstLine(const std::string& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// The machine since its boot, and the pids that are visible: two processes with the same place see each other.
std::string placeOfThisProcess()
{
    char space[64] {};
    if (::readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0)
        space[0] = '\0';
    return fmt::format("{} {}", firstLine("/proc/sys/kernel/random/boot_id"), space);
}

/// When a process began, in the kernel's ticks; empty when there is none with that pid.
std::string startOf(const std::string& pid)
{
    const std::string stat = firstLine(fmt::format("/proc/{}/stat", pid));
    // The second field is the program's name in parentheses and may hold anything; the start is the 22nd.
    std::size_t at = stat.rfind(')');
    for (int field = 2; field < 22 && at != std::string::npos; ++field)
        at = stat.find(' ', at + 1);
    return at == std::string::npos ? std::string() : stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

/// A pid that nobody has any more has no start, and neither has the line of a process that could not read its own.
bool isAlive(const std::string& pid, const std::string& start)
{
    pid_t number = 0;
    std::from_chars(pid.data(), pid.data() + pid.size(), number);
    return number > 0 && startOf(pid) == start && (::kill(number, 0) == 0 || errno != ESRCH);
}

std::string ownLine()
{
    char host[256] {};
    (void)::gethostname(host, sizeof host - 1);
    return fmt::format("{}|{}|{}|{}", placeOfThisProcess(), ::getpid(), startOf("self"), host);
}

struct Owner {
    std::string place, pid, start, host;
};

Owner parse(const std::string& line)
{
    Owner owner;
    std::string* const fields[] = { &owner.place, &owner.pid, &owner.start, &owner.host };
    std::size_t at = 0;
    for (std::string* field : fields) {
        const std::size_t end = line.find('|', at);
        *field = line.substr(at, end == std::string::npos ? end : end - at);
        if (end == std::string::npos)
            break;
        at = end + 1;
    }
    if (owner.pid.find_first_not_of("0123456789") != std::string::npos)
        owner.pid.clear();
    return owner;
}

}

Expected<void> SpoolOwner::claim()
{
    m_home.check();
    if (m_lock.isOpen())
        return {};
    const std::string path = m_folder + "/" + kLockFile;
    const int fd = m_disk.open(path, O_RDWR | O_CREAT);
    if (fd < 0)
        return systemFailure("cannot open", path, errno);
    FileHandle lock(fd);
    if (m_disk.lock(fd) != 0) {
        if (errno == EWOULDBLOCK)
            return failure(ErrorCode::Busy, fmt::format("the spool {} belongs to a living process", m_folder));
        if (!isWithoutLocks(errno))
            return systemFailure("cannot lock", path, errno);
        if (auto claimed = claimByName(); !claimed)
            return claimed;
        m_isByName = true;
    }
    m_lock = std::move(lock);
    return {};
}

Expected<void> SpoolOwner::claimByName()
{
    const std::string path = m_folder + "/" + kOwnerFile;
    const std::string own = ownLine();
    const auto lineOf = [this](const std::string& file) {
        std::string line(kMaxOwnerBytes, '\0');
        const int fd = m_disk.open(file, O_RDONLY);
        const FileHandle handle = fd < 0 ? FileHandle() : FileHandle(fd);
        const ssize_t got = fd < 0 ? 0 : m_disk.read(fd, line.data(), line.size(), 0);
        line.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return line.substr(0, line.find('\n'));
    };
    for (int i = 0; i < kTries; ++i) {
        const int fd = m_disk.open(path, O_WRONLY | O_CREAT | O_EXCL);
        if (fd >= 0) {
            const FileHandle file(fd);
            if (m_disk.write(fd, own + "\n") != static_cast<ssize_t>(own.size() + 1)) {
                const int error = errno;
                m_disk.remove(path);
                return systemFailure("cannot write", path, error);
            }
            return {};
        }
        if (errno != EEXIST)
            return systemFailure("cannot create", path, errno);
        const std::string line = lineOf(path);
        if (line.empty() && i + 1 < kTries) {
            std::this_thread::sleep_for(kWritingTime);
            continue;
        }
        const Owner owner = parse(line);
        if (!line.empty() && owner.place != placeOfThisProcess())
            return failure(ErrorCode::Busy,
                fmt::format("the spool {} belongs to process {} of {}", m_folder, owner.pid, owner.host),
                fmt::format("if that process is gone, remove {}", path));
        if (isAlive(owner.pid, owner.start))
            return failure(ErrorCode::Busy, fmt::format("the spool {} belongs to a living process", m_folder));
        // Whoever renames it takes it over; another may have done so meanwhile, then it gets its file back.
        const std::string stale = fmt::format("{}/{}.{}", m_folder, kStalePrefix, ::getpid());
        if (m_disk.rename(path, stale) != 0)
            continue;
        if (lineOf(stale) != line) {
            m_disk.rename(stale, path);
            return failure(ErrorCode::Busy, fmt::format("the spool {} belongs to a living process", m_folder));
        }
        m_disk.remove(stale);
    }
    return failure(ErrorCode::Busy, fmt::format("the spool {} is being taken over by another process", m_folder));
}

void SpoolOwner::release()
{
    if (!m_lock.isOpen())
        return;
    if (m_isByName)
        m_disk.remove(m_folder + "/" + kOwnerFile);
    m_disk.remove(m_folder + "/" + kLockFile);
    m_lock.close();
}

bool SpoolOwner::isOwnFile(const std::string& name)
{
    return name == kLockFile || name == kOwnerFile || name.starts_with(kStalePrefix);
}

}
