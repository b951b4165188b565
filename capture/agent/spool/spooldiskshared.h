// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <telltale/core/nothrow.h>
#include <telltale/spool/spooldisk.h>

namespace telltale::agent {

/// What both threads have. `spool` is the disk thread's alone, everything else is under the mutex.
struct SpoolDisk::Shared {
    using Lock = std::unique_lock<std::mutex>;

    static constexpr std::chrono::milliseconds kFirstPause { 100 };
    static constexpr std::chrono::milliseconds kLongestPause { 10000 };

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
    std::chrono::milliseconds pause = kFirstPause;
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
    /// Notes a failure, whose sentence is what `sentence` gives. Where the memory has run out the failure counts all
    /// the same: a throw from here would end the disk's thread for good.
    template <typename Sentence> void fail(Sentence sentence) noexcept
    {
        ++failures;
        retryAt = Clock::now() + pause;
        pause = std::min(pause * 2, kLongestPause);
        withoutThrowing([&] {
            // The same sentence again says nothing new.
            if (const std::string said = sentence(); said != lastTrouble)
                trouble = lastTrouble = said;
        });
    }
    Clock::time_point nextTime() const;
    /// The disk holds nothing of this stream, and nothing was asked of it.
    bool isUntouched() const { return !isRunning && writes.empty() && spool && !spool->isClaimed(); }
    bool hasUnsynced() const { return spool->unsyncedBytes() > 0; }
    void finish(Lock& lock);
    void run();
};

}
