// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include <QObject>

#include <telltale/core/jobqueue.h>
#include <telltale/core/threadhome.h>
#include <telltale/server/configsteering.h>
#include <telltale/server/controlconnection.h>
#include <telltale/server/endpoint.h>
#include <telltale/store/storeservice.h>

namespace telltale::server {

/// The role of the command line and of desktops that are elsewhere: they ask this server to do something with the runs
/// that it has. Thread: capture, and a thread of its own for the files.
class ControlEndpoint final : public QObject, public Endpoint {
    Q_OBJECT
public:
    ControlEndpoint(
        const EndpointSetup& setup, store::StoreService& store, ConfigSteering& steering, std::string agentToken);

    std::unique_ptr<PeerConnection> connect(
        std::uint64_t id, std::unique_ptr<QWebSocket> socket, ConnectionHost& host) override;
    void onGreeted(PeerConnection&) override { }
    void onEnded(PeerConnection& connection) override { m_peers.erase(connection.id()); }

    store::StoreService& store() { return m_store; }
    ConfigSteering& steering() { return m_steering; }
    const std::string& agentToken() const { return m_agentToken; }
    void submit(JobQueue::Work work) { m_jobs.submit(std::move(work)); }
    /// Writes a record into a run's log, and says when it is durable, or why it cannot be.
    void append(store::OwnRecord record, std::function<void(const Expected<void>&)> done);
    /// Whether it was one of append().
    bool onWritten(const store::RecordWritten& written);
    /// Each may have an import's window of memory.
    bool isCrowded() const { return m_peers.size() > kMostPeers; }
    /// Null when it is gone.
    ControlConnection* find(std::uint64_t id) const;

private:
    static constexpr std::size_t kMostPeers = 32;

    store::StoreService& m_store;
    ConfigSteering& m_steering;
    const std::string m_agentToken;
    std::unordered_map<std::uint64_t, ControlConnection*> m_peers;
    std::unordered_map<std::uint64_t, std::function<void(const Expected<void>&)>> m_writing; ///< by token
    std::uint64_t m_lastToken = std::uint64_t { 1 } << 63; ///< apart from those of configs
    JobQueue m_jobs; ///< last: its work uses the rest
    ThreadHome m_home;
};

}
