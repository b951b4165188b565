// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/blockinglink.h>

#include <thread>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <telltale/agent/resolver.h>
#include <telltale/protocol/codec.h>

namespace telltale::agent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTurn { 2 };

}

BlockingLink::BlockingLink(protocol::JoinString join)
    : m_join(std::move(join))
{
}

BlockingLink::~BlockingLink()
{
    if (m_transport)
        m_transport->abort();
}

Expected<std::string> BlockingLink::connect(std::chrono::milliseconds timeout)
{
    const auto deadline = Clock::now() + timeout;
    Resolver resolver;
    resolver.start(m_join.host, m_join.port);
    while (!resolver.isDone() && Clock::now() < deadline)
        std::this_thread::sleep_for(kTurn);
    const auto late = failure(ErrorCode::Io, fmt::format("{}:{} did not answer", m_join.host, m_join.port));
    if (!resolver.isDone())
        return late;
    const Resolver::Endpoints endpoints = resolver.take();
    if (auto allowed = mayConnect(m_join, endpoints); !allowed)
        return tl::unexpected(allowed.error());
    m_transport = Transport::connect(m_context, m_join, endpoints, *this);
    const auto message = receive(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()));
    if (!message)
        return message.error().code == ErrorCode::Canceled ? late : tl::unexpected(message.error());
    if (const auto* challenge = std::get_if<protocol::Challenge>(&*message))
        return m_introduction.answer(*challenge);
    return failure(ErrorCode::BadInput, fmt::format("{}:{} does not prove itself", m_join.host, m_join.port));
}

void BlockingLink::send(const protocol::Message& message)
{
    m_home.check();
    m_transport->send(protocol::encodeMessage(message));
}

Expected<protocol::Message> BlockingLink::receive(std::chrono::milliseconds timeout)
{
    m_home.check();
    const auto deadline = Clock::now() + timeout;
    while (m_inbox.empty() && !m_end) {
        const auto now = Clock::now();
        if (now >= deadline)
            return failure(ErrorCode::Canceled, fmt::format("{}:{} is silent", m_join.host, m_join.port));
        m_context.restart();
        m_context.run_one_for(deadline - now);
    }
    if (m_inbox.empty())
        return tl::unexpected(*m_end);
    protocol::Message message = std::move(m_inbox.front());
    m_inbox.pop_front();
    return message;
}

void BlockingLink::onOpen()
{
    if (const auto knock = m_introduction.knock())
        send(*knock);
    else
        m_end = knock.error();
}

void BlockingLink::onMessage(std::string_view bytes)
{
    if (auto message = protocol::decodeMessage(bytes))
        m_inbox.push_back(std::move(*message));
    else
        m_end = message.error();
}

void BlockingLink::onClosed(const std::string& reason)
{
    m_end = Error { ErrorCode::Io, reason, {} };
}

Expected<void> tryJoin(const protocol::JoinString& join, std::chrono::milliseconds timeout)
{
    const auto proof = BlockingLink(join).connect(timeout);
    return proof ? Expected<void>() : tl::unexpected(proof.error());
}

}
