// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <telltale/core/ids.h>
#include <telltale/store/runhandle.h>

namespace telltale::store {

/// Row ids of one table, all of which are new. Empty when last < first.
struct IdRange {
    std::int64_t first = 1;
    std::int64_t last = 0;

    bool isEmpty() const { return last < first; }
    void add(std::int64_t id) { add(IdRange { id, id }); }
    void add(const IdRange& more)
    {
        if (!more.isEmpty())
            *this = isEmpty() ? more : IdRange { std::min(first, more.first), std::max(last, more.last) };
    }
    bool operator==(const IdRange&) const = default;
};

/// What became durable of one run since the last time. It says where to read and holds no samples. Thread: any (a
/// value).
struct Durable {
    /// Batches of a row of the capsule's table of streams.
    struct Batches {
        std::int64_t stream = 0;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
    };

    RunRef run;
    std::vector<Batches> batches; ///< one entry a stream
    StepRange steps; ///< with samples in those batches
    /// Of sources with samples in those batches: the step in the middle of which the last batch ends, if it does.
    std::map<SourceId, std::optional<Step>> openSteps;
    IdRange series;
    IdRange events;
    IdRange drops; ///< one that grows is told again
    IdRange blobs;
    bool areSourcesChanged = false; ///< one came, went or ended, or the run was lost
    /// The subscriber was too slow for so many others, and missed them: they are part of this one, so that its ranges
    /// say from where to read.
    std::uint64_t missed = 0;

    bool isEmpty() const;
    /// Takes in a later one of the same run.
    void add(const Durable& later);
    void addSteps(const StepRange& more);
    void addBatches(const Batches& more);
};

/// Learns what the store has made durable: judging, alerts, mirrors, the desktop. Thread: its subscription's own, never
/// two calls at a time. However long it takes, the store does not wait.
class StoreSubscriber {
public:
    virtual ~StoreSubscriber() = default;
    /// After COMMIT, in the order of the commits of a run.
    virtual void onDurable(const Durable& durable) = 0;
    /// The runs that are recorded now: whenever that changes, and when a run came into the data directory in another
    /// way. What it was in between is left out for one that is slow. After what became durable before that.
    virtual void onRuns(const std::vector<RunRef>& live) = 0;
};

/// As long as it lives, its subscriber is called. Thread: any, one at a time, but not the subscriber's calls.
class Subscription {
public:
    struct Mailbox;
    explicit Subscription(std::shared_ptr<Mailbox> mailbox, StoreSubscriber& subscriber);
    ~Subscription(); ///< no call comes any more; waits for the one under way
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

    /// Waits until it has been called for all that was published before. False: not within `atMost`.
    bool settle(std::chrono::milliseconds atMost) const;
    /// How many it was too slow for since it began; see Durable::missed.
    std::uint64_t missed() const;

private:
    std::shared_ptr<Mailbox> m_mailbox;
    std::thread m_thread;
};

/// Hands on what became durable, to each subscriber through a bounded queue. Thread: any; nothing here waits for a
/// subscriber.
class StoreFeed {
public:
    static constexpr std::size_t kCapacity = 1024;

    /// In a queue that holds `capacity` already, what follows of a run becomes one.
    std::unique_ptr<Subscription> subscribe(StoreSubscriber& subscriber, std::size_t capacity = kCapacity);
    void publish(const Durable& durable);
    void publishRuns(std::vector<RunRef> live);
    void publishRuns(); ///< the same ones again: the archive has changed
    std::vector<RunRef> liveRuns() const;

private:
    mutable std::mutex m_mutex;
    std::vector<RunRef> m_live;
    std::vector<std::weak_ptr<Subscription::Mailbox>> m_mailboxes;
};

}
