// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <utility>

#include <telltale/core/expected.h>
#include <telltale/server/listenaddress.h>

namespace telltale::server {

/// A bound and listening TCP socket of our own, because Qt's backlog of 50 is not ours to change. Thread: any.
class ListenSocket {
public:
    /// Errors: Busy (names the process that holds the port when /proc tells), Denied, Io.
    static Expected<ListenSocket> open(const ListenAddress& address, int backlog);
    ~ListenSocket();
    ListenSocket(ListenSocket&& other) noexcept
        : m_fd(std::exchange(other.m_fd, -1))
        , m_port(other.m_port)
    {
    }
    ListenSocket& operator=(ListenSocket&&) = delete;

    std::uint16_t port() const { return m_port; }
    /// Gives the descriptor away.
    int release() { return std::exchange(m_fd, -1); }

private:
    ListenSocket(int fd, std::uint16_t port)
        : m_fd(fd)
        , m_port(port)
    {
    }

    int m_fd;
    std::uint16_t m_port;
};

}
