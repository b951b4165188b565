// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>

#include <fmt/format.h>

#include <telltale/agent/pinnedcertificate.h>
#include <telltale/agent/transport.h>
#include <telltale/protocol/limits.h>
#include <telltale/spool/forkguard.h>

namespace telltale::agent {

using TcpStream = boost::beast::basic_stream<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
using EncryptedStream = boost::beast::ssl_stream<TcpStream>;

/// Transport over Beast, for a plain or an encrypted stream. Thread: sender.
template <typename Layer> class WebSocketLink final : public Transport {
    using Error = boost::beast::error_code;
    static constexpr bool kIsEncrypted = !std::is_same_v<Layer, TcpStream>;
    static constexpr std::chrono::milliseconds kCloseTime { 500 };

public:
    template <typename... Args>
    WebSocketLink(protocol::JoinString join, Handler& handler, Args&&... layerArgs)
        : m_join(std::move(join))
        , m_handler(&handler)
        , m_socket(std::forward<Args>(layerArgs)...)
        , m_closeTimer(m_socket.get_executor())
    {
    }
    ~WebSocketLink() override { forkguard::forget(m_fd); }

    void start(const std::vector<boost::asio::ip::tcp::endpoint>& endpoints)
    {
        lowest().async_connect(endpoints, [self = self()](Error error, const auto&) { self->onConnected(error); });
    }

    void send(std::string message) override
    {
        if (m_isDead)
            return;
        m_queuedBytes += message.size();
        m_queue.push_back(std::move(message));
        if (m_queue.size() == 1)
            writeNext();
    }
    std::size_t queuedBytes() const override { return m_queuedBytes; }

    void close(std::function<void()> onAnswered) override
    {
        m_handler = nullptr;
        m_onAnswered = std::move(onAnswered);
        if (m_isDead)
            return;
        m_isClosing = true;
        // Not the stream's own timer: that one must not be touched while reads and writes are under way.
        m_closeTimer.expires_after(kCloseTime);
        m_closeTimer.async_wait([self = self()](Error) { self->die(); });
        if (m_queue.empty())
            sendClose();
    }

    void abort() override
    {
        m_handler = nullptr;
        die();
    }

private:
    std::shared_ptr<WebSocketLink> self() { return std::static_pointer_cast<WebSocketLink>(this->shared_from_this()); }
    TcpStream& lowest() { return boost::beast::get_lowest_layer(m_socket); }

    void onConnected(Error error)
    {
        if (m_isDead)
            return;
        if (error)
            return fail(error, "cannot connect");
        m_fd = lowest().socket().native_handle();
        forkguard::keepFromChildren(m_fd);
        Error ignored;
        lowest().socket().set_option(boost::asio::ip::tcp::no_delay(true), ignored);
        if constexpr (kIsEncrypted)
            m_socket.next_layer().async_handshake(
                boost::asio::ssl::stream_base::client, [self = self()](Error failed) { self->onEncrypted(failed); });
        else
            upgrade();
    }

    void onEncrypted(Error error)
    {
        if (m_isDead)
            return;
        if (error)
            return fail(error, "the TLS handshake failed");
        if constexpr (kIsEncrypted) {
            const std::string found = certificateFingerprint(m_socket.next_layer().native_handle());
            if (!isSameFingerprint(found, m_join.fingerprint))
                return fail(
                    fmt::format("the certificate of {}:{} has the fingerprint {}, not the one in the join string",
                        m_join.host, m_join.port, found.empty() ? "(none)" : found));
        }
        upgrade();
    }

    void upgrade()
    {
        namespace websocket = boost::beast::websocket;
        namespace http = boost::beast::http;
        // Deadlines are the session's; Beast's own would also answer a slow server by closing.
        m_socket.set_option(
            websocket::stream_base::timeout { websocket::stream_base::none(), websocket::stream_base::none(), false });
        m_socket.set_option(websocket::stream_base::decorator([this](websocket::request_type& request) {
            // Without the token: who listens here has not proved anything yet. The older protocol is asked for to
            // recognize an older server; it is not spoken.
            request.set(http::field::sec_websocket_protocol,
                fmt::format("{}, {}", protocol::limits::kSubprotocol, protocol::limits::kTokenFirstSubprotocol));
            request.set(http::field::user_agent, "telltale-agent");
        }));
        m_socket.read_message_max(protocol::limits::kMaxMessageBytes);
        m_socket.auto_fragment(false);
        m_socket.binary(true);
        const bool isV6 = m_join.host.find(':') != std::string::npos;
        const std::string host = fmt::format("{}{}{}:{}", isV6 ? "[" : "", m_join.host, isV6 ? "]" : "", m_join.port);
        m_socket.async_handshake(
            m_response, host, m_join.path(), [self = self()](Error error) { self->onUpgraded(error); });
    }

    void onUpgraded(Error error)
    {
        if (m_isDead)
            return;
        if (error == boost::beast::websocket::error::upgrade_declined)
            return fail(fmt::format("the server answered {} {}", m_response.result_int(),
                std::string_view(m_response.reason().data(), m_response.reason().size())));
        if (error)
            return fail(error, "the WebSocket handshake failed");
        const auto chosen = m_response[boost::beast::http::field::sec_websocket_protocol];
        if (chosen == protocol::limits::kTokenFirstSubprotocol)
            return fail(fmt::format("the server at {}:{} is older than this agent and wants the token before it has "
                                    "proved itself: nothing was sent; update the dashboard",
                m_join.host, m_join.port));
        if (chosen != protocol::limits::kSubprotocol)
            return fail(
                fmt::format("{}:{} does not speak {}", m_join.host, m_join.port, protocol::limits::kSubprotocol));
        readNext();
        if (m_handler)
            m_handler->onOpen();
    }

    void readNext()
    {
        m_socket.async_read(m_incoming, [self = self()](Error error, std::size_t) { self->onRead(error); });
    }

    void onRead(Error error)
    {
        if (m_isDead)
            return;
        if (error == boost::beast::websocket::error::closed)
            answered(); // whether the reading or the closing comes to see it is chance
        if (error == boost::beast::websocket::error::closed && !m_socket.reason().reason.empty())
            return fail(fmt::format("the server closed the connection: {}",
                std::string_view(m_socket.reason().reason.data(), m_socket.reason().reason.size())));
        if (error)
            return fail(error, "the connection ended");
        if (!m_socket.got_binary())
            return fail("the server sent a text frame");
        if (m_handler) {
            const auto data = m_incoming.cdata();
            m_handler->onMessage({ static_cast<const char*>(data.data()), data.size() });
        }
        m_incoming.consume(m_incoming.size());
        if (!m_isDead)
            readNext();
    }

    void writeNext()
    {
        m_socket.async_write(boost::asio::buffer(m_queue.front()), [self = self()](Error error, std::size_t) {
            if (self->m_isDead)
                return;
            if (error)
                return self->fail(error, "cannot send");
            self->m_queuedBytes -= self->m_queue.front().size();
            self->m_queue.pop_front();
            if (!self->m_queue.empty())
                self->writeNext();
            else if (self->m_isClosing)
                self->sendClose();
        });
    }

    void sendClose()
    {
        m_socket.async_close(boost::beast::websocket::close_code::normal, [self = self()](Error error) {
            if (!error)
                self->answered();
            self->die();
        });
    }

    void answered()
    {
        const auto tell = std::exchange(m_onAnswered, nullptr);
        if (tell && m_socket.reason().code == boost::beast::websocket::close_code::normal)
            tell();
    }

    void fail(Error error, const char* what) { fail(fmt::format("{}: {}", what, error.message())); }
    void fail(const std::string& reason)
    {
        die();
        if (Handler* handler = std::exchange(m_handler, nullptr))
            handler->onClosed(reason);
    }

    void die()
    {
        if (std::exchange(m_isDead, true))
            return;
        forkguard::forget(std::exchange(m_fd, -1));
        m_closeTimer.cancel();
        lowest().close();
    }

    const protocol::JoinString m_join;
    Handler* m_handler;
    std::function<void()> m_onAnswered;
    boost::beast::websocket::stream<Layer, false> m_socket; // false: no compression
    boost::asio::steady_timer m_closeTimer;
    boost::beast::websocket::response_type m_response;
    boost::beast::flat_buffer m_incoming;
    std::deque<std::string> m_queue;
    std::size_t m_queuedBytes = 0;
    int m_fd = -1;
    bool m_isDead = false;
    bool m_isClosing = false;
};

// In a file of its own: each of the two takes the compiler longer than anything else in the project.
extern template class WebSocketLink<EncryptedStream>;

}
