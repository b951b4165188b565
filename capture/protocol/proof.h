// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include <telltale/core/expected.h>

namespace telltale::protocol {

/// What the two proofs of one connection are made over. Thread: any (a value).
struct ProofContext {
    std::string knockNonce; ///< the agent's
    std::string challengeNonce; ///< the server's
    /// Of the server's certificate, as in the join string; empty without TLS. Whoever passes the messages on between
    /// the two has a certificate of its own, and so another proof.
    std::string fingerprint;
};

/// Fresh bytes from the kernel (limits::kNonceBytes of them). Neither the training's random state nor OpenSSL's is
/// touched.
Expected<std::string> makeNonce();

/// HMAC-SHA256 with the token as its key: only who knows the token can make it, and it tells nothing about the token.
/// The two ends' differ, so that neither can be sent back as the other.
std::string serverProof(std::string_view token, const ProofContext& context);
std::string agentProof(std::string_view token, const ProofContext& context);

/// In a time that says nothing about where two differ.
bool isSameProof(std::string_view a, std::string_view b);

}
