// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that still end while main returns (QtTest's watchdog, those of a service that was just stopped): what Qt
// keeps for them then looks like a leak to LeakSanitizer. Linked into every test of a sanitizer build: the process goes
// on to its leak check when they are gone, or after half a second, since some libraries keep a thread for good.
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

namespace {

bool hasOtherThreads()
{
    std::error_code error;
    const std::filesystem::directory_iterator tasks("/proc/self/task", error);
    return std::distance(begin(tasks), end(tasks)) > 1;
}

struct AtExit {
    ~AtExit()
    {
        using namespace std::chrono_literals;
        for (int tries = 0; tries < 500 && hasOtherThreads(); ++tries)
            std::this_thread::sleep_for(1ms);
    }
} const atExit;

}
