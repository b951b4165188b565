// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <map>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/store/archive.h>
#include <telltale/store/folders.h>

#include "report.h"

namespace telltale::app {
namespace {

constexpr std::size_t kMostMoved = 10'000; ///< of one call

int runMove(const Args& args, Report& report)
{
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    const auto folder = store::folderName(args.positionals().back());
    if (!folder)
        return report.failUsage(folder.error());
    // All of them are found, or none is moved.
    std::vector<store::RunLocator> runs;
    for (std::size_t i = 0; i + 1 < args.positionals().size(); ++i) {
        auto run = store::findRun(*dataDir, args.positionals()[i]);
        if (!run)
            return report.fail(run.error());
        if (auto ours = store::checkIsOurs(*dataDir, *run); !ours)
            return report.fail(ours.error());
        runs.push_back(std::move(*run));
    }
    auto document = nlohmann::json::array();
    int code = kExitDone;
    for (const store::RunLocator& run : runs) {
        const auto moved = store::moveRun(*dataDir, run, *folder);
        if (!moved) {
            report.say(moved.error().sentence());
            code = kExitFailed;
            continue;
        }
        const store::RunSummary summary = store::describeRun(*moved);
        if (args.has("--json"))
            document.push_back({ { "id", summary.id }, { "folder", *folder }, { "path", moved->text() } });
        else
            report.out() << fmt::format("{} ({}) is {}\n", nameText(summary.name), terminalText(summary.id),
                folder->empty() ? "in no folder now" : "in " + terminalText(*folder));
    }
    if (args.has("--json"))
        writeJson(report.out(), document);
    return code;
}

struct FolderRow {
    std::size_t runs = 0;
    std::uint64_t bytes = 0;
    bool isElsewhere = false;
};

int runFolders(const Args& args, Report& report)
{
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    if (args.has("--add") && args.has("--remove"))
        return report.failUsage({ ErrorCode::BadInput, "folders takes --add or --remove, not both", {} });
    if (const auto folder = args.value("--add")) {
        if (const auto ok = store::addFolderElsewhere(*dataDir, *folder); !ok)
            return report.fail(ok.error());
    }
    if (const auto folder = args.value("--remove")) {
        if (const auto ok = store::removeFolderElsewhere(*dataDir, *folder); !ok)
            return report.fail(ok.error());
    }
    std::map<std::string, FolderRow> rows;
    for (const std::string& folder : store::foldersElsewhere(*dataDir))
        rows[folder].isElsewhere = true;
    const store::RunListing listing = store::listArchive(*dataDir);
    for (const store::RunSummary& run : listing.runs) {
        FolderRow& row = rows[run.folder];
        row.isElsewhere = run.isElsewhere;
        ++row.runs;
        row.bytes += run.fileBytes;
    }
    for (const std::string& sentence : listing.problems)
        report.say(sentence);
    auto document = nlohmann::json::array();
    for (const auto& [folder, row] : rows) {
        if (args.has("--json"))
            document.push_back({ { "folder", folder }, { "runs", row.runs }, { "size", row.bytes },
                { "elsewhere", row.isElsewhere } });
        else
            report.out() << fmt::format("{:<40}  {}, {}{}\n", folder.empty() ? "(no folder)" : terminalText(folder),
                countText(row.runs, "run", "runs"), bytesText(row.bytes), row.isElsewhere ? ", only read" : "");
    }
    if (args.has("--json"))
        writeJson(report.out(), document);
    return kExitDone;
}

}

Verb moveVerb()
{
    return { "move", "puts runs into a folder of the archive",
        "Puts runs into a folder, which is made where it is missing: telltale move gpt-small llama/ablation.\n"
        "/ is no folder. Runs keep their ids. RUN is a path or an id from 'telltale runs'.",
        { "RUN... FOLDER", 2, kMostMoved },
        { { "--json", "", "one JSON array on standard output" },
            { "--data-dir", "DIR", "whose runs these are, instead of $TELLTALE_DATA_DIR" } },
        runMove };
}

Verb foldersVerb()
{
    return { "folders", "the folders of the archive, and those elsewhere that it lists",
        "Lists the folders that runs were put into, and those elsewhere, such as a colleague's or one on the network,\n"
        "whose runs are listed and read and never written. Mount one that other machines record into read-only.",
        {},
        { { "--add", "DIR", "lists the runs below this folder, too" }, { "--remove", "DIR", "lists them no more" },
            { "--json", "", "one JSON array on standard output" },
            { "--data-dir", "DIR", "whose folders, instead of $TELLTALE_DATA_DIR" } },
        runFolders };
}

}
