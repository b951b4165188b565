// SPDX-License-Identifier: GPL-3.0-or-later
#include "importer.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include <telltale/client/controlclient.h>
#include <telltale/client/servertarget.h>
#include <telltale/client/spooldelivery.h>
#include <telltale/ingest/storetarget.h>
#include <telltale/store/runfacts.h>

#include "interruptible.h"

namespace telltale::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCloseMs = 60'000;

constexpr const char* kBusyHelp = "stop that Telltale first, or leave the spool to the next start of its agent, or "
                                  "name another --data-dir";

/// This process, under the data directory's lock.
class OwnImporter final : public Importer {
public:
    OwnImporter(std::string dataDir, std::unique_ptr<store::StoreService> service)
        : m_dataDir(std::move(dataDir))
        , m_service(std::move(service))
    {
    }
    ~OwnImporter() override
    {
        m_import.reset();
        m_service->stop(kCloseMs);
    }

    Expected<store::ImportedRun> takeRun(const std::string& path) override { return store::importRun(m_dataDir, path); }
    Expected<store::ImportedRun> takeDraft(const std::string& path) override
    {
        return store::adoptRun(m_dataDir, path);
    }
    std::unique_ptr<ingest::ImportTarget> target() override
    {
        m_import.reset();
        return std::make_unique<ingest::StoreTarget>(*m_service);
    }
    Expected<store::ImportedRun> find(const store::StreamRequest& stream) override
    {
        return store::importedAs(m_dataDir, stream);
    }
    Expected<ingest::SpoolReport> takeSpool(const fs::path& folder, ingest::SpoolImport::Found found) override
    {
        return m_import->take(folder, std::move(found));
    }
    std::string place() const override { return m_dataDir; }

private:
    const std::string m_dataDir;
    const std::unique_ptr<store::StoreService> m_service;
    ingest::StoreSink m_sink { *m_service };
    std::optional<ingest::SpoolImport> m_import { m_sink };
};

/// The server that has the data directory.
class ServerImporter final : public Importer {
public:
    ServerImporter(std::unique_ptr<client::ControlClient> server, std::string place)
        : m_server(std::move(server))
        , m_place(std::move(place))
    {
    }

    Expected<store::ImportedRun> takeRun(const std::string& path) override { return m_server->importRun(path); }
    Expected<store::ImportedRun> takeDraft(const std::string& path) override { return m_server->importRun(path); }
    std::unique_ptr<ingest::ImportTarget> target() override
    {
        return std::make_unique<client::ServerTarget>(*m_server, [] { return !Interruptible::wasAsked(); });
    }
    Expected<store::ImportedRun> find(const store::StreamRequest& stream) override
    {
        return m_server->findStream(client::helloOf(stream));
    }
    Expected<ingest::SpoolReport> takeSpool(const fs::path& folder, ingest::SpoolImport::Found found) override
    {
        const protocol::Hello stream = found.hello;
        if (!found.spooled.stream)
            return client::deliverSpool({}, folder, std::move(found));
        if (auto asked = m_server->findStream(stream); !asked)
            return tl::unexpected(asked.error());
        auto report = client::deliverSpool(m_server->agentJoin(), folder, std::move(found));
        if (const auto run = report ? m_server->findStream(stream) : tl::unexpected(report.error())) {
            report->runId = run->id;
            report->capsule = run->locator.text();
        }
        return report;
    }
    std::string place() const override { return m_place; }

private:
    const std::unique_ptr<client::ControlClient> m_server;
    const std::string m_place;
};

Expected<std::unique_ptr<Importer>> askServer(const protocol::JoinString& join, std::string place)
{
    auto server = client::ControlClient::connect(join);
    if (!server)
        return tl::unexpected(server.error());
    return std::make_unique<ServerImporter>(std::move(*server), std::move(place));
}

}

Expected<std::unique_ptr<Importer>> importerFor(const Args& args, const std::string& dataDir)
{
    const char* control = std::getenv("TELLTALE_CONTROL");
    if (control != nullptr && *control != '\0' && !args.has("--data-dir")) {
        const auto join = protocol::JoinString::parse(control);
        return join ? askServer(*join, join->host) : tl::unexpected(join.error());
    }
    store::StoreOptions options;
    options.dataDir = dataDir;
    auto service = store::StoreService::start(options);
    if (service)
        return std::make_unique<OwnImporter>(dataDir, std::move(*service));
    if (service.error().code != ErrorCode::Busy)
        return tl::unexpected(service.error());
    const auto join = client::controlJoin(dataDir);
    if (!join)
        return failure(ErrorCode::Busy, service.error().what, kBusyHelp);
    auto importer = askServer(*join, dataDir);
    if (!importer)
        importer.error().todo = kBusyHelp;
    return importer;
}

}
