// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <QObject>
#include <QSslConfiguration>
#include <QTimer>
#include <QWebSocketServer>

#include <telltale/ingest/batchsink.h>
#include <telltale/server/acceptor.h>
#include <telltale/server/agentconnection.h>
#include <telltale/server/connectiontable.h>
#include <telltale/server/doorkeeper.h>
#include <telltale/server/newcomers.h>
#include <telltale/server/peerlog.h>
#include <telltale/server/serverlimits.h>

namespace telltale::server {

/// Everything that lives on the capture thread: the WebSocket server, all connections, the pump of the store's events.
/// Thread: capture (`table` and the destructor, after releaseSockets, from any thread).
class CaptureCore : public QObject, private ConnectionHost {
    Q_OBJECT
public:
    struct Setup {
        int listenFd = -1; ///< taken over
        bool isEncrypted = false;
        QSslConfiguration tls;
        std::string token;
        std::string fingerprint; ///< of the certificate, empty without TLS
        std::vector<std::string> hosts; ///< for Host headers, beside loopback
        ServerLimits limits;
        PeerLog::Sink log;
    };

    CaptureCore(Setup setup, std::unique_ptr<ingest::BatchSink> sink);
    ~CaptureCore() override;

    const ConnectionTable& table() const { return m_table; }

    // On the capture thread:
    void listen();
    /// Ends with `stopped`, at the latest after limits.drain.
    void beginStop();
    /// After `stopped`, when the thread's event loop is over: sockets and timers die on the thread that they lived on.
    void releaseSockets();

Q_SIGNALS:
    void stopped();

private:
    using Clock = AgentConnection::Clock;

    void onHello(AgentConnection& connection) override;
    void onRefused(AgentConnection& connection, const std::string& kind, const std::string& what) override;
    void onEnded(AgentConnection& connection) override;

    void admitPending();
    void admit(std::unique_ptr<QWebSocket> socket);
    void pump();
    void on(const store::StreamOpened& event);
    void on(const store::StreamRefused& event);
    void on(const store::StreamDurable& event);
    void on(const store::BatchQuarantined& event);
    void on(const store::StoreTrouble& event);
    void on(const store::RunStopped& event);
    AgentConnection* ownerOf(StreamId stream);
    /// A copy: connections leave the map while they are worked on, but live until control is back in the event loop.
    std::vector<AgentConnection*> connections() const;
    void sweep();
    Acceptor::Events acceptorEvents();
    void publish(Clock::time_point now);
    void finishStopWhenDone(Clock::time_point now);

    /// The sink's way to us. It may outlive us; what it queues carries nothing.
    struct WakeTarget {
        std::mutex mutex;
        CaptureCore* core = nullptr;
        bool isQueued = false;
    };
    static void wake(const std::shared_ptr<WakeTarget>& target);

    Setup m_setup;
    std::shared_ptr<WakeTarget> m_wakeTarget = std::make_shared<WakeTarget>();
    std::unique_ptr<ingest::BatchSink> m_sink;
    Doorkeeper m_doorkeeper;
    PeerLog m_log;
    ConnectionTable m_table;
    Newcomers m_newcomers;
    std::unique_ptr<QWebSocketServer> m_server;
    std::unique_ptr<Acceptor> m_acceptor; ///< while we listen
    std::unique_ptr<QTimer> m_sweepTimer;
    std::unordered_map<std::uint64_t, std::unique_ptr<AgentConnection>> m_connections;
    std::unordered_map<StreamId, std::uint64_t> m_owners;
    std::uint64_t m_nextId = 1;
    bool m_isInTrouble = false;
    int m_refusedPages = 0; ///< have their line already; their sockets close next
    bool m_isStopping = false;
    Clock::time_point m_stopDeadline {};
    Clock::time_point m_lastSweep {};
    Clock::time_point m_lastPublish {};
};

}
