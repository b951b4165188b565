// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <list>
#include <memory>

#include <telltale/core/expected.h>
#include <telltale/store/runhandle.h>
#include <telltale/store/runreader.h>

namespace telltale::store {

struct SharedReads;

/// The few readers that one pool thread keeps open, so that a view's next question does not open the capsule again.
/// Thread: one query thread owns it.
class ReaderCache {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMaxReaders = 4;
    /// An open connection keeps a finished run from leaving WAL mode: idle ones close soon.
    static constexpr std::chrono::milliseconds kIdle { 1000 };

    explicit ReaderCache(SharedReads& shared);
    ~ReaderCache();

    /// The pointer is good until the next call of this object.
    Expected<RunReader*> reader(const RunHandle& run, Clock::time_point now);
    void closeAll();
    void closeIdle(Clock::time_point now);
    bool isEmpty() const { return m_entries.empty(); }

private:
    struct Entry;

    SharedReads& m_shared;
    std::list<Entry> m_entries; ///< most recently used first
};

}
