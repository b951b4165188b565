// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <telltale/core/connectioninfo.h>

namespace telltale::test {

/// Eight ranks of one run: the sixth has lost samples, the seventh was refused.
inline std::vector<ConnectionInfo> someAgents()
{
    std::vector<ConnectionInfo> agents;
    for (int rank = 0; rank < 8; ++rank) {
        ConnectionInfo agent;
        agent.agentId = "node/" + std::to_string(rank);
        agent.runName = "gpt-12l";
        agent.rank = Rank { rank };
        agent.connected = rank != 6;
        agent.lagSeconds = 0.28 + rank * 0.02;
        agent.samplesPerSecond = 23'100;
        agent.receivedBytes = 41'000'000;
        agent.droppedSamples = rank == 5 ? 3 : 0;
        agent.spoolBytes = rank == 5 ? 400'000 : 0;
        agent.agentVersion = "0.1.0";
        agent.peer = "127.0.0.1:5" + std::to_string(1000 + rank);
        agent.lastRefusal = rank == 6 ? "wrong token" : "";
        agents.push_back(agent);
    }
    return agents;
}

}
