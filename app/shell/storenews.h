// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

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

private:
    void onDurable(const store::Durable& durable) override;
    void onRuns(const std::vector<store::RunRef>& live) override;

    std::mutex m_mutex;
    std::optional<std::vector<store::RunRef>> m_runs;
    std::vector<store::Durable> m_durable; ///< one a run
    std::unique_ptr<store::Subscription> m_subscription; ///< last: it calls until it is gone
};

}
