// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/storequeue.h>

#include <utility>

namespace telltale::store {

bool StoreQueue::pushBatch(std::shared_ptr<const SampleBatch> batch)
{
    const std::size_t cost = batch->byteCost();
    {
        std::lock_guard lock(m_mutex);
        if (m_closed || (m_bytes > 0 && m_bytes + cost > m_maxBytes))
            return false;
        m_bytes += cost;
        m_messages.emplace_back(std::move(batch));
    }
    m_ready.notify_one();
    return true;
}

void StoreQueue::push(StoreMessage message)
{
    {
        std::lock_guard lock(m_mutex);
        if (m_closed)
            return;
        m_messages.push_back(std::move(message));
    }
    m_ready.notify_one();
}

std::optional<StoreMessage> StoreQueue::pop(std::chrono::steady_clock::time_point deadline)
{
    std::unique_lock lock(m_mutex);
    m_ready.wait_until(lock, deadline, [this] { return m_closed || !m_messages.empty(); });
    if (m_messages.empty())
        return std::nullopt;
    StoreMessage message = std::move(m_messages.front());
    m_messages.pop_front();
    if (const auto* batch = std::get_if<std::shared_ptr<const SampleBatch>>(&message))
        m_bytes -= (*batch)->byteCost();
    return message;
}

bool StoreQueue::waitClosed(std::chrono::steady_clock::time_point deadline)
{
    std::unique_lock lock(m_mutex);
    return m_ready.wait_until(lock, deadline, [this] { return m_closed; });
}

void StoreQueue::close()
{
    {
        std::lock_guard lock(m_mutex);
        m_closed = true;
    }
    m_ready.notify_all();
}

bool StoreQueue::isClosed() const
{
    std::lock_guard lock(m_mutex);
    return m_closed;
}

std::size_t StoreQueue::bytes() const
{
    std::lock_guard lock(m_mutex);
    return m_bytes;
}

}
