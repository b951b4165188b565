// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/jobqueue.h>

#include <utility>

namespace telltale {

JobQueue::JobQueue(std::function<void()> wake)
    : m_wake(std::move(wake))
    , m_thread([this] { run(); })
{
}

JobQueue::~JobQueue()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    m_wanted.notify_all();
    m_thread.join();
}

void JobQueue::submit(Work work)
{
    {
        const std::lock_guard lock(m_mutex);
        m_work.push_back(std::move(work));
    }
    m_wanted.notify_one();
}

bool JobQueue::isBusy() const
{
    const std::lock_guard lock(m_mutex);
    return m_busy || !m_work.empty() || !m_done.empty();
}

void JobQueue::run()
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_wanted.wait(lock, [this] { return m_stopping || !m_work.empty(); });
        if (m_work.empty())
            return;
        Work work = std::move(m_work.front());
        m_work.pop_front();
        m_busy = true;
        lock.unlock();
        Delivery delivery = work();
        work = {};
        lock.lock();
        m_busy = false;
        if (!delivery || m_stopping)
            continue;
        m_done.push_back(std::move(delivery));
        m_wake();
    }
}

void JobQueue::deliver()
{
    std::vector<Delivery> ready;
    {
        const std::lock_guard lock(m_mutex);
        ready.swap(m_done);
    }
    for (const Delivery& delivery : ready)
        delivery();
}

}
