// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

namespace telltale::stats {
namespace {

constexpr int kMaxWorkers = 15;

class Workers {
public:
    void run(int parts, const std::function<void(int)>& job)
    {
        std::unique_lock call(m_call, std::try_to_lock);
        if (!call.owns_lock() || m_pid != getpid()) {
            for (int part = 0; part < parts; ++part)
                job(part);
            return;
        }
        const int helpers = parts - 1;
        {
            std::lock_guard lock(m_mutex);
            while (static_cast<int>(m_threads.size()) < helpers && static_cast<int>(m_threads.size()) < kMaxWorkers)
                m_threads.emplace_back([this, index = static_cast<int>(m_threads.size())] { loop(index); });
            m_job = &job;
            m_parts = parts;
            m_running = static_cast<int>(m_threads.size());
            ++m_round;
        }
        m_start.notify_all();
        job(0);
        for (int part = 1 + static_cast<int>(m_threads.size()); part < parts; ++part)
            job(part);
        std::unique_lock lock(m_mutex);
        m_done.wait(lock, [this] { return m_running == 0; });
        m_job = nullptr;
    }

    ~Workers()
    {
        if (m_pid != getpid()) {
            for (std::thread& thread : m_threads)
                thread.detach();
            return;
        }
        {
            std::lock_guard lock(m_mutex);
            m_quit = true;
        }
        m_start.notify_all();
        for (std::thread& thread : m_threads)
            thread.join();
    }

private:
    void loop(int index)
    {
        std::uint64_t seen = 0;
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_start.wait(lock, [&] { return m_quit || m_round != seen; });
            if (m_quit)
                return;
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

    const pid_t m_pid = getpid();
    std::mutex m_call;
    std::mutex m_mutex;
    std::condition_variable m_start;
    std::condition_variable m_done;
    std::vector<std::thread> m_threads;
    const std::function<void(int)>* m_job = nullptr;
    int m_parts = 0;
    int m_running = 0;
    std::uint64_t m_round = 0;
    bool m_quit = false;
};

}

void runParts(int parts, const std::function<void(int)>& job)
{
    static Workers workers;
    workers.run(parts, job);
}

}
