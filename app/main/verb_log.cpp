// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <ostream>

#include <fmt/format.h>

#include <telltale/analysis/logdocument.h>
#include <telltale/core/plaintext.h>

#include "report.h"

namespace telltale::app {
namespace {

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
        for (const store::LogRecord& record : *records)
            document.push_back(nlohmann::json(analysis::toJson(record)));
        writeJson(out, document);
        return kExitDone;
    }
    for (const store::LogRecord& record : *records) {
        const std::string time = utcTimeText(record.placeNs());
        const std::string step = record.steps.isEmpty() ? "-" : std::to_string(record.placeStep().value);
        out << fmt::format("{:<20}  step {:<9} rank {:<5} {:<15} {}\n", time.empty() ? "-" : time, step,
            record.rank.value, terminalText(record.kind), terminalText(analysis::textOf(record)));
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
