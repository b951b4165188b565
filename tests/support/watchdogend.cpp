// SPDX-License-Identifier: GPL-3.0-or-later
// QtTest's watchdog thread still ends while main returns, and what Qt keeps for that thread then looks like a leak to
// LeakSanitizer. Linked into every test of a sanitizer build: the process goes on to its leak check when the thread is
// gone.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

bool watchdogLives()
{
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
        std::string name;
        if (std::getline(std::ifstream(task.path() / "comm"), name) && name == "QtTest Watchdog")
            return true;
    }
    return false;
}

struct AtExit {
    ~AtExit()
    {
        using namespace std::chrono_literals;
        for (int tries = 0; tries < 1'000 && watchdogLives(); ++tries)
            std::this_thread::sleep_for(1ms);
    }
} const atExit;

}
