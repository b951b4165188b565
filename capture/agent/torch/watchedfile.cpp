// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/watchedfile.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <telltale/agent/say.h>
#include <telltale/config/revision.h>
#include <telltale/core/quietthread.h>

namespace telltale {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks { 100 };
constexpr std::chrono::seconds kEndTime { 2 };

struct Stamp {
    std::int64_t seconds = 0, nanoseconds = 0, size = -1;
    std::uint64_t inode = 0;
    bool operator==(const Stamp&) const = default;
};

Expected<Stamp> look(const std::string& path)
{
    struct stat found { };
    if (::stat(path.c_str(), &found) != 0)
        return failure(ErrorCode::Io, "cannot read " + path + ": " + std::strerror(errno));
    return Stamp { found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_size, found.st_ino };
}

Expected<std::string> textOf(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string text { std::istreambuf_iterator<char>(file), {} };
    if (!file || file.bad())
        return failure(ErrorCode::Io, "cannot read " + path + ": " + std::strerror(errno));
    return text;
}

/// Every field right, or what is wrong.
Expected<LoadedConfig> read(const std::string& path)
{
    auto text = textOf(path);
    if (!text)
        return tl::unexpected(text.error());
    auto parsed = config::parseMonitorConfig(*text);
    if (!parsed)
        return failure(parsed.error().code, path + ": " + parsed.error().what, parsed.error().todo);
    std::string errors;
    for (const auto& problem : parsed->problems)
        if (problem.isError)
            errors.append(errors.empty() ? path + ": " : "; ").append(problem.sentence);
    if (!errors.empty())
        return failure(ErrorCode::BadInput, errors);
    return LoadedConfig { std::move(parsed->config), *std::move(text) };
}

Expected<void> bad(const std::string& path)
{
    return failure(ErrorCode::Io, "the config in force cannot be written to " + path + ": " + std::strerror(errno));
}

bool writeAll(int file, std::string_view text)
{
    while (!text.empty()) {
        const auto written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// A file that is whole at any moment, and on the disk after this. Not over what is no longer `before`.
Expected<void> replace(const std::string& path, const std::string& before, const std::string& text, bool& isDone)
{
    const auto folder = std::filesystem::absolute(path).parent_path();
    std::string name = folder / ".";
    name.append(std::filesystem::path(path).filename()).append(".XXXXXX");
    struct stat was { };
    if (::stat(path.c_str(), &was) != 0)
        return bad(path);
    const int file = ::mkstemp(name.data());
    if (file < 0)
        return bad(path);
    const bool isWritten = writeAll(file, text) && ::fchmod(file, was.st_mode & 0777u) == 0 && ::fsync(file) == 0;
    auto failed = isWritten ? Expected<void>() : bad(path);
    ::close(file);
    // Once more: the sync takes its time on a busy disk.
    const auto now = textOf(path);
    if (!isWritten || !now || *now != before || ::rename(name.c_str(), path.c_str()) != 0) {
        ::unlink(name.c_str());
        return failed;
    }
    isDone = true;
    const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || ::fsync(directory) != 0)
        failed = bad(path);
    if (directory >= 0)
        ::close(directory);
    return failed;
}

}

struct WatchedFile::Shared {
    Shared(std::string where, bool watched)
        : path(std::move(where))
        , isWatched(watched)
    {
    }

    const std::string path;
    const bool isWatched;

    std::atomic<bool> hasChange { false };
    std::mutex mutex;
    std::condition_variable change;
    // Under the mutex:
    std::optional<Expected<LoadedConfig>> seen;
    std::optional<std::pair<std::string, config::MonitorConfig>> toWrite;
    std::uint64_t begun = 0, done = 0, wanted = 0; ///< looks
    bool isOver = false, hasEnded = false;
    // The thread's:
    std::optional<std::string> written {};
    std::string gone {};
    Stamp stamp {};

