// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QThread>

namespace telltale::items {

/// Where a class says `Thread: gui`: its entry points ask in debug and sanitizer builds. Thread: gui.
inline void assertGuiThread()
{
#ifndef NDEBUG
    const QCoreApplication* app = QCoreApplication::instance();
    Q_ASSERT_X(app == nullptr || app->thread() == QThread::currentThread(), "assertGuiThread", "not the gui thread");
#endif
}

}
