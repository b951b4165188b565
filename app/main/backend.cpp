// SPDX-License-Identifier: GPL-3.0-or-later
#include "backend.h"

#include <telltale/items/guithread.h>
#include <telltale/store/runfiles.h>

#include "log.h"

namespace telltale::app {

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
    if (!service) {
        self->m_problem = service.error();
        return backend;
    }
    self->m_store = std::move(*service);
    self->m_judge = std::make_unique<judge::LiveJudge>(*self->m_store);

    server::ServerOptions serverOptions;
    serverOptions.dataDir = options.dataDir;
    serverOptions.listen = options.listen;
    serverOptions.log = [](const std::string& line) { writeLog(LogLevel::Warning, line); };
    serverOptions.keepsPort = options.keepsPort;
    auto server = server::CaptureServer::start(serverOptions, *self->m_store);
    if (server)
        self->m_server = std::move(*server);
    else
        self->m_problem = server.error();
    return backend;
}

void Backend::stopRecording()
{
    items::assertGuiThread();
    if (m_server)
        m_server->stop();
    m_server.reset();
    m_judge.reset();
    if (m_store)
        m_store->stop();
}

Backend::~Backend()
{
    items::assertGuiThread();
    stopRecording();
}

}
