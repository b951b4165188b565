// SPDX-License-Identifier: GPL-3.0-or-later
// A training without training, and its oracle: every step is written to the oracle's file before the agent gets it, and
// every acknowledgement that the agent counts after it. The file is outside of whatever the harness breaks.
//
// Lines of the oracle: `i STEP NS` issued (monotonic clock), `d STEP` refused by the ring, `a ACKED DROPPED` counters
// after that, `c PRODUCED ACKED DROPPED IN_FLIGHT SCALARS_PRODUCED SCALARS_DROPPED RECONNECTS CLOSED` at the end.
// Commands on standard input: `flush MS`, `hold`, `go`; its end closes the agent. Answers on standard output: `open`,
// `acked` (the first acknowledgement), `flushed 0|1 MS`.
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <telltale/agent/telltale_agent.h>
#include <telltale/core/kinds.h>
#include <telltale/stats/stats.h>

#include "samples.h"

using namespace telltale;
using namespace telltale::chaos;
using Clock = std::chrono::steady_clock;

namespace {

struct Options {
    std::string join, spool, oracle, runId = "chaos";
    std::int64_t firstStep = 0;
    std::int32_t restartCount = 0, rank = 0, worldSize = 1;
    std::chrono::microseconds pace { 2000 };
    std::uint64_t spoolCapBytes = 0;
};

/// One write call a line: a killed process has written it or not.
class Oracle {
public:
    explicit Oracle(const std::string& path)
        : m_fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600))
    {
        if (m_fd < 0)
            fail("cannot open " + path);
    }
    void say(const std::string& line)
    {
        const std::string whole = line + "\n";
        if (::write(m_fd, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
            fail("cannot write");
    }

private:
    [[noreturn]] static void fail(const std::string& what)
    {
        std::fprintf(stderr, "the oracle %s: %s\n", what.c_str(), std::strerror(errno));
        std::_Exit(70);
    }
    int m_fd;
};

class Driver {
public:
    explicit Driver(const Options& options);
    bool isOpen() const { return m_agent != nullptr; }
    void step();
    void tellCounters();
    void flush(unsigned ms);
    void close();

private:
    static void answer(const std::string& line);

    Oracle m_oracle;
    tt_agent* m_agent = nullptr;
    std::uint32_t m_stats = 0, m_scalars = 0;
    const bool m_isOnline;
    std::int64_t m_next;
    std::uint64_t m_acked = 0, m_dropped = 0;
};

Driver::Driver(const Options& options)
    : m_oracle(options.oracle)
    , m_isOnline(!options.join.empty())
    , m_next(options.firstStep)
{
    tt_options open {};
    open.size = sizeof open;
    open.join = options.join.c_str();
    open.mode = options.join.empty() ? "offline" : "online";
    open.run_id = options.runId.c_str();
    open.spool_dir = options.spool.c_str();
    open.framework = "none";
    open.rank = options.rank;
    open.world_size = options.worldSize;
    open.restart_count = options.restartCount;
    open.spool_cap_bytes = options.spoolCapBytes;
    open.batch_ms = 50;
    std::array<char, 512> error {};
    m_agent = tt_agent_open(&open, error.data(), error.size());
    if (!m_agent) {
        std::fprintf(stderr, "%s\n", error.data());
        return;
    }
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < kTensors; ++i)
        names.push_back(tensorName(i));
    const std::int64_t shape[] = { 3, 4 };
    std::vector<tt_series> series(kTensors);
    for (std::uint32_t i = 0; i < kTensors; ++i) {
        series[i].name = names[i].c_str();
        series[i].micro_step = -1;
        series[i].dtype = TT_F32;
        series[i].numel = 12;
        series[i].shape = shape;
        series[i].ndim = 2;
        series[i].shard_offset = -1;
    }
    m_stats
        = tt_layout_add(m_agent, static_cast<std::uint32_t>(Kind::GradReduced), nullptr, 0, series.data(), kTensors);
    series[0].name = "loss";
    m_scalars = tt_layout_add(m_agent, static_cast<std::uint32_t>(Kind::Scalar), nullptr, 0, series.data(), 1);
    answer("open");
}

void Driver::step()
{
    const std::int64_t number = m_next++;
    m_oracle.say("i " + std::to_string(number) + " " + std::to_string(Clock::now().time_since_epoch().count()));
    tt_step* step = tt_step_begin(m_agent, number);
    if (!step) {
        tt_step_dropped(m_agent, number, kSamplesPerStep, 1);
        m_oracle.say("d " + std::to_string(number));
        return;
    }
    if (tt_stats* stats = tt_step_stats(step, m_stats)) {
        for (std::uint32_t i = 0; i < kTensors; ++i) {
            stats[i].norm = magnitude(number, i, 0);
            stats[i].mean = magnitude(number, i, 1);
            stats[i].min = -magnitude(number, i, 2);
            stats[i].max = magnitude(number, i, 3);
            stats[i].zeros = share(number, i, 4);
            stats[i].nans = nanCount(number, i);
            stats[i].numel = 12;
            stats[i].finite = 6;
            stats[i].flags = TT_STATS_PRESENT;
        }
    }
    std::uint8_t* present = nullptr;
    if (double* value = tt_step_doubles(step, m_scalars, &present)) {
        *value = scalar(number);
        *present = 1;
    }
    tt_step_commit(step);
}

