// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/watchedfile.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <telltale/agent/say.h>
#include <telltale/config/revision.h>
#include <telltale/config/soundconfig.h>
#include <telltale/core/quietthread.h>
#include <telltale/torch/wholefile.h>

namespace telltale {
namespace {

constexpr std::chrono::milliseconds kUntilAsked { 500 }; // until it is asked again whether to look
constexpr std::size_t kMostErrors = 8; // of one config, in one sentence
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

/// Every field right, or what is wrong.
Expected<LoadedConfig> read(const std::string& path)
{
    auto text = textOf(path);
    if (!text)
        return tl::unexpected(text.error());
    auto sound = config::soundConfig(*text, kMostErrors);
    if (!sound)
        return failure(sound.error().code, path + ": " + sound.error().what, sound.error().todo);
    return LoadedConfig { *std::move(sound), *std::move(text) };
}

}

struct WatchedFile::Shared {
    Shared(std::string where, std::string text, std::function<std::chrono::milliseconds()> pause)
        : path(std::move(where))
        , betweenLooks(std::move(pause))
        , ours(std::move(text))
    {
    }

    const std::string path;
    const std::function<std::chrono::milliseconds()> betweenLooks; ///< asked under the mutex

    std::atomic<bool> hasChange { false };
    std::mutex mutex;
    std::condition_variable change;
    struct Job {
        std::string known;
        config::MonitorConfig wanted;
        std::function<void()> then;
    };
    // Under the mutex:
    std::optional<Expected<LoadedConfig>> seen;
    std::optional<Job> toWrite;
    std::uint64_t begun = 0, done = 0, wanted = 0; ///< looks
    bool isOver = false, hasEnded = false;
    bool isLeft = false; ///< behind, by who could still be called
    // The thread's:
    std::optional<std::string> ours; ///< text that is no edit: of the start, or written here
    std::string gone {};
    Stamp stamp {};

    void run();
    void lookOnce();
    void writeBack(const Job& job);
    void put(Expected<LoadedConfig> what);
};

void WatchedFile::Shared::run()
{
    removeLeftovers(path);
    for (std::unique_lock lock(mutex);;) {
        const bool isLast = isOver;
        if (auto job = std::exchange(toWrite, std::nullopt)) {
            lock.unlock();
            writeBack(*job);
            lock.lock();
            if (!isLeft)
                job->then();
        }
        if (isLast || isLeft)
            break;
        const std::uint64_t number = ++begun;
        const auto pause = betweenLooks();
        lock.unlock();
        if (pause > pause.zero())
            lookOnce();
        lock.lock();
        done = number;
        change.notify_all();
        change.wait_for(
            lock, pause > pause.zero() ? pause : kUntilAsked, [this] { return isOver || toWrite || wanted > begun; });
    }
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
        auto found = read(path);
        if (found && found->text == ours)
            return; // by now something newer may be in force
        ours.reset();
        put(std::move(found));
    }
}

void WatchedFile::Shared::put(Expected<LoadedConfig> what)
{
    const std::lock_guard lock(mutex);
    seen = std::move(what);
    hasChange.store(true, std::memory_order_release);
}

void WatchedFile::Shared::writeBack(const Job& job)
{
    removeLeftovers(path);
    const auto before = textOf(path);
    if (before && *before != job.known && *before != ours)
        return; // a newer edit
    const std::string text = before ? config::editedConfigText(*before, job.wanted) : std::string();
    bool isDone = false;
    const auto ok = !before ? tl::unexpected<Error>(before.error())
        : text == *before   ? Expected<void>()
                            : replaceText(path, *before, text, isDone);
    if (isDone)
        ours = text;
    if (!ok)
        agent::say(ok.error().sentence());
}

WatchedFile::WatchedFile(std::string path, std::string text, std::function<std::chrono::milliseconds()> betweenLooks)
    : m_shared(std::make_shared<Shared>(std::move(path), std::move(text), std::move(betweenLooks)))
    , m_process(::getpid())
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
    m_shared->isLeft = true;
}

std::optional<Expected<LoadedConfig>> WatchedFile::takeChange()
{
    if (!m_shared->hasChange.load(std::memory_order_acquire))
        return std::nullopt;
    const std::lock_guard lock(m_shared->mutex);
    m_shared->hasChange.store(false, std::memory_order_relaxed);
    return std::exchange(m_shared->seen, std::nullopt);
}

void WatchedFile::write(const std::string& known, const config::MonitorConfig& wanted, std::function<void()> then)
{
    if (!m_isRunning)
        return then();
    const std::lock_guard lock(m_shared->mutex);
    m_shared->toWrite = { known, wanted, std::move(then) };
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
