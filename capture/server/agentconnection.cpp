// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/agentconnection.h>

#include <algorithm>
#include <utility>

#include <QTimer>

#include <telltale/agent/productionpage.h>
#include <telltale/protocol/codec.h>
#include <telltale/server/acceptor.h>
#include <telltale/store/clock.h>

namespace telltale::server {

AgentConnection::AgentConnection(std::uint64_t id, std::unique_ptr<QWebSocket> socket, ingest::BatchSink& sink,
    ConnectionHost& host, Doorkeeper& door, const ServerLimits& limits)
    : m_id(id)
    , m_socket(std::move(socket))
    , m_sink(sink)
    , m_host(host)
    , m_door(door)
    , m_limits(limits)
    , m_address(addressName(m_socket->peerAddress()))
    , m_peer(peerName(m_socket->peerAddress(), m_socket->peerPort()))
    , m_helloSince(Clock::now())
    , m_lastMessage(m_helloSince)
    , m_lastHeartbeat(m_helloSince)
{
    m_info.peer = m_peer;
    m_info.connectedSinceNs = store::wallClockNs();
    m_info.encrypted = m_socket->requestUrl().scheme() == QLatin1String("wss");
    m_socket->setParent(nullptr);
    // Qt's own limits are 2 GiB. Whoever has not said who it is gets little of our memory.
    m_socket->setMaxAllowedIncomingFrameSize(m_limits.helloBytes);
    m_socket->setMaxAllowedIncomingMessageSize(m_limits.helloBytes);
    connect(m_socket.get(), &QWebSocket::binaryFrameReceived, this,
        [this](const QByteArray&, bool isLast) { onBinaryFrame(isLast); });
    connect(m_socket.get(), &QWebSocket::binaryMessageReceived, this, &AgentConnection::onBinaryMessage);
    connect(m_socket.get(), &QWebSocket::textFrameReceived, this, [this] {
        refuse("text", "cut: it sent text; messages are binary", QWebSocketProtocol::CloseCodeDatatypeNotSupported);
    });
    connect(m_socket.get(), &QWebSocket::disconnected, this, &AgentConnection::onDisconnected);
}

AgentConnection::~AgentConnection()
{
    m_socket->disconnect(this);
    m_socket->abort();
    leaveStream();
}

void AgentConnection::open(const store::StreamOpened& opened, ingest::IngestSession::Credit credit, bool isPaused)
{
    if (m_phase != Phase::AwaitStore)
        return;
    m_session = std::make_unique<ingest::IngestSession>(m_sink, opened, credit);
    m_phase = Phase::Open;
    m_socket->setMaxAllowedIncomingFrameSize(m_limits.messageBytes);
    m_socket->setMaxAllowedIncomingMessageSize(m_limits.messageBytes);
    if (isPaused)
        m_session->setPaused(true);
    const protocol::Ack granted = m_session->takeAck();
    protocol::Welcome welcome;
    welcome.proto = protocol::limits::kProtoVersion;
    welcome.storeId = opened.storeId;
    welcome.epoch = opened.epoch;
    welcome.durableSeq = opened.durableSeq;
    welcome.creditBytes = granted.creditBytes;
    welcome.creditBatches = granted.creditBatches;
    welcome.maxMessage = static_cast<std::uint32_t>(m_limits.messageBytes);
    welcome.heartbeatMs = static_cast<std::uint32_t>(m_limits.heartbeat.count());
    send(welcome);
}

void AgentConnection::refuseStream(const Error& error)
{
    if (m_phase != Phase::AwaitStore)
        return;
    send(protocol::Bye { error.sentence(), kRetryRefusedMs, 0 });
    refuse("store", "refused by the store: " + error.sentence(), QWebSocketProtocol::CloseCodeBadOperation);
}

void AgentConnection::onDurable(std::uint64_t seq)
{
    if (!m_session)
        return;
    m_session->onDurable(seq, store::wallClockNs());
    scheduleAck();
}

void AgentConnection::onQuarantined(std::uint64_t seq, std::string reason)
{
    if (!m_session)
        return;
    m_session->onQuarantined(seq, std::move(reason), store::wallClockNs());
    scheduleAck();
}

void AgentConnection::setPaused(bool paused)
{
    if (!m_session)
        return;
    m_session->setPaused(paused);
    scheduleAck();
}

void AgentConnection::advance()
{
    if (!m_session || m_phase == Phase::Stopping || (m_phase == Phase::Open && !m_session->hasWaiting()))
        return;
    const bool isHandedOver = m_session->offerWaiting();
    if (m_session->takeNack())
        nack();
    if (m_phase != Phase::Finishing || !isHandedOver)
        return;
    if (!m_streamIsClosed) {
        m_streamIsClosed = true;
        m_sink.closeStream(m_session->stream(), m_bye->reason, toldSeq(), m_session->produced());
    }
    if (m_session->isSettled())
        finish(QWebSocketProtocol::CloseCodeNormal);
}

void AgentConnection::scheduleAck()
{
    if (m_ackIsScheduled || !m_session || !m_session->ackIsDue())
        return;
    m_ackIsScheduled = true;
    QMetaObject::invokeMethod(this, &AgentConnection::flushAck, Qt::QueuedConnection);
}

void AgentConnection::flushAck()
{
    m_ackIsScheduled = false;
    if (m_session && m_session->ackIsDue() && m_phase != Phase::Closing)
        send(m_session->takeAck());
}

void AgentConnection::send(const protocol::Message& message)
{
    const std::string bytes = protocol::encodeMessage(message);
    m_socket->sendBinaryMessage(QByteArray::fromRawData(bytes.data(), static_cast<qsizetype>(bytes.size())));
}

void AgentConnection::sendHeartbeat(Clock::time_point now)
{
    m_lastHeartbeat = now;
    protocol::Heartbeat heartbeat;
    heartbeat.clocks.monotonicNs = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
    heartbeat.clocks.wallNs = store::wallClockNs();
    heartbeat.seq = m_session->rules().durableSeq();
    send(heartbeat);
}

void AgentConnection::sweep(Clock::time_point now)
{
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
        refuse("no-hello", "cut: no Hello in time", QWebSocketProtocol::CloseCodePolicyViolated);
    } else if (now - m_lastMessage >= m_limits.wholeMessage) {
        cut("silent", "cut: no whole message in time");
    } else if (m_session && now - m_lastHeartbeat >= m_limits.heartbeat) {
        sendHeartbeat(now);
    }
}

