// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <telltale/core/expected.h>
#include <telltale/series/query.h>
#include <telltale/store/runreader.h>

namespace telltale::store {

/// Two threads with read-only connections that answer views. A newer job for the same view cancels the older one.
/// Thread: any. Results come back as closures that the consumer runs on its own thread through deliver().
class QueryPool {
public:
    using ViewId = std::uint64_t;
    /// Runs on the consumer's thread. May be empty (nothing to deliver).
    using Delivery = std::function<void()>;
    /// Runs on a pool thread with that thread's reader of the run, or with the error that opening gave.
    using Work = std::function<Delivery(Expected<RunReader*> reader, const series::CancelToken& cancel)>;

    explicit QueryPool(int threads = 2);
    ~QueryPool(); ///< cancels everything and joins

    /// Called from a pool thread when deliveries became available; must only wake the consumer.
    void setWake(std::function<void()> wake);

    ViewId newView();
    /// Replaces the view's queued job, cancels its running one, and never delivers a replaced one.
    void submit(ViewId view, RunRef run, Work work);
    /// No delivery of this view will run after this returns (call from the consumer's thread).
    void cancel(ViewId view);
    bool isBusy(ViewId view) const;

    /// Runs `work` while no reader of the pool has any run open, for what only one may do with a file; blocks until it
    /// is done, and questions wait. Never call it from a job.
    void withReadersClosed(const std::function<void()>& work);

    /// Runs pending deliveries on the calling thread.
    void deliver();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

}
