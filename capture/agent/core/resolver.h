// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include <telltale/core/threadhome.h>

namespace telltale::agent {

/// Host name to addresses. Names go to a thread of their own that nobody waits for: getaddrinfo cannot be canceled and
/// may take half a minute, and the process must be able to end meanwhile. Thread: sender.
class Resolver {
public:
    using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

    void start(const std::string& host, std::uint16_t port);
    bool isDone() const { return !m_lookup || m_lookup->done.load(std::memory_order_acquire); }
    /// Empty when the name is unknown. Call when done.
    Endpoints take();

private:
    struct Lookup {
        std::atomic<bool> done { false };
        Endpoints endpoints;
    };

    std::shared_ptr<Lookup> m_lookup;
    ThreadHome m_home;
};

}
