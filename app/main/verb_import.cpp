// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/client/controlclient.h>
#include <telltale/client/spooldelivery.h>
#include <telltale/core/plaintext.h>
#include <telltale/ingest/spoolimport.h>
#include <telltale/ingest/streamrequest.h>
#include <telltale/store/archive.h>
#include <telltale/store/runfacts.h>
#include <telltale/store/storeservice.h>

#include "report.h"

namespace telltale::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCloseMs = 60'000;

constexpr const char* kBusyHelp = "stop that Telltale first, or leave the spool to the next start of its agent, or "
                                  "name another --data-dir";

/// Who takes in what is imported.
class Importer {
public:
    virtual ~Importer() = default;
    virtual Expected<store::ImportedRun> takeRun(const std::string& path) = 0;
    /// Whether some run has the stream.
    virtual Expected<bool> knows(const protocol::Hello& stream) = 0;
    virtual Expected<ingest::SpoolReport> takeSpool(const fs::path& folder, ingest::SpoolImport::Found found) = 0;
    /// Where the runs are, for people.
    virtual std::string place() const = 0;
};

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
    Expected<bool> knows(const protocol::Hello& stream) override
    {
        return !store::runWithStream(m_dataDir, ingest::requestOf(stream, 0)).isEmpty();
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
    Expected<bool> knows(const protocol::Hello& stream) override
    {
        const auto found = m_server->findStream(stream);
        return found ? Expected<bool>(!found->id.empty()) : tl::unexpected(found.error());
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

Expected<ingest::SpoolReport> importOne(Importer& importer, const fs::path& folder, bool mayBegin)
{
    auto found = ingest::SpoolImport::open(folder);
    if (!found)
        return tl::unexpected<Error>(std::move(found.error()));
    if (found->spooled.stream && found->hello.firstRetainedSeq > 1 && !mayBegin) {
        const auto knows = importer.knows(found->hello);
        if (!knows)
            return tl::unexpected(knows.error());
        if (!*knows)
            return failure(ErrorCode::BadInput,
                fmt::format("no run in {} has the beginning of {}", importer.place(), folder.string()),
                "name the --data-dir that recorded it, or add --new-run");
    }
    return importer.takeSpool(folder, std::move(*found));
}

nlohmann::json toJson(const ingest::SpoolReport& report)
{
    return { { "spool", report.folder }, { "run", report.runId }, { "run_key", report.runKey },
        { "capsule", report.capsule }, { "rank", report.rank.value }, { "agent_id", report.agentId },
        { "batches", report.batches }, { "delivered", report.isDelivered },
        { "samples", report.isDelivered ? nlohmann::json() : nlohmann::json(report.samples) },
        { "duplicates", report.duplicates }, { "rejected", report.rejected }, { "damages", report.damages } };
}

void writeText(std::ostream& out, const ingest::SpoolReport& report)
{
    if (report.isEmpty) {
        out << fmt::format("{}: empty\n", terminalText(report.folder));
        return;
    }
    if (report.isDelivered) {
        out << fmt::format("{}: {} delivered to the running Telltale, run {} (rank {})\n", terminalText(report.folder),
            countText(report.batches, "batch", "batches"), report.runId, report.rank.value);
        return;
    }
    out << fmt::format("{}: {}, {} into run {} (rank {})", terminalText(report.folder),
        countText(report.batches, "batch", "batches"), countText(report.samples, "sample", "samples"), report.runId,
        report.rank.value);
    if (report.duplicates > 0)
        out << fmt::format(", {} there already", report.duplicates);
    if (report.rejected > 0)
        out << fmt::format(", {} refused", report.rejected);
    out << '\n';
}

bool isCapsule(const std::string& word)
{
    std::error_code error;
    return fs::is_regular_file(word, error);
}

Expected<std::vector<fs::path>> spoolsOf(const std::vector<std::string>& words)
{
    std::vector<fs::path> spools;
    for (const std::string& word : words) {
        std::error_code error;
        if (isCapsule(word))
            continue;
        if (!fs::is_directory(word, error))
            return failure(ErrorCode::NotFound, "there is no folder '" + word + "'");
        const auto found = agent::findSpools(word);
        if (found.empty())
            return failure(ErrorCode::NotFound, "there is no spool in " + word);
        spools.insert(spools.end(), found.begin(), found.end());
    }
    return spools;
}

int runImport(const Args& args, Report& report)
{
    std::ostream& out = report.out();
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    const auto spools = spoolsOf(args.positionals());
    if (!spools)
        return report.failUsage(spools.error());
    auto importer = importerFor(args, *dataDir);
    if (!importer)
        return report.fail(importer.error());
    auto capsules = nlohmann::json::array();
    auto streams = nlohmann::json::array();
    auto errors = nlohmann::json::array();
    bool isWhole = true;
    const auto failed = [&](const Error& error) {
        report.say(error.sentence());
        errors.push_back(error.sentence());
    };
    for (const std::string& word : args.positionals()) {
        if (!isCapsule(word))
            continue;
        const auto taken = (*importer)->takeRun(word);
        if (!taken) {
            failed(taken.error());
            continue;
        }
        capsules.push_back({ { "file", word }, { "capsule", taken->locator.text() }, { "run", taken->id },
            { "damage", taken->damage } });
        if (!args.has("--json"))
            out << fmt::format("{}: imported as run {}\n", terminalText(word), terminalText(taken->id));
        for (const std::string& sentence : taken->damage)
            report.say(word + ": " + sentence);
        isWhole = isWhole && taken->damage.empty();
    }
    for (const fs::path& folder : *spools) {
        const auto taken = importOne(**importer, folder, args.has("--new-run"));
        if (!taken) {
            failed(taken.error());
            continue;
        }
        for (const std::string& damage : taken->damages)
            report.say(damage);
        streams.push_back(toJson(*taken));
        if (!args.has("--json"))
            writeText(out, *taken);
    }
    importer->reset(); // what is said below is true once it has closed what it wrote
    if (args.has("--json"))
        writeJson(out, { { "streams", streams }, { "capsules", capsules }, { "errors", errors } });
    return errors.empty() && isWhole ? kExitDone : kExitFailed;
}

}

Verb importVerb()
{
    return { "import", "what a training process left in its spool, into its run",
        "Brings what a training process could not deliver into its run. SPOOL is a spool folder, or the folder above\n"
        "several ($TELLTALE_DIR of the training). A CAPSULE (.telltale) is copied into the archive with what is still "
        "in\n"
        "its log; the file itself stays as it is. A spool goes when everything in it is safe; whatever the run has\n"
        "already is not added again. While a Telltale runs on the data directory, it is the one that takes them in;\n"
        "without --data-dir, $TELLTALE_CONTROL may name one elsewhere: it is a line of the file 'control' in that "
        "one's\n"
        "data directory.",
        { "SPOOL|CAPSULE...", 1, 1000 },
        { { "--data-dir", "DIR", "where the run is kept, instead of $TELLTALE_DATA_DIR" },
            { "--new-run", "", "take a spool whose beginning neither it nor any run here has" },
            { "--json", "", "one JSON document on standard output" } },
        runImport };
}

}
