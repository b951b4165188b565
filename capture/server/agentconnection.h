// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <QObject>
#include <QWebSocket>

#include <telltale/ingest/ingestsession.h>
#include <telltale/protocol/messages.h>
#include <telltale/protocol/proof.h>
#include <telltale/server/doorkeeper.h>
#include <telltale/server/serverlimits.h>

namespace telltale::server {

class AgentConnection;

/// What a connection asks of the server around it. Thread: capture.
class ConnectionHost {
public:
    virtual ~ConnectionHost() = default;
    virtual void onHello(AgentConnection& connection) = 0;
    /// We send the peer away, for one line in the log.
    virtual void onRefused(AgentConnection& connection, const std::string& kind, const std::string& what) = 0;
    /// The socket is gone. The connection may be destroyed once control is back in the event loop.
    virtual void onEnded(AgentConnection& connection) = 0;
};

/// One peer from upgrade to disconnect: message and time limits, the session's messages, acks. Thread: capture.
class AgentConnection : public QObject {
    Q_OBJECT
public:
    using Clock = std::chrono::steady_clock;
    enum class Phase {
        AwaitHello,
        AwaitStore, ///< Hello seen, the store looks for the stream
        Open,
        Finishing, ///< the agent said Bye; what it sent is made durable
        Stopping, ///< we said Bye; nothing new is taken
        Closing, ///< our close frame is out
        Ended,
    };

    AgentConnection(std::uint64_t id, std::unique_ptr<QWebSocket> socket, ingest::BatchSink& sink, ConnectionHost& host,
        Doorkeeper& door, const ServerLimits& limits);
    ~AgentConnection() override;

    std::uint64_t id() const { return m_id; }
    Phase phase() const { return m_phase; }
    const QWebSocket& socket() const { return *m_socket; }
    const std::string& address() const { return m_address; }
    const std::string& peer() const { return m_peer; } ///< address:port
    const protocol::Hello& hello() const { return m_hello; }
    /// Null outside Open, Finishing and Stopping.
    const ingest::IngestSession* session() const { return m_session.get(); }
    /// Also after the end: the last figures stay.
    ConnectionInfo describe(Clock::time_point now);

    /// The peer's upgrade said nothing of the token: its Hello has to prove that it knows it.
    void askForProof() { m_owesProof = true; }
    void open(const store::StreamOpened& opened, ingest::IngestSession::Credit credit, bool isPaused);
    /// The store will not have the stream.
    void refuseStream(const Error& error);
    void onDurable(std::uint64_t seq);
    void onQuarantined(std::uint64_t seq, std::string reason);
    void setPaused(bool paused);
    /// Offers held batches again and finishes what can be finished.
    void advance();
    /// Deadlines, unsent bytes, heartbeats.
    void sweep(Clock::time_point now);
    /// The whole server stood still for this long: no peer is to blame for it.
    void forgive(Clock::duration pause);

    /// Close frame with a code, then abort if the peer does not answer.
    void refuse(const std::string& kind, const std::string& what, QWebSocketProtocol::CloseCode code);
    /// The same with a Bye before it, so that the user behind the agent is told.
    void refuse(const Refusal& refusal);
    /// No close frame: the peer would not read it.
    void cut(const std::string& kind, const std::string& what);
    /// The store cannot go on with the stream: the agent keeps what it has and comes back later.
    void stopRecording(const Error& error);
    /// A newer connection has the stream; this one's batches are nobody's any more.
    void fence();
    /// The server goes: Bye(restarting), then only acks.
    void beginStop(std::uint32_t retryAfterMs);
    /// Closes politely, without a line in the log.
    void finish(QWebSocketProtocol::CloseCode code);

private:
    static constexpr std::uint32_t kRetryRefusedMs = 30'000;
    static constexpr int kPageLooks = 40,
                         kPageLookMs = 25; ///< a second: an agent that lives and was cut off waits for it

    void onBinaryFrame(bool isLast);
    void onBinaryMessage(const QByteArray& bytes);
    void onDisconnected();
    void take(protocol::Knock& knock);
    void take(protocol::Hello& hello);
    void take(protocol::Batch& batch);
    void take(protocol::Heartbeat& heartbeat);
    void take(protocol::Bye& bye);
    template <typename Other> void take(Other& other);
    void nack();
    void scheduleAck();
    void flushAck();
    void send(const protocol::Message& message);
    void sendHeartbeat(Clock::time_point now);
    /// The newest batch that the agent is known to have made; with a session only.
    std::uint64_t toldSeq() const;
    /// Gives the stream back to the store; the session is gone afterwards.
    void leaveStream();

    const std::uint64_t m_id;
    std::unique_ptr<QWebSocket> m_socket;
    ingest::BatchSink& m_sink;
    ConnectionHost& m_host;
    Doorkeeper& m_door;
    const ServerLimits& m_limits;
    const std::string m_address;
    const std::string m_peer;
    Clock::time_point m_helloSince;

    ConnectionInfo m_info;
    Phase m_phase = Phase::AwaitHello;
    bool m_owesProof = false;
    protocol::ProofContext m_proof; ///< empty before Knock
    protocol::Hello m_hello;
    std::unique_ptr<ingest::IngestSession> m_session;
    std::optional<protocol::Bye> m_bye;
    bool m_streamIsClosed = false;
    int m_pageLooks = 0;
    bool m_ackIsScheduled = false;
    std::size_t m_fragments = 0;
    Clock::time_point m_lastMessage;
    Clock::time_point m_lastHeartbeat;
    Clock::time_point m_closingSince {};
    std::uint64_t m_nackedSeq = 0;
    Clock::time_point m_nackedAt {};
};

}
