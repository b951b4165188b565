// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/newcomers.h>

#include <algorithm>

namespace telltale::server {

Newcomers::Verdict Newcomers::roomFor(const std::string& address, Clock::time_point now) const
{
    const auto own = m_addresses.find(address);
    if (own != m_addresses.end() && own->second >= m_limits.newcomersPerAddress)
        return longestStill(address, now);
    if (m_peers.size() < m_limits.newcomers)
        return {};
    const auto fullest = std::max_element(
        m_addresses.begin(), m_addresses.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return longestStill(fullest->first, now);
}

std::string Newcomers::whoMayLeave(Clock::time_point now) const
{
    return longestStill({}, now).peer;
}

Newcomers::Verdict Newcomers::longestStill(const std::string& address, Clock::time_point now) const
{
    const Peer* found = nullptr;
    const std::string* name = nullptr;
    for (const auto& [peer, entry] : m_peers) {
        if ((address.empty() || entry.address == address) && (found == nullptr || entry.since < found->since)) {
            found = &entry;
            name = &peer;
        }
    }
    if (found == nullptr || now - found->since < m_limits.newcomerGrace)
        return { Verdict::What::Wait, {} };
    return { Verdict::What::Evict, *name };
}

void Newcomers::add(const std::string& peer, const std::string& address, Clock::time_point now)
{
    m_home.check();
    if (m_peers.emplace(peer, Peer { address, now }).second)
        ++m_addresses[address];
}

void Newcomers::moved(const std::string& peer, Clock::time_point now)
{
    if (const auto found = m_peers.find(peer); found != m_peers.end())
        found->second.since = now;
}

bool Newcomers::remove(const std::string& peer)
{
    m_home.check();
    const auto found = m_peers.find(peer);
    if (found == m_peers.end())
        return false;
    const auto address = m_addresses.find(found->second.address);
    if (--address->second == 0)
        m_addresses.erase(address);
    m_peers.erase(found);
    return true;
}

void Newcomers::extendDeadlines(Clock::duration pause)
{
    for (auto& [peer, entry] : m_peers)
        entry.since += pause;
}

}
