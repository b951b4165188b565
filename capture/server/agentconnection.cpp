// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/agentconnection.h>

#include <algorithm>
#include <utility>
#include <variant>

#include <QTimer>

#include <telltale/protocol/datarules.h>
#include <telltale/server/configsteering.h>
#include <telltale/spool/productionpage.h>
#include <telltale/store/clock.h>

namespace telltale::server {
namespace {

using Verdict = ingest::IngestSession::Verdict;

/// One lost position is answered once; the batches that are already on their way need no answer of their own.
constexpr std::chrono::seconds kNackAgain { 1 };

}

AgentConnection::AgentConnection(std::uint64_t id, std::unique_ptr<QWebSocket> socket, ConnectionHost& host,
    Doorkeeper& door, const ServerLimits& limits, ingest::BatchSink& sink, ConfigSteering* steering)
    : PeerConnection(id, std::move(socket), host, door, limits)
    , m_sink(sink)
    , m_steering(steering)
{
}

AgentConnection::~AgentConnection()
{
    AgentConnection::leave();
}

const std::string* AgentConnection::proofIn(const protocol::Message& message) const
{
    const auto* hello = std::get_if<protocol::Hello>(&message);
    return hello != nullptr ? &hello->proof : nullptr;
}

void AgentConnection::take(protocol::Message& message)
{
    std::visit([this](auto& content) { take(content); }, message);
}

void AgentConnection::take(protocol::Hello& hello)
{
    if (!speaks(hello.protoMin, hello.protoMax))
        return;
    protocol::mendNames(hello);
    if (const auto ok = protocol::checkHello(hello); !ok) {
        refuse("hello", "refused: " + ok.error().what);
        return;
    }
    m_hello = std::move(hello);
    m_info.agentId = m_hello.agentId;
    m_info.runKey = m_hello.runKey;
    m_info.runName = m_hello.runName;
    m_info.rank = Rank { m_hello.rank };
    m_info.framework = m_hello.framework;
    m_info.agentVersion = m_hello.agentVersion;
    setPhase(Phase::AwaitStore);
    host().onGreeted(*this);
}

void AgentConnection::open(const store::StreamOpened& opened, ingest::IngestSession::Credit credit, bool isPaused)
{
    if (phase() != Phase::AwaitStore)
        return;
    m_session = std::make_unique<ingest::IngestSession>(m_sink, opened, credit);
    if (isPaused)
        m_session->setPaused(true);
    if (opened.run)
        m_info.runId = opened.run->id;
    const protocol::Ack granted = m_session->takeAck();
    protocol::Welcome welcome;
    welcome.storeId = opened.storeId;
    welcome.epoch = opened.epoch;
    welcome.durableSeq = opened.durableSeq;
    welcome.creditBytes = granted.creditBytes;
    welcome.creditBatches = granted.creditBatches;
    PeerConnection::open(std::move(welcome));
}

void AgentConnection::refuseStream(const Error& error)
{
    if (phase() != Phase::AwaitStore)
        return;
    send(protocol::Bye { error.sentence(), kRetryRefusedMs, 0 });
    refuse("store", "refused by the store: " + error.sentence(), QWebSocketProtocol::CloseCodeBadOperation);
}

void AgentConnection::take(protocol::Batch& batch)
{
    if (phase() == Phase::Finishing)
        return;
    if (phase() != Phase::Open) {
        refuse("no-hello", "cut: a batch before Welcome");
        return;
    }
    const std::string seq = std::to_string(batch.seq);
    const Step before = m_session->newestSteps().last;
    switch (m_session->onBatch(std::move(batch))) {
    case Verdict::Accept:
        if (const auto& seen = m_session->newestSteps(); m_steering != nullptr && seen.last != before) {
            m_steering->onStep(id(), seen.first, seen.firstNs);
            m_steering->onStep(id(), seen.last, seen.lastNs);
        }
        break;
    case Verdict::Duplicate:
        scheduleAck();
        break;
    case Verdict::AheadNack:
        nack();
        break;
    case Verdict::StaleEpoch:
        refuse("epoch", "cut: batch " + seq + " is of an older connection of its stream");
        break;
    case Verdict::BadCrc:
        refuse("crc", "cut: batch " + seq + " was damaged on the way (bad crc)",
            QWebSocketProtocol::CloseCodeProtocolError);
        break;
    case Verdict::OverCredit:
        refuse("credit", "cut: batch " + seq + " is over the credit it was given");
        break;
    }
}

void AgentConnection::take(protocol::Heartbeat& heartbeat)
{
    if (!m_session)
        return;
    m_session->onHeartbeat(heartbeat, store::wallClockNs());
    if (m_steering != nullptr)
        m_steering->onNextStep(id(), heartbeat.nextStep);
}

void AgentConnection::take(protocol::Bye& bye)
{
    if (phase() != Phase::Open) {
        finish(QWebSocketProtocol::CloseCodeNormal);
        return;
    }
    m_bye = std::move(bye);
    setPhase(Phase::Finishing);
    advance();
}

void AgentConnection::offerConfig(const protocol::ConfigOffer& offer)
{
    if (phase() == Phase::Open)
        send(offer);
}

void AgentConnection::askRecorder(const protocol::RecorderAsk& ask)
{
    const auto& known = m_hello.capabilities;
    if (phase() == Phase::Open
        && std::find(known.begin(), known.end(), protocol::limits::kFlightRecorder) != known.end())
        send(ask);
}

bool AgentConnection::takesNotices() const
{
    const auto& known = m_hello.capabilities;
    return phase() == Phase::Open && std::find(known.begin(), known.end(), protocol::limits::kNotice) != known.end();
}

void AgentConnection::notify(const protocol::Notice& notice)
{
    if (takesNotices())
        send(notice);
}

void AgentConnection::take(protocol::ConfigStatus& status)
{
    if (phase() != Phase::Open || m_steering == nullptr)
        return;
    if (const auto ok = protocol::checkConfigStatus(status); !ok) {
        refuse("config", "cut: " + ok.error().what);
        return;
    }
    m_steering->onStatus(id(), status);
}

/// Answers to nothing we asked, or of a later version: no harm, no answer.
template <typename Other> void AgentConnection::take(Other&) { }

void AgentConnection::nack()
{
    const std::uint64_t next = m_session->rules().nextSeq();
    const auto now = Clock::now();
    if (next != m_nackedSeq || now - m_nackedAt >= kNackAgain) {
        m_nackedSeq = next;
        m_nackedAt = now;
        send(protocol::Nack { next });
    }
    scheduleAck();
}

void AgentConnection::onDurable(std::uint64_t seq)
{
    m_home.check();
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
    m_home.check();
    if (!m_session || phase() == Phase::Stopping || (phase() == Phase::Open && !m_session->hasWaiting()))
        return;
    const bool isHandedOver = m_session->offerWaiting();
    if (m_session->takeNack())
        nack();
    if (phase() != Phase::Finishing || !isHandedOver)
        return;
    if (!m_streamIsClosed) {
        m_streamIsClosed = true;
        m_sink.closeStream(m_session->stream(), m_bye->reason, announcedSeq(), m_session->produced());
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
    if (m_session && m_session->ackIsDue() && phase() != Phase::Closing)
        send(m_session->takeAck());
}

void AgentConnection::stopRecording(const Error& error)
{
    if (phase() == Phase::Closing || phase() == Phase::Ended)
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

std::uint64_t AgentConnection::announcedSeq() const
{
    return std::min(std::max(m_session->announcedSeq(), m_bye ? m_bye->lastSeq : 0), protocol::limits::kMaxSeq);
}

void AgentConnection::leave()
{
    if (m_session && !std::exchange(m_streamIsClosed, true)) {
        m_session->lookForPage(m_hello.incarnation);
        m_sink.closeStream(
            m_session->stream(), m_bye ? m_bye->reason : std::string(), announcedSeq(), m_session->produced());
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
    const auto silence = now - lastMessage();
    m_info.lastHeardNs = store::wallClockNs() - std::chrono::duration_cast<std::chrono::nanoseconds>(silence).count();
    // A peer that works says something at every heartbeat.
    if (m_session && silence > limits().heartbeat * 3 / 2)
        m_info.lagSeconds += std::chrono::duration<double>(silence).count();
    return m_info;
}

bool AgentConnection::mayEnd()
{
    // The kernel ends a killed process in pieces: its socket may close a while before the lock that says that it lives.
    if (!m_session || m_bye || m_session->produced().isFinal || m_pageLooks >= kPageLooks
        || !agent::ProductionPage::isHeld(m_hello.incarnation))
        return true;
    ++m_pageLooks;
    QTimer::singleShot(kPageLookMs, this, [this] { onDisconnected(); });
    return false;
}

}
