// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/forkguard.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include <pthread.h>
#include <unistd.h>

namespace telltale::agent::forkguard {
namespace {

struct Registry {
    std::mutex mutex;
    std::vector<int> files;
    std::vector<std::atomic<bool>*> flags;

    Registry();
};

// Never destroyed: a fork may come as late as exit handlers.
Registry& registry()
{
    static Registry* const instance = new Registry;
    return *instance;
}

void beforeFork()
{
    registry().mutex.lock();
}
void afterForkInParent()
{
    registry().mutex.unlock();
}
void afterForkInChild()
{
    Registry& all = registry();
    for (std::atomic<bool>* flag : all.flags)
        flag->store(true, std::memory_order_relaxed);
    for (const int fd : all.files)
        ::close(fd);
    all.files.clear();
    all.mutex.unlock();
}

Registry::Registry()
{
    ::pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
}

}

void keepFromChildren(int fd)
{
    std::lock_guard lock(registry().mutex);
    registry().files.push_back(fd);
}

void forget(int fd)
{
    std::lock_guard lock(registry().mutex);
    std::erase(registry().files, fd);
}

void watch(std::atomic<bool>* inChild)
{
    std::lock_guard lock(registry().mutex);
    registry().flags.push_back(inChild);
}

void unwatch(std::atomic<bool>* inChild)
{
    std::lock_guard lock(registry().mutex);
    std::erase(registry().flags, inChild);
}

}
