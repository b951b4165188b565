// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/spooldisk.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include <telltale/core/quietthread.h>

namespace telltale::agent {
namespace {

using Clock = SpoolDisk::Clock;
using std::chrono::milliseconds;

constexpr milliseconds kSyncTime { 1000 };
/// What is not synced is still in memory, so it must stay a small part of that.
constexpr std::uint64_t kMaxUnsyncedBytes = 2u << 20;
constexpr milliseconds kSpaceTime { 1000 };
constexpr milliseconds kFirstPause { 100 };
constexpr milliseconds kLongestPause { 10000 };
constexpr int kReadTries = 3;
constexpr milliseconds kReadPause { 50 };
/// At the end of the process a write that failed is tried once more.
constexpr int kClosingTries = 2;

}

/// What both threads have. `spool` is the disk thread's alone, everything else is under the mutex.
struct SpoolDisk::Shared {
    using Lock = std::unique_lock<std::mutex>;

    std::unique_ptr<Spool> spool;

    mutable std::mutex mutex;
    std::condition_variable came;
    std::condition_variable ended;
    std::deque<SpoolBatch> writes;
    std::deque<Spool::Kept> reads;
    std::uint64_t forgetTo = 0;
    std::uint64_t forgotten = 0;
    std::optional<Spool::Bye> bye;
    bool isClosing = false;
    bool isAbandoned = false;
    bool isEnded = false;
    bool isRunning = false; ///< has a thread

    Answers answers;
    std::string trouble;
    std::string lastTrouble;
    bool isNoteTold = false;
    std::uint64_t usedBytes = 0;
    double fill = 0;
    int failures = 0;
    milliseconds pause = kFirstPause;
    Clock::time_point retryAt {};
    Clock::time_point syncedAt {};
    Clock::time_point spaceAt {};
    bool isInCall = false;
    Clock::time_point inCallSince {};

    /// Outside the lock, since it may take for ever.
    template <typename Work> void call(Lock& lock, Work work)
    {
        isInCall = true;
        inCallSince = Clock::now();
        lock.unlock();
        try {
            work();
        } catch (...) {
            lock.lock();
            isInCall = false;
            throw;
        }
        lock.lock();
        isInCall = false;
    }

