// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <utility>

#include <telltale/protocol/deliveryrules.h>
#include <telltale/protocol/limits.h>

namespace telltale::protocol {

ReceiveRules::ReceiveRules(
    std::uint64_t durableSeq, std::uint32_t epoch, std::uint64_t creditBytes, std::uint64_t creditBatches)
    : m_next(durableSeq + 1)
    , m_durable(durableSeq)
    , m_epoch(epoch)
    // A window below the largest batch would stop a stream for ever.
    , m_windowBytes(std::max<std::uint64_t>(creditBytes, limits::kMaxMessageBytes))
    , m_windowBatches(std::max<std::uint64_t>(creditBatches, 1))
    , m_grantedBytes(m_windowBytes)
    , m_grantedBatches(m_windowBatches)
{
}

ReceiveRules::Verdict ReceiveRules::onBatch(
    std::uint64_t seq, std::uint32_t epoch, std::size_t payloadBytes, bool crcOk)
{
    m_home.check();
    if (epoch != m_epoch)
        return Verdict::StaleEpoch;
    if (m_receivedBytes + payloadBytes > m_grantedBytes || m_receivedBatches + 1 > m_grantedBatches)
        return Verdict::OverCredit;
    if (!crcOk)
        return Verdict::BadCrc;
    m_receivedBytes += payloadBytes;
    ++m_receivedBatches;
    if (seq == m_next) {
        m_undurable.emplace_back(seq, payloadBytes);
        ++m_next;
        return Verdict::Accept;
    }
    // Neither stays in a queue, so the credit that it used goes back at once.
    m_ackDue = true;
    grant();
    if (seq > m_next)
        return Verdict::AheadNack;
    ++m_duplicates;
    return Verdict::Duplicate;
}

void ReceiveRules::onDurable(std::uint64_t seq)
{
    seq = std::min(seq, m_next - 1);
    if (seq <= m_durable)
        return;
    m_durable = seq;
    const auto firstLeft = std::find_if(
        m_undurable.begin(), m_undurable.end(), [seq](const auto& waiting) { return waiting.first > seq; });
    m_undurable.erase(m_undurable.begin(), firstLeft);
    m_ackDue = true;
    grant();
}

void ReceiveRules::rewindTo(std::uint64_t nextSeq)
{
    m_next = std::clamp(nextSeq, m_durable + 1, m_next);
    std::erase_if(m_undurable, [this](const auto& waiting) { return waiting.first >= m_next; });
    std::erase_if(m_rejected, [this](const Rejected& rejected) { return rejected.seq >= m_next; });
    m_ackDue = true;
    grant();
}

void ReceiveRules::addRejected(Rejected rejected)
{
    m_ackDue = m_ackDue || rejected.seq <= m_durable;
    m_rejected.push_back(std::move(rejected));
}

void ReceiveRules::setPaused(bool paused)
{
    if (m_paused == paused)
        return;
    m_paused = paused;
    m_ackDue = true;
    grant();
}

Ack ReceiveRules::takeAck()
{
    Ack ack;
    ack.durableSeq = m_durable;
    // What was granted before the pause may still be on its way and is taken; from here on nothing more.
    ack.creditBytes = m_paused ? m_receivedBytes : m_grantedBytes;
    ack.creditBatches = m_paused ? m_receivedBatches : m_grantedBatches;
    const auto firstKept = std::stable_partition(
        m_rejected.begin(), m_rejected.end(), [this](const Rejected& rejected) { return rejected.seq <= m_durable; });
    ack.rejected.assign(std::make_move_iterator(m_rejected.begin()), std::make_move_iterator(firstKept));
    m_rejected.erase(m_rejected.begin(), firstKept);
    m_ackDue = false;
    return ack;
}

void ReceiveRules::grant()
{
    m_home.check();
    if (m_paused)
        return;
    std::uint64_t waitingBytes = 0;
    for (const auto& [seq, bytes] : m_undurable)
        waitingBytes += bytes;
    m_grantedBytes = std::max(m_grantedBytes, m_receivedBytes - waitingBytes + m_windowBytes);
    m_grantedBatches = std::max(m_grantedBatches, m_receivedBatches - m_undurable.size() + m_windowBatches);
}

}
