// SPDX-License-Identifier: GPL-3.0-or-later
#include "backend.h"

#include <chrono>

#include <telltale/items/guithread.h>
#include <telltale/store/runfiles.h>

#include "log.h"

namespace telltale::app {

namespace {

constexpr std::chrono::seconds kJudgedWithin { 2 }; ///< what came last, before the store ends

}

Backend::Backend() = default;

Expected<std::unique_ptr<Backend>> Backend::start(const Options& options)
{
    if (auto prepared = store::prepareDataDir(options.dataDir); !prepared)
        return tl::unexpected(prepared.error());
    std::unique_ptr<Backend> backend(new Backend);
    Backend* self = backend.get();
    self->m_dataDir = options.dataDir;

    store::StoreOptions storeOptions;
    storeOptions.dataDir = options.dataDir;
    auto service = store::StoreService::start(storeOptions);
    if (service)
        self->m_store = std::move(*service);
    const auto say = [](const std::string& line) { writeLog(LogLevel::Warning, line); };
    self->m_alerts = std::make_unique<notify::AlertService>(
        notify::AlertService::Options { options.dataDir, say }, self->m_store.get());
    if (!service) {
        self->m_problem = service.error();
        return backend;
    }
    self->m_judge = std::make_unique<judge::LiveJudge>(*self->m_store, say);

    server::ServerOptions serverOptions;
    serverOptions.dataDir = options.dataDir;
    serverOptions.listen = options.listen;
    serverOptions.log = say;
    serverOptions.keepsPort = options.keepsPort;
    auto server = server::CaptureServer::start(serverOptions, *self->m_store);
    if (!server) {
        self->m_problem = server.error();
        return backend;
    }
    self->m_server = std::move(*server);
    connect(self->m_alerts.get(), &notify::AlertService::consoleWanted, self, [self](const alerts::Alert& alert) {
        if (self->m_server)
            self->m_server->notify(store::RunLocator::fromText(alert.locator), alert.line());
    });
    self->m_escalations = std::make_unique<Escalations>(
        *self->m_store, options.dataDir,
        [to = self->m_server.get()](ConfigRequest request, Escalations::Answer answer) {
            to->offerConfig(std::move(request), std::move(answer));
        },
        [to = self->m_server.get()] { return to->steering(); }, say);
    const auto ask = [self](const store::RunRef& run, const judge::Incident& incident, judge::IncidentNews news) {
        if (news != judge::IncidentNews::Opened)
            return;
        self->m_server->askRecorders(run->locator, incident.sentence);
        self->m_escalations->onOpened(run, incident);
    };
    self->m_incidents = std::make_unique<judge::IncidentFeed>(*self->m_store, ask);
    return backend;
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
