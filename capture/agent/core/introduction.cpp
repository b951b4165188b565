// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/introduction.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <telltale/protocol/limits.h>

namespace telltale::agent {
Expected<void> mayConnect(
    const protocol::JoinString& join, const std::vector<boost::asio::ip::tcp::endpoint>& endpoints)
{
    if (endpoints.empty())
        return failure(ErrorCode::NotFound, fmt::format("the name {} is unknown", join.host));
    const auto isRemote = [](const auto& endpoint) { return !endpoint.address().is_loopback(); };
    if (join.fingerprint.empty() && std::any_of(endpoints.begin(), endpoints.end(), isRemote))
        return failure(ErrorCode::Denied,
            fmt::format("{} is another machine and the join string has no certificate fingerprint; nothing is sent in "
                        "the clear",
                join.host));
    return {};
}

Expected<protocol::Knock> Introduction::knock()
{
    m_home.check();
    auto nonce = protocol::makeNonce();
    if (!nonce)
        return tl::unexpected(nonce.error());
    m_context = { std::move(*nonce), {}, m_join.fingerprint };
    return protocol::Knock { m_context.knockNonce };
}

Expected<std::string> Introduction::answer(const protocol::Challenge& challenge)
{
    m_home.check();
    m_context.challengeNonce = challenge.nonce;
    const bool isWhole = challenge.nonce.size() == protocol::limits::kNonceBytes;
    if (isWhole && protocol::isSameProof(challenge.proof, protocol::serverProof(m_join.token, m_context)))
        return protocol::agentProof(m_join.token, m_context);
    return failure(ErrorCode::Denied,
        fmt::format("the server at {}:{} refuses the token: it has another one, or another program listens there",
            m_join.host, m_join.port),
        "copy the join string again from the dashboard's Connections page");
}

}
