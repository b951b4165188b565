// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include <telltale/core/expected.h>
#include <telltale/server/certificate.h>

namespace telltale::server {

/// What makes a restarted server the same one to its agents: token, port, key and certificate, kept in
/// <data dir>/server (0700, files 0600). Thread: any (a value).
class ServerIdentity {
public:
    /// Makes the folder and the token on first use.
    static Expected<ServerIdentity> load(const std::string& dataDir);

    const std::string& token() const { return m_token; } ///< the agents', 64 hex digits
    const std::string& controlToken() const { return m_controlToken; } ///< the control role's
    std::uint16_t lastPort() const { return m_lastPort; } ///< the default port when there is none yet
    Expected<void> rememberPort(std::uint16_t port);
    /// Made on first use. Damaged files are an error, never replaced: agents pin the fingerprint.
    Expected<Certificate> certificate() const;

private:
    std::string m_folder;
    std::string m_token;
    std::string m_controlToken;
    std::uint16_t m_lastPort = 0;
    bool m_hasPort = false;
};

}
