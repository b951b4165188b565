// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <chrono>
#include <ostream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/exchange/exporter.h>
#include <telltale/exchange/formats.h>

#include "interruptible.h"
#include "progressline.h"
#include "pythonexport.h"
#include "report.h"

namespace telltale::app {
namespace {

Expected<exchange::Selection> selectionOf(const Args& args, StepRange all)
{
    exchange::Selection selection;
    const auto kind = kindOf(args);
    const auto stat = statOf(args);
    const auto rank = rankOf(args);
    auto modules = modulesOf(args);
    if (!kind || !stat || !rank || !modules)
        return tl::unexpected(!kind ? kind.error() : !stat ? stat.error() : !rank ? rank.error() : modules.error());
    if (*kind)
        selection.kinds = { **kind };
    if (*stat && !isStoredStat(**stat))
        return failure(ErrorCode::BadInput,
            fmt::format("the statistic {} is made of others where it is read, and no export has it", statName(**stat)),
            fmt::format("see 'telltale show --stat {}'", statName(**stat)));
    if (*stat)
        selection.stats = { **stat };
    if (*rank)
        selection.ranks = { **rank };
    selection.modules = std::move(*modules);
    if (const auto text = args.value("--steps")) {
        const auto steps = parseSteps(*text, all);
        if (!steps)
            return tl::unexpected(steps.error());
        selection.steps = *steps;
        if (text->ends_with(':')) // a run that goes on has no last step yet
            selection.steps->last = Step { kFarthestStep };
    }
    return selection;
}

Expected<exchange::WriterWish> wishOf(const Args& args, const store::Catalog& catalog)
{
    const std::string tags = args.value("--tags").value_or("readable");
    if (tags != "readable" && tags != "msprobe")
        return failure(ErrorCode::BadInput, "--tags '" + tags + "' is neither readable nor msprobe");
    // A store's id is what its file says: it must not lead out of the folder.
    return exchange::WriterWish { *args.value("-o"), fileNameText(catalog.storeId.substr(0, 12)),
        tags == "msprobe" ? exchange::TagStyle::Msprobe : exchange::TagStyle::Readable };
}

nlohmann::json toJson(const exchange::RunWriter& writer)
{
    nlohmann::json leftOut = nlohmann::json::array();
    for (const auto& [what, count] : writer.leftOut())
        leftOut.push_back({ { "what", what }, { "count", count } });
    return { { "files", writer.files() }, { "values", writer.values() }, { "left_out", leftOut } };
}

/// Until every process has ended, or the user has had enough.
Expected<void> follow(exchange::Exporter& exporter)
{
    while (exporter.isLive() && !Interruptible::wasAsked()) {
        for (int tenth = 0; tenth < 10 && !Interruptible::wasAsked(); ++tenth)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        auto done = exporter.advance();
        if (!done && done.error().code != ErrorCode::Canceled)
            return done;
    }
    return {};
}

int runExport(const Args& args, Report& report)
{
    if (isPythonFormat(*args.value("--to")))
        return runPythonExport(args, report);
    const exchange::Format* format = exchange::findFormat(*args.value("--to"));
    if (!format)
        return report.failUsage({ ErrorCode::BadInput, "there is no format '" + *args.value("--to") + "'",
            "choose from " + exchange::formatIds() + ", " + pythonFormats() });
    auto run = openRun(args);
    if (!run)
        return report.fail(run.error());
    auto selection = selectionOf(args, run->catalog->steps);
    const auto wish = wishOf(args, *run->catalog);
    if (!selection || !wish)
        return report.failUsage(!selection ? selection.error() : wish.error());
    const auto writer = format->make(*wish);
    if (!writer)
        return report.fail(writer.error());
    const bool isFollowing = args.has("--follow");
    const Interruptible interruptible;
    ProgressLine line(args.has("--json"));
    exchange::Exporter exporter(*run->reader, std::move(*selection), **writer,
        [&line, what = fmt::format("writing {}", *args.value("-o"))](double share) {
            line.show(what, share);
            return !Interruptible::wasAsked();
        });
    auto done = exporter.advance();
    if (done && isFollowing)
        done = follow(exporter);
    if (done)
        done = (*writer)->finish();
    line.clear();
    if (!done)
        return report.fail(done.error());
    if (const auto met = run->reader->catalog()) {
        for (const std::string& sentence : (*met)->damage)
            report.say(sentence);
    }
    if (args.has("--json")) {
        writeJson(report.out(), toJson(**writer));
        return kExitDone;
    }
    for (const std::string& file : (*writer)->files())
        report.out() << file << '\n';
    report.out() << fmt::format("{} values\n", (*writer)->values());
    for (const auto& [what, count] : (*writer)->leftOut())
        report.say(fmt::format("left out: {} ({})", what, count));
    if ((*writer)->values() == 0)
        report.say("nothing in the run is what was asked for");
    return kExitDone;
}

}

Verb exportVerb()
{
    std::string about = "Writes a run in a format that other tools read, everything of it or what is chosen:\n";
    for (const exchange::Format& format : exchange::formats())
        about += fmt::format("  {:<12} {}\n", format.id, format.about);
    about += fmt::format("  {:<12} one table with nulls and types, written by the Python package\n", pythonFormats());
    about += "What a format has no words for is counted and said. Nothing that is there is replaced.\n"
             "RUN is a path or an id from 'telltale runs'.";
    return { "export", "writes a run for other tools", about, { "RUN", 1, 1 },
        { { "--to", "FORMAT", exchange::formatIds() + ", " + pythonFormats(), true },
            { "-o", "PATH", "the file, or the folder", true },
            { "--kind", "KIND", "this kind alone: grad_reduced, actv, scalar, ..." },
            { "--stat", "STAT", "this statistic alone: norm, mean, max, hist, ..." },
            { "--modules", "PATTERN", "names that match: text, glob* or /regex/" },
            { "--rank", "R", "this rank alone" }, { "--steps", "A:B", "these steps alone" },
            { "--tags", "STYLE", "TensorBoard's names: readable (default), or msprobe, as its documents have them" },
            { "--follow", "", "goes on while the run is recorded, until it has ended or Ctrl+C" },
            { "--json", "", "one JSON document on standard output" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" } },
        runExport };
}

}
