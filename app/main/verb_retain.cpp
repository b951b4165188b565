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

constexpr std::size_t kMostPinned = 10'000; ///< of one call

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
            report.out() << fmt::format("{}  {}\n", utcTimeText(run.modifiedNs),
                fmt::format("{} ({}, {})", nameText(run.name), run.id, bytesText(run.fileBytes)));
    }
    if (args.has("--json"))
        writeJson(report.out(), document);
    else
        report.out() << fmt::format("{} {}, {}\n", countText(gone, "run", "runs"),
            isTrial ? "would go to the trash" : "in the trash; 'telltale restore' brings each back", bytesText(bytes));
    return code;
}

}

Verb pinVerb()
{
    return { "pin", "keeps runs from being deleted",
        "Pins runs: 'telltale retain' never removes them, and 'telltale delete' refuses to.\n"
        "RUN is a path or an id from 'telltale runs', whose --pinned lists them.",
        { "RUN...", 1, kMostPinned },
        { { "--data-dir", "DIR", "whose runs these are, instead of $TELLTALE_DATA_DIR" } },
        [](const Args& args, Report& report) { return setPinned(args, report, true); } };
}

Verb unpinVerb()
{
    return { "unpin", "lets pinned runs be deleted again", "Takes back what 'telltale pin' did.",
        { "RUN...", 1, kMostPinned },
        { { "--data-dir", "DIR", "whose runs these are, instead of $TELLTALE_DATA_DIR" } },
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
