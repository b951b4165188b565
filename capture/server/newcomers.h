// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include <telltale/core/threadhome.h>
#include <telltale/server/serverlimits.h>

namespace telltale::server {

/// Connections that have not said Hello yet: how many there are, from where, and who has stood still for longest. A new
/// connection takes the place of one that stands still, first of its own address: silent ones never lock an agent out,
/// and agents that all come at once, each moving on, are kept waiting instead of being thrown out.
/// Thread: owned by one (capture).
class Newcomers {
public:
    using Clock = std::chrono::steady_clock;

    /// What has to happen before one more connection of an address may come in.
    struct Verdict {
        enum class What { Enter, Evict, Wait };
        What what = What::Enter;
        std::string peer; ///< whom to evict
    };

    explicit Newcomers(const ServerLimits& limits)
        : m_limits(limits)
    {
    }

    Verdict roomFor(const std::string& address, Clock::time_point now) const;
    /// Who may leave when there is room by count, but descriptors have run out. Empty: nobody.
    std::string whoMayLeave(Clock::time_point now) const;

    /// `peer` is address and port; `address` is what shares a limit.
    void add(const std::string& peer, const std::string& address, Clock::time_point now);
    /// It has come one step nearer to its Hello.
    void moved(const std::string& peer, Clock::time_point now);
    /// It has said Hello, or is gone. True when it was one.
    bool remove(const std::string& peer);
    /// The whole server stood still for this long: nobody else did.
    void extendDeadlines(Clock::duration pause);
    std::size_t size() const { return m_peers.size(); }

private:
    struct Peer {
        std::string address;
        Clock::time_point since; ///< of its last step
    };
    /// Of an address, or of all when it is empty.
    Verdict longestStill(const std::string& address, Clock::time_point now) const;

    const ServerLimits& m_limits;
    std::map<std::string, Peer> m_peers;
    std::map<std::string, std::size_t> m_addresses;
    ThreadHome m_home;
};

}
