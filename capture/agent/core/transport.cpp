// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/transport.h>

#include <telltale/agent/websocketlink.h>

namespace telltale::agent {

std::shared_ptr<Transport> Transport::connect(boost::asio::io_context& context, const protocol::JoinString& join,
    const std::vector<boost::asio::ip::tcp::endpoint>& endpoints, Handler& handler)
{
    namespace ssl = boost::asio::ssl;
    if (join.fingerprint.empty()) {
        auto link = std::make_shared<WebSocketLink<TcpStream>>(join, handler, context);
        link->start(endpoints);
        return link;
    }
    ssl::context tls(ssl::context::tls_client);
    tls.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3
        | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
    // The certificate is self-signed: what is checked is its fingerprint, before anything is sent.
    tls.set_verify_mode(ssl::verify_none);
    auto link = std::make_shared<WebSocketLink<EncryptedStream>>(join, handler, context, tls);
    link->start(endpoints);
    return link;
}

}
