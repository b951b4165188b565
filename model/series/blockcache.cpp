// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/series/blockcache.h>

#include <utility>
#include <vector>

namespace telltale::series {

std::size_t BlockCache::Hash::operator()(const BlockKey& key) const noexcept
{
    std::uint64_t hash = key.run;
    const auto mix = [&hash](std::uint64_t value) {
        hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    };
    mix(static_cast<std::uint64_t>(key.group));
    mix(static_cast<std::uint64_t>(key.firstColumn));
    mix(std::uint64_t { key.crc } << 32 | std::uint64_t { key.level } << 24 | std::uint64_t { key.stat } << 16
        | key.part);
    return static_cast<std::size_t>(hash);
}

BlockCache::BlockCache(std::size_t maxBytes)
    : m_maxBytes(maxBytes)
{
}

std::shared_ptr<const CachedBlock> BlockCache::find(const BlockKey& key)
{
    std::lock_guard lock(m_mutex);
    const auto it = m_index.find(key);
    if (it == m_index.end())
        return nullptr;
    m_order.splice(m_order.begin(), m_order, it->second);
    return it->second->block;
}

void BlockCache::put(const BlockKey& key, std::shared_ptr<const CachedBlock> block)
{
    const std::size_t bytes = block->byteSize() + sizeof(Entry) + 64;
    if (bytes > m_maxBytes)
        return;
    std::vector<std::shared_ptr<const CachedBlock>> evicted; // freed outside the lock
    std::lock_guard lock(m_mutex);
    if (const auto it = m_index.find(key); it != m_index.end()) {
        m_order.splice(m_order.begin(), m_order, it->second);
        return;
    }
    while (m_bytes + bytes > m_maxBytes) {
        Entry& oldest = m_order.back();
        m_bytes -= oldest.bytes;
        evicted.push_back(std::move(oldest.block));
        m_index.erase(oldest.key);
        m_order.pop_back();
    }
    m_order.push_front({ key, std::move(block), bytes });
    m_index.emplace(key, m_order.begin());
    m_bytes += bytes;
}

void BlockCache::drop(std::span<const BlockKey> keys)
{
    Order dropped; // freed outside the lock
    std::lock_guard lock(m_mutex);
    for (const BlockKey& key : keys) {
        const auto it = m_index.find(key);
        if (it == m_index.end())
            continue;
        m_bytes -= it->second->bytes;
        dropped.splice(dropped.end(), m_order, it->second);
        m_index.erase(it);
    }
}

std::size_t BlockCache::bytes() const
{
    std::lock_guard lock(m_mutex);
    return m_bytes;
}

std::size_t BlockCache::blocks() const
{
    std::lock_guard lock(m_mutex);
    return m_index.size();
}

}
