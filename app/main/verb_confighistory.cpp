// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <map>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/analysis/runfacts.h>
#include <telltale/core/plaintext.h>
#include <telltale/store/confighistory.h>

#include "report.h"
#include "steeringserver.h"

namespace telltale::app {
namespace {

using Json = nlohmann::json;

Json valueOf(const std::string& text)
{
    Json value = Json::parse(text, nullptr, false);
    return value.is_discarded() ? Json(text) : value;
}

Json toJson(const store::ConfigRevision& revision, const std::vector<config::FieldChange>& changed)
{
    Json changes = Json::array();
    for (const config::FieldChange& change : changed)
        changes.push_back({ { "pointer", change.pointer }, { "before", valueOf(change.before) },
            { "after", valueOf(change.after) } });
    Json ranks;
    for (const Rank rank : revision.ranks)
        ranks.push_back(rank.value);
    Json answers = Json::array();
    for (const auto& [rank, answer] : revision.answers)
        answers.push_back({ { "rank", rank.value }, { "status", answer.phase }, { "step", answer.step.value },
            { "text", answer.text }, { "time", utcTimeText(answer.wallNs) } });
    return { { "rev", revision.rev }, { "time", utcTimeText(revision.wallNs) }, { "author", revision.author },
        { "hash", revision.hash }, { "ranks", std::move(ranks) }, { "apply_at_step", revision.applyAtStep.value },
        { "changes", std::move(changes) }, { "config", configJson(revision.config) },
        { "answers", std::move(answers) } };
}

void writeText(
    std::ostream& out, const store::ConfigRevision& revision, const std::vector<config::FieldChange>& changes)
{
    std::map<std::string, int> counts;
    for (const auto& [rank, answer] : revision.answers)
        ++counts[answer.phase];
    out << fmt::format("revision {:<4} {}  {} from step {} on, by {}", revision.rev, utcTimeText(revision.wallNs),
        rankNames(revision.ranks), revision.applyAtStep.value, terminalText(revision.author));
    for (const auto& [phase, count] : counts)
        out << fmt::format(", {} {}", phase, count);
    out << '\n';
    for (const config::FieldChange& change : changes)
        out << fmt::format("    \"{}\": {} -> {}\n", terminalText(change.pointer), terminalText(change.before),
            terminalText(change.after));
}

int runConfigHistory(const Args& args, Report& report)
{
    const auto capsule = openRun(args);
    if (!capsule)
        return report.fail(capsule.error());
    store::ConfigHistory history;
    if (auto read = history.update(*capsule->reader); !read)
        return report.fail(read.error());
    const auto facts = analysis::revisionFacts(*capsule->reader, history);
    Json document = Json::array();
    for (std::size_t i = 0; i < facts.size(); ++i) {
        if (args.has("--json"))
            document.push_back(toJson(history.revisions()[i], facts[i].changes));
        else
            writeText(report.out(), history.revisions()[i], facts[i].changes);
    }
    if (args.has("--json"))
        writeJson(report.out(), document);
    return kExitDone;
}

}

Verb configHistoryVerb()
{
    return { "config history", "every revision of a run's config",
        "Lists the revisions of a run's config, oldest first: when, by whom, for which ranks, what it changed and "
        "what\nthey answered. It reads the run's capsule, also while the run is recorded. RUN is a path, an id from\n"
        "'telltale runs', or a name that one run alone has.",
        { "RUN", 1, 1 },
        { { "--json", "", "one JSON array on standard output" },
            { "--data-dir", "DIR", "where the run is, instead of $TELLTALE_DATA_DIR" } },
        runConfigHistory };
}

}
