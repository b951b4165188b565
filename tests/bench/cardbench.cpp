// SPDX-License-Identifier: GPL-3.0-or-later
// How long after a step is durable its incident is in the run's log, while ranks send as fast as the server takes it;
// the program itself as the server, agents through their C ABI.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <QCoreApplication>
#include <QProcess>
#include <QTemporaryDir>

#include <telltale/agent/telltale_agent.h>
#include <telltale/core/kinds.h>
#include <telltale/stats/stats.h>
#include <telltale/store/archive.h>
#include <telltale/store/runreader.h>

#include "report.h"

namespace telltale::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRanks = 4;
constexpr int kSeries = 1500; ///< of each: 6,000 values to be judged a step
constexpr int kVariants = 61; ///< steps before numbers are repeated
constexpr std::uint64_t kSamples = 6; ///< of a tensor
constexpr std::int64_t kLearned = 400; ///< steps before something goes wrong
constexpr std::uint64_t kMostInFlight = 32 * kSeries * kSamples; ///< of a rank: nothing is spooled
constexpr auto kPatience = std::chrono::seconds(60);

double secondsSince(Clock::time_point when)
{
    return std::chrono::duration<double>(Clock::now() - when).count();
}

/// A training of several ranks that does nothing but send. Thread: main.
class Swarm {
public:
    Swarm(const std::string& join, const std::string& spool, const std::string& run)
    {
        for (int i = 0; i < kSeries; ++i)
            m_names.push_back("layers." + std::to_string(i / 10) + ".part" + std::to_string(i % 10) + ".weight");
        std::vector<tt_series> series(kSeries);
        for (std::size_t i = 0; i < series.size(); ++i) {
            series[i] = {};
            series[i].name = m_names[i].c_str();
            series[i].micro_step = -1;
            series[i].shard_offset = -1;
            series[i].dtype = TT_F32;
            series[i].numel = 4096;
        }
        for (int rank = 0; rank < kRanks; ++rank) {
            const std::string folder = spool + "/" + run + std::to_string(rank);
            tt_options options {};
            options.size = sizeof options;
            options.join = join.c_str();
            options.run_id = options.run_name = run.c_str();
            options.spool_dir = folder.c_str();
            options.rank = options.dp = rank;
            options.world_size = kRanks;
            options.flush_ms = 1;
            options.tp = options.pp = options.ep = -1;
            std::array<char, 512> error {};
            Rank& one = m_ranks.emplace_back();
            one.agent = tt_agent_open(&options, error.data(), error.size());
            if (one.agent == nullptr)
                qFatal("%s", error.data());
            one.layout = tt_layout_add(
                one.agent, static_cast<std::uint32_t>(Kind::GradReduced), nullptr, 0, series.data(), kSeries);
        }
        std::uint32_t random = 1;
        for (auto& variant : m_variants) {
            variant.resize(kSeries);
            for (std::size_t i = 0; i < variant.size(); ++i) {
                random = random * 1664525u + 1013904223u;
                tt_stats& stats = variant[i] = {};
                const auto noise = static_cast<double>(random >> 8) / (1 << 24);
                stats.norm = static_cast<float>(std::exp(-3 + noise * 0.1 + static_cast<double>(i % 10) * 0.4));
                stats.mean = static_cast<float>((noise - 0.5) * 1e-3);
                stats.max = stats.norm * 0.1f;
                stats.min = -stats.max;
                stats.numel = stats.finite = 4096;
                stats.flags = TT_STATS_PRESENT;
            }
        }
    }
    ~Swarm()
    {
        for (const Rank& rank : m_ranks)
            tt_agent_close(rank.agent, "finished");
    }
    Swarm(const Swarm&) = delete;
    Swarm& operator=(const Swarm&) = delete;

    /// Every rank's next step, when there is room for it. One of its values is NaN where that is wanted.
    void send(bool isBad = false)
    {
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            tt_step* slab = nullptr;
            while (countersOf(m_ranks[r]).in_flight > kMostInFlight
                || (slab = tt_step_begin(m_ranks[r].agent, m_step)) == nullptr)
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            tt_stats* stats = tt_step_stats(slab, m_ranks[r].layout);
            std::memcpy(
                stats, m_variants[static_cast<std::size_t>(m_step) % kVariants].data(), kSeries * sizeof(tt_stats));
            if (isBad && r == m_ranks.size() / 2)
                stats[kSeries / 3].nans = 7;
            tt_step_commit(slab);
        }
        ++m_step;
    }
    std::int64_t step() const { return m_step; }
    /// Samples that are durable; of the rank that has fewest.
    std::uint64_t fewestDurable() const
    {
        std::uint64_t fewest = ~std::uint64_t { 0 };
        for (const Rank& rank : m_ranks)
            fewest = std::min(fewest, countersOf(rank).acked);
        return fewest;
    }
    /// Of the rank that goes wrong.
    std::uint64_t durable() const { return countersOf(m_ranks[m_ranks.size() / 2]).acked; }
    std::uint64_t dropped() const
    {
        std::uint64_t all = 0;
        for (const Rank& rank : m_ranks)
            all += countersOf(rank).dropped;
        return all;
    }

