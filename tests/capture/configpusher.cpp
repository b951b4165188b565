// SPDX-License-Identifier: GPL-3.0-or-later
// configpusher DATA_DIR RUN: gives the ranks of a run whatever it reads for a config, byte for byte and unchecked, over
// the control endpoint of the server of the data directory. Reads "BYTES\n" and so many bytes; "0\n" waits until the
// ranks have answered the newest. Answers each with a JSON object: {"rev"}, {"error"}, or {"cut"} where the server has
// ended the connection, which is made anew.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include <telltale/client/controlclient.h>

using namespace telltale;
using State = RankSteering::State;

namespace {

std::unique_ptr<client::ControlClient> connected(const std::string& dataDir)
{
    const auto join = client::controlJoin(dataDir);
    auto server = join ? client::ControlClient::connect(*join) : tl::unexpected(join.error());
    return server ? std::move(*server) : nullptr;
}

bool isOpen(const RankSteering& rank)
{
    return rank.state == State::None || rank.state == State::Offered || rank.state == State::Accepted;
}

Expected<RunSteering> settled(client::ControlClient& server, const std::string& run)
{
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);;) {
        auto found = server.askConfig(run);
        if (!found || std::none_of(found->ranks.begin(), found->ranks.end(), isOpen))
            return found;
        if (std::chrono::steady_clock::now() > until)
            return failure(ErrorCode::Canceled, "the ranks do not answer");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

}

int main(int argc, char** argv)
{
    if (argc != 3)
        return 2;
    auto server = connected(argv[1]);
    for (std::string line; server && std::getline(std::cin, line);) {
        std::string config(std::stoul(line), '\0');
        std::cin.read(config.data(), static_cast<std::streamsize>(config.size()));
        const auto found = config.empty() ? settled(*server, argv[2])
                                          : server->pushConfig({ argv[2], std::move(config), {}, 0, "a test" });
        nlohmann::json out;
        if (found)
            out["rev"] = found->rev;
        else if (server->askConfig(argv[2]))
            out["error"] = found.error().sentence();
        else {
            out["cut"] = found.error().sentence();
            server = connected(argv[1]);
        }
        std::cout << out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
    }
    return server ? 0 : 1;
}
