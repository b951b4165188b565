// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <telltale/core/drops.h>
#include <telltale/core/threadhome.h>
#include <telltale/spool/lostbatch.h>
#include <telltale/spool/spooldisk.h>

namespace telltale::agent {

/// What is known about a batch besides its bytes.
struct BatchInfo {
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
    std::shared_ptr<const std::vector<LayoutId>> layouts; ///< that its blocks use; null = look into the payload
    StepRange steps;
    bool isCounted = true; ///< else samples and scalars are not known
};

/// Every batch of a stream that took a seq and is not acknowledged: in memory until the disk has it for certain, in the
/// spool then. Never waits for the disk where that has a thread of its own. Thread: sender. Invariant: seqs are
/// contiguous.
class HeldStore {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMaxMemoryBytes = 8u << 20;
    static constexpr std::size_t kTurnBytes = 2u << 20;

    struct Forgotten {
        std::uint64_t batches = 0;
        std::uint64_t samples = 0, scalars = 0;
        std::uint64_t rejectedSamples = 0, rejectedScalars = 0; ///< refused by the server
        std::uint64_t lostSamples = 0, lostScalars = 0; ///< not readable any more
    };

    /// `patience`: how long a disk that does not answer keeps a batch, and so all behind it, from being sent.
    HeldStore(SpoolDisk& disk, const protocol::LayoutTable& layouts,
        std::chrono::milliseconds patience = std::chrono::milliseconds::max())
        : m_disk(disk)
        , m_layouts(layouts)
        , m_patience(patience)
    {
    }

    /// False: memory has no room, so the batch must not take a seq.
    bool add(std::uint64_t seq, std::string& payload, BatchInfo info, Clock::time_point now);
    /// A batch that is on disk already (from an earlier process).
    void addSpooled(std::uint64_t seq, const SpoolPlace& place, BatchInfo info);
    /// A seq that stands for something that cannot be read; none: it was counted in an earlier one.
    void addLost(std::uint64_t seq, std::optional<LostBatch> lost);
    /// Room for so much more: by default for a turn's worth of batches.
    bool hasRoom(std::size_t bytes = kTurnBytes) const { return m_memoryBytes <= kMaxMemoryBytes - bytes; }

    /// The bytes of a batch, or what stands in for them when they are lost; none: the disk is at it.
    std::optional<std::string> payload(std::uint64_t seq);
    /// Its bytes turned out to be of no use: what stands in for them.
    std::string giveUp(std::uint64_t seq, const std::string& why);
    const BatchInfo* info(std::uint64_t seq) const;
    Forgotten forgetUpTo(std::uint64_t seq);
    /// The server did not take so much of it.
    void markRejected(std::uint64_t seq, Lost lost) { m_rejected.insert_or_assign(seq, lost); }

    /// Sends to the disk whatever has been in memory for longer than `olderThan`.
    void spill(Clock::time_point now, std::chrono::milliseconds olderThan);
    /// Takes in what the disk has done; call often.
    void takeAnswers();
    /// Why a batch could not be read, the last one; empties it.
    std::string takeTrouble() { return std::exchange(m_trouble, {}); }
    /// Samples and scalars of these batches.
    Lost countsOf(const std::vector<std::uint64_t>& seqs) const;
    /// And of all.
    Lost counts() const;

    bool isEmpty() const { return m_items.empty(); }
    std::size_t memoryBytes() const { return m_memoryBytes; }
    std::uint64_t size() const { return m_items.size(); }

private:
    struct Item {
        BatchInfo info;
        std::uint64_t samplesBefore = 0, scalarsBefore = 0; ///< in batches with smaller seqs
        SpoolPlace place; ///< once the disk has it for certain
        std::shared_ptr<const std::string> payload; ///< null on disk alone
        Clock::time_point since;
        bool isReading = false;
        bool isLost = false;
        std::unique_ptr<const LostBatch> lost;
    };

    Item* find(std::uint64_t seq);
    void read(std::uint64_t seq);
    std::string loseAt(std::uint64_t seq, Item& item, const std::string& why);

    SpoolDisk& m_disk;
    const protocol::LayoutTable& m_layouts;
    const std::chrono::milliseconds m_patience;
    std::deque<Item> m_items;
    std::uint64_t m_firstSeq = 1;
    std::uint64_t m_firstUnasked = 1; ///< older ones are on disk or on their way there
    std::uint64_t m_readUpTo = 0; ///< asked of the disk
    std::uint64_t m_samplesSoFar = 0, m_scalarsSoFar = 0; ///< in all batches that were ever added
    std::size_t m_memoryBytes = 0;
    std::unordered_map<std::uint64_t, Lost> m_rejected;
    std::string m_trouble;
    ThreadHome m_home;
};

}
