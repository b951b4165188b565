// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers.h"

#include <algorithm>
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

void alone(std::uint64_t pieces, const std::function<void(std::uint64_t)>& job)
{
    for (std::uint64_t piece = 0; piece < pieces; ++piece)
        job(piece);
}

/// Never destroyed, and its threads are joined by nobody: they sleep until the process is gone, however it ends. In a
/// forked child, where they do not exist, nothing of it is touched.
class Workers {
public:
    Workers()
        : m_mayStart(::pthread_atfork(nullptr, nullptr, [] { isForkedChild = true; }) == 0)
    {
    }

    void run(int threads, std::uint64_t pieces, const std::function<void(std::uint64_t)>& job)
    {
        std::unique_lock call(m_call, std::try_to_lock);
        if (!call.owns_lock()) {
            alone(pieces, job);
            return;
        }
        int helpers = 0;
        {
            std::lock_guard lock(m_mutex);
            helpers = std::min(startUpTo(threads - 1), threads - 1);
            m_job = &job;
            m_pieces = pieces;
            m_next = 0;
            m_wanted = helpers;
        }
        for (; helpers > 0; --helpers)
            m_start.notify_one();
        takePieces(job);
        std::unique_lock lock(m_mutex);
        m_wanted = 0; // who wakes now comes too late
        m_done.wait(lock, [this] { return m_running == 0; });
    }

private:
    /// How many threads there are, after an attempt to have that many. A system that refuses one is asked again at the
    /// next call.
    int startUpTo(int wanted)
    {
        while (m_mayStart && m_count < wanted) {
            const bool isStarted = withoutThrowing([this] {
                quietThread("telltale-stats", [this] { loop(); }).detach();
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

    void takePieces(const std::function<void(std::uint64_t)>& job)
    {
        for (std::uint64_t piece = m_next++; piece < m_pieces; piece = m_next++)
            job(piece);
    }

    void loop()
    {
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_start.wait(lock, [this] { return m_wanted > 0; });
            --m_wanted;
            ++m_running;
            const auto& job = *m_job;
            lock.unlock();
            takePieces(job);
            lock.lock();
            if (--m_running == 0)
                m_done.notify_one();
        }
    }

    const bool m_mayStart;
    std::mutex m_call;
    std::mutex m_mutex;
    std::condition_variable m_start;
    std::condition_variable m_done;
    const std::function<void(std::uint64_t)>* m_job = nullptr;
    std::uint64_t m_pieces = 0;
    std::atomic<std::uint64_t> m_next { 0 };
    int m_count = 0;
    int m_wanted = 0; ///< threads that may still join the call
    int m_running = 0; ///< that have joined it
};

}

void runPieces(int threads, std::uint64_t pieces, const std::function<void(std::uint64_t)>& job)
{
    if (isForkedChild) {
        alone(pieces, job);
        return;
    }
    static Workers& workers = *new Workers;
    workers.run(threads, pieces, job);
}

}

extern "C" const char* tt_stats_trouble(void)
{
    return telltale::withoutThrowing([] { return telltale::stats::theTrouble.load(); });
}
