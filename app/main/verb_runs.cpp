// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/store/archive.h>

#include "report.h"

namespace telltale::app {
namespace {

nlohmann::json toJson(const store::RunSummary& run)
{
    return { { "id", run.id }, { "name", run.name }, { "state", store::runStateName(run.state) },
        { "ranks", run.ranks }, { "last_step", run.lastStep.value }, { "size", run.fileBytes },
        { "created", utcTimeText(run.createdNs) }, { "modified", utcTimeText(run.modifiedNs) },
        { "path", run.locator.text() }, { "missing_batches", run.missingBatches }, { "note", run.note } };
}

/// What a line says behind its columns.
std::string noteText(const store::RunSummary& run)
{
    if (!run.note.empty())
        return "  " + terminalText(run.note);
    if (run.missingBatches == 0)
        return {};
    return fmt::format(
        "  {} never came; see 'telltale inspect {}'", countText(run.missingBatches, "batch", "batches"), run.id);
}

int runRuns(const Args& args, Report& report)
{
    std::ostream& out = report.out();
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    const auto runs = store::listRuns(*dataDir);
    if (args.has("--json")) {
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

Verb runsVerb()
{
    return { "runs", "the archive",
        "Lists the runs of the archive, newest first: id, name, state (how the training ended; whether all of it can "
        "be "
        "read, only 'telltale inspect --verify' says), ranks, last step, size.",
        {},
        { { "--json", "", "one JSON array on standard output" },
            { "--data-dir", "DIR", "look there instead of $TELLTALE_DATA_DIR" } },
        runRuns };
}

}
