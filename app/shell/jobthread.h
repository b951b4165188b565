// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>

#include <QObject>

#include <telltale/core/jobqueue.h>
#include <telltale/items/guithread.h>

namespace telltale::shell {

/// One thread for the shell's own file work (listing the archive, rename, delete, copies, settings), in order; the
/// queued Qt call carries nothing but "wake". Thread: gui; the work runs on the job thread.
class JobThread : public QObject {
    Q_OBJECT
public:
    using Delivery = JobQueue::Delivery; ///< runs on the gui thread
    using Work = JobQueue::Work;

    explicit JobThread(QObject* parent = nullptr);

    void submit(Work work)
    {
        items::assertGuiThread();
        m_queue.submit(std::move(work));
    }
    bool isBusy() const { return m_queue.isBusy(); }

private:
    JobQueue m_queue;
};

}
