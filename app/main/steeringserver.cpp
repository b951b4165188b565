// SPDX-License-Identifier: GPL-3.0-or-later
#include "steeringserver.h"

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
