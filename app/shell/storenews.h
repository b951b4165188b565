// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <telltale/archive/runprofile.h>
#include <telltale/judge/incidentfeed.h>
#include <telltale/store/storefeed.h>

namespace telltale::store {
class StoreService;
}

namespace telltale::shell {

/// What the store has told since the window last looked. Thread: gui; what arrives is put down by the subscription's.
class StoreNews : private store::StoreSubscriber {
public:
    explicit StoreNews(const store::StoreService& service);

    /// The runs that are recorded, where they or the archive changed.
    std::optional<std::vector<store::RunRef>> takeRuns();
    /// All that became durable of a run since the last call. What was told of other runs is forgotten: who shows
    /// another one reads it from the beginning.
    store::Durable takeDurable(const store::RunRef& run);
    /// Of the runs that are or were recorded since.
    std::map<store::RunLocator, archive::IncidentCounts> incidents() const;

private:
    void onDurable(const store::Durable& durable) override;
    void onRuns(const std::vector<store::RunRef>& live) override;

    void onIncident(const store::RunLocator& run, const judge::Incident& incident);

    mutable std::mutex m_mutex;
    std::optional<std::vector<store::RunRef>> m_runs;
    std::vector<store::Durable> m_durable; ///< one a run
    /// By their ids: those that stand by themselves and are no false alarms.
    std::map<store::RunLocator, std::map<std::int64_t, store::Severity>> m_incidents;
    std::unique_ptr<store::Subscription> m_subscription; ///< last, with the other one: they call until they are gone
    judge::IncidentFeed m_feed;
};

}
