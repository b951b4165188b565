// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace telltale {

/// FIFO between threads, bounded by a cost in bytes, not by a number of items.
/// Thread: any. The consumer either waits (waitDrain) or is woken through a callback that carries nothing else.
template <typename T> class BoundedQueue {
public:
    explicit BoundedQueue(std::size_t maxCost)
        : m_maxCost(maxCost)
    {
    }

    /// Called, outside the lock, when the queue goes from empty to non-empty. Set before any producer starts.
    void setWake(std::function<void()> wake) { m_wake = std::move(wake); }

    /// False, and nothing taken, when the cost does not fit (an empty queue takes anything) or the queue is closed.
    bool tryPush(T&& item, std::size_t cost)
    {
        bool wasEmpty = false;
        {
            std::lock_guard lock(m_mutex);
            if (m_closed || (!m_items.empty() && m_cost + cost > m_maxCost))
                return false;
            wasEmpty = m_items.empty();
            m_items.emplace_back(std::move(item), cost);
            m_cost += cost;
        }
        m_ready.notify_one();
        if (wasEmpty && m_wake)
            m_wake();
        return true;
    }

    /// Takes everything without waiting.
    std::vector<T> drain()
    {
        std::lock_guard lock(m_mutex);
        return takeLocked();
    }

    /// Waits until something is there, the deadline passes or the queue is closed; then takes everything.
    template <typename Clock, typename Duration>
    std::vector<T> waitDrain(std::chrono::time_point<Clock, Duration> deadline)
    {
        std::unique_lock lock(m_mutex);
        m_ready.wait_until(lock, deadline, [this] { return m_closed || !m_items.empty(); });
        return takeLocked();
    }

    void close()
    {
        {
            std::lock_guard lock(m_mutex);
            m_closed = true;
        }
        m_ready.notify_all();
    }

    bool isClosed() const
    {
        std::lock_guard lock(m_mutex);
        return m_closed;
    }
    std::size_t cost() const
    {
        std::lock_guard lock(m_mutex);
        return m_cost;
    }

private:
    std::vector<T> takeLocked()
    {
        std::vector<T> out;
        out.reserve(m_items.size());
        for (auto& entry : m_items)
            out.push_back(std::move(entry.first));
        m_items.clear();
        m_cost = 0;
        return out;
    }

    const std::size_t m_maxCost;
    mutable std::mutex m_mutex;
    std::condition_variable m_ready;
    std::deque<std::pair<T, std::size_t>> m_items;
    std::size_t m_cost = 0;
    bool m_closed = false;
    std::function<void()> m_wake;
};

}
