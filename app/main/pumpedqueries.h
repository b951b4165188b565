// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMetaObject>
#include <QObject>

#include <telltale/items/guithread.h>
#include <telltale/store/querypool.h>

namespace telltale::app {

/// A query pool whose answers arrive through the event loop of the thread that made it. Thread: gui.
class PumpedQueries : public QObject {
public:
    PumpedQueries()
    {
        // The queued call carries nothing: results travel through the pool's own queue.
        m_pool.setWake([this] {
            QMetaObject::invokeMethod(
                this, [this] { m_pool.deliver(); }, Qt::QueuedConnection);
        });
    }
    store::QueryPool& pool()
    {
        items::assertGuiThread();
        return m_pool;
    }

private:
    store::QueryPool m_pool;
};

}
