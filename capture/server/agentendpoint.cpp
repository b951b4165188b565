// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/agentendpoint.h>

#include <algorithm>
#include <utility>

#include <telltale/ingest/streamrequest.h>
#include <telltale/protocol/limits.h>

namespace telltale::server {
namespace {

using Phase = AgentConnection::Phase;

constexpr std::chrono::milliseconds kPublishEvery { 250 };

}

AgentEndpoint::AgentEndpoint(const EndpointSetup& setup, std::unique_ptr<ingest::BatchSink> sink,
    ConnectionTable& table, ConfigSteering* steering, PeerLog::Sink log, ConnectionHost& host)
    : Endpoint(protocol::limits::kPath, setup)
    , m_sink(std::move(sink))
    , m_table(table)
    , m_steering(steering)
    , m_log(std::move(log))
    , m_host(host)
{
    m_wakeTarget->endpoint = this;
    m_sink->setWake([target = m_wakeTarget] { wake(target); });
    if (m_steering != nullptr)
        m_steering->setWay([this](std::uint64_t id, const protocol::ConfigOffer& offer) {
            if (AgentConnection* agent = find(id))
                agent->offerConfig(offer);
        });
}

AgentEndpoint::~AgentEndpoint()
{
    if (m_steering != nullptr)
        m_steering->setWay({});
    m_sink->setWake({});
    const std::lock_guard lock(m_wakeTarget->mutex);
    m_wakeTarget->endpoint = nullptr;
}

void AgentEndpoint::wake(const std::shared_ptr<WakeTarget>& target)
{
    const std::lock_guard lock(target->mutex);
    if (target->endpoint != nullptr && !std::exchange(target->isQueued, true))
        QMetaObject::invokeMethod(target->endpoint, &AgentEndpoint::pump, Qt::QueuedConnection);
}

std::unique_ptr<PeerConnection> AgentEndpoint::connect(
    std::uint64_t id, std::unique_ptr<QWebSocket> socket, ConnectionHost& host)
{
    auto agent = std::make_unique<AgentConnection>(id, std::move(socket), host, door(), limits(), *m_sink, m_steering);
    m_agents.emplace(id, agent.get());
    return agent;
}

void AgentEndpoint::onGreeted(PeerConnection& connection)
{
    AgentConnection* agent = find(connection.id());
    if (!m_sink->openStream(ingest::requestOf(agent->hello(), agent->id())))
        agent->refuseStream({ ErrorCode::Busy, "the dashboard's store is held up", "the agent tries again" });
}

void AgentEndpoint::onEnded(PeerConnection& connection)
{
    if (!connection.info().agentId.empty())
        m_table.update(find(connection.id())->describe(Clock::now()));
    if (m_steering != nullptr)
        m_steering->detach(connection.id(), find(connection.id())->hasFinished());
    std::erase_if(m_owners, [&](const auto& entry) { return entry.second == connection.id(); });
    m_agents.erase(connection.id());
    m_runs.erase(connection.id());
}

void AgentEndpoint::askRecorders(const store::RunLocator& run, const std::string& why)
{
    m_home.check();
    for (const auto& [id, ref] : m_runs) {
        if (AgentConnection* agent = ref && ref->locator == run ? find(id) : nullptr)
            agent->askRecorder({ why });
    }
}

void AgentEndpoint::notify(const store::RunLocator& run, const std::string& text)
{
    m_home.check();
    AgentConnection* lowest = nullptr;
    for (const auto& [id, ref] : m_runs) {
        AgentConnection* agent = ref && ref->locator == run ? find(id) : nullptr;
        if (agent && agent->takesNotices() && (!lowest || agent->hello().rank < lowest->hello().rank))
            lowest = agent;
    }
    if (lowest)
        lowest->notify({ text });
}

AgentConnection* AgentEndpoint::find(std::uint64_t id) const
{
    const auto found = m_agents.find(id);
    return found == m_agents.end() ? nullptr : found->second;
}

AgentConnection* AgentEndpoint::ownerOf(StreamId stream) const
{
    const auto owner = m_owners.find(stream);
    return owner == m_owners.end() ? nullptr : find(owner->second);
}

std::vector<AgentConnection*> AgentEndpoint::agents() const
{
    std::vector<AgentConnection*> out;
    out.reserve(m_agents.size());
    for (const auto& [id, agent] : m_agents)
        out.push_back(agent);
    return out;
}

void AgentEndpoint::pump()
{
    m_home.check();
    {
        const std::lock_guard lock(m_wakeTarget->mutex);
        m_wakeTarget->isQueued = false;
    }
    for (const store::StoreEvent& event : m_sink->takeEvents())
        std::visit([this](const auto& content) { on(content); }, event);
    // Whatever became durable made room.
    for (AgentConnection* agent : agents())
        agent->advance();
    m_host.onSettled();
}

void AgentEndpoint::on(const store::StreamOpened& event)
{
    for (const StreamId older : event.fenced) {
        if (AgentConnection* agent = ownerOf(older))
            agent->fence();
    }
    AgentConnection* agent = find(event.token);
    if (agent == nullptr || agent->phase() != Phase::AwaitStore) {
        // It left while the store looked.
        m_sink->closeStream(event.stream, {}, 0, {});
        return;
    }
    const auto connected = static_cast<std::uint64_t>(
        1 + std::count_if(m_agents.begin(), m_agents.end(), [](const auto& a) { return a.second->session(); }));
    const std::uint64_t bytes = std::min(limits().creditMaxBytes, limits().creditTotalBytes / connected);
    m_owners[event.stream] = event.token;
    m_runs[event.token] = event.run;
    agent->open(event, { bytes, limits().creditBatches }, m_isInTrouble);
    const protocol::Hello& hello = agent->hello();
    const bool isTraining
        = std::find(hello.capabilities.begin(), hello.capabilities.end(), protocol::limits::kSpoolOnly)
        == hello.capabilities.end();
    if (m_steering != nullptr && isTraining)
        m_steering->attach(agent->id(), event.run,
            { Rank { hello.rank }, hello.incarnation, hello.remoteConfigAllowed, hello.worldSize, hello.host });
    m_table.opened(agent->describe(Clock::now()));
}

void AgentEndpoint::on(const store::StreamRefused& event)
{
    if (AgentConnection* agent = find(event.token))
        agent->refuseStream(event.error);
}

void AgentEndpoint::on(const store::StreamDurable& event)
{
    if (AgentConnection* agent = ownerOf(event.stream))
        agent->onDurable(event.seq);
}

void AgentEndpoint::on(const store::BatchQuarantined& event)
{
    if (AgentConnection* agent = ownerOf(event.stream))
        agent->onQuarantined(event.seq, event.reason);
}

void AgentEndpoint::on(const store::StoreTrouble& event)
{
    if (m_isInTrouble == !event.recovered)
        return;
    m_isInTrouble = !event.recovered;
    if (m_log)
        m_log(m_isInTrouble ? "agents are spooling: " + escaped(event.error.sentence())
                            : std::string("the store writes again"));
    for (AgentConnection* agent : agents())
        agent->setPaused(m_isInTrouble);
}

void AgentEndpoint::on(const store::RunStopped& event)
{
    if (m_log)
        m_log("recording of " + escaped(event.name) + " has stopped: " + escaped(event.error.sentence()));
    for (const StreamId stream : event.streams) {
        if (AgentConnection* agent = ownerOf(stream))
            agent->stopRecording(event.error);
    }
}

void AgentEndpoint::on(const store::RecordWritten& event)
{
    if (!(m_recordOwner && m_recordOwner(event)) && m_steering != nullptr)
        m_steering->onWritten(event);
}

void AgentEndpoint::sweep(Clock::time_point now)
{
    m_home.check();
    for (AgentConnection* agent : agents())
        agent->advance();
    if (m_steering != nullptr)
        m_steering->sweep(now);
    if (now - m_lastPublish >= kPublishEvery)
        publish(now);
}

void AgentEndpoint::publish(Clock::time_point now)
{
    m_lastPublish = now;
    for (const auto& [id, agent] : m_agents) {
        if (agent->session() != nullptr)
            m_table.update(agent->describe(now));
    }
}

bool AgentEndpoint::isSettled() const
{
    return std::all_of(m_agents.begin(), m_agents.end(),
        [](const auto& a) { return a.second->session() == nullptr || a.second->session()->isSettled(); });
}

void AgentEndpoint::stop()
{
    pump(); // streams that the store opened meanwhile
    publish(Clock::now());
}

}
