// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include <telltale/core/ids.h>

namespace telltale {

/// One agent's connection, as the Connections panel and `telltale demo` report it. A value, polled at 1 Hz.
struct ConnectionInfo {
    std::string agentId;
    std::string runKey; ///< names may be alike
    std::string runName;
    std::string runId; ///< of the run in the store; empty until it takes the agent's stream
    std::string peer; ///< address:port
    Rank rank;
    std::string framework;
    std::string agentVersion;
    bool connected = false;
    bool encrypted = false;
    std::int64_t connectedSinceNs = 0;
    /// Newest step's wall clock to its commit, by our clock; grows while nothing comes that should.
    double lagSeconds = 0;
    bool saidBye = false;
    std::int64_t lastHeardNs = 0;
    std::uint64_t receivedBytes = 0;
    std::uint64_t receivedBatches = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t nacks = 0;
    std::uint64_t rejected = 0;
    std::uint64_t durableSeq = 0;
    std::uint64_t nextSeq = 0; ///< the agent's, from its last heartbeat
    std::uint64_t droppedSamples = 0;
    std::uint64_t spoolBytes = 0;
    std::uint64_t ringBytes = 0;
    std::uint64_t samplesPerSecond = 0;
    std::int64_t nextStep = 0; ///< the step in progress as the agent said it last, 0 = not known
    /// What monitoring takes of a step's time in the training, over the last seconds; both 0 = not known.
    double monitorMs = 0;
    double stepMs = 0;
    /// One in so many steps is collected, to stay within a budget (percent of a step's time); 0 = all that the config
    /// selects.
    std::int64_t collectedEvery = 0;
    double overheadBudget = 0;
    std::uint32_t reconnects = 0;
    std::string lastRefusal; ///< why the last connection of this peer was closed by us, else empty
};

}
