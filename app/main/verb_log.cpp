// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/store/stepnote.h>

#include "report.h"

namespace telltale::app {
namespace {

/// What a record's json says, or null where it says nothing that can be read.
nlohmann::json dataOf(const store::LogRecord& record)
{
    auto data = nlohmann::json::parse(record.json, nullptr, false);
    return data.is_discarded() ? nlohmann::json() : data;
}

/// What few records say stands there where one does.
void addWhatIsSaid(nlohmann::json& line, const store::LogRecord& record)
{
    if (record.steps.count() > 1)
        line["last_step"] = record.steps.last.value;
    for (const auto& [key, text] : { std::pair { "rule", &record.rule }, { "phase", &record.phase },
             { "cause", &record.cause }, { "author", &record.author } }) {
        if (!text->empty())
            line[key] = *text;
    }
    for (const auto& [key, number] : { std::pair { "id", record.id }, { "ref", record.ref }, { "rev", record.rev } }) {
        if (number != 0)
            line[key] = number;
    }
}

/// A loss has no time and stands at its first step, if that is known.
std::string textOf(const store::LogRecord& record)
{
    if (const auto note = store::StepNote::of(record)) {
        const std::string until
            = note->steps.count() > 1 ? fmt::format(" (to step {})", note->steps.last.value) : std::string();
        return note->text + until + (note->isRemoved ? " (removed)" : "");
    }
    if (!record.isDrop || record.items == 0) // how many is what nobody knows
        return record.text;
    const std::string where = record.steps.isEmpty()
        ? std::string()
        : fmt::format(" of steps {} to {}", record.steps.first.value, record.steps.last.value);
    return fmt::format("{} items{} were not stored: {}", record.items, where, record.text);
}

int runLog(const Args& args, Report& report)
{
    std::ostream& out = report.out();
    const auto wanted = rankOf(args);
    if (!wanted)
        return report.failUsage(wanted.error());
    const std::optional<Rank> rank = *wanted;
    const auto capsule = openRun(args);
    if (!capsule)
        return report.fail(capsule.error());
    std::optional<StepRange> steps;
    if (const auto text = args.value("--steps")) {
        const auto read = parseSteps(*text, capsule->catalog->steps);
        if (!read)
            return report.failUsage(read.error());
        steps = *read;
    }
    const auto records
        = store::readWholeLog(*capsule->reader, { args.value("--kind").value_or(std::string()), rank, steps });
    if (!records)
        return report.fail(records.error());
    if (args.has("--json")) {
        auto document = nlohmann::json::array();
        for (const store::LogRecord& record : *records) {
            const auto step = record.steps.isEmpty() ? nlohmann::json() : nlohmann::json(record.steps.first.value);
            auto& line = document.emplace_back(nlohmann::json { { "time", timeText(record.wallNs) },
                { "wall_ns", record.wallNs }, { "step", step }, { "rank", record.rank.value }, { "kind", record.kind },
                { "text", textOf(record) }, { "data", dataOf(record) } });
            addWhatIsSaid(line, record);
        }
        writeJson(out, document);
        return kExitDone;
    }
    for (const store::LogRecord& record : *records) {
        const std::string time = timeText(record.wallNs);
        const std::string step = record.steps.isEmpty() ? "-" : std::to_string(record.steps.first.value);
        out << fmt::format("{:<20}  step {:<9} rank {:<5} {:<15} {}\n", time.empty() ? "-" : time, step,
            record.rank.value, terminalText(record.kind), terminalText(textOf(record)));
    }
    return kExitDone;
}

}

Verb logVerb()
{
    return { "log", "what happened in a run: alerts, changes, losses",
        "Lists what happened in a run, as its log in the window does: alerts, changes, gaps, losses, oldest first.\n"
        "RUN is a path or an id from 'telltale runs'.",
        { "RUN", 1, 1 },
        { { "--kind", "K", "anomaly, config, clock, drop, ... only" }, { "--rank", "R", "this rank only" },
            { "--steps", "A:B", "from step A to step B, both included" },
            { "--json", "", "one JSON array on standard output" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" } },
        runLog };
}

}
