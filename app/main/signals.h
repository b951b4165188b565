// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QSocketNotifier>

#include <memory>

namespace telltale::app {

/// Turns SIGINT and SIGTERM into a Qt signal, so that a server drains and flushes instead of dying.
/// Thread: main. At most one at a time.
class Signals : public QObject {
    Q_OBJECT
public:
    explicit Signals(QObject* parent = nullptr);
    ~Signals() override;

Q_SIGNALS:
    void terminationRequested();

private:
    std::unique_ptr<QSocketNotifier> m_notifier;
};

}
