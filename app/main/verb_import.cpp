// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <filesystem>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/ingest/spoolimport.h>
#include <telltale/ingest/streamrequest.h>
#include <telltale/store/archive.h>
#include <telltale/store/runfacts.h>
#include <telltale/store/runfiles.h>

#include "args.h"
#include "report.h"

namespace telltale::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCloseMs = 60'000;

const Usage kUsage { "telltale import SPOOL... [--data-dir DIR] [--new-run] [--json]",
    "Brings what a training process could not deliver into its run. SPOOL is a spool folder, or the folder above\n"
    "several ($TELLTALE_DIR of the training). A spool goes when everything in it is safe; whatever the run has\n"
    "already is not added again.",
    { { "--data-dir", "DIR", "where the run is kept, instead of $TELLTALE_DATA_DIR" },
        { "--new-run", "", "take a spool whose beginning neither it nor any run here has" },
        { "--json", "", "one JSON document on standard output" } },
    1, 1000 };

bool knows(const std::string& dataDir, const protocol::Hello& hello)
{
    const auto request = ingest::requestOf(hello, 0);
    for (const std::string& path : store::capsulePaths(dataDir)) {
        const auto facts = store::readRunFacts(path);
        if (facts && facts->knows(request))
            return true;
    }
    return false;
}

Expected<ingest::SpoolReport> importOne(
    ingest::SpoolImport& importer, const fs::path& folder, const std::string& dataDir, bool mayBegin)
{
    auto found = ingest::SpoolImport::open(folder);
    if (!found)
        return tl::unexpected<Error>(std::move(found.error()));
    if (found->spooled.stream && found->hello.firstRetainedSeq > 1 && !mayBegin && !knows(dataDir, found->hello))
        return failure(ErrorCode::BadInput,
            fmt::format("no run in {} has the beginning of {}", dataDir, folder.string()),
            "name the --data-dir that recorded it, or add --new-run");
    return importer.take(folder, std::move(*found));
}

nlohmann::json toJson(const ingest::SpoolReport& report)
{
    return { { "spool", report.folder }, { "run", report.runId }, { "run_key", report.runKey },
        { "capsule", report.capsule }, { "rank", report.rank.value }, { "agent_id", report.agentId },
        { "batches", report.batches }, { "samples", report.samples }, { "duplicates", report.duplicates },
        { "rejected", report.rejected }, { "damages", report.damages } };
}

void writeText(std::ostream& out, const ingest::SpoolReport& report)
{
    if (report.isEmpty) {
        out << fmt::format("{}: empty\n", report.folder);
        return;
    }
    out << fmt::format("{}: {} batches, {} samples into run {} (rank {})", report.folder, report.batches,
        report.samples, report.runId, report.rank.value);
    if (report.duplicates > 0)
        out << fmt::format(", {} there already", report.duplicates);
    if (report.rejected > 0)
        out << fmt::format(", {} refused", report.rejected);
    out << '\n';
}

Expected<std::vector<fs::path>> spoolsOf(const std::vector<std::string>& words)
{
    std::vector<fs::path> spools;
    for (const std::string& word : words) {
        std::error_code error;
        if (!fs::is_directory(word, error))
            return failure(ErrorCode::NotFound, "there is no folder '" + word + "'");
        const auto found = agent::findSpools(word);
        if (found.empty())
            return failure(ErrorCode::NotFound, "there is no spool in " + word);
        spools.insert(spools.end(), found.begin(), found.end());
    }
    return spools;
}

}

int runImport(std::span<const std::string> args, std::ostream& out, std::ostream& err)
{
    Report report(args, out, err);
    const auto parsed = Args::parse(kUsage, args);
    if (!parsed)
        return report.failUsage(parsed.error());
    if (parsed->wantsHelp()) {
        out << kUsage.help();
        return kExitDone;
    }
    const auto dataDir = dataDirOf(*parsed);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    const auto spools = spoolsOf(parsed->positionals());
    if (!spools)
        return report.failUsage(spools.error());
    store::StoreOptions options;
    options.dataDir = *dataDir;
    auto service = store::StoreService::start(options);
    if (!service)
        return report.fail(service.error());

    ingest::StoreSink sink(**service);
    auto streams = nlohmann::json::array();
    auto errors = nlohmann::json::array();
    {
        ingest::SpoolImport importer(sink);
        for (const fs::path& folder : *spools) {
            auto taken = importOne(importer, folder, *dataDir, parsed->has("--new-run"));
            if (!taken) {
                report.say(taken.error().sentence());
                errors.push_back(taken.error().sentence());
                continue;
            }
            for (const std::string& damage : taken->damages)
                report.say(damage);
            streams.push_back(toJson(*taken));
            if (!parsed->has("--json"))
                writeText(out, *taken);
        }
    }
    (*service)->stop(kCloseMs);
    if (parsed->has("--json"))
        writeJson(out, { { "streams", streams }, { "errors", errors } });
    return errors.empty() ? kExitDone : kExitFailed;
}

}
