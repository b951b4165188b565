// SPDX-License-Identifier: GPL-3.0-or-later
#include "jobthread.h"

#include <QMetaObject>

namespace telltale::shell {

JobThread::JobThread(QObject* parent)
    : QObject(parent)
    , m_queue([this] {
        QMetaObject::invokeMethod(
            this, [this] { m_queue.deliver(); }, Qt::QueuedConnection);
    })
{
}

}
