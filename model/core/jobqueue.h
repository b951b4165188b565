// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace telltale {

/// One thread for work that may wait for a disk, in order. Closures go in; what they deliver is run by the owner, on
/// its own thread. Thread: the owner's; the work runs on the queue's.
class JobQueue {
public:
    using Delivery = std::function<void()>; ///< may be empty
    using Work = std::function<Delivery()>;

    /// `wake` is called on the queue's thread when there is something to deliver, and must do no more than wake.
    explicit JobQueue(std::function<void()> wake);
    ~JobQueue(); ///< finishes what was submitted, delivers nothing any more

    void submit(Work work);
    bool isBusy() const;
    void deliver();

private:
    void run();

    const std::function<void()> m_wake;
    mutable std::mutex m_mutex;
    std::condition_variable m_wanted;
    std::deque<Work> m_work;
    std::vector<Delivery> m_done;
    bool m_busy = false;
    bool m_stopping = false;
    std::thread m_thread; ///< last: starts when everything above is there
};

}
