// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/storequeue.h>

#include <utility>

namespace telltale::store {

namespace {

/// Thousands of agents that came while the store was held up, and as much of records of our own.
constexpr std::size_t kMaxRequestBytes = 4u << 20;

std::size_t costOf(const StoreMessage& message)
{
    if (const auto* batch = std::get_if<std::shared_ptr<const SampleBatch>>(&message))
        return (*batch)->byteCost();
    if (const auto* bad = std::get_if<QuarantineMessage>(&message))
        return sizeof *bad + bad->raw.size() + bad->reason.size();
    if (const auto* request = std::get_if<StreamRequest>(&message))
        return sizeof *request + request->runKey.size() + request->runName.size() + request->keySource.size()
            + request->agentId.size() + request->host.size() + request->framework.size() + request->agentVersion.size()
            + request->device.size();
    if (const auto* record = std::get_if<OwnRecord>(&message))
        return sizeof *record + record->run.text().size() + record->event.bytes();
    return 0;
}

}

std::size_t& StoreQueue::counterOf(const StoreMessage& message)
{
    if (std::holds_alternative<OwnRecord>(message))
        return m_recordBytes;
    return std::holds_alternative<StreamRequest>(message) ? m_requestBytes : m_bytes;
}

bool StoreQueue::offer(StoreMessage message)
{
    const std::size_t cost = costOf(message);
    {
        std::lock_guard lock(m_mutex);
        std::size_t& bytes = counterOf(message);
        const std::size_t most = &bytes == &m_bytes ? m_maxBytes : kMaxRequestBytes;
        if (m_closed || (bytes > 0 && bytes + cost > most))
            return false;
        bytes += cost;
        m_messages.push_back(std::move(message));
    }
    m_ready.notify_one();
    return true;
}

void StoreQueue::push(CloseMessage message)
{
    {
        std::lock_guard lock(m_mutex);
        if (m_closed)
            return;
        m_messages.emplace_back(std::move(message));
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
    counterOf(message) -= costOf(message);
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
