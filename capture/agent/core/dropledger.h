// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <telltale/agent/counters.h>
#include <telltale/core/samplebatch.h>

namespace telltale::agent {

/// Drops not yet told to the server, merged by class and reason, and what was lost for which reason over the whole
/// life of the agent. Thread: any (locked), but not the training thread inside a step; take() and putBack() sender.
class DropLedger {
public:
    explicit DropLedger(Counters& counters)
        : m_counters(counters)
    {
    }

    void add(std::uint32_t dropClass, const std::string& reason, std::int64_t first, std::int64_t last,
        std::uint64_t items, std::uint64_t bytes = 0)
    {
        if (items == 0)
            return;
        const std::lock_guard lock(m_mutex);
        m_totals[{ dropClass, reason }] += items;
        m_counters.dropsByClass[std::min<std::size_t>(dropClass, 4)] += items;
        const auto [it, isNew] = m_pending.try_emplace({ dropClass, reason });
        Drop& drop = it->second;
        if (isNew)
            drop = { dropClass, Step { first }, Step { last }, 0, 0, reason };
        drop.firstStep = std::min(drop.firstStep, Step { first });
        drop.lastStep = std::max(drop.lastStep, Step { last });
        drop.items += items;
        drop.bytes += bytes;
    }

    /// What the server counts by itself.
    void tally(std::uint32_t dropClass, const std::string& reason, std::uint64_t items)
    {
        if (items == 0)
            return;
        const std::lock_guard lock(m_mutex);
        m_totals[{ dropClass, reason }] += items;
        m_counters.dropsByClass[std::min<std::size_t>(dropClass, 4)] += items;
    }
    /// Items by class and reason.
    std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> totals() const
    {
        const std::lock_guard lock(m_mutex);
        return m_totals;
    }

    bool isEmpty() const
    {
        const std::lock_guard lock(m_mutex);
        return m_pending.empty();
    }
    std::vector<Drop> take()
    {
        const std::lock_guard lock(m_mutex);
        std::vector<Drop> out;
        for (auto& entry : m_pending)
            out.push_back(std::move(entry.second));
        m_pending.clear();
        return out;
    }
    /// The batch that carried them could not be kept: they wait for the next.
    void putBack(const std::vector<Drop>& drops)
    {
        const std::lock_guard lock(m_mutex);
        for (const Drop& drop : drops) {
            const auto [it, isNew] = m_pending.try_emplace({ drop.dropClass, drop.reason }, drop);
            if (isNew)
                continue;
            it->second.firstStep = std::min(it->second.firstStep, drop.firstStep);
            it->second.lastStep = std::max(it->second.lastStep, drop.lastStep);
            it->second.items += drop.items;
            it->second.bytes += drop.bytes;
        }
    }

private:
    Counters& m_counters;
    mutable std::mutex m_mutex;
    std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> m_totals;
    std::map<std::pair<std::uint32_t, std::string>, Drop> m_pending;
};

}
