// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/store/archive.h>
#include <telltale/store/pins.h>
#include <telltale/store/trash.h>

#include "report.h"

namespace telltale::app {
namespace {

constexpr std::size_t kMostRuns = 10'000; ///< of one call

std::string nameOf(const store::RunSummary& run)
{
    return fmt::format("{} ({}, {})", nameText(run.name), run.id, bytesText(run.fileBytes));
}

nlohmann::json deletedJson(const store::TrashedRun& trashed)
{
    return { { "id", trashed.run.id }, { "name", trashed.run.name }, { "size", trashed.run.fileBytes },
        { "from", trashed.from }, { "deleted", utcTimeText(trashed.deletedNs) },
        { "path", trashed.run.locator.text() } };
}

int listDeleted(const Args& args, Report& report, const std::string& dataDir)
{
    auto document = nlohmann::json::array();
    for (const store::TrashedRun& trashed : store::listTrash(dataDir)) {
        if (args.has("--json"))
            document.push_back(deletedJson(trashed));
        else
            report.out() << utcTimeText(trashed.deletedNs) << "  " << nameOf(trashed.run) << '\n';
    }
    if (args.has("--json"))
        writeJson(report.out(), document);
    return kExitDone;
}

int emptyTrash(const Args& args, Report& report, const std::string& dataDir)
{
    std::uint64_t bytes = 0;
    std::size_t runs = 0;
    for (const store::TrashedRun& trashed : store::listTrash(dataDir)) {
        const std::uint64_t size = store::runBytes(trashed.run.locator);
        if (const auto ok = store::eraseTrashed(trashed); !ok)
            return report.fail(ok.error());
        bytes += size;
        ++runs;
    }
    if (args.has("--json"))
        writeJson(report.out(), { { "runs", runs }, { "bytes", bytes } });
    else
        report.out() << fmt::format("{} deleted for good, {}\n", countText(runs, "run", "runs"), bytesText(bytes));
    return kExitDone;
}

/// All of them or, where one of them is no run or pinned, none.
Expected<std::vector<store::RunLocator>> runsToDelete(const Args& args, const std::string& dataDir)
{
    const auto pins = store::Pins::read(dataDir);
    if (!pins)
        return tl::unexpected(pins.error());
    std::vector<store::RunLocator> runs;
    for (const std::string& word : args.positionals()) {
        auto run = store::findRun(dataDir, word);
        if (!run)
            return tl::unexpected(run.error());
        if (pins->has(*run))
            return failure(ErrorCode::BadInput, "the run " + word + " is pinned", "'telltale unpin' it first");
        if (std::find(runs.begin(), runs.end(), *run) == runs.end())
            runs.push_back(std::move(*run));
    }
    return runs;
}

int runDelete(const Args& args, Report& report)
{
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    const bool isForTrash = args.has("--empty-trash") || args.has("--list");
    if (isForTrash == !args.positionals().empty() || (args.has("--empty-trash") && args.has("--list")))
        return report.failUsage({ ErrorCode::BadInput, "delete wants runs, or --list, or --empty-trash: one of these",
            "see 'telltale delete --help'" });
    if (args.has("--list"))
        return listDeleted(args, report, *dataDir);
    if (args.has("--empty-trash"))
        return emptyTrash(args, report, *dataDir);
    const auto runs = runsToDelete(args, *dataDir);
    if (!runs)
        return report.fail(runs.error());
    auto document = nlohmann::json::array();
    int code = kExitDone;
    for (const store::RunLocator& run : *runs) {
        const auto trashed = store::trashRun(*dataDir, run);
        if (!trashed) {
            report.say(trashed.error().sentence());
            code = kExitFailed;
        } else if (args.has("--json")) {
            document.push_back(deletedJson(*trashed));
        } else {
            report.out() << fmt::format("deleted {}; 'telltale restore {}' brings it back\n", nameOf(trashed->run),
                terminalText(trashed->run.id));
        }
    }
    if (args.has("--json"))
        writeJson(report.out(), document);
    return code;
}

int runRestore(const Args& args, Report& report)
{
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    const auto trashed = store::findTrashed(*dataDir, args.positionals().front());
    if (!trashed)
        return report.fail(trashed.error());
    const auto run = store::restoreRun(*trashed);
    if (!run)
        return report.fail(run.error());
    if (args.has("--json"))
        writeJson(report.out(), { { "id", trashed->run.id }, { "path", run->text() } });
    else
        report.out() << fmt::format("{} is back: {}\n", nameOf(trashed->run), terminalText(run->text()));
    return kExitDone;
}

}

Verb deleteVerb()
{
    return { "delete", "moves runs to the trash",
        "Moves runs to the trash of the data directory, from which 'telltale restore' brings them back. Never one that "
        "is\n"
        "being recorded or pinned. RUN is a path or an id from 'telltale runs'.",
        { "RUN...", 0, kMostRuns },
        { { "--list", "", "what is in the trash instead" },
            { "--empty-trash", "", "deletes what is in the trash for good instead" },
            { "--json", "", "one JSON document on standard output" },
            { "--data-dir", "DIR", "whose trash, and where ids are looked up, instead of $TELLTALE_DATA_DIR" } },
        runDelete };
}

Verb restoreVerb()
{
    return { "restore", "brings a deleted run back",
        "Brings a run back from the trash to where it was. RUN is its id or name, as 'telltale delete --list' says it.",
        { "RUN", 1, 1 },
        { { "--json", "", "one JSON document on standard output" },
            { "--data-dir", "DIR", "whose trash, instead of $TELLTALE_DATA_DIR" } },
        runRestore };
}

}
