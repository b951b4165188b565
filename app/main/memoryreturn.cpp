// SPDX-License-Identifier: GPL-3.0-or-later
#include "memoryreturn.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include <malloc.h>

namespace telltale::app {
namespace {

constexpr auto kEvery = std::chrono::seconds(30);

void run(const std::stop_token& stop)
{
    std::mutex mutex;
    std::condition_variable_any ending;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
        ending.wait_for(lock, stop, kEvery, [] { return false; });
        ::malloc_trim(0);
    }
}

}

MemoryReturn::MemoryReturn()
    : m_thread(run)
{
}

}
