// SPDX-License-Identifier: GPL-3.0-or-later
// offerserver: says its join string, then offers what it reads, a line each ("REV STEP JSON"), and says what the agent
// answers, a JSON object a line.
#include <atomic>
#include <chrono>
#include <iostream>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "agentfakeserver.h"

int main()
{
    telltale::test::FakeStore store;
    telltale::test::FakeServer server(store);
    std::cout << server.join() << std::endl;
    std::atomic<bool> isOver { false };
    std::thread teller([&] {
        for (std::size_t told = 0; !isOver; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
            const std::lock_guard lock(store.mutex);
            for (; told < store.statuses.size(); ++told) {
                const auto& status = store.statuses[told];
                const nlohmann::json line { { "rev", status.rev }, { "status", status.status },
                    { "reason", status.reason }, { "step", status.step }, { "hash", status.hash },
                    { "json", status.json } };
                std::cout << line.dump() << std::endl;
            }
        }
    });
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        telltale::protocol::ConfigOffer offer;
        words >> offer.rev >> offer.applyAtStep;
        std::getline(words >> std::ws, offer.json);
        server.offer(std::move(offer));
    }
    isOver = true;
    teller.join();
}
