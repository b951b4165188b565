// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/capturecore.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <QCoreApplication>
#include <QUrl>
#include <QWebSocketCorsAuthenticator>

#include <telltale/ingest/streamrequest.h>

namespace telltale::server {
namespace {

using Phase = AgentConnection::Phase;

constexpr std::chrono::milliseconds kPublishEvery { 250 };
/// A sweep that comes this late was held up by us (a frozen process, a sleeping machine), not by any peer.
constexpr std::chrono::seconds kOurOwnPause { 2 };
constexpr std::uint32_t kRetryAfterMs = 1000;

}

CaptureCore::CaptureCore(Setup setup, std::unique_ptr<ingest::BatchSink> sink)
    : m_setup(std::move(setup))
    , m_sink(std::move(sink))
    , m_doorkeeper(m_setup.token, m_setup.fingerprint, m_setup.hosts, m_setup.limits)
    , m_log(m_setup.log, m_setup.limits.logInterval)
    , m_newcomers(m_setup.limits)
{
}

CaptureCore::~CaptureCore() = default;

std::vector<AgentConnection*> CaptureCore::connections() const
{
    std::vector<AgentConnection*> out;
    out.reserve(m_connections.size());
    for (const auto& [id, connection] : m_connections)
        out.push_back(connection.get());
    return out;
}

void CaptureCore::listen()
{
    m_server = std::make_unique<QWebSocketServer>(QStringLiteral("telltale"),
        m_setup.isEncrypted ? QWebSocketServer::SecureMode : QWebSocketServer::NonSecureMode);
    m_server->setHandshakeTimeout(m_setup.limits.handshake);
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
    m_sweepTimer->start(m_setup.limits.sweep);
    m_wakeTarget->core = this;
    m_sink->setWake([target = m_wakeTarget] { wake(target); });
    m_acceptor
        = std::make_unique<Acceptor>(m_setup.listenFd, m_setup.isEncrypted ? std::optional(m_setup.tls) : std::nullopt,
            *m_server, m_newcomers, m_setup.limits, acceptorEvents());
}

Acceptor::Events CaptureCore::acceptorEvents()
{
    Acceptor::Events events;
    events.evictUpgraded = [this](const std::string& peer) {
        for (AgentConnection* connection : connections()) {
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

void CaptureCore::wake(const std::shared_ptr<WakeTarget>& target)
{
    const std::lock_guard lock(target->mutex);
    if (target->core != nullptr && !std::exchange(target->isQueued, true))
        QMetaObject::invokeMethod(target->core, &CaptureCore::pump, Qt::QueuedConnection);
}

void CaptureCore::admitPending()
{
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
    auto owned = std::make_unique<AgentConnection>(
        id, std::move(socket), *m_sink, static_cast<ConnectionHost&>(*this), m_doorkeeper, m_setup.limits);
    AgentConnection& connection = *owned;
    m_connections.emplace(id, std::move(owned));
    request.address = connection.address();
    if (m_acceptor)
        m_acceptor->upgraded(connection.peer());
    if (m_isStopping) {
        connection.finish(QWebSocketProtocol::CloseCodeGoingAway);
        return;
    }
    const Refusal refusal = m_doorkeeper.check(request, Clock::now());
    if (Doorkeeper::owesProof(request))
        connection.askForProof();
    if (!refusal.kind.empty())
        connection.refuse(refusal);
}

void CaptureCore::onHello(AgentConnection& connection)
{
    if (m_newcomers.remove(connection.peer()) && m_acceptor)
        m_acceptor->lookAgain();
    if (!m_sink->openStream(ingest::requestOf(connection.hello(), connection.id())))
        connection.refuseStream({ ErrorCode::Busy, "the dashboard's store is held up", "the agent tries again" });
}

void CaptureCore::onRefused(AgentConnection& connection, const std::string& kind, const std::string& what)
{
    m_log.refused(connection.address(), kind, what, Clock::now());
    m_table.refused(connection.hello().runKey, connection.hello().agentId, connection.address(), escaped(what));
}

void CaptureCore::onEnded(AgentConnection& connection)
{
    if (!connection.hello().agentId.empty())
        m_table.update(connection.describe(Clock::now()));
    std::erase_if(m_owners, [&](const auto& entry) { return entry.second == connection.id(); });
    const auto found = m_connections.find(connection.id());
    if (found == m_connections.end())
        return;
    // The socket is still on the stack.
    found->second.release()->deleteLater();
    m_connections.erase(found);
    if (m_newcomers.remove(connection.peer()) && m_acceptor)
        m_acceptor->lookAgain();
}

void CaptureCore::pump()
{
    {
        const std::lock_guard lock(m_wakeTarget->mutex);
        m_wakeTarget->isQueued = false;
    }
    for (const store::StoreEvent& event : m_sink->takeEvents())
        std::visit([this](const auto& content) { on(content); }, event);
    // Whatever became durable made room.
    for (AgentConnection* connection : connections())
        connection->advance();
    if (m_isStopping)
        finishStopWhenDone(Clock::now());
}

AgentConnection* CaptureCore::ownerOf(StreamId stream)
{
    const auto owner = m_owners.find(stream);
    if (owner == m_owners.end())
        return nullptr;
    const auto found = m_connections.find(owner->second);
    return found == m_connections.end() ? nullptr : found->second.get();
}

void CaptureCore::on(const store::StreamOpened& event)
{
    for (const StreamId older : event.fenced) {
        if (AgentConnection* connection = ownerOf(older))
            connection->fence();
    }
    const auto found = m_connections.find(event.token);
    if (found == m_connections.end() || found->second->phase() != Phase::AwaitStore) {
        // It left while the store looked.
        m_sink->closeStream(event.stream, {}, 0, {});
        return;
    }
    const auto connected = static_cast<std::uint64_t>(1
        + std::count_if(m_connections.begin(), m_connections.end(), [](const auto& c) { return c.second->session(); }));
    const std::uint64_t bytes = std::min(m_setup.limits.creditMaxBytes, m_setup.limits.creditTotalBytes / connected);
    m_owners[event.stream] = event.token;
    found->second->open(event, { bytes, m_setup.limits.creditBatches }, m_isInTrouble);
    m_table.opened(found->second->describe(Clock::now()));
}

void CaptureCore::on(const store::StreamRefused& event)
{
    const auto found = m_connections.find(event.token);
    if (found != m_connections.end())
        found->second->refuseStream(event.error);
}

void CaptureCore::on(const store::StreamDurable& event)
{
    if (AgentConnection* connection = ownerOf(event.stream))
        connection->onDurable(event.seq);
}

void CaptureCore::on(const store::BatchQuarantined& event)
{
    if (AgentConnection* connection = ownerOf(event.stream))
        connection->onQuarantined(event.seq, event.reason);
}

void CaptureCore::on(const store::StoreTrouble& event)
{
    if (m_isInTrouble == !event.recovered)
        return;
    m_isInTrouble = !event.recovered;
    if (m_setup.log)
        m_setup.log(m_isInTrouble ? "agents are spooling: " + escaped(event.error.sentence())
                                  : std::string("the store writes again"));
    for (AgentConnection* connection : connections())
        connection->setPaused(m_isInTrouble);
}

void CaptureCore::on(const store::RunStopped& event)
{
    if (m_setup.log)
        m_setup.log("recording of " + escaped(event.name) + " has stopped: " + escaped(event.error.sentence()));
    for (const StreamId stream : event.streams) {
        if (AgentConnection* connection = ownerOf(stream))
            connection->stopRecording(event.error);
    }
}

void CaptureCore::sweep()
{
    const auto now = Clock::now();
    const auto late = now - m_lastSweep;
    m_lastSweep = now;
    for (AgentConnection* connection : connections()) {
        if (late >= kOurOwnPause)
            connection->forgive(late);
        connection->sweep(now);
        connection->advance();
    }
    if (late >= kOurOwnPause)
        m_newcomers.forgive(late);
    if (m_acceptor)
        m_acceptor->sweep(now);
    if (now - m_lastPublish >= kPublishEvery)
        publish(now);
    if (m_isStopping)
        finishStopWhenDone(now);
}

void CaptureCore::publish(Clock::time_point now)
{
    m_lastPublish = now;
    for (const auto& [id, connection] : m_connections) {
        if (connection->session() != nullptr)
            m_table.update(connection->describe(now));
    }
}

void CaptureCore::beginStop()
{
    m_isStopping = true;
    m_stopDeadline = Clock::now() + m_setup.limits.drain;
    m_acceptor.reset();
    for (AgentConnection* connection : connections())
        connection->beginStop(kRetryAfterMs);
    pump();
}

void CaptureCore::finishStopWhenDone(Clock::time_point now)
{
    const bool isSettled = std::all_of(m_connections.begin(), m_connections.end(),
        [](const auto& c) { return c.second->session() == nullptr || c.second->session()->isSettled(); });
    if (!isSettled && now < m_stopDeadline)
        return;
    m_isStopping = false;
    m_sweepTimer->stop();
    for (AgentConnection* connection : connections())
        connection->finish(QWebSocketProtocol::CloseCodeGoingAway);
    publish(now);
    m_sink->setWake({});
    {
        const std::lock_guard lock(m_wakeTarget->mutex);
        m_wakeTarget->core = nullptr;
    }
    Q_EMIT stopped();
}

void CaptureCore::releaseSockets()
{
    m_connections.clear();
    m_server.reset();
    m_sweepTimer.reset();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
}

}
