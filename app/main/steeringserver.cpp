// SPDX-License-Identifier: GPL-3.0-or-later
#include "steeringserver.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/protocol/joinstring.h>

#include "report.h"

namespace telltale::app {

Expected<std::unique_ptr<client::ControlClient>> steeringServer(const Args& args)
{
    const char* control = std::getenv("TELLTALE_CONTROL");
    if (control != nullptr && *control != '\0' && !args.has("--data-dir")) {
        const auto join = protocol::JoinString::parse(control);
        return join ? client::ControlClient::connect(*join) : tl::unexpected(join.error());
    }
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return tl::unexpected(dataDir.error());
    const auto join = client::controlJoin(*dataDir);
    auto server = join ? client::ControlClient::connect(*join)
                       : Expected<std::unique_ptr<client::ControlClient>>(tl::unexpected(join.error()));
    if (!server)
        return failure(ErrorCode::NotFound, fmt::format("no Telltale is running on {}", *dataDir),
            "start 'telltale serve' or the window, or name the one that records the run by --data-dir or "
            "$TELLTALE_CONTROL");
    return server;
}

nlohmann::json configJson(const std::string& text)
{
    auto json = nlohmann::json::parse(text, nullptr, false);
    return json.is_discarded() ? nlohmann::json() : json;
}

nlohmann::json rankJson(const RankSteering& rank)
{
    using State = RankSteering::State;
    const bool isSilent = rank.state == State::None || rank.state == State::Offered;
    return { { "rank", rank.rank.value }, { "status", steeringStateName(isSilent ? State::Lost : rank.state) },
        { "step", rank.step }, { "reason", isSilent ? "it has not answered yet" : rank.reason } };
}

bool isRefused(const RunSteering& steering, const std::vector<Rank>& ranks)
{
    using State = RankSteering::State;
    const auto isAny = [&](auto is) {
        return std::any_of(steering.ranks.begin(), steering.ranks.end(), [&](const RankSteering& rank) {
            const bool isMeant = ranks.empty() || std::find(ranks.begin(), ranks.end(), rank.rank) != ranks.end();
            return isMeant && rank.rev == steering.rev && is(rank.state);
        });
    };
    return steering.rev != 0 && isAny([](State state) { return state == State::Refused; })
        && !isAny([](State state) { return state != State::Refused && state != State::Lost; });
}

std::string standingConfig(const RunSteering& steering, const std::vector<Rank>& ranks)
{
    const auto& asked = steering.asked;
    const bool isForThem
        = asked.empty() || (!ranks.empty() && std::find(asked.begin(), asked.end(), ranks.front()) != asked.end());
    if (steering.rev != 0 && isForThem && !steering.config.empty() && !isRefused(steering, ranks))
        return steering.config;
    const auto said = std::find_if(
        steering.ranks.begin(), steering.ranks.end(), [](const RankSteering& rank) { return !rank.runs.empty(); });
    return said == steering.ranks.end() ? std::string() : said->runs;
}

std::string rankLine(const RankSteering& rank)
{
    std::string line = fmt::format("rank {:<5} {:<9}", rank.rank.value, steeringStateName(rank.state));
    if (rank.state == RankSteering::State::Applied)
        line += fmt::format(" from step {}", rank.step);
    if (!rank.reason.empty())
        line += ' ' + terminalText(rank.reason);
    return line;
}

std::string rankNames(const std::vector<Rank>& ranks)
{
    if (ranks.empty())
        return "all ranks";
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size(); ++i)
        text.append(i == 0 ? "" : ", ").append(std::to_string(ranks[i].value));
    return text;
}

}
