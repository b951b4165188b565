// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <telltale/agent/telltale_agent.h>

namespace telltale::test {

/// A training loop without training: opens an agent through the C ABI and writes steps of known numbers.
class AgentDriver {
public:
    static constexpr std::uint32_t kTensors = 20;
    static constexpr std::uint64_t kSamplesPerStep = kTensors * 6 + 4; ///< and one scalar

    struct Setup {
        std::string join;
        std::string mode;
        std::string runId = "run";
        std::string spoolDir;
        std::uint64_t ringBytes = 0;
        std::uint64_t spoolCapBytes = 0;
        std::uint32_t flushMs = 0;
        std::uint32_t batchMs = 20;
        std::int32_t restartCount = 0;
        bool takesConfigs = false;
    };

    explicit AgentDriver(const Setup& setup);
    ~AgentDriver();

    tt_agent* agent() const { return m_agent; }
    const std::string& error() const { return m_error; }
    /// True when the ring took the step; its longest call in `slowestNs`.
    bool step(std::int64_t number);
    tt_counters counters() const;
    bool close(const char* reason = "finished");
    std::int64_t slowestNs() const { return m_slowestNs; }

    /// What step `number` says of tensor i.
    static float norm(std::int64_t number, std::uint32_t i)
    {
        return static_cast<float>(number) + 0.25f * static_cast<float>(i);
    }

private:
    tt_agent* m_agent = nullptr;
    std::string m_error;
    std::uint32_t m_stats = 0;
    std::uint32_t m_floats = 0;
    std::uint32_t m_scalars = 0;
    std::int64_t m_slowestNs = 0;
};

}
