// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <mutex>

namespace telltale {

/// One stay of the training thread in the monitor: holds its lock and adds its time to `cost`.
/// Thread: training and autograd's.
class Visit {
public:
    using Clock = std::chrono::steady_clock;

    Visit(std::mutex& lock, std::chrono::nanoseconds& cost)
        : m_lock(lock)
        , m_cost(cost)
        , m_start(Clock::now())
    {
    }
    ~Visit() { m_cost += Clock::now() - m_start; }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

private:
    const std::lock_guard<std::mutex> m_lock;
    std::chrono::nanoseconds& m_cost;
    const Clock::time_point m_start;
};

}
