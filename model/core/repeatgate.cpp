// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/repeatgate.h>

namespace telltale {

std::optional<std::uint64_t> RepeatGate::pass(const std::string& key, Clock::time_point now)
{
    auto found = m_entries.find(key);
    if (found != m_entries.end() && now - found->second.last < m_interval) {
        ++found->second.held;
        return std::nullopt;
    }
    if (found == m_entries.end()) {
        if (m_entries.size() >= kMaxEntries)
            std::erase_if(m_entries, [&](const auto& entry) { return now - entry.second.last >= m_interval; });
        if (m_entries.size() >= kMaxEntries) {
            ++m_crowded;
            return std::nullopt;
        }
        found = m_entries.emplace(key, Entry {}).first;
    }
    return std::exchange(found->second, Entry { now, 0 }).held;
}

void RepeatGate::drain(const std::function<void(const std::string& key, std::uint64_t held)>& one)
{
    for (const auto& [key, entry] : m_entries) {
        if (entry.held > 0)
            one(key, entry.held);
    }
    m_entries.clear();
}

std::string moreText(std::uint64_t held)
{
    return held == 0 ? std::string() : " (" + std::to_string(held) + " more since the last line)";
}

}
