// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/querypool.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <telltale/core/yieldtoothers.h>
#include <telltale/store/capsulereader.h>
#include <telltale/store/readercache.h>

namespace telltale::store {
namespace {

struct Job {
    std::uint64_t generation = 0;
    RunRef run;
    QueryPool::Work work;
    series::CancelToken cancel;
};

/// What the newest submission of a view waits for. Every submission has a generation of its own, so an answer of an
/// older one is recognized whatever happened in between.
struct View {
    std::uint64_t generation = 0;
    std::optional<Job> queued;
    series::CancelToken cancel;
};

struct Pending {
    QueryPool::ViewId view = 0;
    std::uint64_t generation = 0;
    QueryPool::Delivery delivery;
};

}

struct QueryPool::State {
    mutable std::mutex mutex;
    std::condition_variable ready;
    std::condition_variable turned; ///< a thread was put aside, or the questions go on
    int closers = 0; ///< who wants every reader closed
    std::size_t aside = 0; ///< threads that have closed theirs and wait
    bool stopping = false;
    ViewId lastView = 0;
    std::uint64_t lastGeneration = 0;
    std::unordered_map<ViewId, View> views; ///< those with something to wait for
    std::deque<ViewId> order; ///< views with a queued job, oldest first; may name views whose job is gone
    std::vector<Pending> pending;
    std::shared_ptr<const std::function<void()>> wake;
    SharedReads shared;
    std::vector<std::thread> threads;

    std::optional<std::pair<ViewId, Job>> takeLocked();
    bool isCurrentLocked(ViewId view, std::uint64_t generation) const;
    void run();
    void finish(ViewId view, std::uint64_t generation, Delivery delivery);
};

std::optional<std::pair<QueryPool::ViewId, Job>> QueryPool::State::takeLocked()
{
    while (!order.empty()) {
        const ViewId id = order.front();
        order.pop_front();
        const auto it = views.find(id);
        if (it == views.end() || !it->second.queued)
            continue;
        std::pair<ViewId, Job> taken { id, std::move(*it->second.queued) };
        it->second.queued.reset();
        return taken;
    }
    return std::nullopt;
}

bool QueryPool::State::isCurrentLocked(ViewId view, std::uint64_t generation) const
{
    const auto it = views.find(view);
    return it != views.end() && it->second.generation == generation;
}

void QueryPool::State::run()
{
    yieldToOthers(); // a frame is due sooner than an answer
    ReaderCache readers(shared);
    std::unique_lock lock(mutex);
    while (!stopping) {
        if (closers > 0) {
            readers.closeAll();
            ++aside;
            turned.notify_all();
            turned.wait(lock, [this] { return closers == 0; });
            --aside;
        } else if (auto taken = takeLocked()) {
            lock.unlock();
            auto& [view, job] = *taken;
            Delivery delivery
                = job.work(readers.reader(*job.run, ReaderCache::Clock::now()), std::as_const(job.cancel));
            finish(view, job.generation, std::move(delivery));
            taken.reset();
            readers.closeIdle(ReaderCache::Clock::now());
            lock.lock();
        } else if (readers.isEmpty()) {
            ready.wait(lock);
        } else if (ready.wait_for(lock, ReaderCache::kIdle) == std::cv_status::timeout && closers == 0) {
            lock.unlock();
            readers.closeIdle(ReaderCache::Clock::now());
            lock.lock();
        }
    }
}

void QueryPool::State::finish(ViewId view, std::uint64_t generation, Delivery delivery)
{
    std::shared_ptr<const std::function<void()>> call;
    {
        std::lock_guard lock(mutex);
        const bool current = isCurrentLocked(view, generation);
        if (!delivery) {
            if (current)
                views.erase(view);
            return;
        }
        // A replaced answer goes the same way and is dropped there: its captures belong to the consumer's thread.
        pending.push_back({ view, generation, std::move(delivery) });
        if (current)
            call = wake;
    }
    if (call && *call)
        (*call)();
}

QueryPool::QueryPool(int threads)
    : m_state(std::make_unique<State>())
{
    for (int i = 0; i < std::max(1, threads); ++i)
        m_state->threads.emplace_back([state = m_state.get()] { state->run(); });
}

QueryPool::~QueryPool()
{
    {
        std::lock_guard lock(m_state->mutex);
        m_state->stopping = true;
        for (auto& [id, view] : m_state->views)
            view.cancel->store(true, std::memory_order_relaxed);
    }
    m_state->ready.notify_all();
    for (std::thread& thread : m_state->threads)
        thread.join();
}

void QueryPool::setWake(std::function<void()> wake)
{
    auto shared = std::make_shared<const std::function<void()>>(std::move(wake));
    std::lock_guard lock(m_state->mutex);
    m_state->wake.swap(shared);
}

QueryPool::ViewId QueryPool::newView()
{
    std::lock_guard lock(m_state->mutex);
    return ++m_state->lastView;
}

void QueryPool::submit(ViewId view, RunRef run, Work work)
{
    std::optional<Job> replaced;
    {
        std::lock_guard lock(m_state->mutex);
        View& entry = m_state->views[view];
        if (entry.cancel)
            entry.cancel->store(true, std::memory_order_relaxed);
        entry.cancel = std::make_shared<std::atomic<bool>>(false);
        entry.generation = ++m_state->lastGeneration;
        const bool isListed = entry.queued.has_value();
        replaced = std::exchange(entry.queued, Job { entry.generation, std::move(run), std::move(work), entry.cancel });
        if (!isListed)
            m_state->order.push_back(view);
    }
    m_state->ready.notify_one();
}

void QueryPool::cancel(ViewId view)
{
    std::optional<Job> dropped;
    std::lock_guard lock(m_state->mutex);
    const auto it = m_state->views.find(view);
    if (it == m_state->views.end())
        return;
    it->second.cancel->store(true, std::memory_order_relaxed);
    dropped = std::move(it->second.queued);
    m_state->views.erase(it);
}

bool QueryPool::isBusy(ViewId view) const
{
    std::lock_guard lock(m_state->mutex);
    return m_state->views.contains(view);
}

void QueryPool::withReadersClosed(const std::function<void()>& work)
{
    std::unique_lock lock(m_state->mutex);
    ++m_state->closers;
    m_state->ready.notify_all();
    m_state->turned.wait(lock, [this] { return m_state->aside == m_state->threads.size(); });
    lock.unlock();
    work();
    lock.lock();
    --m_state->closers;
    m_state->turned.notify_all();
}

void QueryPool::deliver()
{
    std::vector<Pending> batch;
    {
        std::lock_guard lock(m_state->mutex);
        batch.swap(m_state->pending);
    }
    for (Pending& pending : batch) {
        {
            std::lock_guard lock(m_state->mutex);
            if (!m_state->isCurrentLocked(pending.view, pending.generation))
                continue;
            m_state->views.erase(pending.view);
        }
        pending.delivery();
    }
}

}
