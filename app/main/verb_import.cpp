// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <filesystem>
#include <memory>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/exchange/foreignreader.h>
#include <telltale/ingest/spoolimport.h>
#include <telltale/ingest/streamrequest.h>

#include "foreigntake.h"
#include "importer.h"
#include "interruptible.h"
#include "progressline.h"
#include "report.h"

namespace telltale::app {
namespace {

namespace fs = std::filesystem;

Expected<ingest::SpoolReport> importOne(Importer& importer, const fs::path& folder, bool mayBegin)
{
    auto found = ingest::SpoolImport::open(folder);
    if (!found)
        return tl::unexpected<Error>(std::move(found.error()));
    if (found->spooled.stream && found->hello.firstRetainedSeq > 1 && !mayBegin) {
        const auto known = importer.find(ingest::requestOf(found->hello, 0));
        if (!known)
            return tl::unexpected(known.error());
        if (known->id.empty())
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

/// What the words name: runs of Telltale, spools, and what other tools recorded.
struct ToImport {
    std::vector<std::string> capsules;
    std::vector<fs::path> spools;
    std::vector<std::vector<fs::path>> foreign; ///< those of one run together
};

bool isCapsule(const std::string& word)
{
    std::error_code error;
    return fs::is_regular_file(word, error)
        && (fs::path(word).extension() == ".telltale" || exchange::findForeignReader(word) == nullptr
            || std::string_view(exchange::findForeignReader(word)->id()) == "telltale");
}

/// What is followed need not be there yet, but for its folder.
Expected<ToImport> followedOf(const std::vector<std::string>& words)
{
    ToImport wanted;
    wanted.foreign.emplace_back(words.begin(), words.end());
    for (const std::string& word : words) {
        std::error_code error;
        const exchange::ForeignReader* format = exchange::findForeignReader(word);
        if (!fs::exists(word, error))
            return failure(ErrorCode::NotFound, "there is no file or folder " + word);
        const bool isEvents = format ? std::string_view(format->id()) == "tensorboard" : fs::is_directory(word, error);
        if (!isEvents)
            return failure(ErrorCode::BadInput, word + " has no event files: they alone can be followed",
                "import it without --follow");
    }
    return wanted;
}

Expected<ToImport> wantedOf(const std::vector<std::string>& words, bool isOneRun)
{
    ToImport wanted;
    if (isOneRun) {
        wanted.foreign.emplace_back(words.begin(), words.end());
        return wanted;
    }
    for (const std::string& word : words) {
        std::error_code error;
        if (isCapsule(word)) {
            wanted.capsules.push_back(word);
            continue;
        }
        if (!fs::exists(word, error))
            return failure(ErrorCode::NotFound, "there is no folder '" + word + "'");
        const auto found = fs::is_directory(word, error) ? agent::findSpools(word) : std::vector<fs::path>();
        wanted.spools.insert(wanted.spools.end(), found.begin(), found.end());
        if (!found.empty())
            continue;
        if (!exchange::findForeignReader(word))
            return failure(ErrorCode::NotFound, "there is no spool in " + word + ", and nothing of another format",
                "choose a spool, or something of " + exchange::foreignFormatIds());
        wanted.foreign.push_back({ word });
    }
    return wanted;
}

std::string hereText(const std::string& path, const std::string& run)
{
    return fmt::format("{}: is here already as run {}, nothing was taken (--again imports it anew)\n",
        terminalText(path), terminalText(run));
}

void writeForeign(std::ostream& out, const nlohmann::json& taken)
{
    const auto path = taken["paths"].front().get<std::string>();
    const auto run = taken["run"].get<std::string>();
    const bool isNew = taken["new"].get<bool>();
    if (!isNew && !taken.contains("ended")) {
        out << hereText(path, run);
        return;
    }
    out << fmt::format("{}: {} run {} ({}, {}, {}, {})\n", terminalText(path), isNew ? "imported as" : "went on with",
        terminalText(run), countText(taken["processes"].get<std::uint64_t>(), "process", "processes"),
        countText(taken["series"].get<std::uint64_t>(), "series", "series"),
        countText(taken["samples"].get<std::uint64_t>(), "sample", "samples"),
        countText(taken["scalars"].get<std::uint64_t>(), "scalar", "scalars"));
}

int runImport(const Args& args, Report& report)
{
    std::ostream& out = report.out();
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    const bool isFollowing = args.has("--follow");
    const auto idle = idleOf(args);
    if (!idle)
        return report.failUsage(idle.error());
    const auto wanted
        = isFollowing ? followedOf(args.positionals()) : wantedOf(args.positionals(), args.has("--merge"));
    if (!wanted)
        return report.failUsage(wanted.error());
    const Interruptible interruptible;
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
    for (const std::string& word : wanted->capsules) {
        const bool isAsked = !args.has("--again") && (*importer)->place() == *dataDir; // not an archive elsewhere
        const auto before = isAsked ? store::findCopy(*dataDir, word) : std::nullopt;
        const auto taken
            = before ? store::ImportedRun { before->locator, before->id, {}, true } : (*importer)->takeRun(word);
        if (!taken) {
            failed(taken.error());
            continue;
        }
        capsules.push_back({ { "file", word }, { "capsule", taken->locator.text() }, { "run", taken->id },
            { "new", !taken->wasHere }, { "damage", taken->damage } });
        if (!args.has("--json"))
            out << (taken->wasHere
                    ? hereText(word, taken->id)
                    : fmt::format("{}: imported as run {}\n", terminalText(word), terminalText(taken->id)));
        for (const std::string& sentence : taken->damage)
            report.say(word + ": " + sentence);
        isWhole = isWhole && taken->damage.empty();
    }
    for (const fs::path& folder : wanted->spools) {
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
    auto foreign = nlohmann::json::array();
    ProgressLine line(args.has("--json"));
    for (const std::vector<fs::path>& paths : wanted->foreign) {
        const auto taken = isFollowing ? followForeign(**importer, paths, args.has("--again"), *idle, line)
                                       : takeForeign(**importer, *dataDir, paths, args.has("--again"), line);
        line.clear();
        if (!taken) {
            failed(taken.error());
            continue;
        }
        for (const auto& damage : (*taken)["damages"])
            report.say(damage.get<std::string>());
        for (const auto& left : (*taken)["left_out"])
            report.say(fmt::format("left out: {} ({})", left["what"].get<std::string>(), left["count"].get<int>()));
        isWhole = isWhole && (*taken)["damages"].empty();
        if (!args.has("--json"))
            writeForeign(out, *taken);
        foreign.push_back(*taken);
    }
    importer->reset(); // what is said below is true once it has closed what it wrote
    if (args.has("--json"))
        writeJson(out, { { "streams", streams }, { "capsules", capsules }, { "runs", foreign }, { "errors", errors } });
    return errors.empty() && isWhole ? kExitDone : kExitFailed;
}

}

Verb importVerb()
{
    std::string about
        = "Brings into the archive what is elsewhere: what a training process left in its spool, runs of Telltale, and "
          "what\n"
          "other tools recorded. PATH is a file or a folder; what it is, is told by its content:\n"
          "  spool        what a training could not deliver, or the folder above several ($TELLTALE_DIR of it); a "
          "spool\n"
          "               goes when everything in it is safe, and what the run has already is not added again\n";
    for (const exchange::ForeignReader* format : exchange::foreignReaders())
        about += fmt::format("  {:<12} {}\n", format->id(), format->about());
    about
        += "Files stay as they are. What a run cannot hold is counted and said; of damaged files everything that can "
           "be "
           "read\n"
           "is taken. What was imported before and has not changed is not taken again, so a command that was broken "
           "off "
           "can be\n"
           "given again. While a Telltale runs on the data directory, it is the one that takes them in; without "
           "--data-dir,\n"
           "$TELLTALE_CONTROL may name one elsewhere: it is a line of the file 'control' in that one's data directory.";
    return { "import", "what other tools recorded, other runs and left spools, into the archive", about,
        { "PATH...", 1, 1000 },
        { { "--data-dir", "DIR", "where the run is kept, instead of $TELLTALE_DATA_DIR" },
            { "--merge", "", "all PATHs are of one run: the ranks of a training that were recorded apart" },
            { "--follow", "",
                "goes on while another tool writes event files, until Ctrl+C or --idle; the PATHs are one run" },
            { "--idle", "SECONDS", "with --follow: the run is over when nothing has come for so long" },
            { "--again", "", "a run of its own, of what is here already and of what was followed before, too" },
            { "--new-run", "", "take a spool whose beginning neither it nor any run here has" },
            { "--json", "", "one JSON document on standard output" } },
        runImport };
}

}
