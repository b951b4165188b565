// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <telltale/core/threadhome.h>
#include <telltale/ingest/ingestsession.h>
#include <telltale/server/peerconnection.h>

namespace telltale::server {

class ConfigSteering;

/// A peer in the agent's role: it streams one source, batch by batch, and gets acks. Thread: capture.
class AgentConnection final : public PeerConnection {
    Q_OBJECT
public:
    AgentConnection(std::uint64_t id, std::unique_ptr<QWebSocket> socket, ConnectionHost& host, Doorkeeper& door,
        const ServerLimits& limits, ingest::BatchSink& sink, ConfigSteering* steering);
    ~AgentConnection() override;

    const protocol::Hello& hello() const { return m_hello; }
    /// Null outside Open, Finishing and Stopping.
    const ingest::IngestSession* session() const { return m_session.get(); }
    /// Also after the end: the last figures stay.
    ConnectionInfo describe(Clock::time_point now);

    void open(const store::StreamOpened& opened, ingest::IngestSession::Credit credit, bool isPaused);
    /// The store will not have the stream.
    void refuseStream(const Error& error);
    void offerConfig(const protocol::ConfigOffer& offer);
    /// Nothing to an agent that does not know it.
    void askRecorder(const protocol::RecorderAsk& ask);
    bool takesNotices() const;
    void notify(const protocol::Notice& notice);
    bool hasFinished() const { return m_bye && m_bye->reason == "finished"; }
    void onDurable(std::uint64_t seq);
    void onQuarantined(std::uint64_t seq, std::string reason);
    void setPaused(bool paused);
    /// Offers held batches again and finishes what can be finished.
    void advance();
    /// The store cannot go on with the stream: the agent keeps what it has and comes back later.
    void stopRecording(const Error& error);
    /// A newer connection has the stream; this one's batches are nobody's any more.
    void fence();

private:
    static constexpr int kPageLooks = 40,
                         kPageLookMs = 25; ///< a second: an agent that lives and was cut off waits for it

    const std::string* proofIn(const protocol::Message& message) const override;
    void take(protocol::Message& message) override;
    std::uint64_t heartbeatSeq() const override { return m_session ? m_session->rules().durableSeq() : 0; }
    void flush() override { flushAck(); }
    /// Gives the stream back to the store; the session is gone afterwards.
    void leave() override;
    bool mayEnd() override;

    void take(protocol::Hello& hello);
    void take(protocol::Batch& batch);
    void take(protocol::Heartbeat& heartbeat);
    void take(protocol::Bye& bye);
    void take(protocol::ConfigStatus& status);
    template <typename Other> void take(Other& other);
    void nack();
    void scheduleAck();
    void flushAck();
    /// The newest batch that the agent is known to have made; with a session only.
    std::uint64_t announcedSeq() const;

    ingest::BatchSink& m_sink;
    ConfigSteering* const m_steering; ///< null: nobody steers
    protocol::Hello m_hello;
    std::unique_ptr<ingest::IngestSession> m_session;
    std::optional<protocol::Bye> m_bye;
    bool m_streamIsClosed = false;
    int m_pageLooks = 0;
    bool m_ackIsScheduled = false;
    std::uint64_t m_nackedSeq = 0;
    Clock::time_point m_nackedAt {};
    ThreadHome m_home;
};

}
