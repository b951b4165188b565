// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/acceptor.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QSslSocket>

namespace telltale::server {
namespace {

/// Between two rounds those that are in already get their turn.
constexpr int kAcceptAtOnce = 32;
/// An upgrade request is some hundred bytes.
constexpr qint64 kMaxRequestBytes = 16 << 10;

/// Whether an error of accept() is one connection's, which is gone with it: see accept(2).
bool isOfPeer(int error)
{
    constexpr int kOfPeers[] { ECONNABORTED, EINTR, ENETDOWN, EPROTO, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH,
        EOPNOTSUPP, ENETUNREACH };
    return std::find(std::begin(kOfPeers), std::end(kOfPeers), error) != std::end(kOfPeers);
}

}

std::string addressName(const QHostAddress& address)
{
    bool isV4 = false;
    const quint32 v4 = address.toIPv4Address(&isV4);
    return (isV4 ? QHostAddress(v4) : address).toString().toStdString();
}

std::string peerName(const QHostAddress& address, quint16 port)
{
    const std::string name = addressName(address);
    const std::string number = std::to_string(port);
    return name.find(':') == std::string::npos ? name + ":" + number : "[" + name + "]:" + number;
}

Acceptor::Acceptor(int listenFd, std::optional<QSslConfiguration> tls, QWebSocketServer& server, Newcomers& newcomers,
    const ServerLimits& limits, Events events)
    : m_listenFd(listenFd)
    , m_tls(std::move(tls))
    , m_server(server)
    , m_newcomers(newcomers)
    , m_limits(limits)
    , m_events(std::move(events))
    , m_notifier(listenFd, QSocketNotifier::Read)
{
    connect(&m_notifier, &QSocketNotifier::activated, this, &Acceptor::acceptSome);
}

Acceptor::~Acceptor()
{
    m_notifier.setEnabled(false);
    ::close(m_listenFd);
    if (m_next)
        ::close(m_next->fd);
    for (auto& [peer, entry] : m_entries) {
        if (entry.socket == nullptr)
            continue;
        entry.socket->disconnect(this);
        entry.socket->abort();
        entry.socket->deleteLater();
    }
}

void Acceptor::acceptSome()
{
    m_home.check();
    for (int i = 0; i < kAcceptAtOnce; ++i) {
        if (!m_next && !takeNext())
            return;
        if (!makeRoom(addressName(m_next->host))) {
            m_notifier.setEnabled(false); // the kernel's backlog waits for lookAgain()
            return;
        }
        greet(*std::exchange(m_next, std::nullopt));
    }
}

bool Acceptor::takeNext()
{
    for (;;) {
        sockaddr_storage storage {};
        socklen_t size = sizeof storage;
        const int fd
            = ::accept4(m_listenFd, reinterpret_cast<sockaddr*>(&storage), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            const quint16 port
                = ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                                                      : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
            m_next = Waiting { fd, QHostAddress(reinterpret_cast<const sockaddr*>(&storage)), port };
            return true;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return false;
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            const std::string peer = m_newcomers.whoMayLeave(Clock::now());
            if (!peer.empty()) {
                evict(peer);
                continue;
            }
            m_notifier.setEnabled(false);
            return false;
        }
        // The peer gave up while it waited: the next one. Anything else may last: sweep() looks again.
        if (!isOfPeer(errno)) {
            m_notifier.setEnabled(false);
            return false;
        }
    }
}

bool Acceptor::makeRoom(const std::string& address)
{
    for (;;) {
        const Newcomers::Verdict verdict = m_newcomers.roomFor(address, Clock::now());
        if (verdict.what == Newcomers::Verdict::What::Enter)
            return true;
        if (verdict.what == Newcomers::Verdict::What::Wait)
            return false;
        evict(verdict.peer);
    }
}

void Acceptor::evict(const std::string& peer)
{
    m_newcomers.remove(peer);
    if (m_entries.contains(peer))
        forget(peer, "crowd", "cut: too many connections that have not said Hello");
    else
        m_events.evictUpgraded(peer);
}

void Acceptor::greet(const Waiting& waiting)
{
    const std::string peer = peerName(waiting.host, waiting.port);
    QSslSocket* encrypted = m_tls ? new QSslSocket(&m_server) : nullptr;
    QTcpSocket* socket = encrypted != nullptr ? encrypted : new QTcpSocket(&m_server);
    if (!socket->setSocketDescriptor(waiting.fd)) {
        ::close(waiting.fd);
        socket->deleteLater();
        return;
    }
    socket->setReadBufferSize(kMaxRequestBytes);
    const auto now = Clock::now();
    m_newcomers.add(peer, addressName(waiting.host), now);
    m_entries[peer] = { socket, addressName(waiting.host), now };
    const auto lost
        = [this, peer] { forget(peer, "handshake", "closed before it became an agent: no valid handshake in time"); };
    connect(socket, &QTcpSocket::disconnected, this, lost);
    if (encrypted == nullptr) {
        m_server.handleConnection(socket);
        return;
    }
    connect(encrypted, &QSslSocket::encrypted, this, [this, encrypted, peer] {
        m_newcomers.moved(peer, Clock::now());
        m_server.handleConnection(encrypted);
    });
    connect(encrypted, &QSslSocket::errorOccurred, this, lost);
    encrypted->setSslConfiguration(*m_tls);
    encrypted->startServerEncryption();
}

void Acceptor::forget(const std::string& peer, const std::string& kind, const std::string& what)
{
    const auto found = m_entries.find(peer);
    if (found == m_entries.end())
        return;
    const Entry entry = found->second;
    m_entries.erase(found);
    m_newcomers.remove(peer);
    if (entry.socket != nullptr) {
        entry.socket->disconnect(this);
        entry.socket->abort();
        entry.socket->deleteLater();
    }
    m_events.lost(entry.address, kind, what);
    lookAgain();
}

void Acceptor::upgraded(const std::string& peer)
{
    const auto found = m_entries.find(peer);
    if (found == m_entries.end())
        return;
    if (QTcpSocket* socket = found->second.socket) {
        socket->disconnect(this);
        socket->setReadBufferSize(0); // messages have limits of their own, and Qt wants a whole frame at once
    }
    m_entries.erase(found);
    m_newcomers.moved(peer, Clock::now());
}

void Acceptor::lookAgain()
{
    if (std::exchange(m_isLookQueued, true))
        return;
    QMetaObject::invokeMethod(
        this,
        [this] {
            m_isLookQueued = false;
            m_notifier.setEnabled(true);
            acceptSome();
        },
        Qt::QueuedConnection);
}

void Acceptor::sweep(Clock::time_point now)
{
    m_home.check();
    std::vector<std::string> late;
    for (const auto& [peer, entry] : m_entries) {
        if (now - entry.since >= m_limits.handshake)
            late.push_back(peer);
    }
    for (const std::string& peer : late)
        forget(peer, "handshake", "closed before it became an agent: no valid handshake in time");
    if (m_next || !m_notifier.isEnabled())
        lookAgain();
}

}
