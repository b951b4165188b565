// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>

namespace telltale::ingest {

/// How many samples a second come, as far as their arrivals tell: of a training that collects one step in a hundred, a
/// second without any says nothing. Thread: any (a value).
class ArrivalRate {
public:
    using Clock = std::chrono::steady_clock;

    void note(Clock::time_point now, std::uint64_t samples)
    {
        if (samples == 0)
            return;
        m_newest = now;
        if (m_isBegun) {
            m_samples += samples;
            return;
        }
        m_isBegun = true; // nobody knows how long those took
        m_since = now;
    }
    /// To be asked about once a second. 0 until samples have come twice, and when they come no more.
    double perSecond(Clock::time_point now)
    {
        if (m_samples > 0 && m_newest - m_since >= kLeast) {
            m_took = m_newest - m_since;
            m_rate = static_cast<double>(m_samples) / std::chrono::duration<double>(m_took).count();
            m_since = m_newest;
            m_samples = 0;
        } else if (m_rate > 0 && now - m_newest > 2 * m_took + kPatience) {
            *this = {};
        }
        return m_rate;
    }

private:
    static constexpr Clock::duration kLeast = std::chrono::seconds(1);
    static constexpr Clock::duration kPatience = std::chrono::seconds(2); ///< a step may take twice as long as another

    bool m_isBegun = false;
    Clock::time_point m_since; ///< the arrival that the samples are counted from
    Clock::time_point m_newest;
    Clock::duration m_took {}; ///< of those counted before
    std::uint64_t m_samples = 0;
    double m_rate = 0;
};

}
