// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <tuple>

#include <QTemporaryDir>

#include <telltale/agent/telltale_agent.h>
#include <telltale/core/kinds.h>
#include <telltale/stats/stats.h>

#include "report.h"

namespace telltale::bench {
namespace {

constexpr int kSeries = 250;
constexpr int kSteps = 20'000;
/// A fast small model: long enough between steps for the consumer to keep up, as in training.
constexpr auto kBetweenSteps = std::chrono::microseconds(200);

using Clock = std::chrono::steady_clock;

double percentile(std::vector<double> values, double share)
{
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

void waitUntil(Clock::time_point when)
{
    while (Clock::now() < when) { }
}

/// Microseconds of handing one finished step over, through the agent's ring.
std::vector<double> throughRing()
{
    const QTemporaryDir dir;
    const QByteArray spool = dir.path().toUtf8();
    tt_options options {};
    options.size = sizeof options;
    options.mode = "offline";
    options.run_id = "handover";
    options.spool_dir = spool.constData();
    options.rank = 0;
    char error[256];
    tt_agent* agent = tt_agent_open(&options, error, sizeof error);
    if (agent == nullptr)
        qFatal("%s", error);
    std::vector<std::string> names;
    std::vector<tt_series> series(kSeries);
    for (int i = 0; i < kSeries; ++i)
        names.push_back("layers." + std::to_string(i) + ".weight");
    for (std::size_t i = 0; i < series.size(); ++i) {
        series[i] = {};
        series[i].name = names[i].c_str();
        series[i].micro_step = -1;
        series[i].shard_offset = -1;
    }
    const std::uint32_t layout
        = tt_layout_add(agent, static_cast<std::uint32_t>(Kind::GradReduced), nullptr, 0, series.data(), kSeries);
    std::vector<tt_stats> measured(kSeries);
    for (auto& s : measured) {
        s.flags = TT_STATS_PRESENT;
        s.norm = 1;
    }
    std::vector<double> us;
    auto next = Clock::now();
    for (int step = 0; step < kSteps; ++step) {
        tt_step* slab = tt_step_begin(agent, step);
        if (slab == nullptr)
            continue;
        // In training the kernel writes here; what is timed is the publishing.
        std::memcpy(tt_step_stats(slab, layout), measured.data(), measured.size() * sizeof(tt_stats));
        const auto start = Clock::now();
        tt_step_commit(slab);
        us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
        next += kBetweenSteps;
        waitUntil(next);
    }
    tt_agent_close(agent, "finished");
    return us;
}

/// The peer: the step is moved into a deque under a mutex and the consumer is notified.
std::vector<double> throughMutexQueue()
{
    std::mutex mutex;
    std::condition_variable ready;
    std::deque<std::vector<tt_stats>> queue;
    bool quit = false;
    std::thread consumer([&] {
        std::unique_lock lock(mutex);
        while (!quit) {
            ready.wait(lock, [&] { return quit || !queue.empty(); });
            queue.clear();
        }
    });
    std::vector<double> us;
    auto next = Clock::now();
    for (int step = 0; step < kSteps; ++step) {
        std::vector<tt_stats> measured(kSeries);
        const auto start = Clock::now();
        {
            const std::lock_guard lock(mutex);
            queue.push_back(std::move(measured));
        }
        ready.notify_one();
        us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
        next += kBetweenSteps;
        waitUntil(next);
    }
    {
        const std::lock_guard lock(mutex);
        quit = true;
    }
    ready.notify_one();
    consumer.join();
    return us;
}

}

void benchHandOver(Report& report)
{
    const auto ring = throughRing();
    const auto queue = throughMutexQueue();
    for (const auto& [name, share, goal] :
        { std::tuple { "handover_p50", 0.5, 30.0 }, { "handover_p99_9", 0.999, 40.0 } })
        report.add(
            { name, percentile(ring, share), "us a step", "mutex, deque, notify", percentile(queue, share), goal });
}

}
