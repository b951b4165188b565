// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <QHostAddress>
#include <QObject>
#include <QPointer>
#include <QSocketNotifier>
#include <QSslConfiguration>
#include <QTcpSocket>
#include <QWebSocketServer>

#include <telltale/core/threadhome.h>
#include <telltale/server/newcomers.h>
#include <telltale/server/serverlimits.h>

namespace telltale::server {

/// "127.0.0.1", also for an IPv4 address in IPv6's clothes.
std::string addressName(const QHostAddress& address);
/// "127.0.0.1:47800" or "[::1]:47800".
std::string peerName(const QHostAddress& address, quint16 port);

/// Takes connections from the listening socket, as many as Newcomers has room for, and brings them through TLS to the
/// WebSocket server, which upgrades them. QWebSocketServer's own listening neither tells of silent peers nor lets
/// anybody choose among them. Thread: capture.
class Acceptor : public QObject {
    Q_OBJECT
public:
    using Clock = std::chrono::steady_clock;

    struct Events {
        /// Somebody has to go who is upgraded, and so no longer ours.
        std::function<void(const std::string& peer)> evictUpgraded;
        /// Gone before the upgrade: `kind` and `what` for the log.
        std::function<void(const std::string& address, const std::string& kind, const std::string& what)> lost;
    };

    /// Owns `listenFd`. Without `tls` connections are plain.
    Acceptor(int listenFd, std::optional<QSslConfiguration> tls, QWebSocketServer& server, Newcomers& newcomers,
        const ServerLimits& limits, Events events);
    ~Acceptor() override;

    /// The WebSocket server gave this one out: it is the caller's now, and still a newcomer.
    void upgraded(const std::string& peer);
    /// There may be room again. Safe to call from anywhere on the thread.
    void lookAgain();
    /// Deadlines.
    void sweep(Clock::time_point now);

private:
    struct Waiting {
        int fd;
        QHostAddress host;
        quint16 port;
    };
    struct Entry {
        QPointer<QTcpSocket> socket;
        std::string address;
        Clock::time_point since;
    };

    void acceptSome();
    bool takeNext();
    bool makeRoom(const std::string& address);
    void evict(const std::string& peer);
    void greet(const Waiting& waiting);
    /// Silent about why, when it was known already.
    void forget(const std::string& peer, const std::string& kind, const std::string& what);

    const int m_listenFd;
    const std::optional<QSslConfiguration> m_tls;
    QWebSocketServer& m_server;
    Newcomers& m_newcomers;
    const ServerLimits& m_limits;
    const Events m_events;
    QSocketNotifier m_notifier;
    std::optional<Waiting> m_next; ///< accepted, and there is no room for it yet
    std::map<std::string, Entry> m_entries; ///< before the upgrade, by peer
    bool m_isLookQueued = false;
    ThreadHome m_home;
};

}
