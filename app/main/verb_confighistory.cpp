// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <map>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/store/confighistory.h>

#include "report.h"
#include "steeringserver.h"

namespace telltale::app {
namespace {

using Json = nlohmann::json;

Json toJson(const store::ConfigRevision& revision)
{
    Json ranks;
    for (const Rank rank : revision.ranks)
        ranks.push_back(rank.value);
    Json answers = Json::array();
    for (const auto& [rank, answer] : revision.answers)
        answers.push_back({ { "rank", rank.value }, { "status", answer.phase }, { "step", answer.step.value },
            { "text", answer.text }, { "time", utcTimeText(answer.wallNs) } });
    return { { "rev", revision.rev }, { "time", utcTimeText(revision.wallNs) }, { "author", revision.author },
        { "hash", revision.hash }, { "ranks", std::move(ranks) }, { "apply_at_step", revision.applyAtStep.value },
        { "changes", configJson(revision.changes) }, { "config", configJson(revision.config) },
        { "answers", std::move(answers) } };
}

void writeText(std::ostream& out, const store::ConfigRevision& revision)
{
    std::map<std::string, int> counts;
    for (const auto& [rank, answer] : revision.answers)
        ++counts[answer.phase];
    out << fmt::format("revision {:<4} {}  {} from step {} on, by {}", revision.rev, utcTimeText(revision.wallNs),
        rankNames(revision.ranks), revision.applyAtStep.value, terminalText(revision.author));
    for (const auto& [phase, count] : counts)
        out << fmt::format(", {} {}", phase, count);
    out << '\n';
    for (const Json& change : configJson(revision.changes)) {
        const auto said = [&change](const char* name) {
            const auto found = change.is_object() ? change.find(name) : change.end();
            return found == change.end() ? std::string()
                                         : terminalText(found->dump(-1, ' ', false, Json::error_handler_t::replace));
        };
        out << fmt::format("    {}: {} -> {}\n", said("pointer"), said("before"), said("after"));
    }
}

int runConfigHistory(const Args& args, Report& report)
{
    const auto capsule = openRun(args);
    if (!capsule)
        return report.fail(capsule.error());
    store::ConfigHistory history;
    if (auto read = history.update(*capsule->reader); !read)
        return report.fail(read.error());
    if (!args.has("--json")) {
        for (const store::ConfigRevision& revision : history.revisions())
            writeText(report.out(), revision);
        return kExitDone;
    }
    Json document = Json::array();
    for (const store::ConfigRevision& revision : history.revisions())
        document.push_back(toJson(revision));
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
