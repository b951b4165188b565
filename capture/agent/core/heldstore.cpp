// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/heldstore.h>

#include <algorithm>

#include <fmt/format.h>

namespace telltale::agent {

bool HeldStore::add(std::uint64_t seq, std::string& payload, BatchInfo info, Clock::time_point now)
{
    if (m_memoryBytes + payload.size() > kMaxMemoryBytes) {
        const auto spilled = spill(now, std::chrono::milliseconds(0));
        if (!spilled && m_memoryBytes + payload.size() > kMaxMemoryBytes)
            return false;
    }
    if (m_items.empty()) {
        m_firstSeq = seq;
        m_firstInMemory = seq;
    }
    m_memoryBytes += payload.size();
    m_items.push_back({ std::move(info), {}, std::move(payload), now });
    return true;
}

void HeldStore::addSpooled(std::uint64_t seq, const SpoolPlace& place)
{
    if (m_items.empty())
        m_firstSeq = seq;
    m_items.push_back({ {}, place, {}, {} });
    m_firstInMemory = seq + 1;
}

HeldStore::Item* HeldStore::find(std::uint64_t seq)
{
    if (seq < m_firstSeq || seq - m_firstSeq >= m_items.size())
        return nullptr;
    return &m_items[static_cast<std::size_t>(seq - m_firstSeq)];
}

Expected<std::string> HeldStore::payload(std::uint64_t seq)
{
    const Item* item = find(seq);
    if (!item)
        return failure(ErrorCode::NotFound, fmt::format("batch {} is no longer held", seq));
    if (item->place.segment != 0)
        return m_spool.read(item->place);
    return item->payload;
}

const BatchInfo* HeldStore::info(std::uint64_t seq) const
{
    const Item* item = const_cast<HeldStore*>(this)->find(seq);
    return item ? &item->info : nullptr;
}

HeldStore::Forgotten HeldStore::forgetUpTo(std::uint64_t seq)
{
    Forgotten gone;
    while (!m_items.empty() && m_firstSeq <= seq) {
        const Item& item = m_items.front();
        ++gone.batches;
        if (m_rejected.erase(m_firstSeq) > 0) {
            gone.rejectedSamples += item.info.samples;
            gone.rejectedScalars += item.info.scalars;
        } else {
            gone.samples += item.info.samples;
            gone.scalars += item.info.scalars;
        }
        if (item.place.segment == 0)
            m_memoryBytes -= item.payload.size();
        m_items.pop_front();
        ++m_firstSeq;
    }
    m_firstInMemory = std::max(m_firstInMemory, m_firstSeq);
    if (gone.batches > 0)
        m_spool.forgetUpTo(seq);
    return gone;
}

Expected<void> HeldStore::spill(Clock::time_point now, std::chrono::milliseconds olderThan)
{
    static const std::vector<LayoutId> kNone;
    while (Item* item = find(m_firstInMemory)) {
        if (now - item->since < olderThan)
            break;
        auto place = m_spool.append(
            m_firstInMemory, item->payload, item->info.layouts ? *item->info.layouts : kNone, m_layouts);
        if (!place)
            return tl::unexpected(place.error());
        item->place = *place;
        m_memoryBytes -= item->payload.size();
        item->payload = {};
        ++m_firstInMemory;
    }
    return {};
}

}
