// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <telltale/judge/incident.h>
#include <telltale/store/storefeed.h>
#include <telltale/store/storeservice.h>

namespace telltale::judge {

/// What is heard of an incident.
enum class IncidentNews : std::uint8_t {
    Known, ///< the log had it when its run was first heard of: as it was then
    Opened,
    Changed, ///< more is known of it, or somebody said something of it
};

/// Follows the logs of the runs that are recorded and says what becomes of their incidents, record by record, once that
/// is durable. Thread: its subscription's, which calls `heard`.
class IncidentFeed final : public store::StoreSubscriber {
public:
    using Heard = std::function<void(const store::RunRef&, const Incident&, IncidentNews)>;

    IncidentFeed(const store::StoreService& store, Heard heard);
    ~IncidentFeed() override;

    /// Waits until what was durable before has been said. False: not within `atMost`.
    bool settle(std::chrono::milliseconds atMost) const { return m_subscription->settle(atMost); }
    void onDurable(const store::Durable& durable) override;
    void onRuns(const std::vector<store::RunRef>& live) override;

private:
    struct Run {
        store::RunRef ref;
        std::unique_ptr<store::RunReader> reader;
        IncidentBook book;
        std::int64_t firstNew = 0; ///< what has a smaller id is from before
        bool isCaughtUp = false; ///< all that is from before has been read
        std::set<std::int64_t> heard; ///< incidents
    };

    const Heard m_heard;
    std::map<std::string, Run> m_runs; ///< by locator
    std::unique_ptr<store::Subscription> m_subscription; ///< last: it calls the rest
};

}
