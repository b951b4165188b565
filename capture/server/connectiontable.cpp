// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/connectiontable.h>

#include <algorithm>
#include <chrono>

namespace telltale::server {
namespace {

constexpr std::size_t kMaxEntries = 16'384;

}

ConnectionInfo& ConnectionTable::entry(const Key& key)
{
    if (!m_entries.contains(key) && m_entries.size() >= kMaxEntries) {
        const auto gone = std::find_if(
            m_entries.begin(), m_entries.end(), [](const auto& known) { return !known.second.connected; });
        m_entries.erase(gone == m_entries.end() ? m_entries.begin() : gone);
    }
    return m_entries[key];
}

void ConnectionTable::opened(const ConnectionInfo& info)
{
    const std::lock_guard lock(m_mutex);
    const Key key { info.runKey, info.agentId, {} };
    const bool isKnown = m_entries.contains(key);
    ConnectionInfo& known = entry(key);
    const std::uint32_t reconnects = isKnown ? known.reconnects + 1 : 0;
    known = info;
    known.reconnects = reconnects;
}

void ConnectionTable::update(const ConnectionInfo& info)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_entries.find({ info.runKey, info.agentId, {} });
    if (found == m_entries.end())
        return;
    // The last word of an old connection must not overwrite its successor's figures.
    if (found->second.connected && found->second.peer != info.peer)
        return;
    const std::uint32_t reconnects = found->second.reconnects;
    std::string refusal = std::move(found->second.lastRefusal);
    found->second = info;
    found->second.reconnects = reconnects;
    found->second.lastRefusal = std::move(refusal);
}

void ConnectionTable::refused(
    const std::string& runKey, const std::string& agentId, const std::string& address, const std::string& why)
{
    const std::lock_guard lock(m_mutex);
    if (!agentId.empty()) {
        const auto found = m_entries.find({ runKey, agentId, {} });
        if (found != m_entries.end())
            found->second.lastRefusal = why;
        return;
    }
    ConnectionInfo& refused = entry({ {}, {}, address });
    refused.peer = address;
    refused.lastRefusal = why;
}

std::vector<ConnectionInfo> ConnectionTable::snapshot() const
{
    std::vector<ConnectionInfo> out;
    {
        const std::lock_guard lock(m_mutex);
        out.reserve(m_entries.size());
        for (const auto& [key, info] : m_entries)
            out.push_back(info);
    }
    // Whoever left without a word falls behind by the second.
    const auto now
        = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
              .count();
    for (ConnectionInfo& info : out) {
        if (!info.connected && !info.saidBye && info.lastHeardNs != 0)
            info.lagSeconds += std::max(0.0, static_cast<double>(now - info.lastHeardNs) / 1e9);
    }
    std::stable_partition(out.begin(), out.end(), [](const ConnectionInfo& info) { return info.connected; });
    return out;
}

}
