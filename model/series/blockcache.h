// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

namespace telltale::series {

inline constexpr std::size_t kDefaultCacheBytes = 64u << 20; ///< decoded blocks of all readers of one pool

/// Names one decoded piece of one stored tile. The crc is that of the stored bytes: a tile that was written again under
/// the same place is another key.
struct BlockKey {
    std::uint64_t run = 0; ///< of the capsule's store id
    std::int64_t group = 0;
    std::int64_t firstColumn = 0;
    std::uint32_t crc = 0;
    std::uint8_t level = 0;
    std::uint8_t stat = 0;
    std::uint16_t part = 0;

    bool operator==(const BlockKey&) const = default;
};

/// What the cache keeps: immutable once put, so that many readers look at it at once.
struct CachedBlock {
    CachedBlock() = default;
    CachedBlock(const CachedBlock&) = delete;
    CachedBlock& operator=(const CachedBlock&) = delete;
    virtual ~CachedBlock() = default;
    virtual std::size_t byteSize() const = 0;
};

/// Least recently used decoded blocks within a budget of bytes. Thread: any.
class BlockCache {
public:
    explicit BlockCache(std::size_t maxBytes = kDefaultCacheBytes);

    /// Null when it is not there.
    std::shared_ptr<const CachedBlock> find(const BlockKey& key);
    /// Keeps a block, and drops the least recently used ones that no longer fit. A block above the budget is not kept.
    void put(const BlockKey& key, std::shared_ptr<const CachedBlock> block);
    /// Those of them that it keeps.
    void drop(std::span<const BlockKey> keys);
    std::size_t bytes() const;
    std::size_t blocks() const;

private:
    struct Hash {
        std::size_t operator()(const BlockKey& key) const noexcept;
    };
    struct Entry {
        BlockKey key;
        std::shared_ptr<const CachedBlock> block;
        std::size_t bytes = 0;
    };
    using Order = std::list<Entry>;

    const std::size_t m_maxBytes;
    mutable std::mutex m_mutex;
    Order m_order; ///< most recently used first
    std::unordered_map<BlockKey, Order::iterator, Hash> m_index;
    std::size_t m_bytes = 0;
};

}
