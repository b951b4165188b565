// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/controlendpoint.h>

#include <utility>

#include <telltale/protocol/limits.h>

namespace telltale::server {

ControlEndpoint::ControlEndpoint(
    const EndpointSetup& setup, store::StoreService& store, ConfigSteering& steering, std::string agentToken)
    : Endpoint(protocol::limits::kControlPath, setup)
    , m_store(store)
    , m_steering(steering)
    , m_agentToken(std::move(agentToken))
    , m_jobs([this] {
        QMetaObject::invokeMethod(
            this, [this] { m_jobs.deliver(); }, Qt::QueuedConnection);
    })
{
}

std::unique_ptr<PeerConnection> ControlEndpoint::connect(
    std::uint64_t id, std::unique_ptr<QWebSocket> socket, ConnectionHost& host)
{
    auto peer = std::make_unique<ControlConnection>(id, std::move(socket), host, door(), limits(), *this);
    m_peers.emplace(id, peer.get());
    return peer;
}

void ControlEndpoint::append(store::OwnRecord record, std::function<void(const Expected<void>&)> done)
{
    m_home.check();
    record.token = ++m_lastToken;
    if (m_store.append(std::move(record)))
        m_writing.emplace(m_lastToken, std::move(done));
    else
        done(failure(ErrorCode::Busy, "the store takes nothing more now", "try again"));
}

bool ControlEndpoint::onWritten(const store::RecordWritten& written)
{
    m_home.check();
    const auto waiting = m_writing.extract(written.token);
    if (waiting)
        waiting.mapped()(written.id != 0 ? Expected<void>() : tl::unexpected(written.error));
    return !waiting.empty();
}

ControlConnection* ControlEndpoint::find(std::uint64_t id) const
{
    m_home.check();
    const auto found = m_peers.find(id);
    return found == m_peers.end() ? nullptr : found->second;
}

}