void Driver::tellCounters()
{
    tt_counters now {};
    tt_agent_counters(m_agent, &now);
    if (now.acked == m_acked && now.dropped == m_dropped)
        return;
    if (m_acked == 0 && now.acked > 0)
        answer("acked");
    m_acked = now.acked;
    m_dropped = now.dropped;
    m_oracle.say("a " + std::to_string(now.acked) + " " + std::to_string(now.dropped));
}

void Driver::flush(unsigned ms)
{
    const auto start = Clock::now();
    const int isFlushed = tt_agent_flush(m_agent, ms);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
    tellCounters();
    answer("flushed " + std::to_string(isFlushed) + " " + std::to_string(took));
}

void Driver::close()
{
    // What the sender still counts while it closes can no longer be asked for: so the last samples are waited for here.
    tt_agent_flush(m_agent, m_isOnline ? 3000 : 300);
    tt_counters now {};
    tt_agent_counters(m_agent, &now);
    const int isAcknowledged = tt_agent_close(m_agent, "finished");
    std::string line = "c";
    for (const std::uint64_t count : { now.produced, now.acked, now.dropped, now.in_flight, now.scalars_produced,
             now.scalars_dropped, now.reconnects })
        line.append(1, ' ').append(std::to_string(count));
    m_oracle.say(line.append(1, ' ').append(std::to_string(isAcknowledged)));
}

void Driver::answer(const std::string& line)
{
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

/// Obeys what standard input says for at most `wait`; false at its end.
bool listen(Driver& driver, std::chrono::microseconds wait, bool& isHeld)
{
    static std::string pending;
    pollfd input { STDIN_FILENO, POLLIN, 0 };
    const auto ns = std::chrono::nanoseconds(wait).count();
    const timespec timeout { ns / 1'000'000'000, ns % 1'000'000'000 };
    if (::ppoll(&input, 1, &timeout, nullptr) <= 0)
        return true;
    char bytes[256];
    const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    pending.append(bytes, static_cast<std::size_t>(got));
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
        const std::string line = pending.substr(0, end);
        pending.erase(0, end + 1);
        if (line.starts_with("flush "))
            driver.flush(static_cast<unsigned>(std::strtoul(line.c_str() + 6, nullptr, 10)));
        else if (line == "hold")
            isHeld = true;
        else if (line == "go")
            isHeld = false;
    }
    return true;
}

}

int main(int argc, char** argv)
{
    Options options;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string key = argv[i];
        const std::string value = argv[i + 1];
        if (key == "--join")
            options.join = value;
        else if (key == "--spool")
            options.spool = value;
        else if (key == "--oracle")
            options.oracle = value;
        else if (key == "--run-id")
            options.runId = value;
        else if (key == "--first-step")
            options.firstStep = std::strtoll(value.c_str(), nullptr, 10);
        else if (key == "--restart")
            options.restartCount = static_cast<std::int32_t>(std::strtol(value.c_str(), nullptr, 10));
        else if (key == "--rank")
            options.rank = static_cast<std::int32_t>(std::strtol(value.c_str(), nullptr, 10));
        else if (key == "--world-size")
            options.worldSize = static_cast<std::int32_t>(std::strtol(value.c_str(), nullptr, 10));
        else if (key == "--pace-us")
            options.pace = std::chrono::microseconds(std::strtol(value.c_str(), nullptr, 10));
        else if (key == "--spool-cap")
            options.spoolCapBytes = std::strtoull(value.c_str(), nullptr, 10);
    }
    Driver driver(options);
    if (!driver.isOpen())
        return 3;
    bool isHeld = false;
    auto next = Clock::now();
    for (;;) {
        const auto now = Clock::now();
        if (!isHeld && now >= next) {
            driver.step();
            // Like a training: a step that was late does not make the next ones faster.
            next = std::max(next + options.pace, now);
        }
        driver.tellCounters();
        const auto left = std::chrono::duration_cast<std::chrono::microseconds>(next - Clock::now());
        const auto wait = isHeld ? std::chrono::microseconds(2000) : std::max(left, std::chrono::microseconds(0));
        if (!listen(driver, wait, isHeld))
            break;
    }
    driver.close();
    return 0;
}
