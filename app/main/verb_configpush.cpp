// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <ostream>
#include <thread>

#include <pwd.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/config/soundconfig.h>
#include <telltale/core/plaintext.h>

#include "report.h"
#include "steeringserver.h"

namespace telltale::app {
namespace {

using State = RankSteering::State;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kDefaultWait = 30; ///< seconds
constexpr std::chrono::milliseconds kLookAgain { 50 };

/// Who pushes, for the run's log.
std::string author()
{
    const passwd* user = ::getpwuid(::geteuid());
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    return fmt::format("{} on {}", user != nullptr ? user->pw_name : "somebody", host);
}

struct Wish {
    std::vector<Rank> ranks;
    std::int64_t atStep = 0;
    std::int64_t waitSeconds = kDefaultWait;
};

Expected<Wish> wishOf(const Args& args)
{
    Wish wish;
    const auto ranks = ranksOf(args, "--ranks");
    if (!ranks)
        return tl::unexpected(ranks.error());
    wish.ranks = *ranks;
    for (const auto& [flag, number] :
        { std::pair { "--at-step", &wish.atStep }, std::pair { "--wait", &wish.waitSeconds } }) {
        const auto text = args.value(flag);
        const auto given = text ? parseInteger(flag, *text) : Expected<std::int64_t>(*number);
        if (!given)
            return tl::unexpected(given.error());
        if (*given < 0)
            return failure(ErrorCode::BadInput, fmt::format("{} wants 0 or more, not {}", flag, *given));
        *number = *given;
    }
    return wish;
}

/// The ranks that are asked, those among them that never came as lost.
std::vector<RankSteering> asked(const RunSteering& steering)
{
    std::vector<RankSteering> ranks;
    for (const RankSteering& rank : steering.ranks) {
        if (steering.asked.empty()
            || std::find(steering.asked.begin(), steering.asked.end(), rank.rank) != steering.asked.end())
            ranks.push_back(rank);
    }
    for (const Rank rank : steering.asked) {
        const auto isIt = [rank](const RankSteering& other) { return other.rank == rank; };
        if (std::none_of(ranks.begin(), ranks.end(), isIt)) {
            ranks.push_back({});
            ranks.back().rank = rank;
            ranks.back().state = State::Lost;
        }
    }
    return ranks;
}

bool isAnswered(const RankSteering& rank)
{
    return rank.state == State::Applied || rank.state == State::Refused || rank.state == State::Lost;
}

/// Pushes, waits for the answers and tells them.
int push(const Args& args, Report& report, client::ControlClient& server, const std::string& config, const Wish& wish)
{
    std::ostream& out = report.out();
    auto steering = server.pushConfig({ args.positionals().front(), config, wish.ranks, wish.atStep, author() });
    if (!steering)
        return report.fail(steering.error());
    const std::uint64_t rev = steering->rev;
    const auto until = Clock::now() + std::chrono::seconds(wish.waitSeconds);
    auto ranks = asked(*steering);
    while (!std::all_of(ranks.begin(), ranks.end(), isAnswered) && Clock::now() < until) {
        std::this_thread::sleep_for(kLookAgain);
        steering = server.askConfig(steering->runId, rev);
        if (!steering)
            return report.fail(steering.error());
        ranks = asked(*steering);
    }
    if (args.has("--json")) {
        auto list = nlohmann::json::array();
        for (const RankSteering& rank : ranks)
            list.push_back(rankJson(rank));
        writeJson(out, { { "rev", rev }, { "apply_at_step", steering->applyAtStep }, { "ranks", std::move(list) } });
    } else {
        out << fmt::format(
            "revision {} for {}, from step {} on\n", rev, rankNames(steering->asked), steering->applyAtStep);
        for (const RankSteering& rank : ranks)
            out << rankLine(rank) << '\n';
    }
    const bool isApplied = !ranks.empty()
        && std::all_of(ranks.begin(), ranks.end(), [](const auto& rank) { return rank.state == State::Applied; });
    return isApplied ? kExitDone : kExitFailed;
}

int runPush(const Args& args, Report& report)
{
    const auto wish = wishOf(args);
    if (!wish)
        return report.failUsage(wish.error());
    const std::string& path = args.positionals()[1];
    std::ifstream file(path, std::ios::binary);
    const std::string text { std::istreambuf_iterator<char>(file), {} };
    if (!file || file.bad())
        return report.failUsage({ ErrorCode::NotFound, "cannot read " + path, "name a config file" });
    if (const auto sound = config::soundConfig(text); !sound)
        return report.failUsage({ ErrorCode::BadInput, path + ": " + sound.error().what, sound.error().todo });
    const auto server = steeringServer(args);
    if (!server)
        return report.fail(server.error());
    return push(args, report, **server, text, *wish);
}

/// "telltale.threads=4" into a config; only the first dot divides, since names of modules have some, too.
Expected<void> set(Json& config, const std::string& word)
{
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
        return failure(ErrorCode::BadInput, "'" + word + "' is no KEY=VALUE");
    const std::string key = word.substr(0, equals);
    const std::string text = word.substr(equals + 1);
    Json value = Json::parse(text, nullptr, false);
    if (value.is_discarded())
        value = text;
    const std::size_t dot = key.find('.');
    if (dot == std::string::npos) {
        config[key] = std::move(value);
        return {};
    }
    Json& object = config[key.substr(0, dot)];
    if (!object.is_null() && !object.is_object())
        return failure(ErrorCode::BadInput, "'" + key.substr(0, dot) + "' has no fields of its own");
    object[key.substr(dot + 1)] = std::move(value);
    return {};
}

/// What the ranks are to run now, or where nobody has asked them for anything that they take, what they run.
Expected<std::string> current(client::ControlClient& server, const std::string& run, const std::vector<Rank>& ranks)
{
    const Rank first = ranks.empty() ? Rank { -1 } : ranks.front();
    const auto steering = server.askConfig(run, 0, first);
    if (!steering)
        return tl::unexpected(steering.error());
    if (std::string text = standingConfig(*steering, ranks); !text.empty())
        return text;
    return failure(ErrorCode::NotFound, "no rank of the run " + run + " has said what it collects",
        "push a whole config with 'telltale config push'");
}

int runSet(const Args& args, Report& report)
{
    const auto wish = wishOf(args);
    if (!wish)
        return report.failUsage(wish.error());
    const auto server = steeringServer(args);
    if (!server)
        return report.fail(server.error());
    const auto text = current(**server, args.positionals().front(), wish->ranks);
    if (!text)
        return report.fail(text.error());
    Json config = configJson(*text);
    // What a config without targets holds by itself; given ones would be no choice beside it.
    const bool isByItself = !config.contains("targets");
    for (std::size_t i = 1; i < args.positionals().size(); ++i) {
        if (auto ok = set(config, args.positionals()[i]); !ok)
            return report.failUsage(ok.error());
    }
    const auto isAllXy = [](const std::string& word) { return word.starts_with("all_xy="); };
    if (isByItself && config.contains("targets")
        && std::none_of(args.positionals().begin(), args.positionals().end(), isAllXy))
        config.erase("all_xy");
    const std::string wanted = config.dump();
    if (const auto sound = config::soundConfig(wanted); !sound)
        return report.failUsage(sound.error());
    return push(args, report, **server, wanted, *wish);
}

std::vector<Flag> flags()
{
    return { { "--ranks", "A,B", "these ranks only" }, { "--at-step", "N", "not before this step" },
        { "--wait", "SECONDS", "for the answers of the ranks, 30 if it is left out" },
        { "--json", "", "one JSON document on standard output" },
        { "--data-dir", "DIR", "of the Telltale that records the run, instead of $TELLTALE_DATA_DIR" } };
}

constexpr const char* kHow
    = "The running Telltale of the data directory offers it; without --data-dir, $TELLTALE_CONTROL may name one\n"
      "elsewhere: it is a line of the file 'control' in that one's data directory. Exits 0 only when every rank that\n"
      "was asked runs it, 1 where one refused, was away or did not answer in time, 2 where the config is wrong.";

}

Verb configPushVerb()
{
    return { "config push", "give the ranks of a run another config",
        std::string("Gives the ranks of a run that trains the config.json FILE to collect by, from one step on. RUN is "
                    "an id\nfrom 'telltale runs', or a name that one run alone has.\n")
            + kHow,
        { "RUN FILE", 2, 2 }, flags(), runPush };
}

Verb configSetVerb()
{
    return { "config set", "change fields of a run's config",
        std::string("Changes fields of the config that the ranks of a run collect by, such as dynamic_on=false or\n"
                    "telltale.attention_queries=64, and leaves the others as they are. VALUE is JSON, or a text as it "
                    "stands.\n")
            + kHow,
        { "RUN KEY=VALUE...", 2, 1000 }, flags(), runSet };
}

}
