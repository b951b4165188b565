// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/ingest/batchsink.h>
#include <telltale/ingest/ingestsession.h>
#include <telltale/protocol/messages.h>
#include <telltale/spool/spoolstream.h>

namespace telltale::ingest {

/// What came out of one spool folder.
struct SpoolReport {
    std::string folder;
    std::string runKey;
    std::string agentId;
    Rank rank;
    std::string capsule; ///< path
    std::string runId;
    std::uint64_t batches = 0; ///< new to the run
    std::uint64_t samples = 0; ///< in them
    std::uint64_t duplicates = 0; ///< batches that the run had already
    std::uint64_t rejected = 0; ///< broke a rule: kept raw, in quarantine
    bool isDelivered = false; ///< through a running server, which does not say samples and duplicates
    bool isEmpty = false; ///< there was nothing left in the folder
    std::vector<std::string> damages; ///< sentences: what of the spool could not be read
};

/// Brings the spools of processes that are gone into the store: each as the stream that it was, through the receive
/// rules of a connection. Invariant: spool files go only after the COMMIT of what they held.
/// Thread: owned by one; the store's wake may come from any.
class SpoolImport {
public:
    explicit SpoolImport(BatchSink& sink);
    ~SpoolImport();

    /// A spool that was taken over, see openSpooledStream.
    struct Found {
        protocol::Hello hello; ///< firstRetainedSeq is the spool's own; empty when there is nothing to bring
        agent::SpooledStream spooled;
    };
    /// Takes a spool over, from whoever else might, and says whose it is. Removes one with nothing in it. NotFound
    /// without a folder, Busy while its process lives, BadInput when it names no run or agent.
    static Expected<Found> open(const std::filesystem::path& folder);

    /// Blocks until everything is durable. On an error the rest stays in the spool.
    Expected<SpoolReport> take(const std::filesystem::path& folder, Found found);

private:
    struct Wakeup;

    Expected<store::StreamOpened> openStream(const protocol::Hello& hello);
    Expected<void> feed(agent::Stream& stream, IngestSession& session, std::uint32_t epoch);
    Expected<void> digest(agent::Stream& stream, IngestSession& session);
    using LayoutSet = std::unordered_set<LayoutId>;
    static std::string payloadOf(agent::Stream& stream, std::uint64_t seq, LayoutSet& known);

    BatchSink& m_sink;
    std::shared_ptr<Wakeup> m_wakeup;
    std::uint64_t m_nextToken = 1;
    ThreadHome m_home;
};

}