void AgentConnection::forgive(Clock::duration pause)
{
    m_lastMessage += pause;
    m_helloSince += pause;
}

void AgentConnection::refuse(const std::string& kind, const std::string& what, QWebSocketProtocol::CloseCode code)
{
    if (m_phase == Phase::Closing || m_phase == Phase::Ended)
        return;
    m_host.onRefused(*this, kind, what);
    finish(code);
}

void AgentConnection::cut(const std::string& kind, const std::string& what)
{
    if (m_phase == Phase::Ended)
        return;
    if (m_phase != Phase::Closing)
        m_host.onRefused(*this, kind, what);
    leaveStream();
    m_phase = Phase::Closing;
    m_socket->abort();
}

void AgentConnection::stopRecording(const Error& error)
{
    if (m_phase == Phase::Closing || m_phase == Phase::Ended)
        return;
    // The store has closed the stream already.
    m_streamIsClosed = true;
    send(protocol::Bye { error.sentence(), kRetryRefusedMs, 0 });
    refuse("store", "cut: " + error.sentence(), QWebSocketProtocol::CloseCodeBadOperation);
}

void AgentConnection::fence()
{
    m_streamIsClosed = true;
    // Should two processes share an incarnation, they do not throw each other out by the second.
    send(protocol::Bye { "fenced", kRetryRefusedMs, 0 });
    finish(QWebSocketProtocol::CloseCodePolicyViolated);
}

void AgentConnection::beginStop(std::uint32_t retryAfterMs)
{
    if (m_phase == Phase::Closing || m_phase == Phase::Ended)
        return;
    const std::uint64_t durable = m_session ? m_session->rules().durableSeq() : 0;
    send(protocol::Bye { "restarting", retryAfterMs, durable });
    m_phase = Phase::Stopping;
}

void AgentConnection::finish(QWebSocketProtocol::CloseCode code)
{
    if (m_phase == Phase::Closing || m_phase == Phase::Ended)
        return;
    flushAck();
    leaveStream();
    m_phase = Phase::Closing;
    m_closingSince = Clock::now();
    m_socket->close(code);
}

std::uint64_t AgentConnection::toldSeq() const
{
    return std::min(std::max(m_session->toldSeq(), m_bye ? m_bye->lastSeq : 0), protocol::limits::kMaxSeq);
}

void AgentConnection::leaveStream()
{
    if (m_session && !std::exchange(m_streamIsClosed, true)) {
        m_session->lookForPage(m_hello.incarnation);
        m_sink.closeStream(
            m_session->stream(), m_bye ? m_bye->reason : std::string(), toldSeq(), m_session->produced());
    }
    if (m_session)
        m_session->describe(m_info, Clock::now(), store::wallClockNs());
    m_session.reset();
}

ConnectionInfo AgentConnection::describe(Clock::time_point now)
{
    if (m_session)
        m_session->describe(m_info, now, store::wallClockNs());
    m_info.connected = m_session != nullptr;
    m_info.saidBye = m_bye.has_value();
    const auto silence = now - m_lastMessage;
    m_info.lastHeardNs = store::wallClockNs() - std::chrono::duration_cast<std::chrono::nanoseconds>(silence).count();
    // A peer that works says something at every heartbeat.
    if (m_session && silence > m_limits.heartbeat * 3 / 2)
        m_info.lagSeconds += std::chrono::duration<double>(silence).count();
    return m_info;
}

void AgentConnection::onDisconnected()
{
    if (m_phase == Phase::Ended)
        return;
    // The kernel ends a killed process in pieces: its socket may close a while before the lock that says that it lives.
    if (m_session && !m_bye && !m_session->produced().isFinal && m_pageLooks < kPageLooks
        && agent::ProductionPage::isHeld(m_hello.incarnation)) {
        ++m_pageLooks;
        QTimer::singleShot(kPageLookMs, this, &AgentConnection::onDisconnected);
        return;
    }
    const auto code = m_socket->closeCode();
    if (m_phase != Phase::Closing
        && (code == QWebSocketProtocol::CloseCodeProtocolError || code == QWebSocketProtocol::CloseCodeTooMuchData
            || code == QWebSocketProtocol::CloseCodeWrongDatatype))
        m_host.onRefused(*this, "frame", "cut: " + m_socket->closeReason().toStdString());
    leaveStream();
    m_phase = Phase::Ended;
    m_host.onEnded(*this);
}

}
