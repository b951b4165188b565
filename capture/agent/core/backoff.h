// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

#include <telltale/core/threadhome.h>

namespace telltale::agent {

/// When to try the server again: first within a second, then 1 s growing by 1.6 up to 30 s, each 20 % either way.
/// Thread: sender. Its own generator: the training process's random state is not ours to draw from.
class Backoff {
public:
    using Duration = std::chrono::milliseconds;

    explicit Backoff(std::uint64_t seed)
        : m_random(seed)
    {
    }

    Duration next()
    {
        m_home.check();
        if (m_failures++ == 0)
            return Duration(static_cast<std::int64_t>(uniform(0.0, 1000.0)));
        const double wait = m_wait * uniform(0.8, 1.2);
        m_wait = std::min(m_wait * kGrowth, kCapMs);
        return Duration(static_cast<std::int64_t>(std::min(wait, kCapMs)));
    }
    void reset()
    {
        m_failures = 0;
        m_wait = kFirstMs;
    }
    double uniform(double from, double to)
    {
        return from + (to - from) * (static_cast<double>(m_random() >> 11) * 0x1.0p-53);
    }

private:
    static constexpr double kFirstMs = 1000.0;
    static constexpr double kGrowth = 1.6;
    static constexpr double kCapMs = 30000.0;

    std::mt19937_64 m_random;
    double m_wait = kFirstMs;
    unsigned m_failures = 0;
    ThreadHome m_home;
};

}
