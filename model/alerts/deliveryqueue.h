// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include <telltale/alerts/alert.h>

namespace telltale::alerts {

/// What came of one attempt to tell somebody.
enum class Verdict : std::uint8_t {
    Delivered,
    Again, ///< it may do later
    Refused, ///< it never will
};

/// What waits to be told to one receiver: bounded, one at a time, in order, after an attempt that failed with growing
/// pauses, never more than so many a minute. Counts what nobody got. It has no clock. Thread: any (a value).
class DeliveryQueue {
public:
    using Clock = std::chrono::steady_clock;
    using Time = Clock::time_point;
    struct Limits {
        std::size_t most = 64;
        int perMinute = 20;
        int tries = 8; ///< of one message
        std::chrono::milliseconds firstPause { 2000 }; ///< then twice as long each time
        std::chrono::milliseconds longestPause { 300'000 };
        std::chrono::milliseconds longestAsked { 3'600'000 }; ///< that a receiver may ask for
    };
    struct Counts {
        std::uint64_t delivered = 0;
        std::uint64_t undelivered = 0;
    };

    explicit DeliveryQueue(const Limits& limits);

    /// False: it is full; this one is undelivered.
    bool push(Alert alert);
    /// The one to be told now, which is under way until finished(); null where there is none.
    const Alert* begin(Time now);
    /// When begin() is worth another call; nothing where nothing waits or one is under way.
    std::optional<Time> due() const;
    /// What came of it. True where that is the end of this message, delivered or not.
    bool finished(Verdict verdict, Time now, std::optional<std::chrono::milliseconds> asked = {});
    /// Gives up what waits, also what is under way, and says how many.
    std::size_t dropAll();
    /// What waits, for another queue in this one's place.
    std::deque<Alert> takeAll();

    const Counts& counts() const { return m_counts; }
    std::size_t waiting() const { return m_waiting.size(); }
    int triesOfFirst() const { return m_tries; }

private:
    Limits m_limits;
    std::deque<Alert> m_waiting;
    std::deque<Time> m_attempts; ///< of the last minute
    Time m_notBefore {};
    int m_tries = 0; ///< of the first
    bool m_isUnderWay = false;
    Counts m_counts;
};

}
