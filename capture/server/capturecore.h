// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <QObject>
#include <QSslConfiguration>
#include <QTimer>
#include <QWebSocketServer>

#include <telltale/core/threadhome.h>
#include <telltale/ingest/batchsink.h>
#include <telltale/server/acceptor.h>
#include <telltale/server/configsteering.h>
#include <telltale/server/connectiontable.h>
#include <telltale/server/endpoint.h>
#include <telltale/server/newcomers.h>
#include <telltale/server/peerlog.h>
#include <telltale/server/serverlimits.h>

namespace telltale::store {
class StoreService;
}

namespace telltale::server {

class AgentEndpoint;

/// Everything that lives on the capture thread: the WebSocket server, all connections, and the endpoints that speak
/// with them, one a role. Thread: capture (the tables and the destructor, after releaseSockets, from any thread).
class CaptureCore : public QObject, private ConnectionHost {
    Q_OBJECT
public:
    struct Setup {
        int listenFd = -1; ///< taken over
        bool isEncrypted = false;
        QSslConfiguration tls;
        EndpointSetup endpoint; ///< with the agents' token
        PeerLog::Sink log;
        std::string controlToken;
        store::StoreService* store = nullptr; ///< null: nobody has the control role
    };

    CaptureCore(Setup setup, std::unique_ptr<ingest::BatchSink> sink);
    ~CaptureCore() override;

    const ConnectionTable& table() const { return m_table; }
    SteeringTable& steeringTable() { return m_steeringTable; }

    // On the capture thread:
    void listen();
    void offerConfig(const ConfigRequest& request, SteeringAnswer answer);
    void askRecorders(const store::RunLocator& run, const std::string& why);
    void notify(const store::RunLocator& run, const std::string& text);
    /// Ends with `stopped`, at the latest after limits.drain.
    void beginStop();
    /// After `stopped`, when the thread's event loop is over: sockets and timers die on the thread that they lived on.
    void releaseSockets();

Q_SIGNALS:
    void stopped();

private:
    using Clock = PeerConnection::Clock;
    struct Peer {
        std::unique_ptr<PeerConnection> connection;
        Endpoint* endpoint = nullptr;
    };

    void onGreeted(PeerConnection& connection) override;
    void onRefused(PeerConnection& connection, const std::string& kind, const std::string& what) override;
    void onEnded(PeerConnection& connection) override;
    void onSettled() override;

    void admitPending();
    void admit(std::unique_ptr<QWebSocket> socket);
    Endpoint& endpointFor(const std::string& path) const;
    /// A copy: connections leave the map while they are worked on, but live until control is back in the event loop.
    std::vector<PeerConnection*> connections() const;
    void sweep();
    Acceptor::Events acceptorEvents();
    void finishStopWhenDone(Clock::time_point now);

    Setup m_setup;
    std::unique_ptr<ingest::BatchSink> m_sink; ///< until the agents' endpoint has it
    PeerLog m_log;
    ConnectionTable m_table;
    SteeringTable m_steeringTable;
    std::unique_ptr<ConfigSteering> m_steering; ///< null without a store
    Newcomers m_newcomers;
    std::unique_ptr<QWebSocketServer> m_server;
    std::unique_ptr<Acceptor> m_acceptor; ///< while we listen
    std::unique_ptr<QTimer> m_sweepTimer;
    std::vector<std::unique_ptr<Endpoint>> m_endpoints; ///< the agents' first
    AgentEndpoint* m_agents = nullptr; ///< among them
    std::unordered_map<std::uint64_t, Peer> m_peers;
    std::uint64_t m_nextId = 1;
    int m_refusedPages = 0; ///< have their line already; their sockets close next
    bool m_isStopping = false;
    Clock::time_point m_stopDeadline {};
    Clock::time_point m_lastSweep {};
    ThreadHome m_home;
};

}
