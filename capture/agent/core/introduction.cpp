// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/introduction.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <telltale/agent/resolver.h>
#include <telltale/agent/transport.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/limits.h>

namespace telltale::agent {
namespace {

constexpr std::chrono::milliseconds kTurn { 2 };

/// One connection that ends once the server has proved itself. Thread: owned by one.
class Trial final : private Transport::Handler {
public:
    explicit Trial(const protocol::JoinString& join)
        : m_join(join)
        , m_introduction(join)
    {
    }
    ~Trial()
    {
        if (m_transport)
            m_transport->abort();
    }

    Expected<void> run(std::chrono::milliseconds timeout)
    {
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        Resolver resolver;
        resolver.start(m_join.host, m_join.port);
        while (!m_result && std::chrono::steady_clock::now() < deadline) {
            if (m_transport) {
                m_context.restart();
                m_context.run_for(kTurn);
            } else if (resolver.isDone()) {
                const Resolver::Endpoints endpoints = resolver.take();
                if (auto allowed = mayConnect(m_join, endpoints); !allowed)
                    return allowed;
                m_transport = Transport::connect(m_context, m_join, endpoints, *this);
            } else {
                std::this_thread::sleep_for(kTurn);
            }
        }
        return m_result ? *m_result
                        : failure(ErrorCode::Io, fmt::format("{}:{} did not answer", m_join.host, m_join.port));
    }

private:
    void onOpen() override
    {
        const auto knock = m_introduction.knock();
        if (knock)
            m_transport->send(protocol::encodeMessage(*knock));
        else
            m_result = tl::unexpected(knock.error());
    }
    void onMessage(std::string_view bytes) override
    {
        const auto message = protocol::decodeMessage(bytes);
        const auto* challenge = message ? std::get_if<protocol::Challenge>(&*message) : nullptr;
        if (challenge == nullptr) {
            m_result
                = failure(ErrorCode::BadInput, fmt::format("{}:{} does not prove itself", m_join.host, m_join.port));
            return;
        }
        const auto proof = m_introduction.answer(*challenge);
        m_result = proof ? Expected<void> {} : tl::unexpected(proof.error());
    }
    void onClosed(const std::string& reason) override
    {
        if (!m_result)
            m_result = failure(ErrorCode::Io, reason);
    }

    const protocol::JoinString& m_join;
    boost::asio::io_context m_context;
    Introduction m_introduction;
    std::shared_ptr<Transport> m_transport;
    std::optional<Expected<void>> m_result;
};

}

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
    auto nonce = protocol::makeNonce();
    if (!nonce)
        return tl::unexpected(nonce.error());
    m_context = { std::move(*nonce), {}, m_join.fingerprint };
    return protocol::Knock { m_context.knockNonce };
}

Expected<std::string> Introduction::answer(const protocol::Challenge& challenge)
{
    m_context.challengeNonce = challenge.nonce;
    const bool isWhole = challenge.nonce.size() == protocol::limits::kNonceBytes;
    if (isWhole && protocol::isSameProof(challenge.proof, protocol::serverProof(m_join.token, m_context)))
        return protocol::agentProof(m_join.token, m_context);
    return failure(ErrorCode::Denied,
        fmt::format("the server at {}:{} refuses the token: it has another one, or another program listens there",
            m_join.host, m_join.port),
        "copy the join string again from the dashboard's Connections page");
}

Expected<void> tryJoin(const protocol::JoinString& join, std::chrono::milliseconds timeout)
{
    return Trial(join).run(timeout);
}

}
