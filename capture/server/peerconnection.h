// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <QObject>
#include <QWebSocket>

#include <telltale/core/connectioninfo.h>
#include <telltale/core/threadhome.h>
#include <telltale/protocol/messages.h>
#include <telltale/protocol/proof.h>
#include <telltale/server/doorkeeper.h>
#include <telltale/server/serverlimits.h>

namespace telltale::server {

class PeerConnection;

/// What a connection asks of the server around it. Thread: capture.
class ConnectionHost {
public:
    virtual ~ConnectionHost() = default;
    /// It has said who it is, and knows its role's token.
    virtual void onGreeted(PeerConnection& connection) = 0;
    /// We send the peer away, for one line in the log.
    virtual void onRefused(PeerConnection& connection, const std::string& kind, const std::string& what) = 0;
    /// The socket is gone. The connection may be destroyed once control is back in the event loop.
    virtual void onEnded(PeerConnection& connection) = 0;
    /// Something was settled that the end of the server may wait for.
    virtual void onSettled() = 0;
};

/// One peer from upgrade to disconnect, whatever its role: the proofs, message and time limits, how it ends. What is
/// said after the proofs is the role's. Thread: capture.
class PeerConnection : public QObject {
    Q_OBJECT
public:
    using Clock = std::chrono::steady_clock;
    enum class Phase {
        AwaitHello,
        AwaitStore, ///< Hello seen, the store looks for the stream
        Open,
        Finishing, ///< the peer said Bye; what it sent is made durable
        Stopping, ///< we said Bye; nothing new is taken
        Closing, ///< our close frame is out
        Ended,
    };

    PeerConnection(std::uint64_t id, std::unique_ptr<QWebSocket> socket, ConnectionHost& host, Doorkeeper& door,
        const ServerLimits& limits);
    ~PeerConnection() override;

    std::uint64_t id() const { return m_id; }
    Phase phase() const { return m_phase; }
    const std::string& address() const { return m_address; }
    const std::string& peer() const { return m_info.peer; } ///< address:port
    const ConnectionInfo& info() const { return m_info; }

    /// The peer's upgrade said nothing of the token: its greeting has to prove that it knows it.
    void askForProof() { m_owesProof = true; }
    /// Deadlines, unsent bytes, heartbeats.
    void sweep(Clock::time_point now);
    /// The whole server stood still for this long: no peer is to blame for it.
    void extendDeadlines(Clock::duration pause);

    /// Close frame with a code, then abort if the peer does not answer.
    void refuse(const std::string& kind, const std::string& what,
        QWebSocketProtocol::CloseCode code = QWebSocketProtocol::CloseCodePolicyViolated);
    /// The same with a Bye before it, so that the user behind the peer is told.
    void refuse(const Refusal& refusal, std::uint32_t retryAfterMs = 0);
    /// No close frame: the peer would not read it.
    void cut(const std::string& kind, const std::string& what);
    /// The server goes: Bye(restarting), then nothing new.
    void beginStop(std::uint32_t retryAfterMs);
    /// Closes politely, without a line in the log.
    void finish(QWebSocketProtocol::CloseCode code);

protected:
    static constexpr std::uint32_t kRetryRefusedMs = 30'000;

    /// Whether the message is how a peer of this role says who it is, with its proof.
    virtual const std::string* proofIn(const protocol::Message& message) const = 0;
    /// The greeting (its proof is right) and everything after it.
    virtual void take(protocol::Message& message) = 0;
    /// Of an open connection: what our heartbeat says.
    virtual std::uint64_t heartbeatSeq() const { return 0; }
    /// Last words before a close frame.
    virtual void flush() { }
    /// Gives back what it holds; nothing comes after it.
    virtual void leave() { }
    /// False: not yet, it calls onDisconnected() again.
    virtual bool mayEnd() { return true; }

    void onDisconnected();
    void setPhase(Phase phase) { m_phase = phase; }
    /// From now on messages may have the usual size, and we send heartbeats.
    void open(protocol::Welcome welcome);
    /// Refuses a peer that speaks none of our versions of the protocol.
    bool speaks(std::uint32_t protoMin, std::uint32_t protoMax);
    void send(const protocol::Message& message);
    const ServerLimits& limits() const { return m_limits; }
    ConnectionHost& host() { return m_host; }
    Clock::time_point lastMessage() const { return m_lastMessage; }
    ConnectionInfo m_info;

private:
    void onBinaryFrame(bool isLast);
    void onBinaryMessage(const QByteArray& bytes);
    void greet(protocol::Message& message);
    void challenge(const protocol::Knock& knock);
    void sendHeartbeat(Clock::time_point now);

    const std::uint64_t m_id;
    std::unique_ptr<QWebSocket> m_socket;
    ConnectionHost& m_host;
    Doorkeeper& m_door;
    const ServerLimits& m_limits;
    const std::string m_address;
    Clock::time_point m_helloSince;
    Phase m_phase = Phase::AwaitHello;
    bool m_owesProof = false;
    bool m_isOpen = false;
    std::uint32_t m_proto = 0; ///< that both speak
    protocol::ProofContext m_proof; ///< empty before Knock
    std::size_t m_fragments = 0;
    Clock::time_point m_lastMessage;
    Clock::time_point m_lastHeartbeat;
    Clock::time_point m_closingSince {};
    ThreadHome m_home;
};

}