private:
    struct Rank {
        tt_agent* agent = nullptr;
        std::uint32_t layout = 0;
    };
    static tt_counters countersOf(const Rank& rank)
    {
        tt_counters counters {};
        tt_agent_counters(rank.agent, &counters);
        return counters;
    }

    std::vector<std::string> m_names;
    std::vector<Rank> m_ranks;
    std::array<std::vector<tt_stats>, kVariants> m_variants;
    std::int64_t m_step = 0;
};

/// Whether the run's log has an incident that began at `step`.
bool isKnown(store::RunReader& reader, store::LogCursor& cursor, Step step)
{
    for (;;) {
        const auto page = reader.log(cursor, { "incident", {}, {} });
        if (!page)
            qFatal("%s", page.error().sentence().c_str());
        cursor = page->next;
        for (const store::LogRecord& record : page->records) {
            if (record.steps.first < step)
                qFatal("a clean step has an incident: %s", record.text.c_str());
            if (record.steps.first == step && record.rule == "nonfinite")
                return true;
        }
        if (page->isLast)
            return false;
    }
}

struct Trial {
    double late = 0; ///< seconds
    double rate = 0; ///< samples a second, of all ranks
};

/// Where the server keeps the run of this name.
store::RunHandle handleOf(const std::string& dataDir, const std::string& name)
{
    const auto runs = store::listRuns(dataDir);
    const auto found = std::find_if(runs.begin(), runs.end(), [&name](const auto& one) { return one.name == name; });
    if (found == runs.end())
        qFatal("the run is not there");
    store::RunHandle handle;
    handle.locator = found->locator;
    return handle;
}

Trial judgeOne(const std::string& join, const QTemporaryDir& dir, int number)
{
    const std::string run = "card" + std::to_string(number);
    Swarm swarm(join, dir.filePath(QStringLiteral("spool")).toStdString(), run);
    const auto start = Clock::now();
    while (swarm.step() < kLearned || swarm.fewestDurable() == 0)
        swarm.send();
    // Whoever watches is no part of what is measured: a thread of its own, and the ranks go on meanwhile.
    constexpr std::int64_t kNotYet = std::numeric_limits<std::int64_t>::max();
    std::atomic<std::int64_t> bad { kNotYet };
    std::atomic<bool> isWatching { false };
    std::atomic<bool> isSeen { false };
    Clock::time_point seen;
    std::thread watcher([&] {
        const auto reader = store::openReader(handleOf(dir.path().toStdString(), run));
        if (!reader)
            qFatal("%s", reader.error().sentence().c_str());
        isWatching = true;
        for (store::LogCursor cursor; !isKnown(**reader, cursor, Step { bad });) {
            if (Clock::now() - start > kPatience)
                qFatal("nobody said what went wrong");
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        seen = Clock::now();
        isSeen = true;
    });
    while (!isWatching)
        swarm.send();
    bad = swarm.step();
    swarm.send(true);
    const std::uint64_t wanted = static_cast<std::uint64_t>(swarm.step()) * kSeries * kSamples;
    while (swarm.durable() < wanted)
        swarm.send();
    const auto isDurable = Clock::now();
    Trial trial;
    trial.rate = static_cast<double>(swarm.fewestDurable()) * kRanks / secondsSince(start);
    while (!isSeen)
        swarm.send();
    watcher.join();
    trial.late = std::max(0.0, std::chrono::duration<double>(seen - isDurable).count());
    if (swarm.dropped() > 0)
        qFatal("samples were dropped");
    return trial;
}

}

void benchCard(Report& report)
{
    constexpr int kTrials = 5;
    const QTemporaryDir dir;
    QProcess server;
    server.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    server.start(QCoreApplication::applicationDirPath() + QStringLiteral("/../bin/telltale"),
        { QStringLiteral("serve"), QStringLiteral("--listen"), QStringLiteral("127.0.0.1:0"),
            QStringLiteral("--data-dir"), dir.path() });
    while (!server.canReadLine()) {
        if (!server.waitForReadyRead())
            qFatal("telltale serve did not start");
    }
    const std::string join = server.readLine().trimmed().toStdString();
    std::vector<double> late, rates;
    for (int number = 0; number < kTrials; ++number) {
        const Trial trial = judgeOne(join, dir, number);
        late.push_back(trial.late * 1e3);
        rates.push_back(trial.rate / 1e6);
    }
    server.terminate();
    server.waitForFinished();
    std::sort(late.begin(), late.end());
    std::sort(rates.begin(), rates.end());
    report.add({ "card_after_commit_at_full_rate_p50", late[kTrials / 2], "ms", "what was promised", 2000, 1 });
    report.add({ "card_after_commit_at_full_rate_worst", late.back(), "ms", "what was promised", 2000, 1 });
    report.add({ "samples_meanwhile_4_ranks", rates[kTrials / 2], "M samples/s", "6,000 tensors 10 times a second",
        6000 * 6 * 10 / 1e6, 1, true });
}

}
