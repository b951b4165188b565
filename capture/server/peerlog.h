// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <telltale/core/repeatgate.h>
#include <telltale/core/threadhome.h>

namespace telltale::server {

/// Printable ASCII as it is, every other byte as \xNN, at most 200 characters: what a peer says may go to a terminal.
std::string escaped(std::string_view bytes);

/// Says why a peer was refused or cut: one line for each peer and kind of reason in an interval, however often it
/// comes back. Thread: owned by one.
class PeerLog {
public:
    using Clock = RepeatGate::Clock;
    using Sink = std::function<void(const std::string&)>;

    PeerLog(Sink sink, Clock::duration interval)
        : m_sink(std::move(sink))
        , m_gate(interval)
    {
    }

    /// `address` without the port, so that a peer is one however often it connects.
    void refused(const std::string& address, const std::string& kind, std::string_view what, Clock::time_point now);
    /// At the end: says how many lines were held back since the last of their kind.
    void finish();

private:
    Sink m_sink;
    RepeatGate m_gate;
    ThreadHome m_home;
};

}
