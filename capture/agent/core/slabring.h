// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace telltale::agent {

/// What the training thread hands over: whole steps, each a row of blocks, in memory taken once at the start.
/// Thread: the training thread writes (begin, reserve, commit, abandon), the sender thread reads (consume); no locks.
/// Invariant: free memory is all zero (the reader clears what it releases), so the writer never clears anything.
class SlabRing {
public:
    struct Block {
        std::uint32_t layout = 0;
        std::uint32_t count = 0; ///< series
        const std::byte* data = nullptr; ///< 16-byte aligned
    };

    /// Rounds up to a power of two, at least 64 KiB, and touches every page.
    explicit SlabRing(std::size_t bytes);
    ~SlabRing();
    SlabRing(const SlabRing&) = delete;
    SlabRing& operator=(const SlabRing&) = delete;

    /// False when a step like the largest so far would not fit.
    bool begin(std::int64_t step, std::int64_t wallNs);
    /// Zeroed space inside the open step; nullptr when the ring is full: the step must then be abandoned as a whole,
    /// unless `startedEmpty`, when it can never fit better.
    std::byte* reserve(std::uint32_t layout, std::uint32_t count, std::size_t bytes);
    /// One release store.
    void commit();
    void abandon();
    bool startedEmpty() const { return m_startedEmpty; }

    /// Hands the oldest step to `onStep` (then, for each block in order, `onBlock`) and frees it, even when one of them
    /// throws. False when empty.
    bool consume(const std::function<void(std::int64_t step, std::int64_t wallNs)>& onStep,
        const std::function<void(const Block&)>& onBlock);

    /// Steps published so far; any thread.
    std::uint64_t publishedBytes() const { return m_head.load(std::memory_order_acquire); }
    std::uint64_t consumedBytes() const { return m_tail.load(std::memory_order_acquire); }
    std::size_t capacity() const { return m_capacity; }

private:
    struct StepHeader;
    struct BlockHeader;

    std::byte* place(std::size_t bytes);
    std::byte* at(std::uint64_t position) const { return m_memory + (position & (m_capacity - 1)); }
    void clear(std::uint64_t from, std::uint64_t to);

    std::size_t m_capacity = 0;
    void* m_mapping = nullptr;
    std::size_t m_mappedBytes = 0;
    std::byte* m_memory = nullptr;

    // The writer's own cache line.
    alignas(64) std::uint64_t m_write = 0;
    std::uint64_t m_knownTail = 0;
    std::uint64_t m_largestStep = 0;
    StepHeader* m_open = nullptr;
    bool m_startedEmpty = false;

    alignas(64) std::atomic<std::uint64_t> m_head { 0 };
    alignas(64) std::atomic<std::uint64_t> m_tail { 0 };
};

}
