// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/capturecore.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <QCoreApplication>
#include <QUrl>
#include <QWebSocketCorsAuthenticator>

#include <telltale/server/agentendpoint.h>
#include <telltale/server/controlendpoint.h>

namespace telltale::server {
namespace {

/// A sweep that comes this late was held up by us (a frozen process, a sleeping machine), not by any peer.
constexpr std::chrono::seconds kOurOwnPause { 2 };
constexpr std::uint32_t kRetryAfterMs = 1000;

}

CaptureCore::CaptureCore(Setup setup, std::unique_ptr<ingest::BatchSink> sink)
    : m_setup(std::move(setup))
    , m_sink(std::move(sink))
    , m_log(m_setup.log, m_setup.endpoint.limits.logInterval)
    , m_newcomers(m_setup.endpoint.limits)
{
}

CaptureCore::~CaptureCore() = default;

std::vector<PeerConnection*> CaptureCore::connections() const
{
    std::vector<PeerConnection*> out;
    out.reserve(m_peers.size());
    for (const auto& [id, peer] : m_peers)
        out.push_back(peer.connection.get());
    return out;
}

Endpoint& CaptureCore::endpointFor(const std::string& path) const
{
    const auto found = std::find_if(
        m_endpoints.begin(), m_endpoints.end(), [&path](const auto& endpoint) { return endpoint->path() == path; });
    return found == m_endpoints.end() ? *m_endpoints.front() : **found; // whose door sends it away
}

void CaptureCore::listen()
{
    if (m_setup.store != nullptr)
        m_steering = std::make_unique<ConfigSteering>(*m_setup.store, m_steeringTable, m_setup.log);
    auto agents = std::make_unique<AgentEndpoint>(m_setup.endpoint, std::move(m_sink), m_table, m_steering.get(),
        m_setup.log, static_cast<ConnectionHost&>(*this));
    m_agents = agents.get();
    m_endpoints.push_back(std::move(agents));
    if (m_setup.store != nullptr) {
        EndpointSetup control = m_setup.endpoint;
        control.token = m_setup.controlToken;
        auto endpoint = std::make_unique<ControlEndpoint>(control, *m_setup.store, *m_steering, m_setup.endpoint.token);
        m_agents->setRecordOwner([asked = endpoint.get()](const auto& written) { return asked->onWritten(written); });
        m_endpoints.push_back(std::move(endpoint));
    }
    m_server = std::make_unique<QWebSocketServer>(QStringLiteral("telltale"),
        m_setup.isEncrypted ? QWebSocketServer::SecureMode : QWebSocketServer::NonSecureMode);
    m_server->setHandshakeTimeout(m_setup.endpoint.limits.handshake);
    m_server->setSupportedSubprotocols({ QString::fromLatin1(protocol::limits::kSubprotocol),
        QString::fromLatin1(protocol::limits::kTokenFirstSubprotocol) });
    // Must be answered before the signal returns. Who it was Qt does not say: all web pages share one line a minute.
    connect(
        m_server.get(), &QWebSocketServer::originAuthenticationRequired, this,
        [this](QWebSocketCorsAuthenticator* page) {
            page->setAllowed(page->origin().isEmpty());
            if (page->allowed())
                return;
            ++m_refusedPages;
            m_log.refused(
                "a web page", "origin", "refused: it came from " + page->origin().toStdString(), Clock::now());
        },
        Qt::DirectConnection);
    connect(m_server.get(), &QWebSocketServer::newConnection, this, &CaptureCore::admitPending);
    m_sweepTimer = std::make_unique<QTimer>();
    connect(m_sweepTimer.get(), &QTimer::timeout, this, &CaptureCore::sweep);
    m_lastSweep = Clock::now();
    m_sweepTimer->start(m_setup.endpoint.limits.sweep);
    m_acceptor
        = std::make_unique<Acceptor>(m_setup.listenFd, m_setup.isEncrypted ? std::optional(m_setup.tls) : std::nullopt,
            *m_server, m_newcomers, m_setup.endpoint.limits, acceptorEvents());
}

Acceptor::Events CaptureCore::acceptorEvents()
{
    Acceptor::Events events;
    events.evictUpgraded = [this](const std::string& peer) {
        for (PeerConnection* connection : connections()) {
            if (connection->peer() == peer)
                connection->cut("crowd", "cut: too many connections that have not said Hello");
        }
    };
    events.lost = [this](const std::string& address, const std::string& kind, const std::string& what) {
        if (m_refusedPages > 0)
            --m_refusedPages;
        else
            m_log.refused(address, kind, what, Clock::now());
    };
    return events;
}

void CaptureCore::admitPending()
{
    m_home.check();
    while (std::unique_ptr<QWebSocket> socket { m_server->nextPendingConnection() })
        admit(std::move(socket));
}

void CaptureCore::admit(std::unique_ptr<QWebSocket> socket)
{
    DoorRequest request;
    const QNetworkRequest upgrade = socket->request();
    const QUrl url = socket->requestUrl();
    request.resource = url.toString(QUrl::RemoveScheme | QUrl::RemoveAuthority).toStdString();
    request.host = upgrade.rawHeader("Host").toStdString();
    request.authorization = upgrade.rawHeader("Authorization").toStdString();
    request.hasOrigin = upgrade.hasRawHeader("Origin");
    request.subprotocol = socket->subprotocol().toStdString();
    const std::uint64_t id = m_nextId++;
    Endpoint& endpoint = endpointFor(request.resource);
    auto owned = endpoint.connect(id, std::move(socket), *this);
    PeerConnection& connection = *owned;
    m_peers.emplace(id, Peer { std::move(owned), &endpoint });
    request.address = connection.address();
    if (m_acceptor)
        m_acceptor->upgraded(connection.peer());
    if (m_isStopping) {
        connection.finish(QWebSocketProtocol::CloseCodeGoingAway);
        return;
    }
    const Refusal refusal = endpoint.door().check(request, Clock::now());
    if (Doorkeeper::owesProof(request))
        connection.askForProof();
    if (!refusal.kind.empty())
        connection.refuse(refusal);
}

void CaptureCore::onGreeted(PeerConnection& connection)
{
    if (m_newcomers.remove(connection.peer()) && m_acceptor)
        m_acceptor->lookAgain();
    m_peers.at(connection.id()).endpoint->onGreeted(connection);
}

void CaptureCore::onRefused(PeerConnection& connection, const std::string& kind, const std::string& what)
{
    m_log.refused(connection.address(), kind, what, Clock::now());
    m_table.refused(connection.info().runKey, connection.info().agentId, connection.address(), escaped(what));
}

void CaptureCore::onEnded(PeerConnection& connection)
{
    const auto found = m_peers.find(connection.id());
    if (found == m_peers.end())
        return;
    found->second.endpoint->onEnded(connection);
    // The socket is still on the stack.
    found->second.connection.release()->deleteLater();
    m_peers.erase(found);
    if (m_newcomers.remove(connection.peer()) && m_acceptor)
        m_acceptor->lookAgain();
}

void CaptureCore::onSettled()
{
    if (m_isStopping)
        finishStopWhenDone(Clock::now());
}

void CaptureCore::sweep()
{
    m_home.check();
    const auto now = Clock::now();
    const auto late = now - m_lastSweep;
    m_lastSweep = now;
    for (PeerConnection* connection : connections()) {
        if (late >= kOurOwnPause)
            connection->extendDeadlines(late);
        connection->sweep(now);
    }
    for (const auto& endpoint : m_endpoints)
        endpoint->sweep(now);
    if (late >= kOurOwnPause)
        m_newcomers.extendDeadlines(late);
    if (m_acceptor)
        m_acceptor->sweep(now);
    onSettled();
}

void CaptureCore::offerConfig(const ConfigRequest& request, SteeringAnswer answer)
{
    m_home.check();
    if (m_steering)
        m_steering->push(request, std::move(answer));
    else if (answer)
        answer(failure(ErrorCode::Unsupported, "this server keeps no runs"));
}

void CaptureCore::askRecorders(const store::RunLocator& run, const std::string& why)
{
    m_home.check();
    if (m_agents != nullptr)
        m_agents->askRecorders(run, why);
}

void CaptureCore::notify(const store::RunLocator& run, const std::string& text)
{
    m_home.check();
    if (m_agents != nullptr)
        m_agents->notify(run, text);
}

void CaptureCore::beginStop()
{
    m_home.check();
    m_isStopping = true;
    m_stopDeadline = Clock::now() + m_setup.endpoint.limits.drain;
    m_acceptor.reset();
    for (PeerConnection* connection : connections())
        connection->beginStop(kRetryAfterMs);
    onSettled();
}

void CaptureCore::finishStopWhenDone(Clock::time_point now)
{
    const bool isSettled = std::all_of(
        m_endpoints.begin(), m_endpoints.end(), [](const auto& endpoint) { return endpoint->isSettled(); });
    if (!isSettled && now < m_stopDeadline)
        return;
    m_isStopping = false;
    m_sweepTimer->stop();
    for (PeerConnection* connection : connections())
        connection->finish(QWebSocketProtocol::CloseCodeGoingAway);
    for (const auto& endpoint : m_endpoints)
        endpoint->stop();
    Q_EMIT stopped();
}

void CaptureCore::releaseSockets()
{
    m_peers.clear();
    m_server.reset();
    m_sweepTimer.reset();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    m_agents = nullptr;
    m_endpoints.clear();
    m_steering.reset();
    m_log.finish();
}

}