    bool turn(Lock& lock);
    void writeNext(Lock& lock);
    void readNext(Lock& lock);
    void collect();
    void fail(const Error& error);
    Clock::time_point nextTime() const;
    /// The disk holds nothing of this stream, and nothing was asked of it.
    bool isUntouched() const { return !isRunning && writes.empty() && spool && !spool->isClaimed(); }
    bool hasUnsynced() const { return spool->unsyncedBytes() > 0; }
    void finish(Lock& lock);
    void run();
};

void SpoolDisk::Shared::fail(const Error& error)
{
    ++failures;
    retryAt = Clock::now() + pause;
    pause = std::min(pause * 2, kLongestPause);
    // The same sentence again says nothing new.
    if (const std::string sentence = error.sentence(); sentence != lastTrouble)
        trouble = lastTrouble = sentence;
}

/// What the spool has to say after a call.
void SpoolDisk::Shared::collect()
{
    const std::vector<Spool::Kept> kept = spool->takeKept();
    if (!kept.empty()) {
        failures = 0;
        pause = kFirstPause;
        lastTrouble.clear();
    }
    answers.kept.insert(answers.kept.end(), kept.begin(), kept.end());
    std::vector<SpoolBatch> lost = spool->takeLost();
    std::erase_if(lost, [this](const SpoolBatch& batch) { return batch.seq <= forgetTo; });
    writes.insert(writes.begin(), std::make_move_iterator(lost.begin()), std::make_move_iterator(lost.end()));
    usedBytes = spool->usedBytes();
    fill = spool->fill();
    if (spool->isWithoutLocks() && !std::exchange(isNoteTold, true))
        trouble = fmt::format(
            "the file system of {} has no locks: a file in it says which process it belongs to", spool->folder());
}

void SpoolDisk::Shared::writeNext(Lock& lock)
{
    // A copy: should the call throw or never return, the batch is among what has yet to be written.
    const SpoolBatch batch = writes.front();
    Expected<void> written;
    call(lock, [&] { written = spool->append(batch); });
    // Meanwhile it may have been forgotten.
    if (!written)
        fail(written.error());
    else if (!writes.empty() && writes.front().seq == batch.seq)
        writes.pop_front();
    collect();
}

void SpoolDisk::Shared::readNext(Lock& lock)
{
    const Spool::Kept wanted = reads.front();
    if (wanted.seq <= forgetTo) {
        reads.pop_front();
        return;
    }
    Expected<std::string> bytes;
    for (int i = 0; i < kReadTries; ++i) {
        call(lock, [&] { bytes = spool->read(wanted.place); });
        // A disk that stumbles is asked again; bytes that are wrong stay wrong.
        if (bytes || bytes.error().code == ErrorCode::Damaged || i + 1 == kReadTries)
            break;
        came.wait_for(lock, kReadPause, [this] { return isAbandoned; });
    }
    answers.reads.push_back({ wanted.seq, std::move(bytes) });
    reads.pop_front();
}

/// One piece of work, if there is any.
bool SpoolDisk::Shared::turn(Lock& lock)
{
    const auto now = Clock::now();
    if (forgetTo > forgotten) {
        const std::uint64_t upTo = forgotten = forgetTo;
        const std::uint64_t before = usedBytes;
        call(lock, [&] { spool->forgetUpTo(upTo); });
        collect();
        // There is room again.
        if (usedBytes < before)
            retryAt = now;
        return true;
    }
    if (!reads.empty()) {
        readNext(lock);
        return true;
    }
    if (hasUnsynced()
        && (!isRunning || (isClosing && writes.empty()) || now - syncedAt >= kSyncTime
            || spool->unsyncedBytes() >= kMaxUnsyncedBytes)) {
        Expected<void> synced;
        call(lock, [&] { synced = spool->sync(); });
        syncedAt = Clock::now();
        if (!synced)
            fail(synced.error());
        collect();
        return true;
    }
    if (!writes.empty() && (now >= retryAt || !isRunning)) {
        if (!hasUnsynced())
            syncedAt = now;
        writeNext(lock);
        // Without a thread nobody comes back to try again.
        return isRunning || failures == 0;
    }
    if (isRunning && !isClosing && spool->isClaimed() && now - spaceAt >= kSpaceTime) {
        spaceAt = now;
        call(lock, [&] { spool->refreshFreeSpace(); });
        fill = spool->fill();
        return true;
    }
    return false;
}

Clock::time_point SpoolDisk::Shared::nextTime() const
{
    auto next = Clock::now() + kSpaceTime;
    if (!writes.empty())
        next = std::min(next, retryAt);
    if (hasUnsynced())
        next = std::min(next, syncedAt + kSyncTime);
    return next;
}

/// The files are closed here: even that may take for ever.
void SpoolDisk::Shared::finish(Lock& lock)
{
    const bool isTidy = isClosing && !isAbandoned;
    call(lock, [&] {
        if (isTidy && bye)
            spool->noteBye(*bye);
        if (isTidy)
            spool->removeIfEmpty();
        spool.reset();
    });
    isEnded = true;
    ended.notify_all();
}

void SpoolDisk::Shared::run()
{
    Lock lock(mutex);
    bool wasClosing = false;
    while (!isAbandoned) {
        if (isClosing && !std::exchange(wasClosing, true)) {
            failures = 0;
            retryAt = {};
        }
        try {
            if (turn(lock)) {
                if (isClosing && failures > 0)
                    retryAt = {};
                if (isClosing && failures >= kClosingTries)
                    break;
                continue;
            }
        } catch (const std::exception& error) {
            fail({ ErrorCode::Io, fmt::format("the spool failed: {}", error.what()), {} });
        }
        if (isClosing)
            break;
        came.wait_until(lock, nextTime());
    }
    try {
        finish(lock);
    } catch (const std::exception&) {
        isEnded = true;
        ended.notify_all();
    }
}

SpoolDisk::SpoolDisk(const std::filesystem::path& folder, std::uint64_t capBytes, std::shared_ptr<Disk> disk)
    : m_shared(std::make_shared<Shared>())
{
    m_shared->spool = std::make_unique<Spool>(folder, capBytes, disk ? std::move(disk) : std::make_shared<Disk>());
}

SpoolDisk::~SpoolDisk()
{
    m_home.handOver(); // whoever ends it is alone with it
    {
        const std::lock_guard lock(m_shared->mutex);
        if (!m_hasThread || m_shared->isUntouched())
            return;
        m_shared->isClosing = true;
    }
    request();
}

Spool& SpoolDisk::spool()
{
    return *m_shared->spool;
}

/// Wakes the thread, or does what was asked here.
void SpoolDisk::request()
{
    m_home.check();
    Shared::Lock lock(m_shared->mutex);
    if (m_shared->isEnded)
        return;
    if (!m_hasThread) {
        while (m_shared->turn(lock)) { }
        if (m_shared->isClosing)
            m_shared->finish(lock);
        return;
    }
    if (!m_shared->isRunning) {
        // Where no thread can be had now, the next request tries again: until then nothing leaves the memory.
        try {
            m_shared->isRunning = true;
            quietThread("telltale-disk", [shared = m_shared] { shared->run(); }).detach();
        } catch (const std::exception& error) {
            m_shared->isRunning = false;
            m_shared->fail({ ErrorCode::Io, fmt::format("the spool gets no thread: {}", error.what()), {} });
        }
        return;
    }
    m_shared->came.notify_all();
}

void SpoolDisk::write(SpoolBatch batch)
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->writes.push_back(std::move(batch));
    }
    request();
}

