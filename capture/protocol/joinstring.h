// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <telltale/core/expected.h>

namespace telltale::protocol {

/// telltale://HOST:PORT#token=...&fp=...  Of the control role: telltale://HOST:PORT/control#...  With a fingerprint
/// (sha256 of the certificate, hex) the agent speaks TLS and pins it; without one it speaks plain ws and refuses any
/// host that is not loopback.
struct JoinString {
    std::string host;
    std::uint16_t port = 0;
    std::string token;
    std::string fingerprint;
    bool isControl = false; ///< its token is the control role's, else the agents'

    static Expected<JoinString> parse(std::string_view text);
    std::string toString() const;
    /// Where a peer of its role connects to.
    const char* path() const;
    bool operator==(const JoinString&) const = default;
};

}
