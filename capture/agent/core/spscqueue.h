// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>

namespace telltale::agent {

/// Fixed FIFO of small values without locks. Thread: one that pushes, one that pops. `Capacity` is a power of two.
template <typename T, std::size_t Capacity> class SpscQueue {
    static_assert((Capacity & (Capacity - 1)) == 0);

public:
    /// False, and nothing taken, when full.
    bool tryPush(const T& value)
    {
        const std::size_t head = m_head.load(std::memory_order_relaxed);
        if (head - m_tail.load(std::memory_order_acquire) == Capacity)
            return false;
        m_items[head % Capacity] = value;
        m_head.store(head + 1, std::memory_order_release);
        return true;
    }

    std::optional<T> pop()
    {
        const std::size_t tail = m_tail.load(std::memory_order_relaxed);
        if (tail == m_head.load(std::memory_order_acquire))
            return std::nullopt;
        T value = m_items[tail % Capacity];
        m_tail.store(tail + 1, std::memory_order_release);
        return value;
    }

private:
    std::array<T, Capacity> m_items {};
    alignas(64) std::atomic<std::size_t> m_head { 0 };
    alignas(64) std::atomic<std::size_t> m_tail { 0 };
};

}