    void run();
    void lookOnce();
    void writeBack(const std::string& known, const config::MonitorConfig& config);
    void put(Expected<LoadedConfig> what);
};

void WatchedFile::Shared::run()
{
    for (std::unique_lock lock(mutex);;) {
        const bool isLast = isOver;
        if (auto job = std::exchange(toWrite, std::nullopt)) {
            lock.unlock();
            writeBack(job->first, job->second);
            lock.lock();
        }
        if (isLast)
            break;
        const std::uint64_t number = ++begun;
        lock.unlock();
        if (isWatched)
            lookOnce();
        lock.lock();
        done = number;
        change.notify_all();
        const auto isDue = [this] { return isOver || toWrite || wanted > begun; };
        if (isWatched)
            change.wait_for(lock, kBetweenLooks, isDue);
        else
            change.wait(lock, isDue);
    }
    const std::lock_guard lock(mutex);
    hasEnded = true;
    change.notify_all();
}

void WatchedFile::Shared::lookOnce()
{
    const auto now = look(path);
    if (!now) {
        if (std::exchange(gone, now.error().what) != now.error().what)
            put(tl::unexpected(now.error()));
    } else if (*now != stamp) {
        stamp = *now;
        gone.clear();
        put(read(path));
    }
}

void WatchedFile::Shared::put(Expected<LoadedConfig> what)
{
    const std::lock_guard lock(mutex);
    seen = std::move(what);
    hasChange.store(true, std::memory_order_release);
}

void WatchedFile::Shared::writeBack(const std::string& known, const config::MonitorConfig& config)
{
    const auto before = textOf(path);
    if (before && isWatched && *before != known && *before != written)
        return;
    const std::string text = before ? config::editedConfigText(*before, config) : std::string();
    bool isDone = false;
    const auto ok = !before ? tl::unexpected<Error>(before.error())
        : text == *before   ? Expected<void>()
                            : replace(path, *before, text, isDone);
    if (isDone)
        written = text;
    if (!ok)
        agent::say(ok.error().sentence());
}

WatchedFile::WatchedFile(std::string path, bool isWatched)
    : m_shared(std::make_shared<Shared>(std::move(path), isWatched))
    , m_process(::getpid())
{
    if (!isWatched)
        return;
    m_shared->stamp = look(m_shared->path).value_or(Stamp {});
    start();
}

void WatchedFile::start()
{
    try {
        quietThread("telltale-config", [shared = m_shared] { shared->run(); }).detach();
        m_isRunning = true;
    } catch (const std::exception& error) {
        agent::say("changes of the config file are not seen, and none is written: " + std::string(error.what()));
    }
}

WatchedFile::~WatchedFile()
{
    if (!m_isRunning || m_process != ::getpid())
        return;
    std::unique_lock lock(m_shared->mutex);
    m_shared->isOver = true;
    m_shared->change.notify_all();
    m_shared->change.wait_for(lock, kEndTime, [this] { return m_shared->hasEnded; });
}

std::optional<Expected<LoadedConfig>> WatchedFile::takeChange()
{
    if (!m_shared->hasChange.load(std::memory_order_acquire))
        return std::nullopt;
    const std::lock_guard lock(m_shared->mutex);
    m_shared->hasChange.store(false, std::memory_order_relaxed);
    return std::exchange(m_shared->seen, std::nullopt);
}

void WatchedFile::write(const std::string& known, const config::MonitorConfig& wanted)
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->toWrite = { known, wanted };
    }
    if (!m_isRunning)
        start();
    m_shared->change.notify_all();
}

bool WatchedFile::lookNow(std::chrono::milliseconds timeout)
{
    std::unique_lock lock(m_shared->mutex);
    const std::uint64_t next = m_shared->begun + 1;
    m_shared->wanted = next;
    m_shared->change.notify_all();
    return m_shared->change.wait_for(lock, timeout, [&] { return m_shared->done >= next; });
}

}
