// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/archive.h>
#include <telltale/store/catalog.h>

namespace telltale::store {

struct StreamRequest;

/// What decides whether an agent belongs to a run. Thread: any (a value).
struct RunFacts {
    std::string runKey;
    std::string keySource;
    RunState state = RunState::Live;
    int worldSize = 1;
    bool isConnected = false;
    std::int64_t createdNs = 0;
    std::int64_t lastSeenNs = 0;
    std::vector<SourceInfo> sources;
    std::vector<std::pair<std::string, std::uint64_t>> streams; ///< agent id, incarnation

    std::map<Rank, SourceInfo> newestAttempts() const;
    /// The newest attempt of every rank that was seen said Bye(finished) or Bye(error).
    bool isDone() const;
    bool isFinished() const;
    bool knows(const StreamRequest& request) const;
    /// The rules for an incarnation that no run knows.
    bool welcomes(const StreamRequest& request, std::int64_t nowNs) const;
};

/// Reads them from a closed capsule, without writing to it.
Expected<RunFacts> readRunFacts(const RunLocator& run);
/// The run of a data directory that knows the stream, or any stream of the run where the request has no incarnation;
/// empty when none does.
RunLocator runWithStream(const std::string& dataDir, const StreamRequest& request);
/// The same for an import that asks whether it was here before; nothing when it was not.
ImportedRun importedAs(const std::string& dataDir, const StreamRequest& request);

}
