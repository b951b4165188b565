// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <pthread.h>

#include <telltale/core/quietthread.h>
#include <telltale/stats/stats.h>

namespace telltale::stats {
namespace {

std::atomic<const char*> theTrouble { nullptr };
std::atomic<bool> isForkedChild { false };

/// Never destroyed, and its threads are joined by nobody: they sleep until the process is gone, however it ends. In a
/// forked child, where they do not exist, nothing of it is touched.
class Workers {
public:
    Workers()
        : m_mayStart(::pthread_atfork(nullptr, nullptr, [] { isForkedChild = true; }) == 0)
    {
    }

    void run(int parts, const std::function<void(int)>& job)
    {
        std::unique_lock call(m_call, std::try_to_lock);
        if (!call.owns_lock()) {
            for (int part = 0; part < parts; ++part)
                job(part);
            return;
        }
        int helpers = 0;
        {
            std::lock_guard lock(m_mutex);
            helpers = startUpTo(parts - 1);
            m_job = &job;
            m_parts = parts;
            m_running = helpers;
            ++m_round;
        }
        m_start.notify_all();
        job(0);
        for (int part = 1 + helpers; part < parts; ++part)
            job(part);
        std::unique_lock lock(m_mutex);
        m_done.wait(lock, [this] { return m_running == 0; });
        m_job = nullptr;
    }

private:
    /// How many threads there are, after an attempt to have that many. A system that refuses one is asked again at the
    /// next call.
    int startUpTo(int wanted)
    {
        while (m_mayStart && m_count < wanted) {
            const bool isStarted = withoutThrowing([this] {
                quietThread("telltale-stats", [this, index = m_count] { loop(index); }).detach();
                return true;
            });
            if (!isStarted) {
                theTrouble = "the system has no thread left for the statistics: they take longer, and are the same";
                break;
            }
            ++m_count;
        }
        return m_count;
    }

    void loop(int index)
    {
        std::uint64_t seen = 0;
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_start.wait(lock, [&] { return m_round != seen; });
            seen = m_round;
            if (index + 1 < m_parts && m_job != nullptr) {
                const auto* job = m_job;
                lock.unlock();
                (*job)(index + 1);
                lock.lock();
            }
            if (--m_running == 0)
                m_done.notify_one();
        }
    }

    const bool m_mayStart;
    std::mutex m_call;
    std::mutex m_mutex;
    std::condition_variable m_start;
    std::condition_variable m_done;
    const std::function<void(int)>* m_job = nullptr;
    int m_count = 0;
    int m_parts = 0;
    int m_running = 0;
    std::uint64_t m_round = 0;
};

}

void runParts(int parts, const std::function<void(int)>& job)
{
    if (isForkedChild) {
        for (int part = 0; part < parts; ++part)
            job(part);
        return;
    }
    static Workers& workers = *new Workers;
    workers.run(parts, job);
}

}

extern "C" const char* tt_stats_trouble(void)
{
    return telltale::withoutThrowing([] { return telltale::stats::theTrouble.load(); });
}
