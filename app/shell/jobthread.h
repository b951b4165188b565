// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <QObject>

namespace telltale::shell {

/// One thread for the shell's own file work (listing the archive, rename, delete, copies, settings), in order. Closures
/// go in and their deliveries come back through a queue; the queued Qt call carries nothing but "wake".
/// Thread: gui; the work runs on the job thread.
class JobThread : public QObject {
    Q_OBJECT
public:
    using Delivery = std::function<void()>; ///< runs on the gui thread; may be empty
    using Work = std::function<Delivery()>;

    explicit JobThread(QObject* parent = nullptr);
    ~JobThread() override; ///< finishes what was submitted, delivers nothing any more

    void submit(Work work);
    bool isBusy() const;

private:
    void run();
    void deliver();

    mutable std::mutex m_mutex;
    std::condition_variable m_wanted;
    std::deque<Work> m_work;
    std::vector<Delivery> m_done;
    bool m_busy = false;
    bool m_stopping = false;
    std::thread m_thread; ///< last: starts when everything above is there
};

}
