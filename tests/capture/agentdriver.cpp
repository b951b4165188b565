// SPDX-License-Identifier: GPL-3.0-or-later
#include "agentdriver.h"

#include <algorithm>
#include <array>
#include <chrono>

#include <telltale/core/kinds.h>
#include <telltale/stats/stats.h>

namespace telltale::test {

AgentDriver::AgentDriver(const Setup& setup)
{
    tt_options options {};
    options.size = sizeof(options);
    options.join = setup.join.c_str();
    options.mode = setup.mode.c_str();
    options.run_id = setup.runId.c_str();
    options.spool_dir = setup.spoolDir.c_str();
    options.framework = "none";
    options.rank = 0;
    options.world_size = 1;
    options.restart_count = setup.restartCount;
    options.ring_bytes = setup.ringBytes;
    options.spool_cap_bytes = setup.spoolCapBytes;
    options.flush_ms = setup.flushMs;
    options.batch_ms = setup.batchMs;
    options.takes_configs = setup.takesConfigs ? 1 : 0;
    std::array<char, 512> error {};
    m_agent = tt_agent_open(&options, error.data(), error.size());
    m_error = error.data();
    if (!m_agent)
        return;

    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < kTensors; ++i)
        names.push_back("layers." + std::to_string(i) + ".weight");
    std::vector<tt_series> series;
    const std::int64_t shape[] = { 3, 4 };
    for (const std::string& name : names) {
        tt_series one {};
        one.name = name.c_str();
        one.micro_step = -1;
        one.dtype = TT_F32;
        one.numel = 12;
        one.shape = shape;
        one.ndim = 2;
        one.shard_offset = -1;
        series.push_back(one);
    }
    m_stats
        = tt_layout_add(m_agent, static_cast<std::uint32_t>(Kind::GradReduced), nullptr, 0, series.data(), kTensors);
    const std::uint8_t columns[]
        = { static_cast<std::uint8_t>(Stat::Entropy), static_cast<std::uint8_t>(Stat::SoftmaxMax) };
    m_floats = tt_layout_add(m_agent, static_cast<std::uint32_t>(Kind::Attention), columns, 2, series.data(), 2);
    series[0].name = "loss";
    m_scalars = tt_layout_add(m_agent, static_cast<std::uint32_t>(Kind::Scalar), nullptr, 0, series.data(), 1);
}

AgentDriver::~AgentDriver()
{
    if (m_agent)
        tt_agent_close(m_agent, "error");
}

bool AgentDriver::step(std::int64_t number)
{
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    tt_step* step = tt_step_begin(m_agent, number);
    if (!step) {
        tt_step_dropped(m_agent, number, kSamplesPerStep, 1);
    } else {
        if (tt_stats* stats = tt_step_stats(step, m_stats))
            for (std::uint32_t i = 0; i < kTensors; ++i) {
                stats[i].norm = norm(number, i);
                stats[i].mean = 1.5f;
                stats[i].nans = i;
                stats[i].flags = TT_STATS_PRESENT;
            }
        std::uint8_t* present = nullptr;
        if (float* values = tt_step_floats(step, m_floats, &present))
            for (int i = 0; i < 2; ++i) {
                values[i] = 0.5f;
                values[2 + i] = 0.25f;
                present[i] = 1;
            }
        if (double* values = tt_step_doubles(step, m_scalars, &present)) {
            values[0] = 1.0 / static_cast<double>(number + 1);
            present[0] = 1;
        }
        tt_step_commit(step);
    }
    m_slowestNs = std::max(m_slowestNs,
        static_cast<std::int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count()));
    return step != nullptr;
}

tt_counters AgentDriver::counters() const
{
    tt_counters out {};
    tt_agent_counters(m_agent, &out);
    return out;
}

bool AgentDriver::close(const char* reason)
{
    const bool acknowledged = tt_agent_close(m_agent, reason) == 1;
    m_agent = nullptr;
    return acknowledged;
}

}
