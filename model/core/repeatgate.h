// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace telltale {

/// Lets what repeats through once in an interval, and counts how often it came meanwhile. What it remembers is bounded:
/// while too many different things come in one interval, the newest are only counted. Thread: its owner's.
class RepeatGate {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMaxEntries = 1024;

    explicit RepeatGate(Clock::duration interval)
        : m_interval(interval)
    {
    }

    /// How often `key` was held back since it last passed, when it passes now; nothing when it is held back.
    std::optional<std::uint64_t> pass(const std::string& key, Clock::time_point now);
    /// What was held back for want of room; counted from 0 again.
    std::uint64_t takeCrowded() { return std::exchange(m_crowded, 0); }
    /// Calls `one` for all that were held back since they last passed, and forgets everything.
    void drain(const std::function<void(const std::string& key, std::uint64_t held)>& one);

private:
    struct Entry {
        Clock::time_point last;
        std::uint64_t held = 0;
    };

    Clock::duration m_interval;
    std::map<std::string, Entry> m_entries;
    std::uint64_t m_crowded = 0;
};

/// " (3 more since the last line)", or nothing for 0.
std::string moreText(std::uint64_t held);

}
