// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/threadhome.h>
#include <telltale/server/doorkeeper.h>
#include <telltale/server/peerconnection.h>
#include <telltale/server/serverlimits.h>

namespace telltale::server {

/// What all endpoints of a server share.
struct EndpointSetup {
    std::string token; ///< the role's own
    std::string fingerprint; ///< of the certificate, empty without TLS
    std::vector<std::string> hosts; ///< for Host headers, beside loopback
    ServerLimits limits;
};

/// One role that peers may have: the path that they come to, the token that they know, the limits that they are held
/// to, and who speaks with them. Thread: capture.
class Endpoint {
public:
    Endpoint(std::string path, const EndpointSetup& setup)
        : m_limits(setup.limits)
        , m_door(path, setup.token, setup.fingerprint, setup.hosts, m_limits)
        , m_path(std::move(path))
    {
    }
    virtual ~Endpoint() = default;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    const std::string& path() const { return m_path; }
    Doorkeeper& door()
    {
        m_home.check();
        return m_door;
    }

    virtual std::unique_ptr<PeerConnection> connect(
        std::uint64_t id, std::unique_ptr<QWebSocket> socket, ConnectionHost& host)
        = 0;
    virtual void onGreeted(PeerConnection& connection) = 0;
    /// Its socket is gone; it is destroyed soon.
    virtual void onEnded(PeerConnection& connection) = 0;
    /// What is due, every now and then.
    virtual void sweep(PeerConnection::Clock::time_point) { }
    /// Nothing that it took is still on its way to the disk.
    virtual bool isSettled() const { return true; }
    /// No more connections come; those that are there are gone afterwards.
    virtual void stop() { }

protected:
    const ServerLimits& limits() const { return m_limits; }

private:
    const ServerLimits m_limits;
    Doorkeeper m_door;
    const std::string m_path;
    ThreadHome m_home;
};

}
