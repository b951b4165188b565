// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <telltale/judge/runjudge.h>
#include <telltale/store/storefeed.h>
#include <telltale/store/storeservice.h>

namespace telltale::judge {

/// Judges what the store records, as soon as it is durable, and writes incidents into the runs' logs. Thread: its
/// subscription's; however long it takes, the store does not wait, and what was missed meanwhile is read at once.
class LiveJudge final : public store::StoreSubscriber {
public:
    explicit LiveJudge(store::StoreService& store, const Rules& rules = {});
    ~LiveJudge() override;

    void onDurable(const store::Durable& durable) override;
    void onRuns(const std::vector<store::RunRef>& live) override;

private:
    using Clock = std::chrono::steady_clock;
    struct Run;

    Expected<void> follow(Run& run, const store::Durable& durable);
    void write(Run& run, bool isLast);

    store::StoreService& m_store;
    const Rules m_rules;
    std::map<std::string, std::unique_ptr<Run>> m_runs; ///< by locator
    std::unique_ptr<store::Subscription> m_subscription; ///< last: it calls the rest
};

}
