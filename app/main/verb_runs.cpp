// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/store/archive.h>

#include "args.h"
#include "report.h"

namespace telltale::app {
namespace {

const Usage kUsage { "telltale runs [--json] [--data-dir DIR]",
    "Lists the runs of the archive, newest first: id, name, state, ranks, last step, size.",
    { { "--json", "", "one JSON array on standard output" },
        { "--data-dir", "DIR", "look there instead of $TELLTALE_DATA_DIR" } },
    0, 0 };

nlohmann::json toJson(const store::RunSummary& run)
{
    return { { "id", run.id }, { "name", run.name }, { "state", store::runStateName(run.state) },
        { "ranks", run.ranks }, { "last_step", run.lastStep.value }, { "size", run.fileBytes },
        { "created", timeText(run.createdNs) }, { "modified", timeText(run.modifiedNs) }, { "path", run.path },
        { "missing_batches", run.missingBatches }, { "note", run.note } };
}

/// What a line says behind its columns.
std::string noteText(const store::RunSummary& run)
{
    if (!run.note.empty())
        return "  " + terminalText(run.note);
    if (run.missingBatches == 0)
        return {};
    return fmt::format("  {} {} never came; see 'telltale inspect {}'", run.missingBatches,
        run.missingBatches == 1 ? "batch" : "batches", run.id);
}

}

int runRuns(std::span<const std::string> args, std::ostream& out, std::ostream& err)
{
    Report report(args, out, err);
    const auto parsed = report.parse(kUsage, args);
    if (!parsed)
        return report.exitCode();
    const auto dataDir = dataDirOf(*parsed);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    const auto runs = store::listRuns(*dataDir);
    if (parsed->has("--json")) {
        auto document = nlohmann::json::array();
        for (const store::RunSummary& run : runs)
            document.push_back(toJson(run));
        writeJson(out, document);
        return kExitDone;
    }
    std::size_t nameWidth = 4;
    for (const store::RunSummary& run : runs)
        nameWidth = std::max(nameWidth, nameText(run.name).size());
    if (!runs.empty()) {
        out << fmt::format("{:<10}  {:<{}}  {:<11}  {:>5}  {:>9}  {:>8}\n", "ID", "NAME", nameWidth, "STATE", "RANKS",
            "LAST STEP", "SIZE");
    }
    for (const store::RunSummary& run : runs) {
        out << fmt::format("{:<10}  {:<{}}  {:<11}  {:>5}  {:>9}  {:>8}{}\n", run.id, nameText(run.name), nameWidth,
            store::runStateName(run.state), run.ranks,
            run.lastStep.value < 0 ? "-" : std::to_string(run.lastStep.value), bytesText(run.fileBytes), noteText(run));
    }
    return kExitDone;
}

}
