// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QByteArray>

#include <telltale/alerts/alertsettings.h>

#include "channel.h"

class QProcess;

namespace telltale::notify {

/// Starts a program for an alert, one at a time: the alert as JSON on its standard input and as TELLTALE_ALERT_... in
/// its environment. No shell reads anything. Thread: see Channel.
class CommandChannel final : public Channel {
    Q_OBJECT
public:
    CommandChannel(const alerts::Command& command, const alerts::DeliveryQueue::Limits& limits, Say say);
    ~CommandChannel() override;

private:
    void attempt(const alerts::Alert& alert) override;
    void abandon() override;
    void over(const std::string& problem);

    const alerts::Command m_command;
    std::unique_ptr<QProcess> m_process;
    QTimer m_patience;
    QByteArray m_said; ///< the end of what it wrote
};

}
