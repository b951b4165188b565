// SPDX-License-Identifier: GPL-3.0-or-later
// What an agent says, taken in; its connection's life is in agentconnection.cpp.
#include <telltale/server/agentconnection.h>

#include <utility>
#include <variant>

#include <telltale/protocol/codec.h>
#include <telltale/protocol/datarules.h>
#include <telltale/store/clock.h>

namespace telltale::server {
namespace {

using Verdict = ingest::IngestSession::Verdict;

/// One lost position is answered once; the batches that are already on their way need no answer of their own.
constexpr std::chrono::seconds kNackAgain { 1 };

}

void AgentConnection::onBinaryFrame(bool isLast)
{
    if (isLast)
        return;
    if (++m_fragments > m_limits.fragments)
        cut("fragments", "cut: more than " + std::to_string(m_limits.fragments) + " fragments in one message");
}

void AgentConnection::onBinaryMessage(const QByteArray& bytes)
{
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
    const bool isGreeting = std::holds_alternative<protocol::Hello>(*message)
        || (m_owesProof && std::holds_alternative<protocol::Knock>(*message))
        || (!m_proof.challengeNonce.empty() && std::holds_alternative<protocol::Bye>(*message));
    if (m_phase == Phase::AwaitHello && !isGreeting) {
        refuse("no-hello", "cut: its first message is not Hello", QWebSocketProtocol::CloseCodePolicyViolated);
        return;
    }
    std::visit([this](auto& content) { take(content); }, *message);
}

void AgentConnection::take(protocol::Knock& knock)
{
    if (m_phase != Phase::AwaitHello || !m_proof.challengeNonce.empty()) {
        refuse("hello", "cut: a second Knock", QWebSocketProtocol::CloseCodePolicyViolated);
        return;
    }
    auto challenge = m_door.challenge(knock, m_proof);
    if (challenge)
        send(*challenge);
    else
        refuse("hello", "cut: " + challenge.error().what, QWebSocketProtocol::CloseCodePolicyViolated);
}

void AgentConnection::refuse(const Refusal& refusal)
{
    send(protocol::Bye { refusal.what, 0, 0 });
    refuse(refusal.kind, refusal.what, QWebSocketProtocol::CloseCodePolicyViolated);
}

void AgentConnection::take(protocol::Hello& hello)
{
    using protocol::limits::kProtoVersion;
    if (m_phase != Phase::AwaitHello) {
        refuse("hello", "cut: a second Hello", QWebSocketProtocol::CloseCodePolicyViolated);
        return;
    }
    if (m_owesProof) {
        const Refusal refusal = m_door.checkProof(m_address, hello.proof, m_proof, Clock::now());
        if (!refusal.kind.empty()) {
            refuse(refusal);
            return;
        }
    }
    if (hello.protoMin > kProtoVersion || hello.protoMax < kProtoVersion) {
        const std::string what = "refused: it speaks protocol " + std::to_string(hello.protoMin) + " to "
            + std::to_string(hello.protoMax) + ", this server speaks " + std::to_string(kProtoVersion);
        send(protocol::Bye { what, kRetryRefusedMs, 0 });
        refuse("version", what, QWebSocketProtocol::CloseCodePolicyViolated);
        return;
    }
    protocol::mendNames(hello);
    if (const auto ok = protocol::checkHello(hello); !ok) {
        refuse("hello", "refused: " + ok.error().what, QWebSocketProtocol::CloseCodePolicyViolated);
        return;
    }
    m_hello = std::move(hello);
    m_info.agentId = m_hello.agentId;
    m_info.runKey = m_hello.runKey;
    m_info.runName = m_hello.runName;
    m_info.rank = Rank { m_hello.rank };
    m_info.framework = m_hello.framework;
    m_info.agentVersion = m_hello.agentVersion;
    m_phase = Phase::AwaitStore;
    m_host.onHello(*this);
}

void AgentConnection::take(protocol::Batch& batch)
{
    if (m_phase == Phase::Finishing)
        return;
    if (m_phase != Phase::Open) {
        refuse("no-hello", "cut: a batch before Welcome", QWebSocketProtocol::CloseCodePolicyViolated);
        return;
    }
    const std::string seq = std::to_string(batch.seq);
    switch (m_session->onBatch(std::move(batch))) {
    case Verdict::Accept:
        break;
    case Verdict::Duplicate:
        scheduleAck();
        break;
    case Verdict::AheadNack:
        nack();
        break;
    case Verdict::StaleEpoch:
        refuse("epoch", "cut: batch " + seq + " is of an older connection of its stream",
            QWebSocketProtocol::CloseCodePolicyViolated);
        break;
    case Verdict::BadCrc:
        refuse("crc", "cut: batch " + seq + " was damaged on the way (bad crc)",
            QWebSocketProtocol::CloseCodeProtocolError);
        break;
    case Verdict::OverCredit:
        refuse("credit", "cut: batch " + seq + " is over the credit it was given",
            QWebSocketProtocol::CloseCodePolicyViolated);
        break;
    }
}

void AgentConnection::take(protocol::Heartbeat& heartbeat)
{
    if (m_session)
        m_session->onHeartbeat(heartbeat, store::wallClockNs());
}

void AgentConnection::take(protocol::Bye& bye)
{
    if (m_phase == Phase::AwaitHello) {
        // Our proof did not convince it: its token is another one.
        refuse(m_door.wrongToken(m_address, false, Clock::now()));
        return;
    }
    if (m_phase != Phase::Open) {
        finish(QWebSocketProtocol::CloseCodeNormal);
        return;
    }
    m_bye = std::move(bye);
    m_phase = Phase::Finishing;
    advance();
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

}