void SpoolDisk::read(std::vector<Spool::Kept> wanted)
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->reads.insert(m_shared->reads.end(), wanted.begin(), wanted.end());
    }
    request();
}

void SpoolDisk::forgetUpTo(std::uint64_t seq)
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->forgetTo = std::max(m_shared->forgetTo, seq);
        std::erase_if(m_shared->writes, [seq](const SpoolBatch& batch) { return batch.seq <= seq; });
        if (m_shared->isUntouched())
            return;
    }
    request();
}

SpoolDisk::Answers SpoolDisk::takeAnswers()
{
    m_home.check();
    const std::lock_guard lock(m_shared->mutex);
    return std::exchange(m_shared->answers, {});
}

std::uint64_t SpoolDisk::usedBytes() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->usedBytes;
}

double SpoolDisk::fill() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->fill;
}

bool SpoolDisk::isFailing() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->failures > 0;
}

std::chrono::milliseconds SpoolDisk::stuckFor() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->isInCall ? std::chrono::duration_cast<milliseconds>(Clock::now() - m_shared->inCallSince)
                              : milliseconds(0);
}

std::string SpoolDisk::takeTrouble()
{
    const std::lock_guard lock(m_shared->mutex);
    return std::exchange(m_shared->trouble, {});
}

void SpoolDisk::close(std::optional<Spool::Bye> bye)
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->bye = std::move(bye);
        m_shared->isClosing = true;
        if (m_shared->isUntouched())
            return;
    }
    request();
}

bool SpoolDisk::waitClosed(Clock::time_point deadline)
{
    Shared::Lock lock(m_shared->mutex);
    if (!m_shared->isRunning)
        return true;
    if (m_shared->ended.wait_until(lock, deadline, [this] { return m_shared->isEnded; }))
        return true;
    m_shared->isAbandoned = true;
    m_shared->came.notify_all();
    return false;
}

std::vector<std::uint64_t> SpoolDisk::unwritten() const
{
    const std::lock_guard lock(m_shared->mutex);
    std::vector<std::uint64_t> seqs;
    for (const SpoolBatch& batch : m_shared->writes)
        seqs.push_back(batch.seq);
    return seqs;
}

}
