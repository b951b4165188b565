// SPDX-License-Identifier: GPL-3.0-or-later
#include "channel.h"

#include <algorithm>

#include <telltale/core/plaintext.h>

namespace telltale::notify {

using alerts::DeliveryQueue;
using alerts::Verdict;

Channel::Channel(std::string name, const std::string& place, const DeliveryQueue::Limits& limits, Say say)
    : m_name(std::move(name))
    , m_label(place.empty() ? m_name : m_name + " (" + place + ")")
    , m_queue(limits)
    , m_say(std::move(say))
{
    m_timer.setParent(this); // it goes where this goes
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &Channel::pump);
}

void Channel::send(alerts::Alert alert)
{
    const std::string title = alert.title();
    if (!m_queue.push(std::move(alert)))
        m_say("too much waits for the " + m_label + ": it is not told \"" + title
            + "\"; not delivered so far: " + std::to_string(counts().undelivered));
    pump();
}

void Channel::pump()
{
    if (const alerts::Alert* alert = m_queue.begin(DeliveryQueue::Clock::now()))
        attempt(*alert);
    if (const auto due = m_queue.due()) {
        const auto pause = std::chrono::ceil<std::chrono::milliseconds>(*due - DeliveryQueue::Clock::now());
        m_timer.start(std::max(pause, std::chrono::milliseconds(0)));
    }
}

void Channel::finish(Verdict verdict, const std::string& sentence, std::optional<std::chrono::milliseconds> asked)
{
    const int tries = m_queue.triesOfFirst();
    const bool isOver = m_queue.finished(verdict, DeliveryQueue::Clock::now(), asked);
    if (!isOver && tries == 1)
        m_say("the " + m_label + " has not taken an alert yet: " + sentence + "; it is tried again");
    if (isOver && verdict != Verdict::Delivered)
        m_say("the " + m_label + " has not taken an alert after "
            + countText(static_cast<std::uint64_t>(tries), "attempt", "attempts") + ": " + sentence
            + "; not delivered so far: " + std::to_string(counts().undelivered));
    if (isOver)
        Q_EMIT told(verdict == Verdict::Delivered, QString::fromStdString(sentence));
    pump();
}

void Channel::giveUp(const std::string& why)
{
    abandon();
    m_timer.stop();
    if (const std::size_t count = m_queue.dropAll(); count > 0)
        m_say(countText(count, "alert is", "alerts are") + " not delivered to the " + m_label + ": " + why);
}

std::deque<alerts::Alert> Channel::takeWaiting()
{
    abandon();
    m_timer.stop();
    return m_queue.takeAll();
}

}
