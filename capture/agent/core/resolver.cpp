// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/resolver.h>

#include <boost/asio/io_context.hpp>

#include <telltale/core/quietthread.h>

namespace telltale::agent {

void Resolver::start(const std::string& host, std::uint16_t port)
{
    m_home.check();
    namespace ip = boost::asio::ip;
    m_lookup = std::make_shared<Lookup>();
    boost::system::error_code error;
    const bool isBracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    const auto address = ip::make_address(isBracketed ? host.substr(1, host.size() - 2) : host, error);
    if (!error)
        m_lookup->endpoints.emplace_back(address, port);
    else if (host == "localhost")
        m_lookup->endpoints = { { ip::address_v4::loopback(), port }, { ip::address_v6::loopback(), port } };
    if (!m_lookup->endpoints.empty()) {
        m_lookup->done.store(true, std::memory_order_release);
        return;
    }
    const auto resolve = [lookup = m_lookup, host, port] {
        withoutThrowing([&] {
            boost::asio::io_context context;
            ip::tcp::resolver resolver(context);
            boost::system::error_code failed;
            for (const auto& entry : resolver.resolve(host, std::to_string(port), failed))
                lookup->endpoints.push_back(entry.endpoint());
        });
        lookup->done.store(true, std::memory_order_release);
    };
    // Where no thread can be had the name is unknown, and asked for again with the next try to connect.
    const auto giveUp = [this](const char*) noexcept { m_lookup->done.store(true, std::memory_order_release); };
    withoutThrowing([&] { quietThread("telltale-dns", resolve).detach(); }, giveUp);
}

Resolver::Endpoints Resolver::take()
{
    m_home.check();
    if (!m_lookup)
        return {};
    return std::exchange(m_lookup, nullptr)->endpoints;
}

}
