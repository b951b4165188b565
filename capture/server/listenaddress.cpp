// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/listenaddress.h>

#include <charconv>

namespace telltale::server {

Expected<ListenAddress> ListenAddress::parse(std::string_view text)
{
    const auto bad = [&](const char* why) {
        return failure(ErrorCode::BadInput, "cannot listen on '" + std::string(text) + "': " + why,
            "write ADDR:PORT, as in 127.0.0.1:47800 or [::1]:47800");
    };
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos)
        return bad("there is no port");
    std::string_view host = text.substr(0, colon);
    const std::string_view number = text.substr(colon + 1);
    ListenAddress out;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out.port);
    if (error != std::errc {} || end != number.data() + number.size())
        return bad("the port is not a number from 0 to 65535");
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    else if (host.find(':') != std::string_view::npos)
        return bad("an IPv6 address stands in brackets");
    if (host == "localhost")
        return out;
    if (host.empty() || !out.address.setAddress(QString::fromUtf8(host.data(), static_cast<qsizetype>(host.size()))))
        return bad("the address is not an IP address");
    return out;
}

std::string ListenAddress::toString() const
{
    const std::string host = address.toString().toStdString();
    const std::string number = std::to_string(port);
    return address.protocol() == QAbstractSocket::IPv6Protocol ? "[" + host + "]:" + number : host + ":" + number;
}

}
