// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/store/logrecord.h>

namespace telltale::store {

class RunReader;

/// What records of kind "config" that carry a revision say in their phase. The offer is of no rank, every answer of the
/// rank that gave it and refers to the offer.
namespace configphase {
inline constexpr std::string_view kOffered = "offered"; ///< with a ref: the same revision, moved to a later step
inline constexpr std::string_view kAccepted = "accepted";
inline constexpr std::string_view kRefused = "refused";
inline constexpr std::string_view kApplied = "applied";
inline constexpr std::string_view kPassed = "passed"; ///< the rank was past the step already
}

/// One revision of a run's config, and what the ranks have answered. Thread: any (a value).
struct ConfigRevision {
    struct Answer {
        std::string phase;
        Step step;
        std::string text;
        std::int64_t wallNs = 0;
        std::uint64_t incarnation = 0; ///< of the process that gave it; 0 = not said
    };

    std::uint64_t rev = 0;
    std::int64_t record = 0; ///< its id in the log
    std::int64_t wallNs = 0;
    std::string author;
    std::string text; ///< for people
    std::string config; ///< JSON
    std::string hash;
    std::string changes; ///< JSON: [{"pointer", "before", "after"}, ...]
    std::vector<Rank> ranks; ///< that were asked; empty = all
    Step applyAtStep; ///< the newest that was offered
    std::map<Rank, Answer> answers; ///< the last of each rank

    bool asks(Rank rank) const;
    /// Some rank refused it, and none has applied it.
    bool isRefused() const;
};

/// The revisions of a run's config as its log tells them, followed behind a cursor. Thread: any (a value).
class ConfigHistory {
public:
    static constexpr std::size_t kMost = 1000; ///< older ones stay in the log

    /// Reads what was added since the last call.
    Expected<void> update(RunReader& reader);
    void take(const LogRecord& record);

    const std::vector<ConfigRevision>& revisions() const { return m_revisions; } ///< oldest first
    /// Null when there is none.
    const ConfigRevision* newest() const { return m_revisions.empty() ? nullptr : &m_revisions.back(); }
    /// The newest that asks the rank; null when there is none.
    const ConfigRevision* newestFor(Rank rank) const;

private:
    LogCursor m_cursor;
    std::vector<ConfigRevision> m_revisions;
};

}
