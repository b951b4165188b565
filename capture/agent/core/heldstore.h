// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include <telltale/agent/spool.h>
#include <telltale/core/expected.h>

namespace telltale::agent {

/// What is known about a batch besides its bytes.
struct BatchInfo {
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
    std::shared_ptr<const std::vector<LayoutId>> layouts; ///< that its blocks use; null = look into the payload
};

/// Every batch of a stream that took a seq and is not acknowledged: in memory while that is little and young, in the
/// spool otherwise. Thread: sender. Invariant: seqs are contiguous.
class HeldStore {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMaxMemoryBytes = 4u << 20;

    struct Forgotten {
        std::uint64_t batches = 0;
        std::uint64_t samples = 0, scalars = 0;
        std::uint64_t rejectedSamples = 0, rejectedScalars = 0;
    };

    explicit HeldStore(Spool& spool, const protocol::LayoutTable& layouts)
        : m_spool(spool)
        , m_layouts(layouts)
    {
    }

    /// False: neither memory nor disk has room, so the batch must not take a seq.
    bool add(std::uint64_t seq, std::string& payload, BatchInfo info, Clock::time_point now);
    /// A batch that is on disk already (from an earlier process).
    void addSpooled(std::uint64_t seq, const SpoolPlace& place);

    Expected<std::string> payload(std::uint64_t seq);
    const BatchInfo* info(std::uint64_t seq) const;
    Forgotten forgetUpTo(std::uint64_t seq);
    void markRejected(std::uint64_t seq) { m_rejected.insert(seq); }

    /// Writes to disk whatever has been in memory for longer than `olderThan`.
    Expected<void> spill(Clock::time_point now, std::chrono::milliseconds olderThan);

    bool isEmpty() const { return m_items.empty(); }
    std::size_t memoryBytes() const { return m_memoryBytes; }
    std::uint64_t size() const { return m_items.size(); }

private:
    struct Item {
        BatchInfo info;
        SpoolPlace place;
        std::string payload; ///< empty once on disk
        Clock::time_point since;
    };

    Item* find(std::uint64_t seq);

    Spool& m_spool;
    const protocol::LayoutTable& m_layouts;
    std::deque<Item> m_items;
    std::uint64_t m_firstSeq = 1;
    std::uint64_t m_firstInMemory = 1; ///< older ones are on disk
    std::size_t m_memoryBytes = 0;
    std::unordered_set<std::uint64_t> m_rejected;
};

}
