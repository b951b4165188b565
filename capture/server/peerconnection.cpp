// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/peerconnection.h>

#include <algorithm>
#include <utility>
#include <variant>

#include <telltale/protocol/codec.h>
#include <telltale/server/acceptor.h>
#include <telltale/store/clock.h>

namespace telltale::server {

PeerConnection::PeerConnection(std::uint64_t id, std::unique_ptr<QWebSocket> socket, ConnectionHost& host,
    Doorkeeper& door, const ServerLimits& limits)
    : m_id(id)
    , m_socket(std::move(socket))
    , m_host(host)
    , m_door(door)
    , m_limits(limits)
    , m_address(addressName(m_socket->peerAddress()))
    , m_helloSince(Clock::now())
    , m_lastMessage(m_helloSince)
    , m_lastHeartbeat(m_helloSince)
{
    m_info.peer = peerName(m_socket->peerAddress(), m_socket->peerPort());
    m_info.connectedSinceNs = store::wallClockNs();
    m_info.encrypted = m_socket->requestUrl().scheme() == QLatin1String("wss");
    m_socket->setParent(nullptr);
    // Qt's own limits are 2 GiB. Whoever has not said who it is gets little of our memory.
    m_socket->setMaxAllowedIncomingFrameSize(m_limits.helloBytes);
    m_socket->setMaxAllowedIncomingMessageSize(m_limits.helloBytes);
    connect(m_socket.get(), &QWebSocket::binaryFrameReceived, this,
        [this](const QByteArray&, bool isLast) { onBinaryFrame(isLast); });
    connect(m_socket.get(), &QWebSocket::binaryMessageReceived, this, &PeerConnection::onBinaryMessage);
    connect(m_socket.get(), &QWebSocket::textFrameReceived, this, [this] {
        refuse("text", "cut: it sent text; messages are binary", QWebSocketProtocol::CloseCodeDatatypeNotSupported);
    });
    connect(m_socket.get(), &QWebSocket::disconnected, this, &PeerConnection::onDisconnected);
}

PeerConnection::~PeerConnection()
{
    m_socket->disconnect(this);
    m_socket->abort();
}

void PeerConnection::onBinaryFrame(bool isLast)
{
    if (isLast)
        return;
    if (++m_fragments > m_limits.fragments)
        cut("fragments", "cut: more than " + std::to_string(m_limits.fragments) + " fragments in one message");
}

void PeerConnection::onBinaryMessage(const QByteArray& bytes)
{
    m_home.check();
    m_fragments = 0;
    m_lastMessage = Clock::now();
    if (m_phase == Phase::Stopping || m_phase == Phase::Closing || m_phase == Phase::Ended)
        return;
    auto message = protocol::decodeMessage({ bytes.constData(), static_cast<std::size_t>(bytes.size()) });
    if (!message) {
        const bool isTooLarge = message.error().code == ErrorCode::TooLarge;
        refuse("message", "cut: " + message.error().what,
            isTooLarge ? QWebSocketProtocol::CloseCodeTooMuchData : QWebSocketProtocol::CloseCodeProtocolError);
        return;
    }
    if (m_phase == Phase::AwaitHello)
        greet(*message);
    else if (std::holds_alternative<protocol::Knock>(*message))
        refuse("hello", "cut: a second Knock");
    else if (proofIn(*message) != nullptr)
        refuse("hello", "cut: a second Hello");
    else
        take(*message);
}

void PeerConnection::greet(protocol::Message& message)
{
    const bool isKnocked = !m_proof.challengeNonce.empty();
    if (const auto* knock = std::get_if<protocol::Knock>(&message); knock && m_owesProof)
        return challenge(*knock);
    // Our proof did not convince it: its token is another one.
    if (isKnocked && std::holds_alternative<protocol::Bye>(message))
        return refuse(m_door.wrongToken(m_address, false, Clock::now()));
    const std::string* proof = proofIn(message);
    if (proof == nullptr)
        return refuse("no-hello", "cut: its first message is not Hello");
    const Refusal refusal = m_owesProof ? m_door.checkProof(m_address, *proof, m_proof, Clock::now()) : Refusal {};
    if (!refusal.kind.empty())
        return refuse(refusal);
    take(message);
}

void PeerConnection::challenge(const protocol::Knock& knock)
{
    if (!m_proof.challengeNonce.empty())
        return refuse("hello", "cut: a second Knock");
    if (auto challenge = m_door.challenge(knock, m_proof))
        send(*challenge);
    else
        refuse("hello", "cut: " + challenge.error().what);
}

bool PeerConnection::speaks(std::uint32_t protoMin, std::uint32_t protoMax)
{
    using protocol::limits::kOldestProtoVersion;
    using protocol::limits::kProtoVersion;
    m_proto = std::min(kProtoVersion, protoMax);
    if (protoMin <= kProtoVersion && protoMax >= kOldestProtoVersion)
        return true;
    refuse({ "version",
               "refused: it speaks protocol " + std::to_string(protoMin) + " to " + std::to_string(protoMax)
                   + ", this server speaks " + std::to_string(kOldestProtoVersion) + " to "
                   + std::to_string(kProtoVersion) },
        kRetryRefusedMs);
    return false;
}

void PeerConnection::open(protocol::Welcome welcome)
{
    m_phase = Phase::Open;
    m_isOpen = true;
    m_socket->setMaxAllowedIncomingFrameSize(m_limits.messageBytes);
    m_socket->setMaxAllowedIncomingMessageSize(m_limits.messageBytes);
    welcome.proto = m_proto;
    welcome.maxMessage = static_cast<std::uint32_t>(m_limits.messageBytes);
    welcome.heartbeatMs = static_cast<std::uint32_t>(m_limits.heartbeat.count());
    send(welcome);
}

void PeerConnection::send(const protocol::Message& message)
{
    const std::string bytes = protocol::encodeMessage(message);
    m_socket->sendBinaryMessage(QByteArray::fromRawData(bytes.data(), static_cast<qsizetype>(bytes.size())));
}

void PeerConnection::sendHeartbeat(Clock::time_point now)
{
    m_lastHeartbeat = now;
    protocol::Heartbeat heartbeat;
    heartbeat.clocks.monotonicNs = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
    heartbeat.clocks.wallNs = store::wallClockNs();
    heartbeat.seq = heartbeatSeq();
    send(heartbeat);
}

void PeerConnection::sweep(Clock::time_point now)
{
    m_home.check();
    if (m_phase == Phase::Ended)
        return;
    if (static_cast<std::size_t>(std::max<qint64>(m_socket->bytesToWrite(), 0)) > m_limits.unsentBytes) {
        cut("unread", "cut: it does not read what it is sent");
        return;
    }
    if (m_phase == Phase::Closing || m_socket->state() != QAbstractSocket::ConnectedState) {
        // Qt closes by itself on a broken frame; either way the peer gets a moment to answer and no more.
        if (m_closingSince == Clock::time_point {})
            m_closingSince = now;
        if (now - m_closingSince >= m_limits.closing)
            m_socket->abort();
        return;
    }
    if (m_phase == Phase::AwaitHello && now - m_helloSince >= m_limits.hello) {
        refuse("no-hello", "cut: no Hello in time");
    } else if (now - m_lastMessage >= m_limits.wholeMessage) {
        cut("silent", "cut: no whole message in time");
    } else if (m_isOpen && now - m_lastHeartbeat >= m_limits.heartbeat) {
        sendHeartbeat(now);
    }
}

void PeerConnection::extendDeadlines(Clock::duration pause)
{
    m_lastMessage += pause;
    m_helloSince += pause;
}

void PeerConnection::refuse(const std::string& kind, const std::string& what, QWebSocketProtocol::CloseCode code)
{
    if (m_phase == Phase::Closing || m_phase == Phase::Ended)
        return;
    m_host.onRefused(*this, kind, what);
    finish(code);
}

void PeerConnection::refuse(const Refusal& refusal, std::uint32_t retryAfterMs)
{
    send(protocol::Bye { refusal.what, retryAfterMs, 0 });
    refuse(refusal.kind, refusal.what);
}

void PeerConnection::cut(const std::string& kind, const std::string& what)
{
    if (m_phase == Phase::Ended)
        return;
    if (m_phase != Phase::Closing)
        m_host.onRefused(*this, kind, what);
    leave();
    m_phase = Phase::Closing;
    m_socket->abort();
}

void PeerConnection::beginStop(std::uint32_t retryAfterMs)
{
    if (m_phase == Phase::Closing || m_phase == Phase::Ended)
        return;
    send(protocol::Bye { "restarting", retryAfterMs, heartbeatSeq() });
    m_phase = Phase::Stopping;
}

void PeerConnection::finish(QWebSocketProtocol::CloseCode code)
{
    if (m_phase == Phase::Closing || m_phase == Phase::Ended)
        return;
    flush();
    leave();
    m_phase = Phase::Closing;
    m_closingSince = Clock::now();
    m_socket->close(code);
}

void PeerConnection::onDisconnected()
{
    if (m_phase == Phase::Ended || !mayEnd())
        return;
    const auto code = m_socket->closeCode();
    if (m_phase != Phase::Closing
        && (code == QWebSocketProtocol::CloseCodeProtocolError || code == QWebSocketProtocol::CloseCodeTooMuchData
            || code == QWebSocketProtocol::CloseCodeWrongDatatype))
        m_host.onRefused(*this, "frame", "cut: " + m_socket->closeReason().toStdString());
    leave();
    m_phase = Phase::Ended;
    m_host.onEnded(*this);
}

}
