// SPDX-License-Identifier: GPL-3.0-or-later
#include "backend.h"

#include <chrono>

#include <telltale/items/guithread.h>
#include <telltale/store/runfiles.h>

#include "log.h"

namespace telltale::app {

namespace {

constexpr std::chrono::seconds kJudgedWithin { 2 }; ///< what came last, before the store ends

void say(const std::string& line)
{
    writeLog(LogLevel::Warning, line);
}

}

Backend::Backend(const Options& options)
    : m_options(options)
{
}

Expected<std::unique_ptr<Backend>> Backend::start(const Options& options)
{
    if (auto prepared = store::prepareDataDir(options.dataDir); !prepared)
        return tl::unexpected(prepared.error());
    std::unique_ptr<Backend> backend(new Backend(options));
    backend->m_alerts = std::make_unique<notify::AlertService>(notify::AlertService::Options { options.dataDir, say });
    backend->startStore();
    if (backend->m_store)
        backend->startServer();
    return backend;
}

void Backend::startStore()
{
    store::StoreOptions options;
    options.dataDir = m_options.dataDir;
    auto service = store::StoreService::start(options);
    if (!service) {
        m_problem = service.error();
        return;
    }
    m_store = std::move(*service);
    m_alerts->watch(*m_store);
    m_judge = std::make_unique<judge::LiveJudge>(*m_store, say);
}

void Backend::startServer()
{
    server::ServerOptions options;
    options.dataDir = m_options.dataDir;
    options.listen = m_options.listen;
    options.log = say;
    options.keepsPort = m_options.keepsPort;
    auto server = server::CaptureServer::start(options, *m_store);
    if (!server) {
        m_problem = server.error();
        return;
    }
    m_problem = {};
    m_server = std::move(*server);
    connect(m_alerts.get(), &notify::AlertService::consoleWanted, this, [this](const alerts::Alert& alert) {
        if (m_server)
            m_server->notify(store::RunLocator::fromText(alert.locator), alert.line());
    });
    m_escalations = std::make_unique<Escalations>(
        *m_store, m_options.dataDir,
        [to = m_server.get()](ConfigRequest request, Escalations::Answer answer) {
            to->offerConfig(std::move(request), std::move(answer));
        },
        [to = m_server.get()] { return to->steering(); }, say);
    const auto ask = [this](const store::RunRef& run, const judge::Incident& incident, judge::IncidentNews news) {
        if (news != judge::IncidentNews::Opened)
            return;
        m_server->askRecorders(run->locator, incident.sentence);
        m_escalations->onOpened(run, incident);
    };
    m_incidents = std::make_unique<judge::IncidentFeed>(*m_store, ask);
}

bool Backend::retry()
{
    items::assertGuiThread();
    const bool hadStore = m_store != nullptr;
    const ErrorCode before = m_problem.code;
    // The store waits for a lock that readers hold for a moment; whether another one records is known without.
    if (!hadStore && !store::isBeingRecorded(m_options.dataDir + "/runs/any"))
        startStore();
    if (m_store && !m_server)
        startServer();
    return m_server != nullptr || (m_store != nullptr) != hadStore || m_problem.code != before;
}

void Backend::stopRecording()
{
    items::assertGuiThread();
    m_incidents.reset();
    m_escalations.reset();
    if (m_server)
        m_server->stop();
    m_server.reset();
    if (m_judge)
        m_judge->finish(kJudgedWithin);
    m_judge.reset();
    if (m_store)
        m_store->stop();
    if (m_alerts)
        m_alerts->stop(); // what was found last is durable now
}

Backend::~Backend()
{
    items::assertGuiThread();
    stopRecording();
}

}
