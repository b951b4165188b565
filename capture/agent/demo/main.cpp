// SPDX-License-Identifier: GPL-3.0-or-later
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <span>

#include <malloc.h>

#include <telltale/demo/command.h>

namespace {

std::atomic<bool> interrupted { false };
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch a lock-free flag");

extern "C" void onSignal(int)
{
    interrupted.store(true);
}

/// Tensors come and go every step: memory that goes back to the system in between comes back as page faults.
void keepFreedMemory()
{
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 64 << 20);
}

}

int main(int argc, char** argv)
{
    keepFreedMemory();
    struct sigaction action = {};
    action.sa_handler = onSignal;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    // At a limit on the size of files the spool's writes then fail as on a full disk, and the training goes on.
    std::signal(SIGXFSZ, SIG_IGN);
    const std::span<const char* const> arguments(argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0));
    return telltale::demo::runCommand(arguments, interrupted);
}
