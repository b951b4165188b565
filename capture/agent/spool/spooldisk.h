// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <telltale/core/threadhome.h>
#include <telltale/spool/spool.h>

namespace telltale::agent {

/// The disk of one stream: owns its spool, and does what it is asked on a thread of its own once it has one, so that a
/// disk that is slow, full or never answers makes nobody else wait. The thread begins with the first request. What it
/// touches it owns together with this object, so it may be left behind wherever it hangs. Thread: owned by one.
class SpoolDisk {
public:
    using Clock = std::chrono::steady_clock;

    struct Read {
        std::uint64_t seq = 0;
        Expected<std::string> bytes;
    };
    struct Answers {
        std::vector<Spool::Kept> kept; ///< on disk for certain
        std::vector<Read> reads;
    };

    SpoolDisk(const std::filesystem::path& folder, std::uint64_t capBytes, std::shared_ptr<Disk> disk = nullptr);
    /// Does not wait: what was asked for is done, and the files closed, behind it.
    ~SpoolDisk();
    SpoolDisk(const SpoolDisk&) = delete;
    SpoolDisk& operator=(const SpoolDisk&) = delete;

    /// Before the first request.
    Spool& spool();
    /// From now on requests go to the thread; without it each is done before its call returns.
    void useThread() { m_hasThread = true; }

    void write(SpoolBatch batch);
    void read(std::vector<Spool::Kept> wanted);
    /// What was not written yet never is.
    void forgetUpTo(std::uint64_t seq);
    Answers takeAnswers();

    std::uint64_t usedBytes() const;
    double fill() const;
    /// The last write failed; it is tried again with growing pauses.
    bool isFailing() const;
    /// How long the call that it is in has taken.
    std::chrono::milliseconds stuckFor() const;
    /// What there is to tell, one sentence at a time: errors, and that there are no locks. Empty: nothing.
    std::string takeTrouble();

    /// The last request: sync, with `bye` written down unless there is none, and the folder removed if it is empty.
    void close(std::optional<Spool::Bye> bye);
    /// False: it was not done by then, and is left to itself. Its queue is dropped: see unwritten().
    bool waitClosed(Clock::time_point deadline);
    /// After waitClosed(): the seqs that did not get to the disk.
    std::vector<std::uint64_t> unwritten() const;

private:
    struct Shared;

    void request();

    std::shared_ptr<Shared> m_shared;
    bool m_hasThread = false;
    ThreadHome m_home;
};

}
