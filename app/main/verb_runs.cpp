// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <array>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/archive/profileindex.h>
#include <telltale/archive/runquery.h>
#include <telltale/core/plaintext.h>
#include <telltale/store/archive.h>
#include <telltale/store/clock.h>
#include <telltale/store/pins.h>

#include "interruptible.h"
#include "progressline.h"
#include "report.h"

namespace telltale::app {
namespace {

using archive::ProfileIndex;
using archive::RunProfile;

/// What chooses runs: the flag, and the field of a RunQuery that it fills.
constexpr std::array<std::pair<const char*, const char*>, 9> kConditions { { { "--name", "name" },
    { "--folder", "folder" }, { "--tag", "tag" }, { "--note", "note" }, { "--config", "config" },
    { "--incidents", "incident" }, { "--state", "state" }, { "--since", "since" }, { "--until", "until" } } };

Expected<archive::RunQuery> queryOf(const Args& args)
{
    archive::RunQuery query;
    for (const auto& [flag, field] : kConditions) {
        for (const std::string& value : args.values(flag)) {
            if (auto ok = query.add(field, value, store::wallClockNs()); !ok)
                return failure(ErrorCode::BadInput, fmt::format("{}: {}", flag, ok.error().what), ok.error().todo);
        }
    }
    return query;
}

nlohmann::json toJson(const store::RunSummary& run)
{
    return { { "id", run.id }, { "name", run.name }, { "state", store::runStateName(run.state) },
        { "ranks", run.ranks }, { "last_step", run.lastStep.value }, { "size", run.fileBytes },
        { "created", utcTimeText(run.createdNs) }, { "modified", utcTimeText(run.modifiedNs) },
        { "path", run.locator.text() }, { "missing_batches", run.missingBatches }, { "note", run.note },
        { "folder", run.folder }, { "elsewhere", run.isElsewhere }, { "pinned", run.isPinned } };
}

void addFacts(nlohmann::json& json, const RunProfile& profile)
{
    const auto& [notices, warnings, criticals] = profile.incidents;
    auto settings = nlohmann::json::object();
    for (const auto& [name, value] : profile.settings)
        settings[name] = value;
    json["tags"] = profile.tags;
    json["notes"] = profile.notes;
    json["incidents"] = { { "notice", notices }, { "warning", warnings }, { "critical", criticals } };
    json["config"] = std::move(settings);
}

std::string factsText(const RunProfile& profile)
{
    std::string text;
    for (const std::string& tag : profile.tags)
        text += (text.empty() ? "" : ", ") + terminalText(tag);
    const std::size_t incidents = profile.incidentsFrom(store::Severity::Notice);
    if (incidents > 0) {
        const std::size_t critical = profile.incidentsFrom(store::Severity::Critical);
        text += (text.empty() ? "" : "; ") + countText(incidents, "incident", "incidents")
            + (critical > 0 ? fmt::format(" ({} critical)", critical) : std::string());
    }
    return text.empty() ? text : "  " + text;
}

/// Behind the folder that it is in.
std::string listedName(const store::RunSummary& run)
{
    return (run.folder.empty() ? std::string() : terminalText(run.folder) + '/') + nameText(run.name);
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

Expected<ProfileIndex::Profiles> readProfiles(
    const std::string& dataDir, const std::vector<store::RunSummary>& runs, bool isQuiet)
{
    const Interruptible interruptible;
    ProgressLine line(isQuiet);
    return ProfileIndex(dataDir).read(runs, [&line](std::size_t done, std::size_t count) {
        line.show(fmt::format("reading {} for the first time", countText(count, "run", "runs")),
            static_cast<double>(done) / static_cast<double>(count));
        return !Interruptible::wasAsked();
    });
}

void writeList(std::ostream& out, const std::vector<store::RunSummary>& runs, const ProfileIndex::Profiles& profiles)
{
    std::size_t nameWidth = 4;
    for (const store::RunSummary& run : runs)
        nameWidth = std::max(nameWidth, listedName(run).size());
    if (!runs.empty()) {
        out << fmt::format("{:<10}  {:<{}}  {:<11}  {:>5}  {:>9}  {:>8}\n", "ID", "NAME", nameWidth, "STATE", "RANKS",
            "LAST STEP", "SIZE");
    }
    for (const store::RunSummary& run : runs) {
        const auto profile = profiles.find(run.locator);
        out << fmt::format("{:<10}  {:<{}}  {:<11}  {:>5}  {:>9}  {:>8}{}{}\n", run.id, listedName(run), nameWidth,
            store::runStateName(run.state), run.ranks,
            run.lastStep.value < 0 ? "-" : std::to_string(run.lastStep.value), bytesText(run.fileBytes),
            profile == profiles.end() ? std::string() : factsText(*profile->second), noteText(run));
    }
}

int runRuns(const Args& args, Report& report)
{
    const auto query = queryOf(args);
    if (!query)
        return report.failUsage(query.error());
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    const auto listing = store::listArchive(*dataDir);
    auto runs = listing.runs;
    // What can be known without opening a run is asked first.
    const bool withFacts = query->needsProfile() || args.has("--facts");
    if (const auto pins = store::Pins::read(*dataDir); !pins)
        return report.fail(pins.error());
    std::erase_if(runs,
        [&](const store::RunSummary& run) { return !query->mayMatch(run) || (args.has("--pinned") && !run.isPinned); });
    ProfileIndex::Profiles profiles;
    if (withFacts) {
        auto read = readProfiles(*dataDir, runs, args.has("--json"));
        if (!read)
            return report.fail(read.error());
        profiles = std::move(*read);
        std::erase_if(runs, [&](const store::RunSummary& run) {
            const auto profile = profiles.find(run.locator);
            return !query->matches(run, profile == profiles.end() ? nullptr : profile->second.get());
        });
    }
    for (const std::string& sentence : listing.problems)
        report.say(sentence);
    if (!args.has("--json")) {
        writeList(report.out(), runs, profiles);
        return kExitDone;
    }
    auto document = nlohmann::json::array();
    for (const store::RunSummary& run : runs) {
        document.push_back(toJson(run));
        if (const auto profile = profiles.find(run.locator); profile != profiles.end())
            addFacts(document.back(), *profile->second);
    }
    writeJson(report.out(), document);
    return kExitDone;
}

}

Verb runsVerb()
{
    return { "runs", "the archive",
        "Lists the runs of the archive, newest first: id, name, state (how the training ended, or that it was found\n"
        "damaged when it was opened; whether all of it can be read, 'telltale inspect --verify' says), ranks, last "
        "step,\nsize. With conditions, those for which all hold.\nPATTERN is a part of the text, a glob (gpt-*) or a "
        "/regular expression/. DATE is 2026-11-24,\n"
        "2026-11-24T10:30, today, yesterday or an age (7d), in this place's time.",
        {},
        { { "--name", "PATTERN", "runs of that name" }, { "--folder", "PATTERN", "in such a folder ('telltale move')" },
            { "--tag", "PATTERN", "with such a tag" },
            { "--note", "PATTERN", "with such a note, of the run or at a step" },
            { "--config", "FIELD=VALUE",
                "with this hyperparameter or value of the config: lr=0.001, 'lr<=1e-4', name=adam*, seed; "
                "also several times" },
            { "--incidents", "[SEVERITY]", "with an incident of at least this: notice (default), warning, critical" },
            { "--state", "STATE", "live, finished, failed, interrupted, lost, damaged, newer; several with commas" },
            { "--since", "DATE", "begun then or later" }, { "--until", "DATE", "begun then or earlier" },
            { "--pinned", "", "that 'telltale pin' keeps" },
            { "--facts", "", "also tags, notes, incidents and config of each" },
            { "--json", "", "one JSON array on standard output" },
            { "--data-dir", "DIR", "look there instead of $TELLTALE_DATA_DIR" } },
        runRuns };
}

}
