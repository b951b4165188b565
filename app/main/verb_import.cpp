// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/ingest/spooldelivery.h>
#include <telltale/ingest/spoolimport.h>
#include <telltale/ingest/streamrequest.h>
#include <telltale/store/archive.h>
#include <telltale/store/runfacts.h>
#include <telltale/store/runfiles.h>

#include "report.h"

namespace telltale::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCloseMs = 60'000;

constexpr const char* kBusyHelp = "stop that Telltale first, or leave the spool to the next start of its agent, or "
                                  "name another --data-dir";

using Take = std::function<Expected<ingest::SpoolReport>(const fs::path& folder, ingest::SpoolImport::Found found)>;

/// The capsule that has the stream; empty when none does.
std::string capsuleOf(const std::string& dataDir, const protocol::Hello& hello)
{
    const auto request = ingest::requestOf(hello, 0);
    for (const std::string& path : store::capsulePaths(dataDir)) {
        const auto facts = store::readRunFacts(path);
        if (facts && facts->knows(request))
            return path;
    }
    return {};
}

Expected<ingest::SpoolReport> importOne(
    const Take& take, const fs::path& folder, const std::string& dataDir, bool mayBegin)
{
    auto found = ingest::SpoolImport::open(folder);
    if (!found)
        return tl::unexpected<Error>(std::move(found.error()));
    if (found->spooled.stream && found->hello.firstRetainedSeq > 1 && !mayBegin
        && capsuleOf(dataDir, found->hello).empty())
        return failure(ErrorCode::BadInput,
            fmt::format("no run in {} has the beginning of {}", dataDir, folder.string()),
            "name the --data-dir that recorded it, or add --new-run");
    return take(folder, std::move(*found));
}

/// Who takes spools in while another process writes the data directory: the server in it.
Expected<Take> takeThroughServer(const std::string& dataDir, const Error& busy)
{
    auto joins = ingest::joinsOfServer(dataDir);
    if (!joins)
        return failure(busy.code, busy.what, kBusyHelp);
    return Take([dataDir, joins = std::move(*joins)](const fs::path& folder, ingest::SpoolImport::Found found) {
        const protocol::Hello hello = found.hello;
        auto report = ingest::deliverSpool(joins, folder, std::move(found));
        if (!report) {
            report.error().todo = kBusyHelp;
        } else if (!report->isEmpty) {
            report->capsule = capsuleOf(dataDir, hello);
            report->runId = store::describeRun(report->capsule).id;
        }
        return report;
    });
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

/// What an imported run has lost, as showing it says.
std::vector<std::string> damageOf(const std::string& path)
{
    const auto capsule = openCapsule(path);
    return capsule ? capsule->catalog->damage : std::vector<std::string> { capsule.error().sentence() };
}

int run(const Args& args, Report& report)
{
    std::ostream& out = report.out();
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    const auto spools = spoolsOf(args.positionals());
    if (!spools)
        return report.failUsage(spools.error());
    auto capsules = nlohmann::json::array();
    auto errors = nlohmann::json::array();
    bool isWhole = true;
    for (const std::string& word : args.positionals()) {
        if (!isCapsule(word))
            continue;
        const auto copied = store::importRun(*dataDir, word);
        if (!copied) {
            report.say(copied.error().sentence());
            errors.push_back(copied.error().sentence());
            continue;
        }
        const std::string id = store::describeRun(*copied).id;
        const auto damage = damageOf(*copied);
        capsules.push_back({ { "file", word }, { "capsule", *copied }, { "run", id }, { "damage", damage } });
        if (!args.has("--json"))
            out << fmt::format("{}: imported as run {}\n", terminalText(word), terminalText(id));
        for (const std::string& sentence : damage)
            report.say(word + ": " + sentence);
        isWhole = isWhole && damage.empty();
    }
    if (spools->empty()) {
        if (args.has("--json"))
            writeJson(out, { { "streams", nlohmann::json::array() }, { "capsules", capsules }, { "errors", errors } });
        return errors.empty() && isWhole ? kExitDone : kExitFailed;
    }
    store::StoreOptions options;
    options.dataDir = *dataDir;
    auto service = store::StoreService::start(options);
    std::optional<ingest::StoreSink> sink;
    std::optional<ingest::SpoolImport> importer;
    Take take;
    if (service) {
        importer.emplace(sink.emplace(**service));
        take = [&importer](const fs::path& folder, ingest::SpoolImport::Found found) {
            return importer->take(folder, std::move(found));
        };
    } else {
        auto server = service.error().code == ErrorCode::Busy ? takeThroughServer(*dataDir, service.error())
                                                              : tl::unexpected<Error>(service.error());
        if (!server)
            return report.fail(server.error());
        take = std::move(*server);
    }

    auto streams = nlohmann::json::array();
    for (const fs::path& folder : *spools) {
        auto taken = importOne(take, folder, *dataDir, args.has("--new-run"));
        if (!taken) {
            report.say(taken.error().sentence());
            errors.push_back(taken.error().sentence());
            continue;
        }
        for (const std::string& damage : taken->damages)
            report.say(damage);
        streams.push_back(toJson(*taken));
        if (!args.has("--json"))
            writeText(out, *taken);
    }
    importer.reset();
    if (service)
        (*service)->stop(kCloseMs);
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
        "already is not added again. While a Telltale runs on the data directory, it is the one that takes them in.",
        { "SPOOL|CAPSULE...", 1, 1000 },
        { { "--data-dir", "DIR", "where the run is kept, instead of $TELLTALE_DATA_DIR" },
            { "--new-run", "", "take a spool whose beginning neither it nor any run here has" },
            { "--json", "", "one JSON document on standard output" } },
        run };
}

}
