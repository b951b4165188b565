// SPDX-License-Identifier: GPL-3.0-or-later
// What a spool's disk does on its own thread.
#include <telltale/spool/spooldiskshared.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace telltale::agent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSyncTime { 1000 };
/// What is not synced is still in memory, so it must stay a small part of that.
constexpr std::uint64_t kMaxUnsyncedBytes = 2u << 20;
constexpr milliseconds kSpaceTime { 1000 };
constexpr int kReadTries = 3;
constexpr milliseconds kReadPause { 50 };
/// At the end of the process a write that failed is tried once more.
constexpr int kClosingTries = 2;

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
        fail([&] { return written.error().sentence(); });
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
            fail([&] { return synced.error().sentence(); });
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

SpoolDisk::Clock::time_point SpoolDisk::Shared::nextTime() const
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
            fail([&] { return fmt::format("the spool failed: {}", error.what()); });
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

}
