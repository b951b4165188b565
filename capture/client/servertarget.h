// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <telltale/client/controlclient.h>
#include <telltale/core/threadhome.h>
#include <telltale/ingest/importtarget.h>

namespace telltale::client {

/// What an import says of a process, as the Hello of an agent.
protocol::Hello helloOf(const store::StreamRequest& request);

/// The server that has the data directory: each process comes to it as an agent does. What it has not acknowledged
/// stays in memory, and where that is full, who submits waits. Thread: owned by one; blocks.
class ServerTarget final : public ingest::ImportTarget {
public:
    /// `goesOn`: asked while it waits for the server; false ends the wait with ErrorCode::Canceled.
    ServerTarget(ControlClient& server, std::function<bool()> goesOn);
    ~ServerTarget() override;
    ServerTarget(const ServerTarget&) = delete;
    ServerTarget& operator=(const ServerTarget&) = delete;

    Expected<store::ImportedRun> find(const store::StreamRequest& request) override;
    Expected<std::size_t> open(store::StreamRequest request, Produced before = {}) override;
    Expected<void> submit(std::size_t stream, const std::shared_ptr<SampleBatch>& batch) override;
    Expected<void> turn() override;
    /// Waits until all of it is acknowledged.
    Expected<void> close(std::size_t stream, const std::string& reason) override;
    Expected<void> settle() override;
    std::string capsule() const override { return m_capsule; }
    std::string runId() const override { return m_runId; }

private:
    struct Stream;
    Expected<void> pump(Stream& stream, int milliseconds);
    Expected<void> waitUntil(Stream& stream, const std::function<bool()>& isDone);

    ControlClient& m_server;
    std::function<bool()> m_goesOn;
    std::vector<std::unique_ptr<Stream>> m_streams;
    std::string m_capsule, m_runId;
    ThreadHome m_home;
};

}
