// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/protocol/messages.h>
#include <telltale/protocol/proof.h>
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

/// Decides who may stay in a role: no web page, no foreign name, no token in the address, and nobody who does not know
/// the role's token.
/// Socket-free. Thread: owned by one (capture).
class Doorkeeper {
public:
    using Clock = std::chrono::steady_clock;

    /// `path`: where peers of this role connect to. `hosts`: names and addresses that a Host header may carry beside
    /// the loopback ones, without port. `fingerprint`: of the certificate that peers see, empty without TLS.
    Doorkeeper(std::string path, std::string token, std::string fingerprint, const std::vector<std::string>& hosts,
        const ServerLimits& limits);

    /// The refusal, with an empty kind when the peer may stay.
    Refusal check(const DoorRequest& request, Clock::time_point now);
    /// Whether a peer that may stay still has to prove that it knows the token.
    static bool owesProof(const DoorRequest& request);

    /// The answer to a Knock; the nonces go into `context`.
    Expected<protocol::Challenge> challenge(const protocol::Knock& knock, protocol::ProofContext& context) const;
    /// The same as check() for a peer that owed its proof; `context` is that of its challenge, empty without one.
    Refusal checkProof(const std::string& address, const std::string& proof, const protocol::ProofContext& context,
        Clock::time_point now);
    /// Counts a peer that does not know the token. Never empty.
    Refusal wrongToken(const std::string& address, bool isMissing, Clock::time_point now);

private:
    using Digest = std::array<unsigned char, 32>;
    struct Guesses {
        std::deque<Clock::time_point> failures;
        Clock::time_point waitUntil {};
    };

    static Digest digestOf(const std::string& text);
    bool hostIsOurs(const std::string& header) const;

    const std::string m_path;
    const std::string m_token;
    const Digest m_tokenDigest;
    const std::string m_fingerprint;
    std::vector<std::string> m_hosts;
    ServerLimits m_limits;
    std::map<std::string, Guesses> m_guesses;
    ThreadHome m_home;
};

}
