// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/doorkeeper.h>

#include <algorithm>
#include <cctype>

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace telltale::server {
namespace {

constexpr std::size_t kMaxAddresses = 4096;
constexpr std::string_view kScheme = "bearer ";

std::string lower(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
        [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return out;
}

/// "[::1]:47800" -> "::1", "localhost:47800" -> "localhost".
std::string withoutPort(const std::string& host)
{
    if (!host.empty() && host.front() == '[') {
        const std::size_t end = host.find(']');
        return end == std::string::npos ? std::string() : lower(host.substr(1, end - 1));
    }
    return lower(host.substr(0, host.find(':')));
}

}

Doorkeeper::Doorkeeper(std::string path, std::string token, std::string fingerprint,
    const std::vector<std::string>& hosts, const ServerLimits& limits)
    : m_path(std::move(path))
    , m_token(std::move(token))
    , m_tokenDigest(digestOf(m_token))
    , m_fingerprint(std::move(fingerprint))
    , m_hosts { "localhost", "127.0.0.1", "::1" }
    , m_limits(limits)
{
    for (const std::string& host : hosts)
        m_hosts.push_back(lower(host));
}

Doorkeeper::Digest Doorkeeper::digestOf(const std::string& text)
{
    Digest digest;
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    return digest;
}

bool Doorkeeper::hostIsOurs(const std::string& header) const
{
    return std::find(m_hosts.begin(), m_hosts.end(), withoutPort(header)) != m_hosts.end();
}

Refusal Doorkeeper::check(const DoorRequest& request, Clock::time_point now)
{
    m_home.check();
    if (request.hasOrigin)
        return { "origin", "refused a web page: agents send no Origin" };
    // Names that resolve to us but are not ours are how a web page gets past the same-origin rule.
    if (!hostIsOurs(request.host))
        return { "host", "refused: it asked for host '" + request.host + "', which is not this server" };
    if (const std::size_t query = request.resource.find_first_of("?#"); query != std::string::npos)
        return { "url", "refused: an address with a query; a token has no place in it" };
    if (request.resource != m_path)
        return { "url", "refused: agents connect to " + m_path };
    if (owesProof(request))
        return {};
    if (request.authorization.empty())
        return wrongToken(request.address, true, now);
    // Digests have one length and tell nothing about the token, however the comparison is timed.
    const bool isBearer = lower(std::string_view(request.authorization).substr(0, kScheme.size())) == kScheme;
    const Digest digest = digestOf(isBearer ? request.authorization.substr(kScheme.size()) : std::string());
    if (CRYPTO_memcmp(digest.data(), m_tokenDigest.data(), digest.size()) != 0)
        return wrongToken(request.address, false, now);
    if (request.subprotocol != protocol::limits::kTokenFirstSubprotocol)
        return { "subprotocol", std::string("refused: it does not speak ") + protocol::limits::kSubprotocol };
    return {};
}

bool Doorkeeper::owesProof(const DoorRequest& request)
{
    return request.subprotocol == protocol::limits::kSubprotocol;
}

Expected<protocol::Challenge> Doorkeeper::challenge(const protocol::Knock& knock, protocol::ProofContext& context) const
{
    m_home.check();
    if (knock.nonce.size() != protocol::limits::kNonceBytes)
        return failure(ErrorCode::BadInput, "its Knock has no nonce");
    auto nonce = protocol::makeNonce();
    if (!nonce)
        return tl::unexpected(nonce.error());
    context = { knock.nonce, std::move(*nonce), m_fingerprint };
    return protocol::Challenge { context.challengeNonce, protocol::serverProof(m_token, context) };
}

Refusal Doorkeeper::checkProof(
    const std::string& address, const std::string& proof, const protocol::ProofContext& context, Clock::time_point now)
{
    if (context.challengeNonce.empty() || proof.empty())
        return wrongToken(address, true, now);
    return protocol::isSameProof(proof, protocol::agentProof(m_token, context)) ? Refusal {}
                                                                                : wrongToken(address, false, now);
}

Refusal Doorkeeper::wrongToken(const std::string& address, bool isMissing, Clock::time_point now)
{
    if (m_guesses.size() >= kMaxAddresses) {
        std::erase_if(m_guesses, [&](const auto& entry) {
            return entry.second.waitUntil < now
                && (entry.second.failures.empty() || now - entry.second.failures.back() > m_limits.wrongTokenWindow);
        });
    }
    if (m_guesses.size() < kMaxAddresses || m_guesses.contains(address)) {
        Guesses& guesses = m_guesses[address];
        if (now < guesses.waitUntil)
            return { "guessing", "refused: too many wrong tokens; only the right one is answered for a while" };
        while (!guesses.failures.empty() && now - guesses.failures.front() > m_limits.wrongTokenWindow)
            guesses.failures.pop_front();
        guesses.failures.push_back(now);
        if (guesses.failures.size() >= static_cast<std::size_t>(m_limits.wrongTokens)) {
            guesses.failures.clear();
            guesses.waitUntil = now + m_limits.wrongTokenWait;
        }
    }
    return isMissing ? Refusal { "token", "refused: no token" } : Refusal { "token", "refused: wrong token" };
}

}
