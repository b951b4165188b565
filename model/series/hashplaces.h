// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace telltale::series {

/// Where in a list things stand, found by their hashes: one flat table, which is copied at once and holds nothing of
/// the things themselves. Thread: any (a value).
class HashPlaces {
public:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// The place of which `isSame` is true, of those that were added with this hash; else kNone.
    template <typename IsSame> std::uint32_t find(std::size_t hash, IsSame isSame) const
    {
        const std::uint32_t mixed = mix(hash);
        for (std::size_t at = mixed & m_mask; !m_table.empty() && m_table[at].place != kNone; at = (at + 1) & m_mask) {
            if (m_table[at].hash == mixed && isSame(m_table[at].place))
                return m_table[at].place;
        }
        return kNone;
    }
    void add(std::size_t hash, std::uint32_t place)
    {
        reserve(1);
        ++m_count;
        put({ mix(hash), place });
    }
    /// Room for so many more.
    void reserve(std::size_t more)
    {
        if ((m_count + more) * 2 <= m_table.size())
            return;
        std::vector<Entry> old(std::bit_ceil(std::max(std::size_t { 16 }, (m_count + more) * 2)));
        std::swap(old, m_table);
        m_mask = m_table.size() - 1;
        for (const Entry& entry : old) {
            if (entry.place != kNone)
                put(entry);
        }
    }

private:
    struct Entry {
        std::uint32_t hash = 0;
        std::uint32_t place = kNone;
    };
    static std::uint32_t mix(std::size_t hash)
    {
        return static_cast<std::uint32_t>((static_cast<std::uint64_t>(hash) * 0x9E3779B97F4A7C15u) >> 32U);
    }
    void put(const Entry& entry)
    {
        std::size_t at = entry.hash & m_mask;
        while (m_table[at].place != kNone)
            at = (at + 1) & m_mask;
        m_table[at] = entry;
    }

    std::vector<Entry> m_table; ///< a power of two, at least half of it free
    std::size_t m_mask = 0;
    std::size_t m_count = 0;
};

}
