// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/archive/incidentsteps.h>
#include <telltale/core/plaintext.h>
#include <telltale/store/archive.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/runrepair.h>
#include <telltale/store/runthin.h>
#include <telltale/store/trash.h>

#include "interruptible.h"
#include "progressline.h"
#include "report.h"

namespace telltale::app {
namespace {

constexpr std::int64_t kStepsAround = 100; ///< steps on both sides of an incident

constexpr double kShareOfWriting = 0.8; ///< the rest is reading it again

store::Progress shownIn(ProgressLine& line, const std::string& what)
{
    return [&line, what](double share) {
        line.show(what, share);
        return !Interruptible::wasAsked();
    };
}

/// -o as it is given, which must name a run.
Expected<std::string> outputOf(const Args& args)
{
    std::string path = *args.value("-o");
    if (!path.ends_with(".telltale") || path.ends_with("/.telltale"))
        return failure(ErrorCode::BadInput, fmt::format("-o '{}' is no name for a run", path), "end it in .telltale");
    const auto folder = std::filesystem::absolute(path).parent_path();
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error))
        return failure(ErrorCode::BadInput, "there is no folder " + folder.string(), "make it first");
    return path;
}

/// What verifying a new run finds: nothing, unless the disk or this program is broken.
/// One that is canceled leaves nothing.
Expected<void> checked(const std::string& path, const store::Progress& progress)
{
    const auto verified = store::verifyRun(store::RunLocator::ofFile(path), progress);
    if (!verified && verified.error().code == ErrorCode::Canceled) {
        std::error_code error;
        std::filesystem::remove(path, error);
        return failure(ErrorCode::Canceled, "canceled while the new run was read again: it is removed");
    }
    if (!verified)
        return tl::unexpected(verified.error());
    if (verified->problems.empty())
        return {};
    return failure(ErrorCode::Damaged, path + " was written, and is not whole: " + verified->problems.front());
}

int runRepair(const Args& args, Report& report)
{
    const auto to = outputOf(args);
    if (!to)
        return report.failUsage(to.error());
    const auto run = runOf(args);
    if (!run)
        return report.fail(run.error());
    const Interruptible interruptible;
    ProgressLine line(args.has("--json"));
    const store::Progress progress = shownIn(line, "repairing " + run->text());
    const auto repaired = store::repairRun(*run, *to, store::partOf(progress, 0, kShareOfWriting));
    const auto ok
        = repaired ? checked(*to, store::partOf(progress, kShareOfWriting, 1)) : tl::unexpected(repaired.error());
    line.clear();
    if (!ok)
        return report.fail(ok.error());
    if (args.has("--json")) {
        writeJson(report.out(), { { "path", *to }, { "lost", repaired->lost } });
        return kExitDone;
    }
    for (const std::string& sentence : repaired->lost)
        report.out() << terminalText(sentence) << '\n';
    report.out() << (repaired->lost.empty() ? "nothing was lost: the run is whole\n" : "")
                 << fmt::format("{} has all the rest, {}\n", terminalText(*to),
                        bytesText(store::runBytes(store::RunLocator::ofFile(*to))));
    return kExitDone;
}

Expected<store::ThinRule> thinRuleOf(const Args& args, const store::RunLocator& run)
{
    store::ThinRule rule;
    const auto every = parseInteger("--every", *args.value("--every"));
    const auto around = parseInteger("--around", args.value("--around").value_or(std::to_string(kStepsAround)));
    if (!every || !around)
        return tl::unexpected(every ? around.error() : every.error());
    constexpr std::int64_t kMost = 1'000'000'000;
    if (*every < 2 || *every > kMost)
        return failure(ErrorCode::BadInput, fmt::format("--every wants a number from 2 on, not {}", *every));
    if (*around < 0 || *around > kMost)
        return failure(ErrorCode::BadInput, fmt::format("--around wants a number of steps, not {}", *around));
    auto whole = archive::stepsOfIncidents(run, *around);
    if (!whole)
        return tl::unexpected(whole.error());
    rule.every = *every;
    rule.whole = std::move(*whole);
    return rule;
}

