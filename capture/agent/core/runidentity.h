// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace telltale::agent {

/// Which run, rank and attempt this process is, from arguments and environment. Thread: any (a value).
struct RunIdentity {
    std::string runKey; ///< groups the ranks of one job; never holds a restart count
    std::string keySource; ///< as Hello says it
    std::string runName;
    std::string host;
    std::string role;
    std::string agentId; ///< host/rank/role
    std::uint64_t incarnation = 0;
    std::int32_t rank = 0;
    std::int32_t worldSize = 1;
    std::uint32_t restartCount = 0;

    struct Arguments {
        std::string runId;
        std::string runName;
        std::string role;
        std::int32_t rank = -1;
        std::int32_t worldSize = 0;
        std::int32_t restartCount = -1;
    };
    using Environment = std::function<std::optional<std::string>(const char* name)>;

    static RunIdentity derive(const Arguments& arguments, const Environment& environment);
};

/// The process's own environment; empty values count as absent.
std::optional<std::string> processEnvironment(const char* name);
/// 64 bits from the kernel, not from any generator that training may share.
std::uint64_t kernelRandom();

}
