// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/storefeed.h>

#include <condition_variable>
#include <deque>
#include <optional>
#include <utility>

#include <telltale/core/quietthread.h>

namespace telltale::store {

bool Durable::isEmpty() const
{
    return batches.empty() && series.isEmpty() && events.isEmpty() && drops.isEmpty() && blobs.isEmpty()
        && !areSourcesChanged;
}

void Durable::add(const Durable& later)
{
    for (const Batches& more : later.batches)
        addBatches(more);
    addSteps(later.steps);
    for (const auto& [source, step] : later.openSteps)
        openSteps[source] = step;
    series.add(later.series);
    events.add(later.events);
    drops.add(later.drops);
    blobs.add(later.blobs);
    areSourcesChanged = areSourcesChanged || later.areSourcesChanged;
    missed += later.missed;
}

void Durable::addBatches(const Batches& more)
{
    const auto known
        = std::find_if(batches.begin(), batches.end(), [&](const Batches& b) { return b.stream == more.stream; });
    if (known == batches.end())
        batches.push_back(more);
    else
        known->last = std::max(known->last, more.last);
}

void Durable::addSteps(const StepRange& more)
{
    if (!more.isEmpty())
        steps
            = steps.isEmpty() ? more : StepRange { std::min(steps.first, more.first), std::max(steps.last, more.last) };
}

/// What waits for one subscriber. Invariant: of each run at most one entry lies beyond `capacity`.
struct Subscription::Mailbox {
    explicit Mailbox(std::size_t most)
        : capacity(most)
    {
    }

    void put(const Durable& durable)
    {
        {
            const std::lock_guard lock(mutex);
            const auto last = waiting.size() < capacity
                ? waiting.rend()
                : std::find_if(waiting.rbegin(), waiting.rend() - static_cast<std::ptrdiff_t>(capacity),
                    [&](const Durable& other) { return other.run == durable.run; });
            if (waiting.size() < capacity || last == waiting.rend() - static_cast<std::ptrdiff_t>(capacity)) {
                waiting.push_back(durable);
            } else {
                last->add(durable);
                ++last->missed;
                ++missed;
            }
        }
        ready.notify_one();
    }
    void put(std::vector<RunRef> live)
    {
        {
            const std::lock_guard lock(mutex);
            runs = std::move(live);
            beforeRuns = waiting.size();
        }
        ready.notify_one();
    }
    void deliver(StoreSubscriber& subscriber)
    {
        std::unique_lock lock(mutex);
        for (;;) {
            ready.wait(lock, [this] { return isOver || runs || !waiting.empty(); });
            if (isOver)
                return;
            std::optional<Durable> durable;
            isCalling = true;
            std::optional<std::vector<RunRef>> newRuns;
            if (runs && beforeRuns == 0) {
                newRuns = std::exchange(runs, std::nullopt);
            } else {
                durable = std::move(waiting.front());
                waiting.pop_front();
                beforeRuns -= beforeRuns > 0 ? 1 : 0;
            }
            lock.unlock();
            newRuns ? subscriber.onRuns(*newRuns) : subscriber.onDurable(*durable);
            durable.reset(); // perhaps the last to know of a run: not under the lock
            lock.lock();
            isCalling = false;
            idle.notify_all();
        }
    }
    bool settle(std::chrono::milliseconds atMost)
    {
        std::unique_lock lock(mutex);
        return idle.wait_for(lock, atMost, [this] { return !isCalling && !runs && waiting.empty(); });
    }

    const std::size_t capacity;
    std::mutex mutex;
    std::condition_variable ready;
    std::deque<Durable> waiting;
    std::optional<std::vector<RunRef>> runs;
    std::size_t beforeRuns = 0; ///< so many of those that wait come first: a run ends after what became durable of it
    std::uint64_t missed = 0;
    bool isOver = false;
    bool isCalling = false;
    std::condition_variable idle;
};

Subscription::Subscription(std::shared_ptr<Mailbox> mailbox, StoreSubscriber& subscriber)
    : m_mailbox(std::move(mailbox))
    , m_thread(quietThread("subscriber", [box = m_mailbox, &subscriber] { box->deliver(subscriber); }))
{
}

Subscription::~Subscription()
{
    {
        const std::lock_guard lock(m_mailbox->mutex);
        m_mailbox->isOver = true;
    }
    m_mailbox->ready.notify_one();
    m_thread.join();
}

bool Subscription::settle(std::chrono::milliseconds atMost) const
{
    return m_mailbox->settle(atMost);
}

std::uint64_t Subscription::missed() const
{
    const std::lock_guard lock(m_mailbox->mutex);
    return m_mailbox->missed;
}

std::unique_ptr<Subscription> StoreFeed::subscribe(StoreSubscriber& subscriber, std::size_t capacity)
{
    auto mailbox = std::make_shared<Subscription::Mailbox>(capacity);
    {
        const std::lock_guard lock(m_mutex);
        m_mailboxes.push_back(mailbox);
    }
    return std::make_unique<Subscription>(std::move(mailbox), subscriber);
}

void StoreFeed::publish(const Durable& durable)
{
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_mailboxes, [](const auto& box) { return box.expired(); });
    for (const auto& weak : m_mailboxes) {
        if (const auto box = weak.lock())
            box->put(durable);
    }
}

void StoreFeed::publishRuns(std::vector<RunRef> live)
{
    {
        const std::lock_guard lock(m_mutex);
        m_live = std::move(live);
    }
    publishRuns();
}

void StoreFeed::publishRuns()
{
    const std::lock_guard lock(m_mutex);
    for (const auto& weak : m_mailboxes) {
        if (const auto box = weak.lock())
            box->put(m_live);
    }
}

std::vector<RunRef> StoreFeed::liveRuns() const
{
    const std::lock_guard lock(m_mutex);
    return m_live;
}

}
