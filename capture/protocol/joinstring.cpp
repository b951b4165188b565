// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/joinstring.h>

#include <algorithm>
#include <charconv>

#include <telltale/protocol/limits.h>

namespace telltale::protocol {
namespace {

constexpr std::string_view kScheme = "telltale://";

tl::unexpected<Error> notAJoinString(const std::string& what)
{
    return failure(ErrorCode::BadInput, "join string " + what, "copy it again from the dashboard's Connections page");
}

bool isTokenChar(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
        || std::string_view("-._~").find(c) != std::string_view::npos;
}

bool isHostChar(char c)
{
    return isTokenChar(c) || c == ':' || c == '%';
}

/// 64 hex digits in lower case, whatever case and colons it came with; empty = not one.
std::string normalFingerprint(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == ':')
            continue;
        const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
        if (!((lower >= '0' && lower <= '9') || (lower >= 'a' && lower <= 'f')))
            return {};
        out.push_back(lower);
    }
    return out.size() == 64 ? out : std::string {};
}

Expected<void> parseAuthority(std::string_view text, JoinString& out)
{
    std::string_view port;
    if (!text.empty() && text.front() == '[') {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos)
            return notAJoinString("has an IPv6 address without its closing bracket");
        out.host = text.substr(1, end - 1);
        port = text.substr(end + 1);
    } else {
        const std::size_t colon = text.find(':');
        out.host = text.substr(0, colon);
        port = colon == std::string_view::npos ? std::string_view {} : text.substr(colon);
        if (out.host.find('%') != std::string::npos)
            return notAJoinString("has a host with characters that no host has");
    }
    if (out.host.empty() || !std::all_of(out.host.begin(), out.host.end(), isHostChar))
        return notAJoinString("has no valid host");
    out.port = limits::kDefaultPort;
    if (port.empty())
        return {};
    const char* end = port.data() + port.size();
    const auto [stop, error] = std::from_chars(port.data() + 1, end, out.port);
    if (port[0] != ':' || error != std::errc {} || stop != end || out.port == 0)
        return notAJoinString("has no valid port");
    return {};
}

}

Expected<JoinString> JoinString::parse(std::string_view text)
{
    while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos)
        text.remove_suffix(1);
    while (!text.empty() && std::string_view(" \t\r\n").find(text.front()) != std::string_view::npos)
        text.remove_prefix(1);
    if (text.substr(0, kScheme.size()) != kScheme)
        return notAJoinString("does not start with telltale://");
    text.remove_prefix(kScheme.size());
    const std::size_t hash = text.find('#');
    if (hash == std::string_view::npos)
        return notAJoinString("has no token");

    JoinString out;
    std::string_view authority = text.substr(0, hash);
    if (authority.ends_with(limits::kControlPath)) {
        out.isControl = true;
        authority.remove_suffix(std::string_view(limits::kControlPath).size());
    } else if (authority.ends_with('/')) {
        authority.remove_suffix(1);
    }
    if (auto ok = parseAuthority(authority, out); !ok)
        return tl::unexpected(ok.error());
    for (std::string_view rest = text.substr(hash + 1); !rest.empty();) {
        const std::size_t end = std::min(rest.find('&'), rest.size());
        const std::string_view item = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (item.substr(0, 6) == "token=") {
            out.token = item.substr(6);
        } else if (item.substr(0, 3) == "fp=") {
            out.fingerprint = normalFingerprint(item.substr(3));
            if (out.fingerprint.empty())
                return notAJoinString("has a fingerprint that is not a sha256 in hex");
        }
    }
    if (out.token.empty() || !std::all_of(out.token.begin(), out.token.end(), isTokenChar))
        return notAJoinString("has no valid token");
    return out;
}

const char* JoinString::path() const
{
    return isControl ? limits::kControlPath : limits::kPath;
}

std::string JoinString::toString() const
{
    const bool isIpv6 = host.find(':') != std::string::npos;
    std::string out = std::string(kScheme) + (isIpv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
    out += (isControl ? limits::kControlPath : "") + ("#token=" + token);
    if (!fingerprint.empty())
        out += "&fp=" + fingerprint;
    return out;
}

}
