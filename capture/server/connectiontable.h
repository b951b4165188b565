// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <telltale/core/connectioninfo.h>

namespace telltale::server {

/// Every agent and every peer that was refused seen since start, newest figures each. Bounded.
/// Thread: capture writes, any thread reads a copy.
class ConnectionTable {
public:
    /// A connection of an agent began; counts reconnects.
    void opened(const ConnectionInfo& info);
    /// New figures of a connection; `lastRefusal` of earlier ones stays until the agent is open again.
    void update(const ConnectionInfo& info);
    /// Both may be empty: the peer never said who it was; then its address stands for it.
    void refused(
        const std::string& runKey, const std::string& agentId, const std::string& address, const std::string& why);

    std::vector<ConnectionInfo> snapshot() const; ///< connected ones first

private:
    /// The run, and the agent in it: a host's ranks may be of several runs. One that was refused has an address alone.
    struct Key {
        std::string runKey, agentId, address;
        auto operator<=>(const Key&) const = default;
    };
    ConnectionInfo& entry(const Key& key);

    mutable std::mutex m_mutex;
    std::map<Key, ConnectionInfo> m_entries;
};

}
