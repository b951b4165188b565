// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/listensocket.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <telltale/server/portholder.h>

namespace telltale::server {
namespace {

/// The address in the kernel's own form, and its length.
std::pair<sockaddr_storage, socklen_t> nativeAddress(const ListenAddress& address)
{
    sockaddr_storage storage {};
    if (address.address.protocol() == QAbstractSocket::IPv6Protocol) {
        auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(address.port);
        const Q_IPV6ADDR bytes = address.address.toIPv6Address();
        std::memcpy(&v6->sin6_addr, &bytes, sizeof v6->sin6_addr);
        return { storage, static_cast<socklen_t>(sizeof *v6) };
    }
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    v4->sin_addr.s_addr = htonl(address.address.toIPv4Address());
    return { storage, static_cast<socklen_t>(sizeof *v4) };
}

std::uint16_t boundPort(int fd)
{
    sockaddr_storage storage {};
    socklen_t length = sizeof storage;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0)
        return 0;
    return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                                               : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
}

tl::unexpected<Error> listenFailure(const ListenAddress& address, int error)
{
    const std::string where = "cannot listen on " + address.toString() + ": ";
    if (error == EADDRINUSE) {
        const std::string holder = describePortHolder(address.port);
        return failure(ErrorCode::Busy,
            where + (holder.empty() ? "another program holds the port" : "the port is held by " + holder),
            "stop it or choose another port with --listen");
    }
    const auto code = error == EACCES ? ErrorCode::Denied : ErrorCode::Io;
    return failure(code, where + std::system_category().message(error), "choose another address with --listen");
}

}

Expected<ListenSocket> ListenSocket::open(const ListenAddress& address, int backlog)
{
    const auto [storage, length] = nativeAddress(address);
    const int fd = ::socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return listenFailure(address, errno);
    ListenSocket out(fd, 0);
    // A killed dashboard's connections linger in TIME_WAIT; its successor takes the same port at once.
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&storage), length) != 0 || ::listen(fd, backlog) != 0)
        return listenFailure(address, errno);
    out.m_port = boundPort(fd);
    return out;
}

ListenSocket::~ListenSocket()
{
    if (m_fd >= 0)
        ::close(m_fd);
}

}
