// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <telltale/server/serverlimits.h>

namespace telltale::server {

/// What an upgrade request said, as far as it decides who may stay.
struct DoorRequest {
    std::string address; ///< the peer's, without the port
    std::string resource; ///< path and query
    std::string host; ///< Host header
    std::string authorization;
    std::string subprotocol; ///< as negotiated
    bool hasOrigin = false;
};

/// Why somebody is sent away: `kind` names the rule (one log line per peer and kind), `what` is the sentence.
struct Refusal {
    std::string kind;
    std::string what;
};

/// Decides on upgrade requests: no web page, no foreign name, no token in the address, the right token. Socket-free.
/// Thread: owned by one (capture).
class Doorkeeper {
public:
    using Clock = std::chrono::steady_clock;

    /// `hosts`: names and addresses that a Host header may carry beside the loopback ones, without port.
    Doorkeeper(const std::string& token, const std::vector<std::string>& hosts, const ServerLimits& limits);

    /// The refusal, with an empty kind when the peer may stay.
    Refusal check(const DoorRequest& request, Clock::time_point now);

private:
    using Digest = std::array<unsigned char, 32>;
    struct Guesses {
        std::deque<Clock::time_point> failures;
        Clock::time_point waitUntil {};
    };

    static Digest digestOf(const std::string& text);
    bool hostIsOurs(const std::string& header) const;
    Refusal wrongToken(const std::string& address, bool isMissing, Clock::time_point now);

    Digest m_token;
    std::vector<std::string> m_hosts;
    ServerLimits m_limits;
    std::map<std::string, Guesses> m_guesses;
};

}
