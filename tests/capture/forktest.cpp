// SPDX-License-Identifier: GPL-3.0-or-later
// A forked child of a training process may end in any way, or train on. No QtTest here: its children call exit().
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <telltale/agent/telltale_agent.h>
#include <telltale/stats/stats.h>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr std::chrono::seconds kLongest { 20 };

const std::vector<float>& values()
{
    static const std::vector<float> all(1u << 19, 0.5F);
    return all;
}

bool measures()
{
    tt_stats result;
    const int status = tt_stats_tensor(values().data(), values().size(), TT_F32, TT_DEFAULT_EPS, &result, 4);
    return status == 0 && result.sum == 0.5 * static_cast<double>(values().size());
}

/// What a child does; 0 when all went well.
struct Ending {
    const char* name;
    int (*run)(tt_agent* agent);
};

int trainOn(tt_agent* agent)
{
    for (int i = 0; i < 3; ++i)
        if (!measures() || tt_step_begin(agent, i))
            return 1;
    tt_event(agent, "log", 0, "of a child", "{}");
    return tt_agent_close(agent, "finished");
}

int haveAChild(tt_agent* agent)
{
    const pid_t child = ::fork();
    if (child == 0)
        std::exit(trainOn(agent));
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

const Ending kEndings[] = {
    { "exit()", [](tt_agent*) { return 0; } },
    { "_exit()",
        [](tt_agent*) {
            ::_exit(0);
            return 1;
        } },
    { "exec",
        [](tt_agent*) {
            ::execl("/bin/true", "true", nullptr);
            return 1;
        } },
    { "training on, then exit()", trainOn },
    { "a child of its own", haveAChild },
};

/// The child's status; -1 when it had not ended in time.
int waitFor(pid_t child)
{
    const auto deadline = Clock::now() + kLongest;
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
        if (Clock::now() > deadline) {
            ::kill(child, SIGKILL);
            ::waitpid(child, &status, 0);
            return -1;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return status;
}

}

int main()
{
    std::string folder = (std::filesystem::temp_directory_path() / "telltale-fork-XXXXXX").string();
    if (!::mkdtemp(folder.data()))
        return 1;
    tt_options options {};
    options.size = sizeof options;
    options.mode = "offline";
    options.run_id = "fork";
    options.spool_dir = folder.c_str();
    options.rank = options.dp = options.tp = options.pp = options.ep = options.restart_count = -1;
    char why[200] = "";
    tt_agent* agent = tt_agent_open(&options, why, sizeof why);
    int failures = agent && measures() ? 0 : 1;

    // Forks come while the statistics' threads work, and hold their locks.
    std::atomic<bool> isOver { false };
    std::thread busy([&] {
        while (!isOver)
            if (!measures())
                std::abort();
    });
    for (const Ending& ending : kEndings) {
        int bad = 0;
        for (int round = 0; round < kRounds; ++round) {
            std::fflush(nullptr);
            const pid_t child = ::fork();
            if (child == 0)
                std::exit(ending.run(agent));
            const int status = waitFor(child);
            if (status != 0)
                std::printf("  %s: %s %d\n", ending.name, status < 0 ? "it hangs" : "status", status);
            bad += status != 0;
        }
        std::printf("%s: a child that ends by %s\n", bad == 0 ? "PASS" : "FAIL", ending.name);
        failures += bad;
    }
    isOver = true;
    busy.join();
    failures += measures() && tt_event(agent, "log", 1, "of the parent", "{}") ? 0 : 1;
    tt_agent_close(agent, "finished");
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
