// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include <telltale/agent/introduction.h>
#include <telltale/agent/transport.h>
#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/protocol/joinstring.h>
#include <telltale/protocol/messages.h>

namespace telltale::agent {

/// A connection for who asks and waits for the answer. Thread: owned by one; everything blocks.
class BlockingLink final : private Transport::Handler {
public:
    explicit BlockingLink(protocol::JoinString join);
    ~BlockingLink();
    BlockingLink(const BlockingLink&) = delete;
    BlockingLink& operator=(const BlockingLink&) = delete;

    /// Until the server has proved that it knows the token, and has heard no more of us than a Knock. Our own proof,
    /// for the greeting. The error is a sentence for the user.
    Expected<std::string> connect(std::chrono::milliseconds timeout);
    void send(const protocol::Message& message);
    /// The next message; Io when the connection is gone, Canceled when nothing comes in time.
    Expected<protocol::Message> receive(std::chrono::milliseconds timeout);
    std::size_t queuedBytes() const { return m_transport->queuedBytes(); }
    const protocol::JoinString& join() const { return m_join; }

private:
    void onOpen() override;
    void onMessage(std::string_view bytes) override;
    void onClosed(const std::string& reason) override;

    const protocol::JoinString m_join;
    boost::asio::io_context m_context;
    Introduction m_introduction { m_join };
    std::shared_ptr<Transport> m_transport;
    std::deque<protocol::Message> m_inbox;
    std::optional<Error> m_end;
    ThreadHome m_home;
};

/// Whether a server answers to the join string and both know the same token; it sees no agent and no run of this. The
/// error is a sentence for the user. Blocks for at most `timeout`. Thread: any.
Expected<void> tryJoin(const protocol::JoinString& join, std::chrono::milliseconds timeout);

}
