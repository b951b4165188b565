// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <telltale/protocol/joinstring.h>

namespace telltale::agent {

/// One WebSocket connection to the capture server: plain to loopback, TLS with a pinned certificate else. Thread:
/// sender (the io_context's). Every wait is asynchronous; the caller's deadlines end them by abort().
class Transport : public std::enable_shared_from_this<Transport> {
public:
    /// What happens to the connection. onClosed comes once, and never after abort() or close().
    class Handler {
    public:
        virtual void onOpen() = 0;
        virtual void onMessage(std::string_view message) = 0;
        virtual void onClosed(const std::string& reason) = 0;

    protected:
        ~Handler() = default;
    };

    virtual ~Transport() = default;

    /// Starts to connect to the first endpoint that answers.
    static std::shared_ptr<Transport> connect(boost::asio::io_context& context, const protocol::JoinString& join,
        const std::vector<boost::asio::ip::tcp::endpoint>& endpoints, Handler& handler);

    /// Queues one binary message, sent as one frame.
    virtual void send(std::string message) = 0;
    virtual std::size_t queuedBytes() const = 0;
    /// Sends what is queued, then a close frame; lets go of the handler at once. `onAnswered`: the server has closed,
    /// too, which it does after it has taken in all of that.
    virtual void close(std::function<void()> onAnswered) = 0;
    virtual void abort() = 0;
};

}
