// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <limits>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>

#include "report.h"

namespace telltale::app {
namespace {

/// What an event's json says, or null where it says nothing that can be read.
nlohmann::json dataOf(const store::EventInfo& event)
{
    auto data = nlohmann::json::parse(event.json, nullptr, false);
    return data.is_discarded() ? nlohmann::json() : data;
}

/// Of an entry that is of no known step.
constexpr Step kNoStep { std::numeric_limits<std::int64_t>::min() };

/// The events, and one for each loss, in the order of time; a loss has none and stands at its step, if that is known.
std::vector<store::EventInfo> entriesOf(const store::Catalog& catalog)
{
    std::vector<store::EventInfo> entries = catalog.events;
    for (const store::DroppedInfo& drop : catalog.dropped) {
        const auto source = std::find_if(catalog.sources.begin(), catalog.sources.end(),
            [&drop](const store::SourceInfo& candidate) { return candidate.id == drop.source; });
        store::EventInfo entry;
        entry.kind = "drop";
        entry.rank = source == catalog.sources.end() ? Rank { -1 } : source->rank;
        entry.step = drop.steps.isEmpty() ? kNoStep : drop.steps.first;
        const std::string where = drop.steps.isEmpty()
            ? std::string()
            : fmt::format(" of steps {} to {}", drop.steps.first.value, drop.steps.last.value);
        entry.text = fmt::format("{} items{} were not stored: {}", drop.items, where, drop.reason);
        entries.push_back(std::move(entry));
    }
    std::stable_sort(entries.begin(), entries.end(),
        [](const store::EventInfo& a, const store::EventInfo& b) { return a.wallNs < b.wallNs; });
    return entries;
}

int run(const Args& args, Report& report)
{
    std::ostream& out = report.out();
    std::optional<Rank> rank;
    if (const auto text = args.value("--rank")) {
        const auto read = parseRank("--rank", *text);
        if (!read)
            return report.failUsage(read.error());
        rank = *read;
    }
    const auto path = capsulePathOf(args);
    if (!path)
        return report.fail(path.error());
    const auto capsule = openCapsule(*path);
    if (!capsule)
        return report.fail(capsule.error());
    std::optional<StepRange> steps;
    if (const auto text = args.value("--steps")) {
        const auto read = parseSteps(*text, capsule->catalog->steps);
        if (!read)
            return report.failUsage(read.error());
        steps = *read;
    }
    const auto kind = args.value("--kind");
    std::vector<store::EventInfo> entries = entriesOf(*capsule->catalog);
    std::erase_if(entries, [&](const store::EventInfo& entry) {
        return (kind && entry.kind != *kind) || (rank && entry.rank != *rank)
            || (steps && (entry.step == kNoStep || entry.step < steps->first || steps->last < entry.step));
    });
    if (args.has("--json")) {
        auto document = nlohmann::json::array();
        for (const store::EventInfo& entry : entries) {
            const auto step = entry.step == kNoStep ? nlohmann::json() : nlohmann::json(entry.step.value);
            document.push_back({ { "time", timeText(entry.wallNs) }, { "wall_ns", entry.wallNs }, { "step", step },
                { "rank", entry.rank.value }, { "kind", entry.kind }, { "text", entry.text },
                { "data", dataOf(entry) } });
        }
        writeJson(out, document);
        return kExitDone;
    }
    for (const store::EventInfo& entry : entries) {
        const std::string time = timeText(entry.wallNs);
        const std::string step = entry.step == kNoStep ? "-" : std::to_string(entry.step.value);
        out << fmt::format("{:<20}  step {:<9} rank {:<5} {:<15} {}\n", time.empty() ? "-" : time, step,
            entry.rank.value, terminalText(entry.kind), terminalText(entry.text));
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
        run };
}

}
