// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <limits>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/config/revision.h>
#include <telltale/config/soundconfig.h>
#include <telltale/core/plaintext.h>
#include <telltale/store/confighistory.h>

#include "report.h"
#include "steeringserver.h"

namespace telltale::app {
namespace {

using State = RankSteering::State;
using Json = nlohmann::json;

State stateOf(const std::string& phase)
{
    namespace configphase = store::configphase;
    return phase == configphase::kApplied ? State::Applied
        : phase == configphase::kRefused  ? State::Refused
        : phase == configphase::kAccepted ? State::Accepted
                                          : State::Lost;
}

/// How a run that nobody steers now stood when its recording ended.
Expected<RunSteering> steeringOf(const Args& args)
{
    const auto capsule = openRun(args);
    if (!capsule)
        return tl::unexpected(capsule.error());
    store::ConfigHistory history;
    if (auto read = history.update(*capsule->reader); !read)
        return tl::unexpected(read.error());
    const auto own = capsule->reader->blob("config", "config.json", Step { std::numeric_limits<std::int64_t>::max() });
    RunSteering steering;
    steering.runId = store::describeRun(capsule->handle.locator).id;
    if (const store::ConfigRevision* newest = history.newest()) {
        steering.rev = newest->rev;
        steering.config = newest->config;
        steering.author = newest->author;
        steering.applyAtStep = newest->applyAtStep.value;
        steering.wallNs = newest->wallNs;
        steering.asked = newest->ranks;
    }
    std::vector<Rank> ranks;
    for (const store::SourceInfo& source : capsule->catalog->sources)
        ranks.push_back(source.rank);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (const Rank id : ranks) {
        RankSteering rank;
        rank.rank = id;
        rank.runs = own ? *own : std::string();
        for (const store::ConfigRevision& revision : history.revisions()) {
            if (!revision.asks(id))
                continue;
            rank.rev = revision.rev;
            rank.state = State::Lost;
            const auto answer = revision.answers.find(id);
            if (answer == revision.answers.end())
                continue;
            rank.state = stateOf(answer->second.phase);
            rank.step = answer->second.step.value;
            rank.reason = rank.state == State::Refused ? answer->second.text : std::string();
            if (rank.state == State::Applied) {
                rank.runsRev = revision.rev;
                rank.runs = revision.config;
            }
        }
        steering.ranks.push_back(std::move(rank));
    }
    return steering;
}

int showRank(const RunSteering& steering, Rank id, bool isJson, Report& report)
{
    const auto rank = std::find_if(
        steering.ranks.begin(), steering.ranks.end(), [id](const RankSteering& other) { return other.rank == id; });
    if (rank == steering.ranks.end())
        return report.failUsage({ ErrorCode::NotFound, fmt::format("the run has no rank {}", id.value), {} });
    const Json config = configJson(rank->runs);
    if (isJson) {
        Json out = { { "run", steering.runId }, { "rev", rank->runsRev }, { "config", config } };
        out.update(rankJson(*rank));
        writeJson(report.out(), out);
        return kExitDone;
    }
    if (config.is_null())
        return report.fail({ ErrorCode::NotFound, fmt::format("rank {} has not said what it runs", id.value), {} });
    writeJson(report.out(), config);
    return kExitDone;
}

int runConfigShow(const Args& args, Report& report)
{
    const auto wanted = rankOf(args);
    if (!wanted)
        return report.failUsage(wanted.error());
    const std::optional<Rank> rank = *wanted;
    const auto server = steeringServer(args);
    if (!server && server.error().code != ErrorCode::NotFound)
        return report.fail(server.error());
    const std::string& run = args.positionals().front();
    const auto steering = server ? (*server)->askConfig(run, 0, rank.value_or(Rank { -1 })) : steeringOf(args);
    if (!steering)
        return report.fail(steering.error());
    const bool isJson = args.has("--json");
    if (rank)
        return showRank(*steering, *rank, isJson, report);
    // Of a revision that nobody runs, its number and its answers are shown: the config is what runs.
    const std::string text = steering->rev == 0 || isRefused(*steering) ? standingConfig(*steering) : steering->config;
    const Json config = configJson(text);
    if (isJson) {
        Json ranks = Json::array();
        for (const RankSteering& other : steering->ranks) {
            ranks.push_back(rankJson(other));
            if (other.rev == 0)
                ranks.back()["status"] = "none";
            ranks.back()["runs_rev"] = other.runsRev;
        }
        const auto sound = config::soundConfig(text);
        const Json out = { { "run", steering->runId }, { "rev", steering->rev },
            { "hash", sound ? Json(config::configHash(*sound)) : Json() }, { "author", steering->author },
            { "time", utcTimeText(steering->wallNs) }, { "apply_at_step", steering->applyAtStep }, { "config", config },
            { "ranks", std::move(ranks) } };
        writeJson(report.out(), out);
        return kExitDone;
    }
    std::ostream& out = report.out();
    if (steering->rev == 0)
        out << "no revision: the ranks run what they began with\n";
    else
        out << fmt::format("revision {} by {}, {}, for {} from step {} on\n", steering->rev,
            terminalText(steering->author), utcTimeText(steering->wallNs), rankNames(steering->asked),
            steering->applyAtStep);
    for (const RankSteering& other : steering->ranks)
        out << rankLine(other) << '\n';
    if (isRefused(*steering))
        out << "the ranks go on with what they ran:\n";
    if (!config.is_null())
        writeJson(out, config);
    return kExitDone;
}

}

Verb configShowVerb()
{
    return { "config show", "which config a run collects by, and which ranks run it",
        "Shows the newest revision of a run's config and what its ranks have answered; of one that they refused, the "
        "config\nthat they go on with. --rank shows the config that one rank runs. It asks the Telltale that is "
        "running; where\nnone is, it reads the run's capsule. RUN is an id from 'telltale runs', or a name that one "
        "run alone has.",
        { "RUN", 1, 1 },
        { { "--rank", "R", "what this rank runs" }, { "--json", "", "one JSON document on standard output" },
            { "--data-dir", "DIR", "where the run is, instead of $TELLTALE_DATA_DIR" } },
        runConfigShow };
}

}