/// The thinned run in the place of the original, which goes to the trash.
Expected<store::ThinReport> thinInPlace(const std::string& dataDir, const store::RunLocator& run,
    const store::ThinRule& rule, const store::Progress& progress)
{
    const std::string part
        = run.text() + std::string(store::kDraftSuffix) + "-thinned"; // which is cleared, whatever happens
    std::error_code error;
    std::filesystem::remove(part, error); // of one that was killed
    auto thinned = store::thinRun(run, part, rule, store::partOf(progress, 0, kShareOfWriting));
    if (!thinned)
        return thinned;
    auto ok = checked(part, store::partOf(progress, kShareOfWriting, 1));
    if (ok && Interruptible::wasAsked())
        ok = failure(ErrorCode::Canceled, "the thinning was canceled: nothing was changed");
    if (ok) {
        auto replaced = store::replaceRun(dataDir, run, part);
        ok = replaced ? Expected<void>() : tl::unexpected(replaced.error());
    }
    if (ok)
        return thinned;
    std::filesystem::remove(part, error);
    return tl::unexpected(ok.error());
}

int runThin(const Args& args, Report& report)
{
    const auto to = args.has("-o") ? outputOf(args) : Expected<std::string>(std::string());
    const auto dataDir = dataDirOf(args);
    if (!to || !dataDir)
        return report.failUsage(to ? dataDir.error() : to.error());
    const auto run = runOf(args);
    if (!run)
        return report.fail(run.error());
    const Interruptible interruptible;
    const auto rule = thinRuleOf(args, *run);
    if (!rule)
        return report.fail(rule.error());
    ProgressLine line(args.has("--json"));
    const store::Progress progress = shownIn(line, "thinning " + run->text());
    const auto thinned = to->empty() ? thinInPlace(*dataDir, *run, *rule, progress)
                                     : store::thinRun(*run, *to, *rule, store::partOf(progress, 0, kShareOfWriting));
    auto ok = thinned ? Expected<void>() : tl::unexpected(thinned.error());
    if (ok && !to->empty())
        ok = checked(*to, store::partOf(progress, kShareOfWriting, 1));
    line.clear();
    if (!ok)
        return report.fail(ok.error());
    const std::string& path = to->empty() ? run->text() : *to;
    const std::uint64_t dropped = thinned->stepsBefore - thinned->stepsAfter;
    if (args.has("--json")) {
        auto whole = nlohmann::json::array();
        for (const StepRange& range : rule->whole)
            whole.push_back({ range.first.value, range.last.value });
        writeJson(report.out(),
            { { "path", path }, { "columns_before", thinned->stepsBefore }, { "columns_after", thinned->stepsAfter },
                { "bytes_before", thinned->bytesBefore }, { "bytes_after", thinned->bytesAfter },
                { "whole", std::move(whole) } });
        return kExitDone;
    }
    std::string kept;
    for (const StepRange& range : rule->whole)
        kept += fmt::format("{}{} to {}", kept.empty() ? "; whole around incidents: steps " : ", ",
            std::max<std::int64_t>(range.first.value, 0), range.last.value);
    report.out() << fmt::format(
        "{}: {} of {} columns of values dropped{}\n{} instead of {}; log and documents are whole{}\n",
        terminalText(path), dropped, thinned->stepsBefore, kept, bytesText(thinned->bytesAfter),
        bytesText(thinned->bytesBefore),
        to->empty() ? fmt::format("; 'telltale restore {}' brings the original back once this one is deleted",
            terminalText(args.positionals().front()))
                    : std::string());
    return kExitDone;
}

}

Verb repairVerb()
{
    return { "repair", "writes what can be read of a damaged run into a new file",
        "Writes everything of a damaged run that can be read into a new one, with a sentence for each thing that "
        "cannot.\n"
        "The new run is whole, and its log says what it lacks; the original stays as it is.\n"
        "RUN is a path or an id from 'telltale runs'.",
        { "RUN", 1, 1 },
        { { "-o", "FILE", "the new run, a name that ends in .telltale", true },
            { "--json", "", "one JSON document on standard output" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" } },
        runRepair };
}

Verb thinVerb()
{
    return { "thin", "keeps every n-th step of a run, and all around its incidents",
        "Keeps one step of every N, all steps around incidents, and the first and the newest of everything; log and\n"
        "documents stay whole. Without -o the run is replaced, and the original goes to the trash ('telltale "
        "restore').\n"
        "RUN is a path or an id from 'telltale runs'.",
        { "RUN", 1, 1 },
        { { "--every", "N", "one step of N: the first of each multiple that was collected", true },
            { "--around", "STEPS", fmt::format("kept before and behind an incident (default {})", kStepsAround) },
            { "-o", "FILE", "into a new run instead, a name that ends in .telltale" },
            { "--json", "", "one JSON document on standard output" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" } },
        runThin };
}

}
