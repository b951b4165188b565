// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <utility>

#include <telltale/protocol/deliveryrules.h>
#include <telltale/protocol/limits.h>

namespace telltale::protocol {

void SendRules::onProduced(std::uint64_t seq, std::size_t payloadBytes)
{
    if (m_heldStart == m_held.size())
        m_firstHeld = seq;
    m_held.push_back({ seq, payloadBytes });
    m_nextSeq = seq + 1;
    m_cursor = std::max(m_cursor, firstRetainedSeq());
}

void SendRules::onWelcome(const Welcome& welcome)
{
    m_open = true;
    m_epoch = welcome.epoch;
    m_creditBytes = welcome.creditBytes;
    m_creditBatches = welcome.creditBatches;
    m_sentBytes = 0;
    m_sentBatches = 0;

    // Somebody before us began the stream, and it goes on.
    if (m_nextSeq == 1 && welcome.durableSeq > 0 && welcome.durableSeq <= limits::kMaxSeq) {
        m_acked = welcome.durableSeq;
        m_nextSeq = m_firstHeld = welcome.durableSeq + 1;
    }
    const std::uint64_t durable = std::min(welcome.durableSeq, m_nextSeq - 1);
    const std::uint64_t retained = firstRetainedSeq();
    if (durable + 1 < retained) {
        const std::pair<std::uint64_t, std::uint64_t> gap { durable + 1, retained - 1 };
        // The same loss of the same store is told once, however often the connection breaks before it is recorded.
        if (gap != m_toldGap || welcome.storeId != m_storeId) {
            m_gap = gap;
            m_toldGap = gap;
        }
        m_acked = retained - 1;
    }
    m_storeId = welcome.storeId;
    forget(durable);
    m_cursor = firstRetainedSeq();
}

void SendRules::onAck(const Ack& ack)
{
    m_home.check();
    if (!m_open)
        return;
    m_creditBytes = ack.creditBytes;
    m_creditBatches = ack.creditBatches;
    forget(std::min(ack.durableSeq, m_nextSeq - 1));
}

void SendRules::onNack(const Nack& nack)
{
    if (m_open && nack.nextSeq < m_cursor)
        m_cursor = std::max(nack.nextSeq, firstRetainedSeq());
}

void SendRules::onDisconnected()
{
    m_open = false;
    m_creditBytes = 0;
    m_creditBatches = 0;
}

std::uint64_t SendRules::nextToSend() const
{
    m_home.check();
    if (!m_open || m_sentBatches >= m_creditBatches)
        return 0;
    const Held* held = find(m_cursor);
    return held != nullptr && m_sentBytes + held->bytes <= m_creditBytes ? m_cursor : 0;
}

void SendRules::onSent(std::uint64_t seq)
{
    if (const Held* held = find(seq)) {
        m_sentBytes += held->bytes;
        ++m_sentBatches;
    }
    m_cursor = seq + 1;
}

std::pair<std::uint64_t, std::uint64_t> SendRules::takeGap()
{
    return std::exchange(m_gap, { 0, 0 });
}

const SendRules::Held* SendRules::find(std::uint64_t seq) const
{
    const auto first = m_held.begin() + static_cast<std::ptrdiff_t>(m_heldStart);
    const auto it
        = std::lower_bound(first, m_held.end(), seq, [](const Held& held, std::uint64_t s) { return held.seq < s; });
    return it != m_held.end() && it->seq == seq ? &*it : nullptr;
}

void SendRules::forget(std::uint64_t durable)
{
    if (durable > m_acked)
        m_acked = durable;
    while (m_heldStart < m_held.size() && m_held[m_heldStart].seq <= m_acked)
        ++m_heldStart;
    if (m_heldStart > 64 && m_heldStart * 2 > m_held.size()) {
        m_held.erase(m_held.begin(), m_held.begin() + static_cast<std::ptrdiff_t>(m_heldStart));
        m_heldStart = 0;
    }
    m_firstHeld = m_heldStart < m_held.size() ? m_held[m_heldStart].seq : m_nextSeq;
    m_cursor = std::max(m_cursor, firstRetainedSeq());
}

}
