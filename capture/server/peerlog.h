// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace telltale::server {

/// Printable ASCII as it is, every other byte as \xNN, at most 200 characters: what a peer says may go to a terminal.
std::string escaped(std::string_view bytes);

/// Says why a peer was refused or cut: one line for each peer and kind of reason in an interval, however often it
/// comes back. Thread: owned by one.
class PeerLog {
public:
    using Clock = std::chrono::steady_clock;
    using Sink = std::function<void(const std::string&)>;

    PeerLog(Sink sink, std::chrono::milliseconds interval)
        : m_sink(std::move(sink))
        , m_interval(interval)
    {
    }

    /// `address` without the port, so that a peer is one however often it connects. True when a line was written.
    bool refused(const std::string& address, const std::string& kind, std::string_view what, Clock::time_point now);

private:
    struct Entry {
        Clock::time_point last;
        std::uint64_t suppressed = 0;
    };

    Sink m_sink;
    std::chrono::milliseconds m_interval;
    std::map<std::pair<std::string, std::string>, Entry> m_entries;
};

}
