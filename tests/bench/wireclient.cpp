// SPDX-License-Identifier: GPL-3.0-or-later
#include "wireclient.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <telltale/core/bytes.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/limits.h>

namespace telltale::bench {
namespace {

constexpr int kWaitMs = 30'000;

[[noreturn]] void fail(const std::string& what)
{
    throw std::runtime_error("wire client: " + what);
}

void appendFrame(std::string& out, std::string_view message)
{
    out.push_back(static_cast<char>(0x82));
    if (message.size() < 126) {
        out.push_back(static_cast<char>(0x80 | message.size()));
    } else if (message.size() < 65536) {
        out.push_back(static_cast<char>(0x80 | 126));
        out.push_back(static_cast<char>(message.size() >> 8));
        out.push_back(static_cast<char>(message.size()));
    } else {
        out.push_back(static_cast<char>(0x80 | 127));
        for (int shift = 56; shift >= 0; shift -= 8)
            out.push_back(static_cast<char>(static_cast<std::uint64_t>(message.size()) >> shift));
    }
    out.append(4, '\0');
    out.append(message);
}

}

WireClient::WireClient(const protocol::JoinString& join)
{
    m_socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address {};
    address.sin_family = AF_INET;
    address.sin_port = htons(join.port);
    ::inet_pton(AF_INET, join.host.c_str(), &address.sin_addr);
    if (::connect(m_socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        fail(std::strerror(errno));
    const int on = 1;
    ::setsockopt(m_socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::string request = std::string("GET ") + protocol::limits::kPath + " HTTP/1.1\r\nHost: " + join.host + ":"
        + std::to_string(join.port)
        + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "
          "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
          "Sec-WebSocket-Protocol: "
        + protocol::limits::kTokenFirstSubprotocol + "\r\nAuthorization: Bearer " + join.token + "\r\n\r\n";
    if (::send(m_socket, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
        fail("handshake not sent");
    while (m_in.find("\r\n\r\n") == std::string::npos)
        fill(m_in.size() + 1);
    if (m_in.compare(0, 12, "HTTP/1.1 101") != 0)
        fail("refused: " + m_in.substr(0, m_in.find('\r')));
    m_in.erase(0, m_in.find("\r\n\r\n") + 4);
}

WireClient::~WireClient()
{
    if (m_socket >= 0)
        ::close(m_socket);
}

bool WireClient::readable() const
{
    pollfd waiting { m_socket, POLLIN, 0 };
    return ::poll(&waiting, 1, 0) == 1;
}

void WireClient::fill(std::size_t bytes)
{
    char buffer[65536];
    while (m_in.size() < bytes) {
        pollfd waiting { m_socket, POLLIN, 0 };
        if (::poll(&waiting, 1, kWaitMs) != 1)
            fail("no answer");
        const ssize_t n = ::recv(m_socket, buffer, sizeof buffer, 0);
        if (n <= 0)
            fail("connection closed");
        m_in.append(buffer, static_cast<std::size_t>(n));
    }
}

void WireClient::sendMessage(const protocol::Message& message)
{
    std::string frame;
    appendFrame(frame, protocol::encodeMessage(message));
    std::size_t sent = 0;
    while (sent < frame.size()) {
        const ssize_t n = ::send(m_socket, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
        if (n <= 0)
            fail("connection closed while sending");
        sent += static_cast<std::size_t>(n);
    }
}

protocol::Message WireClient::receive()
{
    for (;;) {
        fill(2);
        const auto opcode = static_cast<unsigned>(m_in[0]) & 15u;
        std::size_t length = static_cast<unsigned>(m_in[1]) & 127u;
        std::size_t header = 2;
        if (length >= 126) {
            const std::size_t width = length == 126 ? 2 : 8;
            fill(2 + width);
            length = 0;
            for (std::size_t i = 0; i < width; ++i)
                length = length << 8 | static_cast<unsigned char>(m_in[2 + i]);
            header += width;
        }
        fill(header + length);
        const std::string body = m_in.substr(header, length);
        m_in.erase(0, header + length);
        if (opcode == 8)
            fail("server closed the connection");
        if (opcode != 2)
            continue;
        auto message = protocol::decodeMessage(body);
        if (!message)
            fail(message.error().what);
        return std::move(*message);
    }
}

protocol::Welcome WireClient::hello(const protocol::Hello& hello)
{
    sendMessage(hello);
    for (;;) {
        const protocol::Message message = receive();
        if (const auto* bye = std::get_if<protocol::Bye>(&message))
            fail("refused: " + bye->reason);
        if (const auto* welcome = std::get_if<protocol::Welcome>(&message)) {
            m_epoch = welcome->epoch;
            m_durable = welcome->durableSeq;
            m_creditBytes = welcome->creditBytes;
            m_creditBatches = welcome->creditBatches;
            return *welcome;
        }
    }
}

void WireClient::take(const protocol::Message& message)
{
    if (const auto* ack = std::get_if<protocol::Ack>(&message)) {
        m_durable = ack->durableSeq;
        m_creditBytes = ack->creditBytes;
        m_creditBatches = ack->creditBatches;
        if (!ack->rejected.empty())
            fail("batch rejected: " + ack->rejected.front().reason);
    } else if (std::holds_alternative<protocol::Nack>(message)) {
        fail("unexpected Nack");
    } else if (const auto* bye = std::get_if<protocol::Bye>(&message)) {
        fail("server said " + bye->reason);
    }
}

void WireClient::deliver(const std::vector<std::string>& payloads)
{
    std::uint64_t sentBytes = 0;
    std::uint64_t sent = 0;
    while (m_durable < payloads.size()) {
        while (sent < payloads.size() && sent < m_creditBatches && sentBytes + payloads[sent].size() <= m_creditBytes) {
            const std::string& payload = payloads[sent];
            sendMessage(protocol::Batch { ++sent, m_epoch, crc32c(payload), payload });
            sentBytes += payload.size();
            if (readable())
                break;
        }
        const bool canSend
            = sent < payloads.size() && sent < m_creditBatches && sentBytes + payloads[sent].size() <= m_creditBytes;
        if (!canSend || readable() || !m_in.empty())
            take(receive());
    }
}

}
