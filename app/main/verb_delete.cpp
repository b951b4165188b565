// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/archive/moment.h>
#include <telltale/core/plaintext.h>
#include <telltale/store/archive.h>
#include <telltale/store/clock.h>
#include <telltale/store/pins.h>
#include <telltale/store/retention.h>
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

int setPinned(const Args& args, Report& report, bool isPinned)
{
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    auto pins = store::Pins::read(*dataDir);
    if (!pins)
        return report.fail(pins.error());
    for (const std::string& word : args.positionals()) {
        const auto run = store::findRun(*dataDir, word);
        const auto ok = run ? pins->set(*run, isPinned) : tl::unexpected(run.error());
        if (!ok)
            return report.fail(ok.error());
        report.out() << fmt::format(
            "{} {}\n", terminalText(word), isPinned ? "is pinned: no rule removes it" : "is not pinned");
    }
    return kExitDone;
}

Expected<store::RetentionRule> retentionOf(const Args& args)
{
    store::RetentionRule rule;
    if (const auto age = args.value("--older-than")) {
        const auto ns = archive::parseAge(*age);
        if (!ns)
            return failure(ErrorCode::BadInput, "--older-than: " + ns.error().what, ns.error().todo);
        rule.olderThanNs = *ns;
    }
    if (const auto count = args.value("--keep")) {
        const auto keep = parseInteger("--keep", *count);
        if (!keep || *keep < 0)
            return failure(ErrorCode::BadInput, "--keep wants a number of runs, not '" + *count + "'");
        rule.keep = static_cast<std::size_t>(*keep);
    }
    if (!rule.keep && !rule.olderThanNs)
        return failure(ErrorCode::BadInput, "retain wants --older-than AGE, --keep N or both");
    return rule;
}

int runRetain(const Args& args, Report& report)
{
    const auto rule = retentionOf(args);
    const auto dataDir = dataDirOf(args);
    if (!rule || !dataDir)
        return report.failUsage(rule ? dataDir.error() : rule.error());
    const auto pins = store::Pins::read(*dataDir);
    if (!pins)
        return report.fail(pins.error());
    const bool isTrial = args.has("--dry-run");
    auto document = nlohmann::json::array();
    std::uint64_t bytes = 0;
    std::size_t gone = 0;
    int code = kExitDone;
    for (const store::RunSummary& run :
        store::runsToGo(store::listRuns(*dataDir), *pins, *rule, store::wallClockNs())) {
        if (!isTrial) {
            if (const auto trashed = store::trashRun(*dataDir, run.locator); !trashed) {
                report.say(trashed.error().sentence());
                code = kExitFailed;
                continue;
            }
        }
        bytes += run.fileBytes;
        ++gone;
        if (args.has("--json"))
            document.push_back({ { "id", run.id }, { "name", run.name }, { "size", run.fileBytes },
                { "modified", utcTimeText(run.modifiedNs) }, { "path", run.locator.text() } });
        else
            report.out() << fmt::format("{}  {}\n", utcTimeText(run.modifiedNs), nameOf(run));
    }
    if (args.has("--json"))
        writeJson(report.out(), document);
    else
        report.out() << fmt::format("{} {}, {}\n", countText(gone, "run", "runs"),
            isTrial ? "would go to the trash" : "in the trash; 'telltale restore' brings each back", bytesText(bytes));
    return code;
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

Verb pinVerb()
{
    return { "pin", "keeps runs from being deleted",
        "Pins runs: 'telltale retain' never removes them, and 'telltale delete' refuses to.\n"
        "RUN is a path or an id from 'telltale runs', whose --pinned lists them.",
        { "RUN...", 1, kMostRuns }, { { "--data-dir", "DIR", "whose runs these are, instead of $TELLTALE_DATA_DIR" } },
        [](const Args& args, Report& report) { return setPinned(args, report, true); } };
}

Verb unpinVerb()
{
    return { "unpin", "lets pinned runs be deleted again", "Takes back what 'telltale pin' did.",
        { "RUN...", 1, kMostRuns }, { { "--data-dir", "DIR", "whose runs these are, instead of $TELLTALE_DATA_DIR" } },
        [](const Args& args, Report& report) { return setPinned(args, report, false); } };
}

Verb retainVerb()
{
    return { "retain", "moves runs to the trash by age and number",
        "Moves runs to the trash for which all that is given holds. Never one that is pinned or being recorded.\n"
        "A run is as old as what was recorded last.",
        {},
        { { "--older-than", "AGE", "such as 90d, 12w, 1y" },
            { "--keep", "N", "the newest N that are not pinned stay, whatever their age" },
            { "--dry-run", "", "says what would go, and does nothing" },
            { "--json", "", "one JSON array on standard output" },
            { "--data-dir", "DIR", "whose runs, instead of $TELLTALE_DATA_DIR" } },
        runRetain };
}

}
