// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <functional>
#include <string>

#include <QObject>
#include <QTimer>

#include <telltale/alerts/deliveryqueue.h>

namespace telltale::notify {

using Say = std::function<void(const std::string& sentence)>; ///< into the log; from any thread

/// One receiver of alerts: what waits for it, one attempt at a time, again after a pause where that may help. Whatever
/// is not delivered is said. Thread: the one it was made on, which needs an event loop; nothing here blocks it.
class Channel : public QObject {
    Q_OBJECT
public:
    Channel(std::string name, const std::string& place, const alerts::DeliveryQueue::Limits& limits, Say say);

    const std::string& name() const { return m_name; } ///< "webhook team": stays when the place is another one
    const std::string& label() const { return m_label; } ///< "webhook team (https://hooks.slack.com/…)"
    void send(alerts::Alert alert);
    /// What waits is not delivered, and why.
    void giveUp(const std::string& why);
    std::deque<alerts::Alert> takeWaiting();
    bool isIdle() const { return m_queue.waiting() == 0; }
    const alerts::DeliveryQueue::Counts& counts() const { return m_queue.counts(); }

Q_SIGNALS:
    /// The end of one message: "it answered 200".
    void told(bool isDelivered, const QString& sentence);

protected:
    /// Begins to tell; finish() comes later, once.
    virtual void attempt(const alerts::Alert& alert) = 0;
    void finish(
        alerts::Verdict verdict, const std::string& sentence, std::optional<std::chrono::milliseconds> asked = {});
    /// What is under way counts for nothing any more.
    virtual void abandon() { }

private:
    void pump();

    std::string m_name;
    std::string m_label;
    alerts::DeliveryQueue m_queue;
    Say m_say;
    QTimer m_timer;
};

}
