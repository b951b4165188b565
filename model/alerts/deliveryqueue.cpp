// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/alerts/deliveryqueue.h>

#include <algorithm>
#include <utility>

namespace telltale::alerts {

using namespace std::chrono_literals;

DeliveryQueue::DeliveryQueue(const Limits& limits)
    : m_limits(limits)
{
}

bool DeliveryQueue::push(Alert alert)
{
    if (m_waiting.size() >= m_limits.most) {
        ++m_counts.undelivered;
        return false;
    }
    m_waiting.push_back(std::move(alert));
    return true;
}

const Alert* DeliveryQueue::begin(Time now)
{
    const auto when = due();
    if (!when || *when > now)
        return nullptr;
    while (!m_attempts.empty() && m_attempts.front() + 1min <= now)
        m_attempts.pop_front();
    m_attempts.push_back(now);
    ++m_tries;
    m_isUnderWay = true;
    return &m_waiting.front();
}

std::optional<DeliveryQueue::Time> DeliveryQueue::due() const
{
    if (m_waiting.empty() || m_isUnderWay)
        return {};
    const auto most = static_cast<std::size_t>(m_limits.perMinute);
    const Time allowed = m_attempts.size() < most ? Time {} : m_attempts[m_attempts.size() - most] + 1min;
    return std::max(m_notBefore, allowed);
}

bool DeliveryQueue::finished(Verdict verdict, Time now, std::optional<std::chrono::milliseconds> asked)
{
    m_isUnderWay = false;
    if (m_waiting.empty())
        return false;
    if (verdict == Verdict::Again && m_tries < m_limits.tries) {
        auto pause = m_limits.firstPause;
        for (int i = 1; i < m_tries && pause < m_limits.longestPause; ++i)
            pause *= 2;
        pause = std::min(pause, m_limits.longestPause);
        if (asked)
            pause = std::max(pause, std::min(*asked, m_limits.longestAsked));
        m_notBefore = now + pause;
        return false;
    }
    ++(verdict == Verdict::Delivered ? m_counts.delivered : m_counts.undelivered);
    m_waiting.pop_front();
    m_tries = 0;
    m_notBefore = verdict == Verdict::Again && asked ? now + std::min(*asked, m_limits.longestAsked) : Time {};
    return true;
}

std::size_t DeliveryQueue::dropAll()
{
    const std::size_t count = takeAll().size();
    m_counts.undelivered += count;
    return count;
}

std::deque<Alert> DeliveryQueue::takeAll()
{
    m_isUnderWay = false;
    m_tries = 0;
    m_notBefore = {};
    return std::exchange(m_waiting, {});
}

}
