// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <telltale/agent/runidentity.h>
#include <telltale/agent/steering.h>
#include <telltale/agent/telltale_agent.h>
#include <telltale/core/expected.h>
#include <telltale/protocol/joinstring.h>
#include <telltale/protocol/messages.h>
#include <telltale/spool/disk.h>

namespace telltale::agent {

enum class Mode : std::uint32_t { Disabled = 0, Online = 1, Offline = 2 };

/// tt_options with every default filled in from the environment. Thread: any (a value).
struct AgentOptions {
    Mode mode = Mode::Disabled;
    protocol::JoinString join; ///< online only
    RunIdentity identity;
    protocol::Hello hello;
    std::filesystem::path spoolDir; ///< of all runs
    std::shared_ptr<Disk> disk; ///< of the spool; null: the machine's
    std::string configText;
    SteeringPolicy steering;
    std::uint64_t ringBytes = 8u << 20;
    std::uint64_t spoolCapBytes = std::uint64_t { 2 } << 30;
    std::chrono::milliseconds flush { 5000 };
    /// With the time until the ack, at most 200 ms of data are at risk while a server is connected.
    std::chrono::milliseconds batch { 100 };

    /// Without a join string and without a mode an agent is disabled: nobody asked for its data.
    static Expected<AgentOptions> resolve(const tt_options* options, const RunIdentity::Environment& environment);

    std::filesystem::path runFolder() const;
    std::filesystem::path streamFolder() const;
};

const char* agentVersion();

}
