// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <QObject>

#include <telltale/core/threadhome.h>
#include <telltale/ingest/batchsink.h>
#include <telltale/server/agentconnection.h>
#include <telltale/server/configsteering.h>
#include <telltale/server/connectiontable.h>
#include <telltale/server/endpoint.h>
#include <telltale/server/peerlog.h>

namespace telltale::server {

/// The role of those who train: they stream into the store, which answers through its events. Thread: capture.
class AgentEndpoint final : public QObject, public Endpoint {
    Q_OBJECT
public:
    AgentEndpoint(const EndpointSetup& setup, std::unique_ptr<ingest::BatchSink> sink, ConnectionTable& table,
        ConfigSteering* steering, PeerLog::Sink log, ConnectionHost& host);
    ~AgentEndpoint() override;

    std::unique_ptr<PeerConnection> connect(
        std::uint64_t id, std::unique_ptr<QWebSocket> socket, ConnectionHost& host) override;
    void onGreeted(PeerConnection& connection) override;
    void onEnded(PeerConnection& connection) override;
    /// Who is told of a record first, and says whether it was theirs.
    void setRecordOwner(std::function<bool(const store::RecordWritten&)> takes) { m_recordOwner = std::move(takes); }
    /// Every agent of the run is to send what its flight recorder keeps.
    void askRecorders(const store::RunLocator& run, const std::string& why);
    /// A line on the console of the lowest rank of the run that is connected and takes it.
    void notify(const store::RunLocator& run, const std::string& text);
    void sweep(PeerConnection::Clock::time_point now) override;
    bool isSettled() const override;
    void stop() override;

private:
    using Clock = PeerConnection::Clock;

    /// The sink's way to us. It may outlive us; what it queues carries nothing.
    struct WakeTarget {
        std::mutex mutex;
        AgentEndpoint* endpoint = nullptr;
        bool isQueued = false;
    };
    static void wake(const std::shared_ptr<WakeTarget>& target);

    void pump();
    void on(const store::StreamOpened& event);
    void on(const store::StreamRefused& event);
    void on(const store::StreamDurable& event);
    void on(const store::BatchQuarantined& event);
    void on(const store::StoreTrouble& event);
    void on(const store::RunStopped& event);
    void on(const store::RecordWritten& event);
    AgentConnection* find(std::uint64_t id) const;
    AgentConnection* ownerOf(StreamId stream) const;
    /// A copy: connections leave the map while they are worked on, but live until control is back in the event loop.
    std::vector<AgentConnection*> agents() const;
    void publish(Clock::time_point now);

    const std::unique_ptr<ingest::BatchSink> m_sink;
    ConnectionTable& m_table;
    ConfigSteering* const m_steering; ///< null: nobody steers
    const PeerLog::Sink m_log;
    ConnectionHost& m_host;
    std::shared_ptr<WakeTarget> m_wakeTarget = std::make_shared<WakeTarget>();
    std::unordered_map<std::uint64_t, AgentConnection*> m_agents;
    std::unordered_map<StreamId, std::uint64_t> m_owners;
    std::unordered_map<std::uint64_t, store::RunRef> m_runs; ///< that the agents stream into
    std::function<bool(const store::RecordWritten&)> m_recordOwner;
    bool m_isInTrouble = false;
    Clock::time_point m_lastPublish {};
    ThreadHome m_home;
};

}
