// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <telltale/core/jobqueue.h>
#include <telltale/core/threadhome.h>
#include <telltale/server/configsteering.h>
#include <telltale/server/peerconnection.h>
#include <telltale/store/archive.h>

namespace telltale::server {

class ControlEndpoint;

/// A peer in the control role: it asks for one thing after the other, and what that does to files is done on the
/// endpoint's job thread. Thread: capture.
class ControlConnection final : public PeerConnection {
    Q_OBJECT
public:
    ControlConnection(std::uint64_t id, std::unique_ptr<QWebSocket> socket, ConnectionHost& host, Doorkeeper& door,
        const ServerLimits& limits, ControlEndpoint& endpoint);
    ~ControlConnection() override;

private:
    const std::string* proofIn(const protocol::Message& message) const override;
    void take(protocol::Message& message) override;
    void leave() override;

    void take(protocol::ControlHello& hello);
    void take(protocol::ImportRun& request);
    void take(protocol::RunPart& part);
    void take(protocol::FindStream& request);
    void take(protocol::ConfigAsk& request);
    void take(protocol::ConfigPush& request);
    void take(protocol::NoteWrite& request);
    template <typename Other> void take(Other& other);
    /// False, and the peer is cut: it asks for more before it has its answer.
    bool begin();
    /// Does `work` on the job thread, then gives what it found to `done`, unless the peer is gone.
    template <typename Found> void later(std::function<Found()> work, std::function<void(Found)> done);
    void reply(protocol::ControlReply reply);
    void reply(const Expected<store::ImportedRun>& run);
    /// What answers a question about a config, with what the rank runs.
    SteeringAnswer steeringReply(Rank rank);

    /// The file of the run that comes in; only the job thread looks into it.
    struct Incoming {
        std::unique_ptr<store::RunUpload> upload;
    };

    ControlEndpoint& m_endpoint;
    std::shared_ptr<Incoming> m_incoming;
    std::uint64_t m_expected = 0; ///< bytes of it
    std::uint64_t m_received = 0;
    std::uint64_t m_taken = 0;
    bool m_isBusy = false; ///< something was asked and has no reply yet
    ThreadHome m_home;
};

}
