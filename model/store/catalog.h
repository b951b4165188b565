// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <telltale/core/ids.h>
#include <telltale/core/samplebatch.h>
#include <telltale/store/logrecord.h>

namespace telltale::series {
class RowIndex;
}

namespace telltale::store {

enum class SourceState : std::uint8_t { Running = 0, Finished = 1, Failed = 2, Lost = 3 };

/// One rank of one attempt.
struct SourceInfo {
    SourceId id;
    Rank rank;
    int attempt = 0;
    std::string agentId;
    std::string host;
    std::int64_t pid = 0;
    std::string device;
    std::string framework;
    int dp = -1, tp = -1, pp = -1, ep = -1;
    Step firstStep { 0 };
    Step lastStep { -1 };
    SourceState state = SourceState::Running;
};

/// One tensor of one source and kind.
struct SeriesInfo {
    SeriesId id;
    SourceId source;
    GroupId group;
    int lane = 0; ///< of its first bin
    Kind kind = Kind::Unspecified;
    std::shared_ptr<const SeriesDesc> desc; ///< never null; one for all ranks that measure the same
};

/// Which stats series have that are stored together, and in how many lanes they lie.
struct GroupInfo {
    GroupId id;
    SourceId source;
    Kind kind = Kind::Unspecified;
    std::vector<Stat> stats;
    int lanes = 0; ///< series, or bins of them
    std::shared_ptr<const std::vector<double>> edges; ///< of the histograms that its series are; null: they are none

    int bins() const { return edges ? static_cast<int>(edges->size()) - 1 : 1; }
};

/// A document of a run, without its bytes.
struct DocumentInfo {
    std::int64_t id = 0; ///< those that came later have larger ones
    Rank rank { -1 };
    int attempt = 0;
    std::string name;
    Step step;
};

/// Batches that an agent said it had made and that never came: its process is gone. Its spool may still have them.
struct MissingInfo {
    SourceId source;
    std::uint64_t firstSeq = 0;
    std::uint64_t lastSeq = 0;
    std::uint64_t count() const { return lastSeq - firstSeq + 1; }
};

/// The whole directory of one run at one moment: groups and series are those of any earlier moment, and then what was
/// added. What happened is in the log. Immutable once built; shared between threads.
struct Catalog {
    std::uint64_t revision = 0;
    std::string storeId;
    std::string runKey;
    std::string name;
    std::int64_t createdNs = 0;
    std::vector<SourceInfo> sources;
    std::vector<GroupInfo> groups;
    std::vector<SeriesInfo> series; ///< by id: in call order within a source and kind
    std::shared_ptr<const series::RowIndex> rows; ///< of `series`; made where the catalog is read, see rowsOf
    std::vector<MissingInfo> missing;
    /// What by the accounts of processes that are gone was neither stored nor dropped. No part of the log, since it can
    /// still come.
    std::vector<LogRecord> unaccounted;
    StepRange steps; ///< of all sources
    std::vector<std::string> damage; ///< one sentence each; empty = none known
};

}
