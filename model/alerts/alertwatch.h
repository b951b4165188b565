// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <telltale/alerts/alert.h>
#include <telltale/judge/incidentfeed.h>

namespace telltale::alerts {

/// Decides which incidents are told, each of them once: those that begin while it watches, grave enough, and neither
/// acknowledged nor called a false alarm before they are told. What a run's log had when it was first heard of is old:
/// after a restart nothing is told again. Thread: any.
class AlertWatch {
public:
    using Clock = std::chrono::steady_clock;

    /// `wake` is called by onIncident, where take() may have something new.
    explicit AlertWatch(std::function<void()> wake);
    /// As judge::IncidentFeed says it.
    void onIncident(const store::RunRef& run, const judge::Incident& incident, judge::IncidentNews news);

    void setLeast(store::Severity least) { m_least = least; }
    /// Those that were found at least `settle` before `now`; they are not told again.
    std::vector<Alert> take(Clock::time_point now, std::chrono::seconds settle);
    /// When take() is worth another call; nothing where nothing waits.
    std::optional<Clock::time_point> due(std::chrono::seconds settle) const;

private:
    enum class State : std::uint8_t { Waits, Passed, Told };
    struct Candidate {
        Alert alert;
        Clock::time_point found;
        State state = State::Waits;
    };
    using Key = std::pair<std::string, std::int64_t>; ///< locator and the incident's id

    void note(const store::RunRef& run, const judge::Incident& incident, judge::IncidentNews news);

    const std::function<void()> m_wake;
    std::atomic<store::Severity> m_least { store::Severity::Warning };
    mutable std::mutex m_mutex; ///< for what follows
    std::map<Key, Candidate> m_candidates;
};

}
