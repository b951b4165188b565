// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/storeservice.h>

#include <atomic>
#include <iterator>
#include <mutex>
#include <thread>

#include <telltale/store/runfiles.h>
#include <telltale/store/storequeue.h>
#include <telltale/store/storethread.h>
#include <telltale/store/unfinishedfiles.h>

namespace telltale::store {

struct StoreService::State {
    using Clock = std::chrono::steady_clock;

    explicit State(StoreOptions given)
        : options(std::move(given))
        , queue(options.queueBytes)
    {
    }

    void addEvents(std::vector<StoreEvent> added)
    {
        std::function<void()> call;
        {
            std::lock_guard lock(mutex);
            const bool wasEmpty = events.empty();
            std::move(added.begin(), added.end(), std::back_inserter(events));
            if (wasEmpty && !events.empty())
                call = wake;
        }
        if (call)
            call();
    }

    StoreOptions options;
    DataDirLock dirLock;
    StoreQueue queue;
    mutable std::mutex mutex;
    std::vector<StoreEvent> events;
    std::function<void()> wake;
    StoreFeed feed;
    StoreCounters counters;
    std::atomic<Clock::rep> giveUpAt { Clock::time_point::max().time_since_epoch().count() };
    std::thread thread;
};

StoreService::StoreService(std::unique_ptr<State> state)
    : m_state(std::move(state))
{
}

StoreService::~StoreService()
{
    stop();
}

Expected<std::unique_ptr<StoreService>> StoreService::start(StoreOptions options)
{
    auto state = std::make_unique<State>(std::move(options));
    auto lock = DataDirLock::take(state->options.dataDir);
    if (!lock)
        return tl::unexpected<Error>(std::move(lock.error()));
    state->dirLock = std::move(*lock);
    clearUnfinishedFiles(state->options.dataDir);
    StoreThread::Outlet outlet;
    State* raw = state.get();
    outlet.events = [raw](std::vector<StoreEvent> events) { raw->addEvents(std::move(events)); };
    outlet.counters = [raw](const StoreCounters& counters) {
        std::lock_guard guard(raw->mutex);
        raw->counters = counters;
    };
    auto body = std::make_shared<StoreThread>(raw->options, raw->queue, raw->feed, std::move(outlet));
    body->recover();
    state->thread = std::thread([raw, body = std::move(body)]() mutable {
        body->run([raw] {
            return State::Clock::time_point(State::Clock::duration(raw->giveUpAt.load(std::memory_order_acquire)));
        });
        body.reset();
    });
    return std::unique_ptr<StoreService>(new StoreService(std::move(state)));
}

void StoreService::setWake(std::function<void()> wake)
{
    std::lock_guard lock(m_state->mutex);
    m_state->wake = std::move(wake);
}

std::vector<StoreEvent> StoreService::takeEvents()
{
    std::lock_guard lock(m_state->mutex);
    return std::exchange(m_state->events, {});
}

bool StoreService::openStream(StreamRequest request)
{
    return m_state->queue.offer(std::move(request));
}

bool StoreService::submit(std::shared_ptr<const SampleBatch> batch)
{
    return m_state->queue.offer(std::move(batch));
}

bool StoreService::quarantine(StreamId stream, std::uint64_t seq, std::string raw, std::string reason, Lost lost)
{
    return m_state->queue.offer(QuarantineMessage { stream, seq, std::move(raw), std::move(reason), lost });
}

void StoreService::closeStream(StreamId stream, std::string byeReason, std::uint64_t lastSeq, Produced produced)
{
    m_state->queue.push(CloseMessage { stream, std::move(byeReason), lastSeq, produced });
}

bool StoreService::append(OwnRecord record)
{
    return m_state->queue.offer(std::move(record));
}

std::vector<RunRef> StoreService::liveRuns() const
{
    return m_state->feed.liveRuns();
}

void StoreService::noteArchiveChanged() const
{
    m_state->feed.publishRuns();
}

std::unique_ptr<Subscription> StoreService::subscribe(StoreSubscriber& subscriber, std::size_t capacity) const
{
    return m_state->feed.subscribe(subscriber, capacity);
}

StoreCounters StoreService::counters() const
{
    std::lock_guard lock(m_state->mutex);
    StoreCounters counters = m_state->counters;
    counters.queuedBytes = m_state->queue.bytes();
    return counters;
}

const std::string& StoreService::dataDir() const
{
    return m_state->options.dataDir;
}

bool StoreService::flush(std::chrono::milliseconds atMost)
{
    const auto done = std::make_shared<std::promise<void>>();
    const auto future = done->get_future();
    return m_state->queue.offer(FlushMessage { done }) && future.wait_for(atMost) == std::future_status::ready;
}

void StoreService::stop(std::int64_t boundMs)
{
    if (!m_state->thread.joinable())
        return;
    const auto until = State::Clock::now() + std::chrono::milliseconds(boundMs);
    m_state->giveUpAt.store(until.time_since_epoch().count(), std::memory_order_release);
    m_state->queue.close();
    m_state->thread.join();
    m_state->feed.publishRuns({});
    m_state->dirLock = {};
}

}
