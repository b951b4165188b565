// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <telltale/core/samplebatch.h>
#include <telltale/core/threadhome.h>

namespace telltale::ingest {

/// Lets the events of a stream through and cuts storms of them: an alert at every step for every module would fill the
/// run's file and its log, and bury what else is said there. Each kind of event has a limit of its own, so that a storm
/// of one loses nothing of the others. What is cut is counted in the batch's drops, one a kind (the store makes one row
/// of them over all batches), and told by an event now and then.
/// Time is what the events say: those of hours, out of a spool, are no storm. Pure. Thread: owned by one.
class EventThrottle {
public:
    static constexpr double kBurst = 512; ///< of one kind, at once
    static constexpr double kPerSecond = 4; ///< of one kind, for as long as it takes
    /// Of one kind on one connection, whatever time its events claim.
    static constexpr std::uint64_t kMost = 100'000;
    static constexpr std::size_t kMaxKinds = 32; ///< the kinds beyond share a limit
    static constexpr double kTellEveryNs = 1e10;

    void cut(SampleBatch& batch);

private:
    struct Kind {
        std::string name; ///< as sentences say it
        double left = kBurst;
        std::int64_t at = 0; ///< of the last event that said a time
        std::uint64_t passed = 0;
        std::uint64_t untold = 0;
        std::int64_t toldAt = 0;
        bool wasTold = false;
        std::optional<std::size_t> drop; ///< in the batch at hand
    };

    Kind& find(const std::string& kind);
    static bool mayPass(Kind& kind, const Event& event);

    std::map<std::string, Kind> m_kinds;
    Kind m_ownEvents; ///< our own events
    ThreadHome m_home;
};

}
